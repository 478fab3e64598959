"""How long the workbench takes to answer: ``python benchmarks/workbench.py [25k] [1m] [--repeats 3]``.

It drives a session as the page does. For each change the medians over the repeats, each with a session of its own:
seconds until the first numbers (none are waited for where a result is still there), until the whole verdict, and of the
processor; and those that the sections of *Risk* and *Compare* take, which the page computes after the verdict.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from generators import sample

from kanon_lab.workbench import Draft, Session

#: Name of a change -> what it makes of the draft; None takes the last one back.
Changes = dict[str, Callable[[Draft], Draft] | None]
BANDS = {"variable": ["rph_edad"], "width": 10}


def census(session: Session) -> Changes:
    """Changes of the embedded survey: 25 thousand records, 22 columns."""
    return {
        "usual limits": lambda draft: draft.with_settings(limits=session.usual_limits()),
        "role, none": lambda draft: draft.with_role("VarStrat", "released_as_is"),
        "role, sensitive": lambda draft: draft.with_role("P3_1_1", "sensitive_variables"),
        "undo role": None,
        "remove": lambda draft: draft.with_role("Conglomerado", "remove_variables"),
        "recode": lambda draft: draft.with_step("recode", BANDS),
        "recode again": lambda draft: draft.with_step("recode", {**BANDS, "width": 20}, 1),
        "shuffle": lambda draft: draft.with_step("shuffle_records", {}),
        "undo shuffle": None,
        "limit on k": lambda draft: draft.with_limit("k", 5),
        "undo limit": None,
        "suppress": lambda draft: draft.with_step("suppress", {"k_required": 3}),
        "role, suppressed": lambda draft: draft.with_role("P8_1_1", "sensitive_variables"),
        "undo role, suppressed": None,
        "undo suppress": None,
    }


def large(session: Session) -> Changes:
    """Changes of a million records, 8 columns."""
    return {
        "usual limits": lambda draft: draft.with_settings(limits=session.usual_limits()),
        "role": lambda draft: draft.with_role("occupation", "key_variables"),
        "undo role": None,
        "recode": lambda draft: draft.with_step("recode", {"variable": ["age"], "width": 3}),
        "remove": lambda draft: draft.with_role("birthplace", "remove_variables"),
        "limit on k": lambda draft: draft.with_limit("k", 5),
        "shuffle": lambda draft: draft.with_step("shuffle_records", {}),
        "undo shuffle": None,
        "suppress": lambda draft: draft.with_step("suppress", {"k_required": 3}),
        "undo suppress": None,
    }


def census_session() -> Session:
    return Session("enusc-synthetic")


def large_session() -> Session:
    path = Path(tempfile.gettempdir(), f"kanon-lab-bench-{os.getpid()}.parquet")
    sample(1_000_000).drop(columns=["home", "activity"]).to_parquet(path)
    try:
        session = Session(path)
    finally:
        path.unlink()
    keys = ["region", "age", "sex", "marital", "birthplace"]
    session.change(Draft({"key_variables": keys, "sensitive_variables": ["sens"], "weight": "w", "seed": 1}))
    return session


FILES = {"25k": (census_session, census), "1m": (large_session, large)}
FOUND = ("first", "verdict", "processor", "sections")


def timed(session: Session, changes: Changes) -> Iterator[tuple[str, dict[str, float]]]:
    """Each change with what it took."""
    session.judge()
    for name, change in changes.items():
        if change is None:
            session.undo()
        else:
            session.change(change(session.draft))
        early: list[float] = []
        start, cpu = time.perf_counter(), time.process_time()
        result = session.judge(early=lambda *_, early=early: early.append(time.perf_counter()))
        end, busy = time.perf_counter(), time.process_time() - cpu
        session.analyse(result, lambda step: None)
        seconds = [*early, end][0] - start, end - start, busy, time.perf_counter() - end
        yield name, dict(zip(FOUND, seconds, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"all of them if absent: {' '.join(FILES)}")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kanon-lab-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = folder  # drafts are kept here
        next(timed(*_of(Session("health-survey"))))  # imports
        for file in options.files or FILES:
            make, changes = FILES[file]
            found: dict[str, list[dict[str, float]]] = {}
            for _ in range(options.repeats):
                session = make()
                for name, took in timed(session, changes(session)):
                    found.setdefault(name, []).append(took)
            print(f"\n{file:24}" + "".join(f"{each:>12}" for each in FOUND), flush=True)
            for name, runs in found.items():
                medians: Any = [statistics.median(run[each] for run in runs) for each in FOUND]
                print(f"{name:24}" + "".join(f"{median:12.2f}" for median in medians), flush=True)


def _of(session: Session) -> tuple[Session, Changes]:
    return session, {"limits": lambda draft: draft.with_settings(limits=session.usual_limits())}


if __name__ == "__main__":
    main()
