"""Cases of tests: those that are slow, and tables that are one test."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

from kanon_lab.errors import DataError


def others_slow(cases: Iterable[Any]) -> list[Any]:
    """Cases of which the first runs always, the others with all that is slow (`make test-all`)."""
    first, *others = cases
    rows = [case if isinstance(case, tuple) else (case,) for case in others]
    return [first, *(pytest.param(*row, marks=pytest.mark.slow) for row in rows)]


def in_one_test(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As ``pytest.mark.parametrize``, for a table of many rows: one test, which names every row that fails.

    Rows share what fixtures give, so that a row must not change it.
    """
    arguments, rows = names.replace(" ", "").split(","), list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @wraps(test)
        def test_of_rows(**fixtures: Any) -> None:
            faults = []
            for row in rows:
                values = row if len(arguments) > 1 else (row,)
                try:
                    test(**dict(zip(arguments, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    faults.append(f"{row!r}: {type(error).__name__}: {error}")
            assert rows
            assert not faults, f"{len(faults)} of {len(rows)} rows fail:\n" + "\n".join(faults)

        test_of_rows.__signature__ = signature.replace(
            parameters=[each for name, each in signature.parameters.items() if name not in arguments]
        )
        return test_of_rows

    return decorate


@contextmanager
def sound() -> Iterator[None]:
    """Skip the test where a file of exercises has a fault: test_a_file_has_no_fault is the one that says so."""
    try:
        yield
    except DataError as error:
        pytest.skip(f"a fault in a file of exercises: {error}")
