"""Measures of a file: risk of re-identification, diversity of sensitive values, and what a release has lost."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
