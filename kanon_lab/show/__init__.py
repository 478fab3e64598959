"""Sections, charts, explorers for JupyterLab, and what a page needs: all from finished frames, never from microdata.

The charts need altair (``pip install 'kanon-lab[lab]'``), the explorers ipywidgets too; altair loads with the first
function of either that is named. Every chart says what it shows in its title and its ``description``, the alternative
text, and `figure` makes it fit a page. An explorer (``explore...``) has the controls of a chart, and needs a running
kernel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
