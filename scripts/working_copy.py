"""Copy the notebooks to workspace/, where `make lab` opens them: the committed ones must stay without outputs.

In workspace/exercises stands a notebook for learners of each chapter that has exercises, made of its file, and beside
them the configuration with which the course project begins.

A copy that exists is the reader's work and stays. When what it was made of has changed since, the old copy is kept
under a name with the time, and the new one takes its place.
"""

from __future__ import annotations

import time
from pathlib import Path

from kanon_lab.course import find_exercises, workbook
from kanon_lab.notebooks import find_notebooks

ROOT = Path(__file__).resolve().parents[1]
WORKSPACE = ROOT / "workspace"
# Where a learner works on the course project, and what it begins with.
PROJECT, START = "school.yml", ROOT / "book" / "project-start.yml"


def main() -> None:
    for name, source in find_notebooks().items():
        keep(WORKSPACE / f"{name}.ipynb", source.read_bytes())
    for chapter in find_exercises():
        keep(WORKSPACE / "exercises" / f"{chapter}.ipynb", workbook(chapter).encode())
    keep(WORKSPACE / "exercises" / PROJECT, START.read_bytes())
    print(f"Notebooks to work on: {WORKSPACE}; exercises: {WORKSPACE / 'exercises'}")


def keep(copy: Path, content: bytes) -> None:
    """Write a file to work on, unless it was written before and has not changed."""
    base = copy.parent / ".copied" / copy.name
    if copy.exists() and base.exists() and base.read_bytes() == content:
        return
    if copy.exists():
        kept = copy.with_name(f"{copy.stem}-until-{time.strftime('%Y%m%d-%H%M%S')}{copy.suffix}")
        copy.rename(kept)
        print(f"{copy.name} has changed: your copy is now {kept.name}")
    base.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(content)
    base.write_bytes(content)


if __name__ == "__main__":
    main()
