"""Making a report: its notebook is run, its page and protected file written; of a failure no word that quotes data."""

from __future__ import annotations

import json
import logging
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from kanon_lab import files
from kanon_lab.engines.source import check_engine
from kanon_lab.errors import DataError, KanonLabError, OptionError, StorageError, inside, shortened, visible
from kanon_lab.notebooks import NotebookError, of_failed_run, recorded, run_notebook
from kanon_lab.notebooks.recording import find_notebooks, read_notebook
from kanon_lab.notebooks.running import in_one_line, without_values
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report.config import RELEASE, STEPS, ReportConfig, names_only
from kanon_lab.report.large import draft_folder, engine_options
from kanon_lab.report.safe import shown_settings
from kanon_lab.report.words import Words
from kanon_lab.show import page as figures

NOTEBOOK = "report"
_REQUEST = "request.json"
_MOST_BYTES = 2_000_000
# Systems have 255 at most; drafts and notebooks of failed runs have longer names.
_LONGEST_NAME = 200
_PRIVATE = 0o600
_SECONDS_BETWEEN = 0.2
# The browser itself refuses whatever is not in the file; Vega makes functions out of its expressions.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
# Inside the page, so that no browser asks for a file that is not there.
_ICON = "data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27/%3E"
# What stands around a cell, and around each thing that it shows.
_CELL, _ENDS = 'class="cell border-box-sizing code_cell rendered"', "</div>\n</div>\n</div>\n"
_AREA = '<div class="output_html rendered_html output_subarea">'

