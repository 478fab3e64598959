"""The course that the chapters make: its order, and exercises with what solves and checks them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
