"""Charts, explorers for JupyterLab, and what a page needs, all from finished result frames: never from microdata.

The charts need altair (``pip install 'kanon-lab[report]'``), the explorers ipywidgets too (``[book]``); both load when
a function is called. Every chart says what it shows in its title and its ``description``, the alternative text, and
`figure` makes it fit a page. An explorer (``explore...``) has the controls of a chart, and needs a running kernel.
"""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "anonymity": "explore explorer",
        "bars": "class_sizes contributions risk_distribution",
        "controls": "Explorer",
        "keys": "explore_keys key_explorer",
        "levels": "explore_levels level_explorer nodes",
        "page": "Figure enable figure scrolling_table",
        "risk_map": "explore_recipes risk_utility tradeoff_explorer",
    },
)
