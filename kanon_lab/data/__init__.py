"""Data sets: their catalogue, readers of population counts and of microdata, downloads, and what the package embeds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
