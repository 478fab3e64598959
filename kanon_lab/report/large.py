"""A file that an engine counts for a report: it is opened, and the names of its columns looked at, never read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_lab import files
from kanon_lab.data.microdata import located, read_file
from kanon_lab.engines.release import opened_records
from kanon_lab.engines.source import first_lines, first_part, need, spill_root
from kanon_lab.errors import KanonLabError
from kanon_lab.folders import held_folder
from kanon_lab.recipes.streamed import check_streamed, counting
from kanon_lab.report.shapes import check_named

if TYPE_CHECKING:
    from kanon_lab.engines.release import Records
    from kanon_lab.recipes.plan import Plan


@dataclass(frozen=True)
class LargeFile:
    """A file or folder of parts, or a data set.

    `options` are ``engine``, ``memory`` and ``spill`` of `kanon_lab.engines.release.opened_records`.
    """

    path: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.name

    @property
    def found(self) -> dict[str, Any]:
        """What is known of it before it is counted."""
        return {"name": self.name}

    @property
    def paths(self) -> list[Path]:
        """It, and the folder that takes what does not fit into memory."""
        return [Path(located(self.path)[0]), *([Path(self.options["spill"])] if self.options.get("spill") else [])]

    @contextmanager
    def opened(self, plan: Plan, say: Callable[[str], None]) -> Iterator[Records]:
        """Hold it open, counted for a plan; `say` is called with the name of each step before it begins."""
        self._check_named(plan)
        say("count the records")
        options = {name: value for name, value in self.options.items() if value}
        with opened_records(self.path, **counting(plan, plan.spec.numeric_variables) | options) as records:
            yield records

    def _check_named(self, plan: Plan) -> None:
        """The first row of a csv file must hold names: a page shows them."""
        part = first_part(located(self.path)[0])
        if files.file_format(part) != "csv":
            return
        with held_folder() as folder:
            head = folder / "head.csv"
            with files.storage_errors(folder.parent):
                head.write_bytes(first_lines(part))
            try:
                read = read_file(head, **plan.reading)
            except KanonLabError:  # the engine says what is wrong with a file, and where; here it may be cut in a cell
                return
        check_named(read, self.name)


def engine_options(
    file: str | Path, plan: Plan, target: Path | None, engine: str, spill: str | Path | None
) -> dict[str, Any]:
    """Options of a `LargeFile`; an error, before minutes of work, where the engine cannot do what is asked for."""
    need({"duckdb": "duckdb", "spark": "pyspark"}[engine], engine)
    check_streamed(plan, file, target)
    where = None if spill is None else str(spill_root(spill))
    return {"engine": engine, "memory": files.limit(), "spill": where}
