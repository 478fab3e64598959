"""Anonymity of microdata and of populations: measures, published studies recomputed, and reports."""

from importlib import import_module

from kanon_lab.loading import exports

_load, _, _NAMES = exports(
    __name__,
    {
        "classes": "class_table",
        "data": """catalogue check_counts fetch load_counts load_microdata national_totals read_counts read_microdata
            write_microdata""",
        "errors": "KanonLabError",
        "measures": "measure",
        "methods": "local_suppression",
        "recipes": "protect read_recipe",
        "roles": "KeySpec",
    },
)

# Rooms that are loaded when they are first named, as kanon_lab.methods.
_ROOMS = "classes data measures methods population recipes sample show".split()

# Older names of rooms.
_ALIASES = {
    **dict.fromkeys(("diversity", "risk", "utility"), "measures"),
    **dict.fromkeys(("lattice", "perturb", "recode", "suppress"), "methods"),
    **dict.fromkeys(("protection", "tradeoff"), "recipes"),
    "subsample": "sample",
    **dict.fromkeys(("charts", "page", "widgets"), "show"),
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version

        return version("kanon-lab")
    if name in _ROOMS or name in _ALIASES:
        return import_module(f"{__name__}.{_ALIASES.get(name, name)}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
