"""Explorers for JupyterLab: controls over the functions of other rooms, with no statistics of their own.

They need ipywidgets and altair (``pip install 'kanon-lab[book]'``) and a running kernel. In a published page, which has
none, `kanon_lab.charts.explorer`, `key_explorer`, `level_explorer`, `tradeoff_explorer` and `detail_explorer`
take their place.
"""

from kanon_lab.widgets.anonymity import AnonymityExplorer, explore
from kanon_lab.widgets.keys import KeyExplorer, explore_keys
from kanon_lab.widgets.levels import LevelExplorer, explore_levels
from kanon_lab.widgets.subsample import DetailExplorer, explore_detail
from kanon_lab.widgets.tradeoff import RecipeExplorer, explore_recipes

__all__ = [
    "AnonymityExplorer",
    "DetailExplorer",
    "KeyExplorer",
    "LevelExplorer",
    "RecipeExplorer",
    "explore",
    "explore_detail",
    "explore_keys",
    "explore_levels",
    "explore_recipes",
]
