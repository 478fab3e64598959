"""What only the four studies need: their published figures and the audit, the inverse problem, the synthetic census."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
