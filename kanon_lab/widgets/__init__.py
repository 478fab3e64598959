"""Explorers for JupyterLab: controls over the functions of other rooms, with no statistics of their own.

They need ipywidgets and altair (``pip install 'kanon-lab[book]'``) and a running kernel. In a published page, which has
none, `kanon_lab.charts.explorer`, `key_explorer` and `level_explorer` take their place.
"""

from kanon_lab.widgets.anonymity import AnonymityExplorer, explore
from kanon_lab.widgets.keys import KeyExplorer, explore_keys
from kanon_lab.widgets.levels import LevelExplorer, explore_levels

__all__ = [
    "AnonymityExplorer",
    "KeyExplorer",
    "LevelExplorer",
    "explore",
    "explore_keys",
    "explore_levels",
]
