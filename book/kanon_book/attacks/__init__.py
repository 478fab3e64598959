"""What an intruder learns who knows how a file was protected: attacks whose results the chapter on them shows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
