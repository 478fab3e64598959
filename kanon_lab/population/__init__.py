"""Anonymity of a population known only as counts: expectation, exact variance, simulation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