# Characters that turn the direction of what follows stand as their codes: no name or title commands how a page is read.
_TURNING = {code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def report_page(executed: str | Path, *, title: str, language: str, banner: str = "") -> str:
    """The page of an executed notebook: figures, tables and texts, none of its code; with a banner on every screen."""
    body = _body(read_notebook(executed), language)
    style = f"{figures.style()}\n{(resources.files(__package__) / 'report.css').read_text('utf-8')}"
    page = f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<link rel="icon" href="{_ICON}">
<style>
{style}</style>
</head>
<body{' class="kanon-marked"' if banner else ""}>
{f'<p class="kanon-banner" role="note">{escape(banner)}</p>' if banner else ""}
<main>
<h1>{escape(title)}</h1>
{_contents(body)}
{body}
</main>
<script>
{_inside_script(figures.script())}</script>
</body>
</html>
"""
    return page.translate(_TURNING)


def _contents(body: str) -> str:
    """Links to the sections."""
    heads = re.findall(r'<h2 id="(\w+)">(.*?)</h2>', body)
    links = "\n".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in heads)
    return f"<nav><ul>\n{links}\n</ul></nav>" if links else ""


def _body(notebook: Any, language: str) -> str:
    """What the cells of a notebook show: HTML and figures; no words of warnings, no errors, no plain text.

    The same bytes as from nbconvert and its template "basic", which take longer than all the rest of a page.
    """
    from bs4 import BeautifulSoup  # attributes in the order of their names, and the fewest entities

    cells = [
        (cell.id, [*filter(None, (_html_of(each, language) for each in cell.get("outputs", [])))])
        for cell in notebook.cells
    ]
    return str(BeautifulSoup("".join(_cell(name, shown) for name, shown in cells if shown), "html.parser"))


def _html_of(output: Any, language: str) -> str | None:
    data = output.get("data", {})
    return (
        figures.output_html(data, output.metadata, language) if figures.VEGALITE_MIME in data else data.get("text/html")
    )


def _cell(name: str, shown: list[str]) -> str:
    areas = "".join(f'<div class="output_area">\n{_AREA}{html}</div>\n</div>\n' for html in shown)
    return f'<div {_CELL} id="cell-id={name}">\n<div class="output_wrapper">\n<div class="output">\n{areas}{_ENDS}'


def _inside_script(code: str) -> str:
    """Code that cannot end the element which it stands in: texts of it with ``</script`` and ``<!--`` are escaped."""
    return re.sub(r"<(/script|!--)", r"<\\\1", code, flags=re.IGNORECASE)


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
        not to be written since a limit is not met. None where none was asked for.
    engine : str
        What counted the records.
    """

    path: Path
    parameters: dict[str, Any]
    seconds: float
    judged: dict[str, Any]
    protected: dict[str, Any] | None = None
    engine: str = "memory"

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
    internal : bool
        Whether the page is for the office only: it is marked so, and has every setting, what each category became, and
        the key values at the highest risk.
    progress : bool
        Show on a terminal which step runs.
    engine : str
        One of `kanon_lab.engines.ENGINES`. By another than ``memory`` a file or folder of parts, however large, is
        counted and never read whole; what needs records is not told, and the page says so. A map of recipes is left
        out; steps that need records are refused.
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
    request: dict[str, Any] = {
        **_asked(file, by_engine),
        "configuration": dump_yaml(config.settings),
        "where": config.recipe.name,
    }
    request |= {"internal": internal, "protected": None if target is None else target.name}
    if by_engine:
        with names_only(Path(file), *([target] if target else [])), inside(config.recipe.name):
            request["counted"] = engine_options(file, config.recipe, target, engine, spill)
    elif (limit := files.limit()) is not None:
        request["reading"] = {"max_bytes": limit}
    check_out(out, [("the input", file), *_hierarchies(config)])
    if target is not None:
        check_protected(target, out, file, config)
    kept = _kept_beside(out)
    released = None if target is None else {"file": str(target), "sha256": None, "records": None}
    with TemporaryDirectory(prefix="kanon-lab-") as folder, draft_folder(target if by_engine else None) as beside:
        if beside is not None:
            request["beside"] = str(beside)
        executed = _executed(Path(folder), request, kept, progress)
        found = recorded(executed)
        marked = Words(config.language).say("internal_banner") if internal else ""
        page = report_page(executed, title=found["title"], language=config.language, banner=marked)
        if (size := len(page.encode())) > _MOST_BYTES:
            raise OptionError(f"{out.name}: would have {size:,} bytes, more than {_MOST_BYTES:,}; take columns out")
        if target is None or (only_met and not found["judged"]["met"]):
            _write(out, page)
        else:
            with _placed(Path(beside or Path(folder, RELEASE), target.name), target, overwrite, moved=by_engine):
                _write(out, page)
            digest = files.sha256(target) if target.is_file() else None
            released = {**(released or {}), "sha256": digest, "records": found["records"]}
    with suppress(OSError, KanonLabError):  # the page is there, whatever becomes of the leavings of an older run
        if of_failed_run(kept):
            kept.unlink()
    parameters = {"file": request["name"], **shown_settings(config.shown), "seed": config.recipe.seed}
    return Report(out, parameters, round(time.perf_counter() - began, 3), found["judged"], released, engine)


def check_out(out: Path, inputs: Iterable[tuple[str, str | Path]]) -> None:
    """Raise an error, before minutes of work, where no page could be written, or would replace one of the inputs."""
    from kanon_lab.data.writing import refuse_inputs

    if out.suffix.lower() != ".html":
        raise OptionError(f"{out.name}: the name of a report must end in .html")
    if len(out.name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        raise OptionError(f"{shortened(out.name)}: a name of more than {_LONGEST_NAME} bytes; choose a shorter one")
    with names_only(out, out.absolute()):
        refuse_inputs(out, inputs)
    for path in (out, _kept_beside(out)):
        with files.storage_errors(out.name):
            folder = path.is_dir()
        if folder:
            raise StorageError(f"{path.name}: is a folder; choose another name, or remove it")
    if not out.absolute().parent.is_dir():
        raise StorageError(f"{out.name}: its folder is not there; make it or choose another place")


def check_protected(target: Path, out: Path, file: str | Path, config: ReportConfig) -> None:
    """Raise an error, before minutes of work, where no protected file could be written, or would replace an input."""
    from kanon_lab.data.sets import DATA_SETS
    from kanon_lab.data.writing import check_target, refuse_inputs

    source = DATA_SETS[str(file)].path if str(file) in DATA_SETS else file
    with names_only(target, target.absolute()):
        check_target(target)
        refuse_inputs(target, [("the input", source), ("the page", out), *_hierarchies(config)])


def _hierarchies(config: ReportConfig) -> list[tuple[str, Path]]:
    return [("a hierarchy file", each) for each in config.hierarchies]


def _kept_beside(out: Path) -> Path:
    """Where the notebook of a failed run is kept."""
    return out.with_name(f"{out.stem}.failed.ipynb")


def _asked(file: str | Path, by_engine: bool) -> dict[str, str]:
    """Folder and name of the file: outside this request only the name is known."""
    from kanon_lab.data.sets import DATA_SETS

    if str(file) in DATA_SETS:
        return {"folder": ".", "name": str(file)}
    path = Path(file).absolute()
    with names_only(path):
        if by_engine and path.is_dir():
            return {"folder": str(path.parent), "name": path.name}
        files.check_file(path)
        if not path.stat().st_size:
            raise DataError(f"{path}: is empty; make or download it again")
    return {"folder": str(path.parent), "name": path.name}


def _executed(folder: Path, request: dict[str, Any], kept: Path, progress: bool) -> Path:
    """Run the notebook in a folder that only its owner may enter; of a failed run a stripped copy is kept."""
    target = folder / f"{NOTEBOOK}.ipynb"
    with files.storage_errors(_REQUEST):
        (folder / _REQUEST).write_text(json.dumps(request), "utf-8")
    try:
        with _told(folder / STEPS, request["name"], progress), _quiet("papermill"):
            run_notebook(find_notebooks()[NOTEBOOK], target, {"request": _REQUEST})
    except NotebookError as error:
        raise NotebookError(_kept(folder, said_of(error), kept)) from None
    except KanonLabError as error:
        raise type(error)(str(error).replace(f"{folder}/", "")) from None
    return target


def last_step(steps: Path) -> str:
    """The step that the notebook said last."""
    told = steps.read_text("utf-8").splitlines() if steps.exists() else []
    return told[-1] if told else "start Python"


def said_of(error: NotebookError) -> str:
    """How a run failed, by the error that `run_notebook` raised: a line without values of the data."""
    cause = error.__cause__
    while isinstance(cause, NotebookError):
        cause = cause.__cause__
    if (kind := getattr(cause, "ename", None)) is not None:
        return in_one_line(kind, getattr(cause, "evalue", ""))
    if isinstance(cause, RuntimeError):
        return "its Python process did not start, or died (out of memory?)"
    return f"an unexpected {type(cause or error).__name__}"


def _kept(folder: Path, message: str, kept: Path) -> str:
    """Keep the notebook of a failed run, and say in a line what failed and where that is."""
    said = f"{message} (step: {last_step(folder / STEPS)}; no report was written"
    failed = folder / f"{NOTEBOOK}.failed.ipynb"
    if not failed.exists():
        return f"{said})"
    if files.status(kept) is not None and not of_failed_run(kept):
        return f"{said}; its notebook was not kept, since {kept.name} is another file)"
    try:
        _write(kept, stripped(failed, message))
    except StorageError:
        return f"{said}, and {kept.name} could not be kept)"
    return f"{said}; the executed notebook is kept beside it: {kept.name})"


def stripped(path: Path, message: str) -> str:
    """A failed notebook as text, without what is printed: warnings of other packages quote values."""
    import nbformat

    return nbformat.writes(without_values(read_notebook(path), message))


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
    """Let a logger say nothing: of a process that dies it would speak beside the error."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _told(steps: Path, name: str, progress: bool) -> Iterator[None]:
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
