"""What the notebook of a report begins with: its file and configuration, and steps that let no value of them out."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab.errors import KanonLabError, about
from kanon_lab.recipes.yaml_file import parse_yaml
from kanon_lab.report.config import ReportConfig, as_config, names_only
from kanon_lab.report.shapes import check_named

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile
    from kanon_lab.recipes.chain import Protection

#: File of the working folder to which the names of steps are written as they begin.
STEPS = "steps.txt"
#: Folder in it for the protected file.
RELEASE = "release"
_EXAMPLE_FILE, _EXAMPLE = "health-survey", "example.yml"


class StepError(KanonLabError):
    """A step of a report that ended by an error which was not foreseen."""


@dataclass(frozen=True)
class Run:
    """One run of the notebook: a file, its configuration, and whether the report is for the office only.

    Names of steps are written to the file `steps`, and the release to the file `protected`, where there are such.
    """

    file: MicrodataFile
    config: ReportConfig
    steps: Path | None = None
    protected: Path | None = None
    internal: bool = False

    def say(self, step: str) -> None:
        """Tell who waits for the report which step begins."""
        _say(self.steps, step)

    def write(self, protection: Protection) -> None:
        """Write the protected file, where one is asked for."""
        if self.protected is not None:
            from kanon_lab.recipes.released import write_release

            self.protected.parent.mkdir()
            with names_only(self.protected):
                write_release(protection, self.protected)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Do a step; of an error that was not foreseen only its type goes on, since its words may hold values."""
        with about(self.file.found["name"]), names_only(*self.config.hierarchies), _step(self.steps, name):
            yield


def opened(request: str = "") -> Run:
    """Read the file that a report is asked for.

    `request` is the name of a JSON file in the working folder: ``folder`` and ``name`` of the microdata file, the
    ``configuration`` as YAML, and ``where``, what to call that; ``protected``, the name of the file to write the
    release to in the folder `RELEASE`, and whether it is ``internal``; ``reading``, what holds instead of its options.
    "" is an embedded survey and a small configuration.
    """
    from kanon_lab.data.microdata import read_file

    if not request:
        text = resources.files(__package__).joinpath(_EXAMPLE).read_text("utf-8")
        return Run(read_file(_EXAMPLE_FILE), as_config(parse_yaml(text, _EXAMPLE), where=_EXAMPLE))
    warnings.simplefilter("ignore")  # some quote values
    steps = Path(STEPS).absolute()
    with _step(steps, "read the file"):
        asked = json.loads(Path(request).read_text("utf-8"))
        config = as_config(parse_yaml(asked["configuration"], asked["where"]), where=asked["where"])
        with chdir(asked["folder"]):  # so that errors call the file by its name
            file = read_file(asked["name"], **(config.reading | asked.get("reading", {})))
        check_named(file, asked["name"])
        with about(asked["name"]):
            config.recipe.check(file)
    protected = Path(RELEASE, asked["protected"]).absolute() if asked.get("protected") else None
    return Run(file, config, steps, protected, internal=asked.get("internal", False))


def _say(steps: Path | None, step: str) -> None:
    if steps is not None:
        with steps.open("a", encoding="utf-8") as told:
            told.write(f"{' '.join(step.split())}\n")


@contextmanager
def _step(steps: Path | None, name: str) -> Iterator[None]:
    _say(steps, name)
    try:
        yield
    except KanonLabError:
        raise
    except MemoryError:
        raise StepError("not enough memory; close other programs, or take fewer columns or records") from None
    except Exception as error:
        raise StepError(f"an unexpected {type(error).__name__}") from None
