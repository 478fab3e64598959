"""Reports made in the process of a test run in one forked from a process that has imported the large packages.

The canary reports, and a few of `test_report_build.py`, run in kernels as an office's do.
"""

from collections.abc import Iterator

import pytest
from warm_kernels import forked_notebooks


@pytest.fixture(autouse=True, scope="session")
def forked() -> Iterator[None]:
    with forked_notebooks():
        yield
