"""The examples in docstrings are true: each is run, and prints what it says."""

import doctest
import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kanon_lab

PACKAGE = Path(kanon_lab.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_are_true(path, tmp_path, monkeypatch):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    monkeypatch.chdir(tmp_path)  # they need no file
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    # As in the examples of numpy and pandas themselves, these two are taken for imported.
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"np": np, "pd": pd}):
        runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
