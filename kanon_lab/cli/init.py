"""``kanon-lab init``: a first configuration of a report, guessed from a microdata file."""

from pathlib import Path

import click

from kanon_lab.cli.output import print_frame, print_json, reader_may_leave
from kanon_lab.errors import OptionError, StorageError, shortened, visible

_EXAMPLES = """
\b
Example:
  kanon-lab init survey.csv --out report.yml
  kanon-lab report survey.csv --config report.yml --out report.html
"""


@click.command(name="init", epilog=_EXAMPLES)
@click.argument("file")
@click.option("--out", default="report.yml", show_default=True, metavar="R.yml", help="Configuration to write.")
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Of the comments, and of the report.",
)
@click.option("--na", multiple=True, metavar="TEXT", help="A text that means missing, such as NA. May repeat.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
def init(file, out, language, na, as_json):
    """Look at the microdata in FILE and write a commented first configuration of a report on it.

    FILE is as in kanon-lab protect, or a data set such as health-survey. Which column is a key variable, the weight and
    so on is guessed from the names of columns and how many values they have, and said to be a guess: read it and mend
    it. No value of a record is written or printed. A file that is there already is never replaced.
    """
    if not file or not out:
        raise OptionError(f"{'--out' if file else 'FILE'} is empty; name a file")

    from kanon_lab import files
    from kanon_lab.data import read_file
    from kanon_lab.report.config import names_only
    from kanon_lab.report.first_config import first_config
    from kanon_lab.report.guess import check_named, guess_roles

    _refuse_old(out)
    with names_only(Path(file)):
        found = read_file(file, na=na)
    check_named(found, found.found["name"])
    guesses = guess_roles(found.frame)
    text = first_config(guesses, file=Path(file).name, config=Path(out).name, language=language, na=na)
    with files.atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
        _refuse_old(out)
    with reader_may_leave():
        if as_json:
            print_json({"file": Path(file).name, "out": out, "language": language, "guesses": guesses})
            return
        names = [shortened(name, 40) for name in guesses["variable"]]
        roles = guesses["role"].where(guesses["role"] != "", "none")
        print_frame(guesses.assign(variable=names, role=roles)[["variable", "role", "why", "kind", "distinct"]])
        click.echo(visible(f"written: {out}; its roles are guesses: read and mend it before a report"))


def _refuse_old(out):
    from kanon_lab import files

    if files.status(out) is not None:
        raise StorageError(f"{out}: is there already; choose another name (--out), or remove it first")
