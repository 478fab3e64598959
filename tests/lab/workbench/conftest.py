"""Workbenches without a browser: their widgets are moved by Python, as a page would."""

from __future__ import annotations

import pytest

from kanon_lab import load_microdata
from kanon_lab.workbench.page import Workbench


@pytest.fixture(autouse=True)
def places_of_its_own(tmp_path, monkeypatch):
    """Drafts and files of a test are its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    load_microdata("health-survey").head(300).to_csv("survey.csv", index=False)


@pytest.fixture
def opened():
    """A function that opens a file in a workbench."""

    def open_file(file: str, language: str = "en") -> Workbench:
        bench = Workbench(language)
        bench.places["file"].open(file)
        bench.wait()
        assert bench.session is not None, bench._line.value
        return bench

    return open_file
