"""The Spanish edition: what it is made of, and its catalogues.

Renews the catalogues in book/locale/es, and says what is not translated. Prose is translated by Sphinx; what notebooks
recorded, by recorded_words.py; words of the packages stand in their own tables, words.csv, and in no catalogue.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from kanon_book.building.recorded_words import Words
from kanon_book.building.stamps import JUPYTER_BOOK, command_line, run_command
from kanon_book.course import spanish
from kanon_book.places import EXECUTED, ROOT, TOC
from kanon_book.words import texts
from kanon_lab.digits import typeset
from kanon_lab.terms import rows
from kanon_lab.terms import wordings as wordings_of

LANGUAGE = "es"
LOCALE = ROOT / "book" / "locale"
MESSAGES = LOCALE / LANGUAGE / "LC_MESSAGES"
#: The catalogue of what notebooks recorded, and of titles and buttons that stand in the configuration.
RECORDED = "recorded"
#: What is recorded only where the file of the real survey is; its words are kept where it is not. One of its messages.
OF_REAL, REAL_SURVEY = {"enusc: real-said", "enusc: profiles"}, "real, {0}"
_TRANSLATION = re.compile(r'^msgstr ".*"(?:\n".*")*', re.MULTILINE)
#: Of the reference of functions, which stands in English in both editions.
ENGLISH = "book/api/"


def read_catalogue(name: str) -> Any:
    """A catalogue by the name of its document; empty where there is none."""
    return spanish.read_catalogue(MESSAGES / f"{name}.po")


def translation(name: str, message: str) -> str | None:
    """What a catalogue has for a message; None where it has nothing, or nothing that can be relied on."""
    return spanish.translation(MESSAGES / f"{name}.po", message)


def words() -> Words:
    """What recorded results are translated by."""
    from kanon_lab.measures.registry import measures  # which loads pandas

    wordings, worst = [], [wordings_of("report")[f"worst_{which}"] for which in ("least", "most")]
    for row in [*rows("words.csv"), *rows("words.csv", "kanon_book")]:
        wordings += [(text, row[LANGUAGE]) for text in (row["en"], row["en_page"]) if text and row[LANGUAGE]]
    for measure in measures():
        wordings.append((measure.advice(), measure.advice(LANGUAGE)))
        for title in (measure.called, measure.cost_called):
            english, spanish = (title(language).replace("#", "{level}") for language in ("en", LANGUAGE))
            wordings += [(english, spanish), (english[0].upper() + english[1:], spanish[0].upper() + spanish[1:])]
            wordings.append((f"{english} (%)", f"{spanish} (%)"))
            # As forms these rows would be found in every text: little stands in them but the title.
            wordings += [(row["en"].format(title=english), row[LANGUAGE].format(title=spanish)) for row in worst]
    return Words(lambda message: translation(RECORDED, message), [pair for pair in wordings if all(pair)])


def prepare(folder: Path) -> Words:
    """Write into a folder what the Spanish edition is made of, besides the chapters: all but its prose is translated.

    That is its configuration, its table of contents, its catalogues, and the executed notebooks; what has not changed
    is left alone. Returns the words that were looked up on the way.
    """
    for path in MESSAGES.rglob("*.po"):
        read_catalogue(path.relative_to(MESSAGES).with_suffix("").as_posix())
    translated = words()
    for path in LOCALE.rglob("*.po"):
        _write_if_new(folder / "locale" / path.relative_to(LOCALE), _typeset(path.read_text("utf-8")))
    for path in sorted(EXECUTED.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        text = json.dumps(translated.notebook(notebook, path.stem), ensure_ascii=False)
        _write_if_new(folder / "notebooks" / path.name, text)
    translated.place = "_config.yml"
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    _configure(config, translated, folder / "locale")
    _write_if_new(folder / "_config.yml", yaml.safe_dump(config, allow_unicode=True))
    toc = yaml.safe_load(TOC.read_text("utf-8"))
    for part in toc["parts"]:
        # Sphinx finds them on the first page.
        part["caption"] = translation(toc["root"], part["caption"]) or part["caption"]
    _write_if_new(folder / "_toc.yml", yaml.safe_dump(toc, allow_unicode=True, sort_keys=False))
    return translated


def _typeset(catalogue: str) -> str:
    """The text of a catalogue in whose translations no line ends before a sign of per cent."""
    return _TRANSLATION.sub(lambda entry: typeset(entry[0]), catalogue)


def _write_if_new(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def _configure(config: dict[str, Any], words: Words, locale: Path) -> None:
    """The configuration in Spanish, in place."""
    sphinx = config["sphinx"]["config"]
    config["title"] = words.say(config["title"])
    authors = texts("page", LANGUAGE)["print_authors"]
    config["author"] = authors[0].lower() + authors[1:]  # the theme puts a word before them
    sphinx |= {
        "language": LANGUAGE,
        "locale_dirs": [str(locale)],
        "gettext_compact": False,
        "translation_progress_classes": "untranslated",
        "togglebutton_hint": words.say(sphinx["togglebutton_hint"]),
        "togglebutton_hint_hide": words.say(sphinx["togglebutton_hint_hide"]),
    }
    options = sphinx["html_theme_options"]
    options |= {
        "search_bar_text": words.say(options["search_bar_text"]),
        "extra_footer": words.html(options["extra_footer"]),
    }


def renew() -> int:
    """Bring the catalogues up to what the book says now; a message that is new has no translation yet."""
    from sphinx_intl.basic import update

    with tempfile.TemporaryDirectory() as folder:
        pots = Path(folder) / "_build" / "gettext"
        builder = ["--builder", "custom", "--custom-builder", "gettext", "--path-output", folder]
        subprocess.run([*JUPYTER_BOOK, "build", str(ROOT), "-q", *builder], check=True)
        shutil.rmtree(pots / ENGLISH, ignore_errors=True)
        shutil.rmtree(pots / "_static", ignore_errors=True)
        met = prepare(Path(folder) / "spanish").met
        old = [] if REAL_SURVEY in met else read_catalogue(RECORDED)
        kept = {message.id: place for message in old for place in OF_REAL & {*message.auto_comments}}
        _write_recorded(pots / f"{RECORDED}.pot", {**kept, **met})
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
    known = {m.id: m.string for messages in read.values() for m in messages if m.id and m.string and not m.fuzzy}
    missing = 0
    for path, messages in read.items():
        tidy = Catalog(locale=LANGUAGE, fuzzy=False, header_comment="# The book in Spanish.")
        for message in messages:
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
    command_line("kanon_book.building.editions", __doc__).parse_args()

    def work() -> None:
        missing = renew()
        print(f"{MESSAGES.relative_to(ROOT)}: {missing} messages are not translated")

    return run_command("editions", work)


if __name__ == "__main__":
    sys.exit(main())
