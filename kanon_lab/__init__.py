"""Anonymity of microdata and of populations: measures, published studies recomputed, and reports."""

from importlib import import_module

# Public name -> module that defines it. Modules load on first use, so that importing kanon_lab costs next to nothing.
_PUBLIC = {
    "KanonLabError": "kanon_lab.errors",
    "KeySpec": "kanon_lab.roles",
    "catalogue": "kanon_lab.data",
    "check_counts": "kanon_lab.data",
    "class_table": "kanon_lab.classes",
    "fetch": "kanon_lab.data",
    "load_counts": "kanon_lab.data",
    "load_microdata": "kanon_lab.data",
    "local_suppression": "kanon_lab.methods",
    "measure": "kanon_lab.measures",
    "national_totals": "kanon_lab.data",
    "protect": "kanon_lab.recipes",
    "read_counts": "kanon_lab.data",
    "read_microdata": "kanon_lab.data",
    "read_recipe": "kanon_lab.recipes",
    "write_microdata": "kanon_lab.data",
}

# Rooms that are loaded when they are first named, as kanon_lab.methods.
_ROOMS = "classes data figures measures methods population recipes sample show studies".split()

# Older names of rooms.
_ALIASES = {
    **dict.fromkeys(("diversity", "risk", "utility"), "measures"),
    **dict.fromkeys(("lattice", "perturb", "recode", "suppress"), "methods"),
    **dict.fromkeys(("protection", "tradeoff"), "recipes"),
    "subsample": "sample",
    **dict.fromkeys(("charts", "page", "widgets"), "show"),
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version

        return version("kanon-lab")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name in _ROOMS or name in _ALIASES:
        return import_module(f"{__name__}.{_ALIASES.get(name, name)}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
