"""The workbench: from a file to its release by clicking, as a page of this machine and in JupyterLab."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
