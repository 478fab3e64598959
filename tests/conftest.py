"""What all tests share."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from canaries import Reports
from hypothesis import settings

from kanon_lab.loading import load_jsonschema

load_jsonschema()  # before anything else does, which would take a second or two

# So many random files for each property; a test that says another number says it for itself.
EXAMPLES = 300 if "KANON_LAB_SLOW" in os.environ else 30
settings.register_profile("tests", settings(), max_examples=EXAMPLES, deadline=None)
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("KANON_LAB_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Path of a real data file by its name; skips where it is absent, since none is part of the repository."""

    def find(name: str) -> Path:
        path = SHARED / "data" / name
        if not path.is_file():
            pytest.skip(f"needs the real file {name}: set KANON_LAB_SHARED to the folder above its data/")
        return path

    return find


@pytest.fixture(scope="session")
def audited_once() -> Iterator[None]:
    """Each source is audited once in a process, unless counts are given; what a caller gets is its own."""
    from kanon_book.studies import verdicts

    afresh = verdicts._audit_source
    once = cache(lambda source: afresh(source, None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            verdicts, "_audit_source", lambda source, counts: once(source) if counts is None else afresh(source, counts)
        )
        yield


@pytest.fixture(scope="session")
def canary_reports(tmp_path_factory, request) -> Reports:
    """Reports on a survey of marked values, made once for all processes that test."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base
    folder = shared / "canaries"
    folder.mkdir(exist_ok=True)
    return Reports(folder)
