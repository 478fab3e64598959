"""``kanon-lab lab`` and ``kanon-lab book``: the notebooks to work on in JupyterLab, and the book in the browser."""

from functools import partial
from pathlib import Path

import click

from kanon_book.places import ROOT
from kanon_lab import files
from kanon_lab.cli.options import Command, json_option
from kanon_lab.cli.output import print_lines, show
from kanon_lab.errors import DataError, MissingPackageError, OptionError

_OF_LAB = """
\b
Examples:
  kanon-lab lab
  kanon-lab lab --language es
  kanon-lab lab course --no-open
  kanon-lab lab course -- --port 9000
"""
_OF_BOOK = """
\b
Examples:
  kanon-lab book
  kanon-lab book --language es
  kanon-lab book Downloads/kanon-lab-bundle --no-open
"""
#: Where the book is in a checkout in which it was built, and in the bundle.
_BUILT = ("_build/html", "book")


def _language_option(what):
    return click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True, help=what)


@click.command(
    cls=Command, name="lab", epilog=_OF_LAB, short_help="Open JupyterLab on your own copy of notebooks and exercises."
)
@click.argument("folder", default="workspace")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF JUPYTERLAB]")
@_language_option("Write the first notebook and the exercises in this language, and judge answers in it.")
@click.option("--no-open", is_flag=True, help="Only copy: do not open JupyterLab.")
@json_option
def lab(folder, options, language, no_open, as_json):
    """Copy the notebooks and exercises into FOLDER (default: workspace) and open JupyterLab there.

    JupyterLab opens on a first notebook, which lists the chapters in order and links to them. The names of the
    others begin with the number of their chapter. The command never overwrites a file that you changed there. If its
    original has changed too, your copy is renamed: its new name contains the time. Options after -- go to JupyterLab;
    name FOLDER before them.
    """
    from importlib.util import find_spec

    from kanon_book.course.learner import first_name, working_copy

    if not folder or folder.startswith("-"):
        raise OptionError("name the working folder before --, such as: kanon-lab lab workspace -- --port 9000")
    if not no_open and find_spec("jupyterlab") is None:
        raise MissingPackageError("JupyterLab is not installed: pip install 'kanon-lab[lab]'")
    if files.status(folder) is not None and not Path(folder).is_dir():
        raise OptionError(f"{folder}: not a folder; name a folder to work in")
    click.echo("Copying the notebooks; the first time their exercises are computed, up to a minute", err=True)
    done = working_copy(folder, language)
    result = {"folder": str(Path(folder).absolute()), "first": first_name(language), "files": done}
    show(result, partial(print_lines, _of_copy(result["folder"], done)), folder, as_json=as_json)
    if not no_open:
        from jupyterlab.labapp import LabApp

        opened = f"--LabApp.default_url=/lab/tree/{result['first']}"
        LabApp.launch_instance([f"--ServerApp.root_dir={result['folder']}", opened, *options])


def _of_copy(folder, done):
    """What was copied, in words: what became of work comes last, where it is seen."""
    how = [*done.values()]
    counts = {word: how.count(word) for word in ("new", "renewed", "same", "kept")}
    yield f"{folder}: {', '.join(f'{count} {word}' for word, count in counts.items() if count)}"
    for name, line in done.items():
        if line == "kept":
            yield f"  {name}: kept as you changed it"
        elif line.startswith("was "):
            yield f"  {name}: kept as you changed it; it {line} until now"
        elif line not in counts:
            yield f"  {name}: has changed here too; your copy is now {line}"


@click.command(cls=Command, name="book", epilog=_OF_BOOK, short_help="Open the book in the browser.")
@click.argument("folder", required=False)
@_language_option("Open the pages in this language.")
@click.option("--no-open", is_flag=True, help="Only print where the first page is.")
@json_option
def book(folder, language, no_open, as_json):
    """Open the book in the browser, and print where it is.

    The command looks in FOLDER, or else beside this package and in the working folder, for a copy of the project where
    "make book" has run, or for the unpacked bundle. Installing the package with pip does not install the
    built book.
    """
    import webbrowser

    page = find_book(folder, language)
    result = {"page": str(page), "address": page.as_uri(), "language": language}
    show(result, partial(print_lines, [page.as_uri()]), as_json=as_json)
    if not no_open and not webbrowser.open(page.as_uri()):
        click.echo("no browser was found here: open this address in one", err=True)


def find_book(folder, language):
    """The first page of the book; a `DataError` where there is none."""
    places = [Path(folder)] if folder is not None else [ROOT, Path()]
    for place in (folder / built for folder in places for built in _BUILT):
        if files.status(place / "_static") is not None:
            page = place / ("" if language == "en" else language) / "index.html"
            if page.is_file():
                return page.absolute()
            raise DataError(f"{place}: has no pages in this language; build it again with make book")
    where = "in this folder" if folder is not None else "where kanon_lab is installed, or in the working folder"
    raise DataError(
        f"no book {where}: build it with make book in a copy of the project, or unpack kanon-lab-bundle.zip, and name "
        "that folder: kanon-lab book FOLDER"
    )
