"""Making a report: its notebook is run, its page and protected file written; of a failure no word that quotes data."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from kanon_lab import files
from kanon_lab.engines.source import check_engine
from kanon_lab.errors import (
    DataError,
    KanonLabError,
    OptionError,
    StorageError,
    encodable,
    inside,
    names_only,
    shortened,
    visible,
)
from kanon_lab.folders import held_folder
from kanon_lab.notebooks import NotebookError, of_failed_run, recorded, run_notebook
from kanon_lab.notebooks.recording import find_notebooks, read_notebook
from kanon_lab.report.config import ReportConfig
from kanon_lab.report.safe import shown_settings
from kanon_lab.report.sections import SECTIONS
from kanon_lab.report.words import Words
from kanon_lab.show.page import sections_style
from kanon_lab.show.parts import render_template

_NOTEBOOK = "report"
# In the working folder: names of steps as they begin, and the folder of the protected file.
_STEPS, _RELEASE = "steps.txt", "release"
_MOST_BYTES = 2_000_000
# Systems have 255 at most; drafts and notebooks of failed runs have longer names.
_LONGEST_NAME = 200
_PRIVATE = 0o600
_SECONDS_BETWEEN = 0.2
# Characters that change the direction of text are shown as codes, so that no name or title changes how a page reads.
_TURNING = {code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def report_page(executed: str | Path, *, title: str, language: str, banner: str = "") -> str:
    """The page of an executed notebook: pictures, tables and texts, none of its code; with a banner on every screen."""
    outputs = [output for cell in read_notebook(executed).cells for output in cell.get("outputs", [])]
    # HTML only: no words of warnings, no errors, no plain text
    shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    words = Words(language)
    page = render_template(
        "report/templates/page.html",
        title=title,
        language=language,
        banner=banner,
        style=sections_style(),
        outputs=shown,
        sections=[
            (name, words.say(f"h_{name}"))
            for name in SECTIONS
            if any(html.startswith(f'<h2 id="{name}">') for html in shown)
        ],
    )
    return page.translate(_TURNING)


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes
    ----------
    path : Path
        The page.
    parameters : dict
        Name of the file, and the settings of the configuration without what may be categories of the data.
    seconds : float
        What it took.
    judged : dict
        The verdict: ``limits``, ``met`` and ``cautions``.
    protected : dict or None
        ``file``, ``sha256`` (None of a folder) and ``records`` of the protected file; the last two None where it was
        not to be written (`only_met`, `only_without_cautions`). None where none was asked for.
    engine : str
        What counted the records.
    notes : tuple of str
        What was noted in reading the file, for the office.
    """

    path: Path
    parameters: dict[str, Any]
    seconds: float
    judged: dict[str, Any]
    protected: dict[str, Any] | None = None
    engine: str = "memory"
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether every limit is met."""
        return self.judged["met"]


def make_report(
    file: str | Path,
    config: ReportConfig,
    out: str | Path,
    *,
    protected: str | Path | None = None,
    overwrite: bool = False,
    only_met: bool = False,
    only_without_cautions: bool = False,
    internal: bool = False,
    progress: bool = False,
    engine: str = "memory",
    spill: str | Path | None = None,
) -> Report:
    """Make the report on a microdata file: one HTML page without a record in it, which needs no network.

    With it, the protected file: the same bytes that `kanon-lab protect` writes. Both are there in the end, or neither.

    Parameters
    ----------
    file : str or Path
        A microdata file, or the name of a data set, as `kanon_lab.data.read_file` takes it.
    config : ReportConfig
        As `kanon_lab.report.read_config` gives it.
    out : str or Path
        The page to write, ending in ``.html``; only its owner may read it. An older one is replaced.
    protected : str or Path, optional
        The protected file to write, in a format of `kanon_lab.data.write_microdata`.
    overwrite : bool
        Whether to replace a protected file that holds something else.
    only_met : bool
        Whether to write it only where every limit is met. The page is written all the same.
    only_without_cautions : bool
        Whether to write it only where no caution is given, likewise.
    internal : bool
        Whether the page is for the office only: it is marked so, and has every setting, what each category became, and
        the key values at the highest risk.
    progress : bool
        Show on a terminal which step runs.
    engine : str
        One of `kanon_lab.engines.ENGINES`. By another than ``memory`` a file or folder of parts, however large, is
        counted and never read whole; measures that need single records, and a map of recipes, are left out, and
        the page says so; steps that need records are refused.
    spill : str or Path, optional
        Where an engine puts what does not fit into memory, as in `kanon_lab.engines.count_records`.

    Raises
    ------
    NotebookError
        A step failed. Its executed notebook, without what the error may quote, is kept beside the page as
        ``NAME.failed.ipynb``.
    """
    began = time.perf_counter()
    out, target = Path(out), None if protected is None else Path(protected)
    by_engine = check_engine(engine) != "memory"
    source = _located(file, by_engine)
    options: dict[str, Any] = {"called": config.recipe.name}
    if by_engine:
        from kanon_lab.report.large import engine_options

        with names_only(Path(file), *([target] if target else [])), inside(config.recipe.name):
            options["counted"] = engine_options(file, config.recipe, target, engine, spill)
    elif (limit := files.limit()) is not None:
        options["reading"] = {"max_bytes": limit}
    for path in (source, out, *([target] if target else [])):
        if not encodable(str(path.absolute())):
            raise OptionError(f"{path.name}: its path is not text in UTF-8; rename its file and folders, or move it")
    check_targets(out, target, file, config)
    kept = _kept_beside(out)
    released: dict[str, Any] | None = None
    if target is not None:
        released = {"file": str(target), "sha256": None, "records": None}
    with held_folder() as folder, _draft_folder(target if by_engine else None) as beside:
        draft = None if target is None else Path(beside or folder / _RELEASE, target.name)
        if draft is not None:
            draft.parent.mkdir(exist_ok=True)
            options["protected"] = str(draft)
        parameters = {"file": str(source), "configuration": config.settings, "internal": internal, "options": options}
        executed = _executed(folder, parameters, kept, progress)
        results = recorded(executed)
        marked = Words(config.language).say("internal_banner") if internal else ""
        page = report_page(executed, title=results["title"], language=config.language, banner=marked)
        if (size := len(page.encode())) > _MOST_BYTES:
            raise OptionError(f"{out.name}: would have {size:,} bytes, more than {_MOST_BYTES:,}; remove columns")
        judged = results["judged"]
        withheld = (only_met and not judged["met"]) or (only_without_cautions and judged["cautions"])
        if target is None or draft is None or withheld:
            _write(out, page)
        else:
            with _placed(draft, target, overwrite, moved=by_engine):
                _write(out, page)
            digest = files.sha256(target) if target.is_file() else None
            released = {"file": str(target), "sha256": digest, "records": results["records"]}
    with suppress(OSError, KanonLabError):  # the page is there, whatever becomes of the leavings of an older run
        if of_failed_run(kept):
            kept.unlink()
    settings = {"file": source.name, **shown_settings(config.shown), "seed": config.recipe.seed}
    seconds = round(time.perf_counter() - began, 3)
    return Report(out, settings, seconds, results["judged"], released, engine, tuple(results["notes"]))


def check_targets(
    out: Path,
    target: Path | None,
    file: str | Path,
    config: ReportConfig,
    others: Iterable[tuple[str, str | Path]] = (),
) -> None:
    """Raise an error, before minutes of work, where page or protected file cannot be written or would replace an input.

    Inputs are the file, hierarchy files of the configuration and `others`, each with what to call it.
    """
    from kanon_lab.data.sets import DATA_SETS

    source = DATA_SETS[str(file)].path if str(file) in DATA_SETS else file
    inputs = [("the input", source), *others, *((f"the {kind}", path) for path, kind in config.files.items())]
    if out.suffix.lower() != ".html":
        raise OptionError(f"{out.name}: the name of a report must end in .html")
    if len(out.name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        raise OptionError(f"{shortened(out.name)}: a name of more than {_LONGEST_NAME} bytes; choose a shorter one")
    with names_only(out, out.absolute()):
        files.refuse_inputs(out, inputs)
    for path in (out, _kept_beside(out)):
        with files.storage_errors(out.name):
            folder = path.is_dir()
        if folder:
            raise StorageError(f"{path.name}: is a folder; choose another name, or remove it")
    if not out.absolute().parent.is_dir():
        raise StorageError(f"{out.name}: its folder does not exist; create it or choose another place")
    if target is not None:
        from kanon_lab.data.writing import check_target

        with names_only(target, target.absolute()):
            check_target(target)
            files.refuse_inputs(target, [*inputs, ("the page", out)])


def _kept_beside(out: Path) -> Path:
    """Where the notebook of a failed run is kept."""
    return out.with_name(f"{out.stem}.failed.ipynb")


def _located(file: str | Path, by_engine: bool) -> Path:
    """Where the file is, which must hold something; of a data set its name."""
    from kanon_lab.data.sets import DATA_SETS

    if str(file) in DATA_SETS:
        return Path(file)
    path = Path(file).absolute()
    with names_only(path):
        if not (by_engine and path.is_dir()):
            files.check_file(path)
            if not path.stat().st_size:
                raise DataError(f"{path}: is empty; make or download it again")
    return path


def _executed(folder: Path, parameters: dict[str, Any], kept: Path, progress: bool) -> Path:
    """Run the notebook in a folder that only its owner may enter; of a failed run a stripped copy is kept."""
    target, steps = folder / f"{_NOTEBOOK}.ipynb", folder / _STEPS
    parameters["options"]["steps"] = str(steps)
    try:
        with _step_shown(steps, Path(parameters["file"]).name, progress), _quiet("papermill"):
            run_notebook(find_notebooks()[_NOTEBOOK], target, parameters, private=True)
    except NotebookError as error:
        reason = error.reason or f"an unexpected {type(error).__name__}"
        failed = target.with_name(f"{_NOTEBOOK}.failed.ipynb")
        line = f"{reason} (step: {last_step(steps)}; no report was written{_keep(failed, kept)})"
        raise NotebookError(line, reason) from None
    except KanonLabError as error:
        raise type(error)(str(error).replace(f"{folder}/", "")) from None
    return target


def last_step(steps: Path) -> str:
    """The last step that the notebook has named."""
    lines = steps.read_text("utf-8").splitlines() if steps.exists() else []
    return lines[-1] if lines else "start Python"


def _keep(failed: Path, kept: Path) -> str:
    """Keep the notebook of a failed run, and say where."""
    if not failed.exists():
        return ""
    if files.status(kept) is not None and not of_failed_run(kept):
        return f"; its notebook was not kept, since {kept.name} is another file"
    try:
        _write(kept, failed.read_text("utf-8"))
    except StorageError:
        return f", and {kept.name} could not be kept"
    return f"; the executed notebook is kept beside it: {kept.name}"


def _draft_folder(target: Path | None) -> AbstractContextManager[Path | None]:
    """A folder beside the protected file, for its draft, which may be too large to be copied; None without a file."""
    return nullcontext() if target is None else held_folder(target.absolute().parent, hidden=True)


@contextmanager
def _placed(draft: Path, target: Path, overwrite: bool, *, moved: bool = False) -> Iterator[None]:
    """Put the protected file, or folder of parts, into its place where the block, which writes the page, ends well."""
    from kanon_lab.data.writing import refuse_another

    with names_only(target):
        if not overwrite:
            refuse_another(draft, target)
        if moved:
            with files.storage_errors(target):
                yield
                if target.exists() and draft.is_dir():
                    target.unlink()
                elif target.exists():
                    draft.chmod(target.stat().st_mode & 0o777)
                draft.replace(target)
            return
        with files.atomic_path(target) as beside:
            shutil.copyfile(draft, beside)
            yield


def _write(path: Path, text: str) -> None:
    """Write a text that only its owner may read, whole or not at all."""
    with names_only(path), files.atomic_path(path, mode=_PRIVATE) as draft:
        draft.write_text(text, "utf-8")


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger, which would repeat the error of a process that dies."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _step_shown(steps: Path, name: str, progress: bool) -> Iterator[None]:
    """Show on standard error, if that is a terminal, the step that a notebook said last."""
    from tqdm import tqdm

    name = visible(name)
    with tqdm(bar_format="{desc} [{elapsed}]", desc=name, disable=None if progress else True, leave=False) as bar:
        done = Event()

        def show() -> None:
            while not done.wait(_SECONDS_BETWEEN):
                bar.set_description_str(f"{name}: {last_step(steps)}")

        if not bar.disable:
            Thread(target=show, daemon=True).start()
        try:
            yield
        finally:
            done.set()
