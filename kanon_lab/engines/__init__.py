"""Engines that count the records of files too large for memory: DuckDB and Spark. They group and join, nothing else."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "counting": "CountedFile count_frame count_records",
        "saved": "load_counts save_counts",
        "source": "ENGINES choose_engine",
    },
)
