"""What a sample tells of its population: the subsample study (Garín i Ramírez 1996) and other estimators."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
