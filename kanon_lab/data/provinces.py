"""The provinces of Spain as INE codes them: the first two digits of a municipality's code."""

import csv
from pathlib import Path


def _read() -> dict[str, str]:
    with (Path(__file__).parent / "provinces.csv").open(encoding="utf-8", newline="") as table:
        return {row["code"]: row["name"] for row in csv.DictReader(table)}


PROVINCES = _read()
"""Name by two-digit code; the autonomous cities Ceuta and Melilla count as provinces, as in INE's tables."""
