"""Reports made in the process of a test run in a kernel that has imported the large packages."""

from collections.abc import Iterator

import pytest
from warm_kernels import warm_kernels


@pytest.fixture(autouse=True, scope="session")
def warm() -> Iterator[None]:
    with warm_kernels():
        yield
