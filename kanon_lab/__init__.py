"""Anonymity of microdata and of populations: measures, published studies recomputed, and reports."""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("kanon-lab")
    return _load(name)
