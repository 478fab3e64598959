"""Loading packages that take longer than they need."""

import sys
from collections.abc import Callable
from importlib import import_module
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


def exports(room: str, modules: dict[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a room whose modules load when one of their names is used.

    `modules` has by module the names that the room exports: ``{"special_uniques": "Suda suda"}``.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{module_of[name]}"), name)

    return load, lambda: sorted(module_of), sorted(module_of)
