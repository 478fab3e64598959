"""The workbench: from a file to its release by clicking; what it writes is what the commands write."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
