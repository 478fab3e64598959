"""Copy the notebooks to workspace/, where `make lab` opens them: the committed ones must stay without outputs.

A copy that exists is the reader's work and stays. When the committed notebook has changed since, the old copy is kept
under a name with the time, and the new notebook takes its place.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from kanon_lab.notebooks import find_notebooks

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace"


def main() -> None:
    WORKSPACE.mkdir(exist_ok=True)
    for name, source in find_notebooks().items():
        base, copy = WORKSPACE / ".copied" / source.name, WORKSPACE / source.name
        if copy.exists() and base.exists() and base.read_bytes() == source.read_bytes():
            continue
        if copy.exists():
            kept = copy.with_name(f"{name}-until-{time.strftime('%Y%m%d-%H%M%S')}.ipynb")
            copy.rename(kept)
            print(f"{source.name} has changed: your copy is now {kept.name}")
        base.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, copy)
        shutil.copyfile(source, base)
    print(f"Notebooks to work on: {WORKSPACE}")


if __name__ == "__main__":
    main()
