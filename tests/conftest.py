"""What all tests share."""

import os
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from canaries import Reports
from cases import sound
from hypothesis import is_hypothesis_test, settings
from processes import once

from kanon_lab.errors import DataError
from kanon_lab.loading import load_jsonschema

load_jsonschema()  # before anything else does, which would take a second or two

# So many random files for each property; a test that says another number says it for itself.
settings.register_profile("tests", settings(), max_examples=12, deadline=None)
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("KANON_LAB_SHARED", ROOT.parent / "shared"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        default="KANON_LAB_SLOW" in os.environ,
        help="run the tests marked slow too, and ten times the random files (also: KANON_LAB_SLOW=1)",
    )


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait for kernels, browsers and commands a third of their time."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--all``, ten times the random files; else nothing slow, unless tests are chosen by marks (``-m slow``)."""
    if config.getoption("all"):
        for function in {getattr(item.obj, "__func__", item.obj) for item in items if is_hypothesis_test(item.obj)}:
            own = function._hypothesis_internal_use_settings  # Hypothesis keeps them under no public name
            function._hypothesis_internal_use_settings = settings(own, max_examples=10 * own.max_examples)
    elif not config.getoption("markexpr"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def shared() -> Callable[..., Path]:
    """Path of a real data file by its name; skips where it is absent, since none is part of the repository."""

    def find(name: str, folder: str = "data") -> Path:
        path = SHARED / folder / name
        if not path.is_file():
            pytest.skip(f"needs the real file {name}: set KANON_LAB_SHARED to the folder above its {folder}/")
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
def common(tmp_path_factory, request) -> Callable[[str], Path]:
    """A folder by its name, the same for all processes that test."""
    base = tmp_path_factory.getbasetemp()

    def make(name: str) -> Path:
        folder = (base.parent if hasattr(request.config, "workerinput") else base) / name
        folder.mkdir(exist_ok=True)
        return folder

    return make


@pytest.fixture(scope="session")
def canary_reports(common) -> Reports:
    """Reports on a survey of marked values, made once for all processes that test."""
    return Reports(common("canaries"))


@pytest.fixture(scope="session")
def solved(common) -> Callable[[Path], list]:
    """The exercises of a file, solved once for all processes that test."""
    from kanon_book.course import solved_file

    def solve(path: Path) -> list | str:
        try:
            return solved_file(path)
        except DataError as error:
            return str(error)

    def read(path: Path) -> list:
        kept = common("solved") / path.stem
        once(kept, lambda: kept.write_bytes(pickle.dumps(solve(path))))
        result = pickle.loads(kept.read_bytes())
        with sound():
            if isinstance(result, str):
                raise DataError(result)
        return result

    return read


@pytest.fixture
def sound_exercises(solved: Callable[[Path], list]) -> None:
    """Skip the test where a file of exercises cannot be read, or the first one not be solved."""
    from kanon_book.course import find_exercises, read_exercises

    paths = [*find_exercises().values()]
    with sound():
        solved(paths[0])
        for path in paths:
            read_exercises(path)
