"""The examples in docstrings are true: each is run, and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kanon_book
import kanon_lab

PACKAGES = [Path(package.__file__).parent for package in (kanon_lab, kanon_book)]
MODULES = [path for folder in PACKAGES for path in sorted(folder.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
# They are about files, pages and notebooks that an example does not have.
WITHOUT = """fetch national_totals read_counts read_exercises read_microdata write_microdata check_parameters
find_notebooks of_failed_run recorded run_notebook read_recipe write_recipe as_config make_report open_run read_config
analyse section enable explorer compare_reconstructions""".split()


def public_functions() -> dict[str, object]:
    """By room and name, what the rooms export."""
    names = [f"{folder.name}.{each.name}" for folder in PACKAGES for each in pkgutil.iter_modules([str(folder)])]
    rooms = [importlib.import_module(name) for name in names]
    found = {f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())}
    return {name: each for name, each in found.items() if inspect.isfunction(each)}


def test_every_public_function_has_an_example():
    absent = [name for name, each in public_functions().items() if ">>> " not in (each.__doc__ or "")]
    assert [name for name in absent if name.rpartition(".")[2] not in WITHOUT] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_examples_are_true(path, tmp_path, monkeypatch, request):
    if path.parent.name == "course":
        request.getfixturevalue("sound_exercises")
    package = next(folder for folder in PACKAGES if folder in path.parents)
    parts = path.relative_to(package.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    monkeypatch.chdir(tmp_path)  # they need no file
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    # As in the examples of numpy and pandas themselves, these are taken for imported.
    given = {"np": np, "pd": pd, "kanon_lab": kanon_lab, "kanon_book": kanon_book}
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=given):
        runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert runner.tries and "# doctest: +SKIP" not in path.read_text("utf-8")
