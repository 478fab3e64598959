"""The Spanish edition: the staged book in Spanish, and its catalogues.

    python -m kanon_book.building.editions

renews the catalogues in book/locale/es from the book as it was last built ("make book"), and says what is not
translated. Prose is translated by Sphinx; what notebooks recorded, by recorded_words.py; words of the package stand in
its own table, words.csv, and in no catalogue.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kanon_book.building.recorded_words import Words
from kanon_book.places import ROOT
from kanon_book.words import texts
from kanon_lab.errors import KanonLabError
from kanon_lab.terms import rows

LANGUAGE = "es"
LOCALE = ROOT / "book" / "locale"
MESSAGES = LOCALE / LANGUAGE / "LC_MESSAGES"
#: The catalogue of what notebooks recorded, and of titles and buttons that stand in the configuration.
RECORDED = "recorded"
#: Of the reference of functions, which stands in English in both editions.
ENGLISH = "book/api/"
_SPHINX = ("-q", "-D", "gettext_compact=0", "-D", "gettext_location=0")


@cache
def read_catalogue(name: str) -> Any:
    """A catalogue by the name of its document; empty where there is none."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import PoFileError, read_po

    path = MESSAGES / f"{name}.po"
    if not path.exists():
        return Catalog(locale=LANGUAGE)
    try:
        with path.open("rb") as file:
            return read_po(file, locale=LANGUAGE, abort_invalid=True)
    except (PoFileError, ValueError) as error:  # Babel and Sphinx would pass over a line that they cannot read
        raise KanonLabError(f"{path}: is no catalogue of messages ({error}); mend it") from None


def translation(name: str, message: str) -> str | None:
    """What a catalogue has for a message; None where it has nothing, or nothing that can be relied on."""
    found = read_catalogue(name).get(message)
    return found.string if found and found.string and not found.fuzzy else None


def words() -> Words:
    """What recorded results are translated by."""
    wordings = []
    for row in [*rows("words.csv"), *rows("words.csv", "kanon_book")]:
        wordings += [(text, row[LANGUAGE]) for text in (row["en"], row["en_page"]) if text and row[LANGUAGE]]
    return Words(lambda message: translation(RECORDED, message), wordings)


def stage(site: Path, target: Path) -> Words:
    """Put the staged book with its executed notebooks into another folder, in Spanish but for its prose.

    Returns the words that were looked up on the way.
    """
    for path in MESSAGES.rglob("*.po"):
        read_catalogue(path.relative_to(MESSAGES).with_suffix("").as_posix())
    said = words()
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(site, target, ignore=shutil.ignore_patterns("_build", "_gettext", "conf.py", "*.ipynb"))
    shutil.copytree(LOCALE, target / "locale", dirs_exist_ok=True)
    for path in sorted((site / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        text = json.dumps(said.notebook(notebook, path.stem), ensure_ascii=False)
        (target / "notebooks" / path.name).parent.mkdir(exist_ok=True)
        (target / "notebooks" / path.name).write_text(text, "utf-8")
    said.place = "_config.yml"
    config = yaml.safe_load((site / "_config.yml").read_text("utf-8"))
    _configure(config, said)
    (target / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    toc = yaml.safe_load((site / "_toc.yml").read_text("utf-8"))
    for part in toc["parts"]:
        # Sphinx finds them on the first page.
        part["caption"] = translation(toc["root"], part["caption"]) or part["caption"]
    (target / "_toc.yml").write_text(yaml.safe_dump(toc, allow_unicode=True, sort_keys=False), "utf-8")
    return said


def _configure(config: dict[str, Any], said: Words) -> None:
    """The configuration in Spanish, in place."""
    sphinx = config["sphinx"]["config"]
    config["title"] = said.say(config["title"])
    authors = texts("page", LANGUAGE)["print_authors"]
    config["author"] = authors[0].lower() + authors[1:]  # the theme puts a word before them
    sphinx |= {
        "language": LANGUAGE,
        "locale_dirs": ["locale"],
        "gettext_compact": False,
        "translation_progress_classes": "untranslated",
        "togglebutton_hint": said.say(sphinx["togglebutton_hint"]),
        "togglebutton_hint_hide": said.say(sphinx["togglebutton_hint_hide"]),
    }
    options = sphinx["html_theme_options"]
    options |= {
        "search_bar_text": said.say(options["search_bar_text"]),
        "extra_footer": said.html(options["extra_footer"]),
    }


def renew(site: Path) -> int:
    """Bring the catalogues up to what the staged book says now; a message that is new has no translation yet."""
    from sphinx_intl.basic import update

    with tempfile.TemporaryDirectory() as folder:
        made, pots = Path(folder) / "site", Path(folder) / "pot"
        shutil.copytree(site, made, ignore=shutil.ignore_patterns("_build"))
        commands = (["jupyter-book", "config", "sphinx", "."], ["sphinx-build", "-b", "gettext", *_SPHINX, ".", pots])
        for command in commands:
            tool = Path(sys.executable).with_name(command[0])
            subprocess.run([tool, *command[1:]], cwd=made, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(pots / ENGLISH, ignore_errors=True)
        shutil.rmtree(pots / "_static", ignore_errors=True)
        said = stage(site, Path(folder) / "staged")
        _write_recorded(pots / f"{RECORDED}.pot", said.met)
        update(str(LOCALE), str(pots), [LANGUAGE], line_width=0)
    return _tidied()


def _write_recorded(path: Path, met: dict[str, str]) -> None:
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    catalog = Catalog(project="kanon_lab", fuzzy=False)
    for message, place in met.items():
        catalog.add(message, auto_comments=[place])
    with path.open("wb") as file:
        write_po(file, catalog, width=0)


def _tidied() -> int:
    """Write every catalogue without what is of the day it was written; the same message is said the same everywhere."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po, write_po

    paths = sorted(MESSAGES.rglob("*.po"))
    read = {}
    for path in paths:
        with path.open("rb") as file:
            read[path] = read_po(file, locale=LANGUAGE, abort_invalid=True)
    known = {m.id: m.string for each in read.values() for m in each if m.id and m.string and not m.fuzzy}
    missing = 0
    for path, found in read.items():
        tidy = Catalog(locale=LANGUAGE, fuzzy=False, header_comment="# The book in Spanish.")
        for message in found:
            if message.id:
                string = message.string if message.string and not message.fuzzy else known.get(message.id, "")
                tidy.add(message.id, string, auto_comments=message.auto_comments)
                missing += not string
        with tempfile.TemporaryFile() as draft:
            write_po(draft, tidy, width=0, omit_header=False)
            draft.seek(0)
            lines = draft.read().decode().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(_OF_THE_DAY)]
        path.write_text("".join(kept), "utf-8")
    return missing


_OF_THE_DAY = (
    '"POT-Creation',
    '"PO-Revision',
    '"Last-Translator',
    '"Language-Team',
    '"Report-Msgid',
    '"Generated-By',
    '"Project-Id',
)


def main() -> int:
    site = ROOT / "_build" / "site"
    if not site.is_dir():
        print("editions: the book is not built; run make book first", file=sys.stderr)
        return 2
    try:
        missing = renew(site)
    except KanonLabError as error:
        print(f"editions: {error}", file=sys.stderr)
        return 2
    print(f"{MESSAGES.relative_to(ROOT)}: {missing} messages are not translated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
