"""Where the files of the book are: beside this package in a checkout, inside it where it is installed from a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_files"
#: The folder that holds ``_toc.yml`` and the folder ``book``: a checkout, or what the wheel has of one.
ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parents[1]
CHAPTERS = ROOT / "book"
EXERCISES = CHAPTERS / "exercises"
TOC = ROOT / "_toc.yml"
#: What `make book` makes: notebooks that have run, and pages.
BUILD = ROOT / "_build"
EXECUTED = BUILD / "notebooks"
