"""Protection of a file: a chain of steps with risk and utility after each, recipes, and the map of many recipes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
