"""The two tiers of the suite: what is marked slow is run by `make test-all` (pytest --all) alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def others_slow(cases: Iterable[Any]) -> list[Any]:
    """Cases of a parametrised test: the first runs always, the others with all that is slow."""
    first, *others = cases
    return [
        first,
        *(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in others),
    ]
