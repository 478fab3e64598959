"""Pieces of Python that pages print beside R: each runs as it is printed."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "book").glob("*.md"))
BOX = re.compile(r":::\{admonition\} The same in R and in Python\n.*?```python\n(.*?)```", re.DOTALL)
BOXES = [(page.stem, code) for page in PAGES for code in BOX.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize("code", [code for _, code in BOXES], ids=[name for name, _ in BOXES])
def test_python_beside_r_runs(code):
    names = {}
    exec(code, names)
    assert len(names["survey"])


def test_the_chapters_on_methods_and_risk_have_r():
    chapters = {"recoding", "suppression", "perturbation", "sample-risk", "households", "rare"}
    assert chapters <= {name for name, _ in BOXES}
