"""Loading packages that take longer than they need."""

import sys
from types import ModuleType

_CHECKS_OF_IRIS = "rfc3987_syntax"


def load_jsonschema() -> None:
    """Load jsonschema, which altair and nbformat need, without the grammars by which it checks IRIs.

    There are 38, and compiling them takes 1.5 s of each process, so 3 s of each report (measured: `import altair` takes
    1.9 s with them, and 0.4 s without). With this they load when the first IRI is checked.
    """
    from importlib.util import find_spec  # not for every import of the package

    if "jsonschema" in sys.modules or _CHECKS_OF_IRIS in sys.modules or find_spec(_CHECKS_OF_IRIS) is None:
        return

    def is_valid_syntax(kind: str, text: str) -> bool:
        from rfc3987_syntax import is_valid_syntax

        return is_valid_syntax(kind, text)

    sys.modules[_CHECKS_OF_IRIS] = stand_in = ModuleType(_CHECKS_OF_IRIS)
    vars(stand_in)["is_valid_syntax"] = is_valid_syntax
    try:
        import jsonschema  # noqa: F401
    except ImportError:  # whoever needs it says so
        pass
    finally:
        del sys.modules[_CHECKS_OF_IRIS]
