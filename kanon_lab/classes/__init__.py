"""Equivalence classes of a microdata file: the class table, from which every other measure is taken."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
