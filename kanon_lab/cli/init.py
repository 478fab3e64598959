"""``kanon-lab init``: a first configuration of a report, guessed from a microdata file."""

from pathlib import Path

import click

from kanon_lab.cli.output import max_bytes_option, missing_codes_option, print_frame, print_json, reader_may_leave
from kanon_lab.errors import OptionError, StorageError, shortened, visible

_EXAMPLES = """
\b
Example:
  kanon-lab init survey.csv --out report.yml
  kanon-lab report survey.csv --config report.yml --out report.html
  kanon-lab init --schema > kanon-lab.schema.json
"""


@click.command(name="init", epilog=_EXAMPLES)
@click.argument("file", required=False)
@click.option("--out", default="report.yml", show_default=True, metavar="R.yml", help="Configuration to write.")
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Of the comments, and of the report.",
)
@click.option("--na", multiple=True, metavar="TEXT", help="A text that means missing, such as NA. May repeat.")
@missing_codes_option
@max_bytes_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of configurations, for editors, and do no more.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
def init(file, out, language, na, missing_codes, schema, as_json):
    """Look at the microdata in FILE and write a commented first configuration of a report on it.

    FILE is as in kanon-lab protect, or a data set such as health-survey. Which column is a key variable, the weight and
    so on is guessed from the names of columns, how many values they have and of which shape, and said to be a guess:
    read it and mend it. What it is unsure of it says, with what else it may be. No value of a record is written or
    printed. A file that is there already is never replaced.

    With its JSON Schema beside it, as the last example makes it, editors complete the settings and check them.
    """
    if schema:
        from kanon_lab.recipes.plan import config_schema

        print_json(config_schema())
        return
    if file is None:
        raise click.MissingParameter(param_hint="'FILE'", param_type="argument")
    if not file or not out:
        raise OptionError(f"{'--out' if file else 'FILE'} is empty; name a file")

    from kanon_lab import files
    from kanon_lab.data.microdata import read_file
    from kanon_lab.report.config import names_only
    from kanon_lab.report.first_config import first_config, guess_roles
    from kanon_lab.report.shapes import check_named

    _refuse_old(out)
    with names_only(Path(file)):
        found = read_file(file, na=na, missing_codes=missing_codes)
    check_named(found, found.found["name"])
    guesses = guess_roles(found.frame)
    codes = {name: list(map(_code, texts)) for name, texts in missing_codes.items()}
    names = {"file": Path(file).name, "config": Path(out).name}
    text = first_config(guesses, **names, language=language, na=na, missing_codes=codes)
    with files.atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
        _refuse_old(out)
    with reader_may_leave(out):
        if as_json:
            print_json({"file": Path(file).name, "out": out, "language": language, "guesses": guesses})
            return
        _show(guesses)
        click.echo(visible(f"written: {out}; its roles are guesses: read and mend it before a report"))


def _code(text):
    """A code as a configuration has it: a number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _show(guesses):
    """Every column with its role and why, and below them those that the command is unsure of."""
    from kanon_lab.report.first_config import config_texts, doubt, why

    texts = config_texts("en")
    table = guesses.assign(
        variable=guesses["variable"].map(shortened),
        role=guesses["role"].where(guesses["role"] != "", "none"),
        why=[why(row, texts) for row in guesses.itertuples()],
    )
    print_frame(table[["variable", "role", "kind", "distinct", "why"]])
    for (role, other), rows in table[table["unsure"]].groupby(["role", "other"], sort=False):
        click.echo(visible(f"{doubt(role, other, texts)}: {', '.join(rows['variable'])}"))


def _refuse_old(out):
    from kanon_lab import files

    if files.status(out) is not None:
        raise StorageError(f"{out}: is there already; choose another name (--out), or remove it first")
