"""The engine of the book that stands on `kanon_lab`: its course, the four studies and their audit, charts and pages."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["attacks", "course", "studies"])
