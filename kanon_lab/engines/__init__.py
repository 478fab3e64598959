"""Engines that count the records of files too large for memory: DuckDB and Spark. They group and join, nothing else."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
