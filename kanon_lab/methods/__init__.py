"""Methods of protection: recoding and hierarchies, suppression, perturbation, generalisation of whole files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
