"""The report on one's own file: validated configuration -> notebook -> one offline HTML file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
