"""The texts of the sources, for what is held against them."""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def source_text(shared) -> Callable[[str], str]:
    """The text of a source by its file name; skips where it is absent, since none is part of the repository."""

    def read(name: str) -> str:
        path = shared("README.md").parents[1] / "sources" / name
        if not path.is_file():
            pytest.skip(f"needs the text {name}: set KANON_LAB_SHARED to the folder above its sources/")
        return path.read_text(encoding="utf-8")

    return read
