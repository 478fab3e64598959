"""Charts, explorers for JupyterLab, and what a page needs, all from finished result frames: never from microdata.

The charts need altair (``pip install 'kanon-lab[report]'``), the explorers ipywidgets too (``[book]``); both load when
a function is called. Every chart says what it shows in its title and its ``description``, the alternative text, and
`figure` makes it fit a page. An explorer (``explore...``) has the controls of a chart, and needs a running kernel.
"""

from importlib import import_module

_MODULES = {
    "anonymity": "explore explorer",
    "bars": "class_sizes contributions risk_distribution",
    "controls": "Explorer",
    "keys": "explore_keys key_explorer",
    "levels": "explore_levels level_explorer nodes",
    "markup": "Listing scrolling_table",
    "page": "Figure enable figure",
    "recipes": "explore_recipes",
    "tradeoff": "risk_utility tradeoff_explorer",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
