"""Build the book: run the notebooks that changed, put everything in one folder, let Jupyter Book make the pages.

    python -m kanon_book.building.build

Executed notebooks are in _build/site/notebooks, pages in _build/html. A stamp in _build/stamps says what a result was
made from; a run that fails or is interrupted writes none, so the next one begins where it ended.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kanon_book.building.api_pages import write_pages
from kanon_book.building.editions import stage as stage_spanish
from kanon_book.building.lighten import lighten
from kanon_book.pages.edition import address, commit_of
from kanon_book.places import BUILD, EXERCISES, ROOT
from kanon_lab.errors import KanonLabError
from kanon_lab.files import write_text
from kanon_lab.notebooks import find_notebooks, run_notebook

SITE = BUILD / "site"
STAMPS = BUILD / "stamps"
HTML = BUILD / "html"
SPANISH = BUILD / "site-es"
CONFIGURATION = ("_config.yml", "_toc.yml")


def main() -> int:
    return ended("make book", make)


def make() -> None:
    run_notebooks()
    build_pages()
    print(f"The book: {(HTML / 'index.html').as_uri()}")


def ended(command: str, work: Callable[[], int | None]) -> int:
    """Do the work of a command; return its exit code, and say in one line what went wrong."""
    try:
        return work() or 0
    except KanonLabError as error:
        print(f"{command}: {error}", file=sys.stderr)
    except OSError as error:
        print(f"{command}: {first_reason(error)}; free space, or mend the permissions of {BUILD}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{command}: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 2


def first_reason(error: OSError) -> str:
    """Return what went wrong as one line; shutil gathers the errors of many files in one."""
    several = isinstance(error, shutil.Error) and isinstance(error.args[0], list)
    return str(error.args[0][0][2] if several else error)


def run_notebooks() -> None:
    """Run, with its default parameters, every notebook whose stamp is missing or old."""
    notebooks = find_notebooks()
    executed = SITE / "notebooks"
    remove_others(executed, keep={f"{name}.ipynb" for name in notebooks})
    package = digest([*files_under(ROOT / "kanon_lab"), *files_under(ROOT / "book" / "kanon_book")])
    for number, (name, source) in enumerate(notebooks.items(), start=1):
        target = executed / f"{name}.ipynb"
        stamp = STAMPS / f"{name}.notebook"
        # What is computed for exercises is made of the files in the folder of that name too.
        own = files_under(EXERCISES) if name == "exercises" else []
        inputs = (
            f"{package} {digest([source, *own, ROOT / 'constraints.txt'])} {sys.version_info[:2]} parameters: defaults"
        )
        label = f"[{number}/{len(notebooks)}] notebooks/{name}.ipynb"
        if target.exists() and is_current(stamp, inputs):
            print(f"{label}: nothing changed", flush=True)
            continue
        print(f"{label}: running ...", flush=True)
        stamp.unlink(missing_ok=True)
        start = time.monotonic()
        run_notebook(source, target, progress=sys.stderr.isatty())
        write_stamp(stamp, inputs)
        print(f"{label}: {time.monotonic() - start:.1f} s", flush=True)


def build_pages() -> None:
    """Make the pages anew if anything they are made of has changed.

    Always all of them: Sphinx would leave a chapter alone whose own text is the same but whose numbers, inserted from
    a notebook, are not.
    """
    sources = [*files_under(ROOT / "book"), *(ROOT / name for name in CONFIGURATION)]
    own = [*files_under(ROOT / "kanon_lab"), ROOT / "constraints.txt"]
    stamp = STAMPS / "pages"
    # The foot of each page names the commit, and its head the address.
    inputs = f"{digest([*sources, *own])} {digest(files_under(SITE / 'notebooks'))} {commit_of(ROOT)} {address()}"
    if (HTML / "index.html").exists() and is_current(stamp, inputs):
        print("pages: nothing changed", flush=True)
        return
    stage()
    stamp.unlink(missing_ok=True)
    print("pages: building ...", flush=True)
    start = time.monotonic()
    stage_spanish(SITE, SPANISH)
    with ThreadPoolExecutor() as both:
        made = list(both.map(pages_of, (SITE, SPANISH)))
    shutil.rmtree(HTML, ignore_errors=True)
    made[0].replace(HTML)
    made[1].replace(HTML / "es")
    lighten(HTML)
    for folder in (SITE, SPANISH):
        shutil.rmtree(folder / "_build")
    write_stamp(stamp, inputs)
    print(f"pages: {time.monotonic() - start:.1f} s", flush=True)


def pages_of(site: Path) -> Path:
    """Let Jupyter Book make the pages of a staged edition; return their folder."""
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [jupyter_book, "build", "-W", "--keep-going", "--quiet", site]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        full = os.strerror(errno.ENOSPC)
        if full in done.stdout + done.stderr:
            raise OSError(errno.ENOSPC, full, str(site))
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise KanonLabError(
            f"the pages of {site.name} were not built: the warnings and errors of Jupyter Book are above"
        )
    return site / "_build" / "html"


def stage() -> None:
    """Put the chapters and the configuration beside the executed notebooks."""
    from kanon_lab.recipes.plan import filled  # pandas takes most of a second, where nothing has changed

    for folder in ("book", "_build"):
        shutil.rmtree(SITE / folder, ignore_errors=True)
    shutil.copytree(ROOT / "book", SITE / "book", ignore=shutil.ignore_patterns("locale", "kanon_book", "exercises"))
    for page in (SITE / "book").glob("*.md"):
        if (told := filled(text := page.read_text("utf-8"))) != text:
            page.write_text(told, "utf-8")
    write_pages(SITE)
    for name in CONFIGURATION:
        shutil.copy(ROOT / name, SITE)


def remove_others(folder: Path, keep: set[str]) -> None:
    """Delete executed notebooks whose source is gone, and remains of runs that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink() if path.is_file() else shutil.rmtree(path)


def files_under(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def digest(paths: Iterable[Path]) -> str:
    """Return one hash of names and contents."""
    total = hashlib.sha256()
    for path in paths:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{os.path.relpath(path, ROOT)} {content}\n".encode())
    return total.hexdigest()


def is_current(stamp: Path, inputs: str) -> bool:
    return stamp.is_file() and stamp.read_text("utf-8") == inputs


def write_stamp(stamp: Path, inputs: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    write_text(stamp, inputs)


if __name__ == "__main__":
    sys.exit(main())
