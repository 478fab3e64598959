"""Notebooks behind the chapters: as the book ran them, and run again; files of users."""

import numpy as np
import pandas as pd
import pytest
from warm_kernels import forked_notebooks

from kanon_book.places import EXECUTED
from kanon_lab.notebooks import find_notebooks, recorded, run_notebook

NOTEBOOKS = find_notebooks()


@pytest.fixture
def run(tmp_path):
    """Run a notebook with parameters and return what it recorded."""

    def call(name, **parameters):
        target = tmp_path / f"{name}.ipynb"
        with forked_notebooks():
            run_notebook(NOTEBOOKS[name], target, parameters)
        return recorded(target)

    return call


@pytest.fixture(scope="session")
def book():
    """What each executed notebook of the built book recorded."""
    if not EXECUTED.is_dir():
        pytest.skip("the book is not built: run make book")
    return {path.stem: recorded(path) for path in EXECUTED.glob("*.ipynb")}


@pytest.fixture(scope="session")
def towns(tmp_path_factory):
    """A small population as a user's own csv: three places of two provinces."""
    ages = [f"{a}-{a + 4}" for a in range(0, 85, 5)] + ["85+"]
    rng = np.random.default_rng(3)
    rows = [
        {"place": place, "name": f"Town {place}", "sex": sex, "age_group": age, "persons": int(rng.poisson(mean))}
        for place, mean in (("10001", 5), ("10002", 80), ("20001", 900))
        for sex in ("women", "men")
        for age in ages
    ]
    path = tmp_path_factory.mktemp("counts") / "towns.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def shops(tmp_path_factory):
    """A user's own file: other variables, gaps, no weight, no household."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"area": rng.choice(list("NSEW"), 300), "size": rng.integers(1, 60, 300)})
    frame["owner"] = rng.choice(["family", "chain"], 300)
    frame["fined"] = rng.choice(["CANARY-yes", "no", "no"], 300)
    frame.loc[rng.random(300) < 0.05, "owner"] = None
    path = tmp_path_factory.mktemp("microdata") / "shops.csv"
    frame.to_csv(path, index=False)
    return path
