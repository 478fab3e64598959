"""``kanon-lab population`` and ``data``: counts of a population, and the data sets."""

from typing import Any

import click

from kanon_lab.cli.options import Command, json_option, max_bytes_option, sheet_option, thousands_option
from kanon_lab.cli.output import list_notes, print_json, print_lines, print_parts, show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.show.parts import Section, Table

_OF_POPULATION = """
\b
Examples:
  kanon-lab population spain-2010 --by province --dates day --ranges 1,2+
  kanon-lab population spain-2010 --place 28079 --place 29025 --json
  kanon-lab population spain-2010 --by province --correctness
  kanon-lab population spain-2010 --place 29025 --dates day --ranges 5,6,7,8+ --exact
  kanon-lab population ine-33570 --year 2010 --place 29025 --dates day --round-each-k --ranges 1,2,3,4,5,6-10,11+
  kanon-lab population counts.csv --columns place=code,persons=total --dates week=261
"""
_OF_REGISTER = """
\b
Examples:
  kanon-lab data make register --out register.parquet
  kanon-lab data make register --persons 1000000 --seed 7 --out sample.parquet
"""

_NOTE = (
    "persons: expected number; sd and half_width (95%): what the draw of birth dates adds, the counts taken as known."
)
_OF_EXACT = (
    "lower and upper: at most 2.5% of the distribution lies below and above. The interval is exact "
    "where a few groups decide; where it says normal, the normal approximation is good."
)

_OF_GUESSES = (
    "correctness: expected share of right guesses, if an intruder guesses each person among those with the same place, "
    "sex and date of birth; keys: expected number of combinations of the three that at least one person has."
)

_FORMATS: dict[str, Any] = {
    **dict.fromkeys(["population", "periods", "lower", "upper"], ","),
    **dict.fromkeys(["persons", "sd", "half_width"], ",.1f"),
    "share": percent,
}
_FORMATS_OF_GUESSES: dict[str, Any] = {
    **dict.fromkeys(["population", "periods"], ","),
    "keys": ",.1f",
    **dict.fromkeys(["correctness", "sd", "half_width"], percent),
}


@click.command(cls=Command, name="population", epilog=_OF_POPULATION)
@click.argument("source")
@click.option("--year", type=int, help="Use the counts of this year; required if the file has several years.")
@click.option(
    "--place",
    "places",
    multiple=True,
    metavar="CODE",
    help="Use only this municipality or two-digit province. Repeatable.  [default: all]",
)
@click.option(
    "--by",
    type=click.Choice(["all", "province", "municipality"]),
    help="Print a result for each of these.  [default: municipality with --place, else all]",
)
@click.option(
    "--dates",
    multiple=True,
    metavar="DATES",
    help="Detail of the date of birth: day, month, year, or NAME=PERIODS in an age group, such as week=261. "
    "Repeatable.  [default: day, month and year]",
)
@click.option(
    "--ranges",
    default="1,2,3,4,5,6-10,11-20,21-50,51+",
    show_default=True,
    help="Count the persons in these ranges of k.",
)
@click.option(
    "--round-each-k",
    is_flag=True,
    help="Round the number for every single k before adding up, as in Cuadros 2-4 of the study.  "
    "[default: do not round]",
)
@click.option(
    "--correctness",
    is_flag=True,
    help="Add the share of right guesses of an intruder who guesses each person among those with the same place, sex "
    "and date of birth.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Add 95% intervals (lower, upper) from the exact distribution: they are valid even if few "
    "persons are expected.",
)
@click.option(
    "--pool-ages",
    metavar="AGE",
    default="85",
    show_default=True,
    help="Pool all ages from this one on, as the study did. The word none pools no ages.",
)
@click.option(
    "--columns",
    metavar="NAME=COLUMN,...",
    help="Names of the columns in the file for place, sex, age_group, persons, name, province or year (not for .px).  "
    "[default: these names]",
)
@thousands_option
@sheet_option
@max_bytes_option
@json_option
def population(
    source, year, places, by, dates, ranges, round_each_k, correctness, exact, pool_ages, columns, as_json, **reading
):
    """Estimate how many persons are in each range of k for the counts in SOURCE.

    SOURCE is spain-2010 (the embedded population), ine-33570 (after "kanon-lab data fetch ine-33570"), or a .px, .csv,
    .tsv, .xlsx, .xls, .parquet or .zip file with a row for each place, sex and five-year age group ("0-4", ..., "85+")
    or year of age, and its number of persons. A person is k-anonymous if k persons, this one included, share place, sex
    and date of birth. The date is known by day, month or year.
    """
    from kanon_lab import population as law
    from kanon_lab.data.counts import load_counts
    from kanon_lab.data.tables import parse_columns
    from kanon_lab.population.law import parse_ranges

    parsed = parse_ranges(ranges)
    chosen_dates = parse_dates(dates) if dates else law.PERIODS
    oldest = None if pool_ages == "none" else _whole_number(pool_ages)
    if oldest is None and pool_ages != "none":
        raise OptionError(f"--pool-ages {shortened(pool_ages)!r}: write an age in years, such as 85, or none")
    counts = load_counts(source, year=year, pool_from=oldest, columns=parse_columns(columns), **reading)
    of_options = [*([_OF_GUESSES] if correctness else []), *([_OF_EXACT] if exact else [])]
    notes = [*of_options, *counts.attrs.get("notes", [])]
    if places:
        counts = only_places(counts, places, source)
    by = by or ("municipality" if places else "all")
    rows = law.anonymity(counts, dates=chosen_dates, ranges=parsed, by=by, round_each_k=round_each_k, exact=exact)
    guessed = law.correctness(counts, dates=chosen_dates, by=by) if correctness else None
    if as_json:
        of_guesses = {} if guessed is None else {"correctness": guessed}
        print_json({"source": source, "note": _NOTE, "notes": notes, "rows": rows, **of_guesses})
        return
    title = "Persons by k, the number of persons who share place, sex and date of birth"
    sections = [Section(title, [Table(rows, formats=_FORMATS, wide=True)])]  # each line can be searched and sorted
    if guessed is not None:
        title = "Right guesses by place, sex and date of birth"
        sections.append(Section(title, [Table(guessed, formats=_FORMATS_OF_GUESSES, wide=True)]))
    print_parts(*sections, list_notes([_NOTE, *notes]))


def parse_dates(dates):
    """Names of dates, and ``NAME=PERIODS``, as a mapping of name to periods; each name once."""
    from kanon_lab.population import PERIODS

    result = {}
    for text in dates:
        name, sign, number = text.partition("=")
        periods = _whole_number(number) if sign else PERIODS.get(name)
        if not name.isprintable() or not name or not periods:
            raise OptionError(
                f"--dates {shortened(text)!r}: write {', '.join(PERIODS)}, or NAME=PERIODS such as week=261"
            )
        if name in result or (sign and name in PERIODS):
            raise OptionError(f"--dates {shortened(text)!r}: this name has its periods already; choose another name")
        result[name] = periods
    return result


def only_places(counts, places, source):
    """The cells of the named municipalities and provinces."""
    known = (set(counts["place"]) | set(counts["province"])) - {""}
    for place in places:
        if place not in known:
            raise OptionError(
                f"--place {place!r}: {source} has no such municipality or province; write its INE code, such as 29025"
            )
    return counts[counts["place"].isin(places) | counts["province"].isin(places)]


def _whole_number(text):
    """The number that decimal digits make; None for other text, and for more digits than any number here has."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None


@click.group()
def data() -> None:
    """List, download, locate and make data sets."""


@data.command("list", cls=Command, epilog="Example: kanon-lab data list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets that the package contains, and those that it can download."""
    from kanon_lab.data.sets import catalogue

    sets = catalogue()
    shown = Table(sets.assign(sha256=sets["sha256"].str[:12]), wide=True)
    show(sets, lambda: print_parts(shown), as_json=as_json)


@data.command(cls=Command, epilog="Example: kanon-lab data fetch ine-33570")
@click.argument("name")
@click.option("--force", is_flag=True, help="Download again even if the file is already there.")
@json_option
def fetch(name: str, force: bool, as_json: bool) -> None:
    """Download the data set NAME and print its path.

    The command checks the file and keeps it in the cache folder. An interrupted download continues on the next run.
    """
    from kanon_lab.data.sets import fetch

    if not fetch(name, force=force)[1]:
        click.echo(f"{name} is already there (--force downloads it again)", err=True)
    _print_path(name, as_json)


@data.command(cls=Command, epilog="Example: kanon-lab data path spain-2010")
@click.argument("name")
@json_option
def path(name: str, as_json: bool) -> None:
    """Print the path of the data set NAME."""
    _print_path(name, as_json)


@data.group(epilog="Example: kanon-lab data make register --help")
def make() -> None:
    """Make invented data sets of any size."""


@make.command(cls=Command, epilog=_OF_REGISTER, short_help="Draw an invented register of Spain.")
@click.option(
    "--persons",
    type=int,
    metavar="N",
    help="Draw a random sample of N persons.  [default: all 47,021,031, in the exact counts of spain-2010]",
)
@click.option("--out", required=True, metavar="OUT", help="Write this .parquet file, of about 4 bytes per person.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="S", help="Seed of the random numbers.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@json_option
def register(persons: int | None, out: str, seed: int, overwrite: bool, as_json: bool) -> None:
    """Draw an invented register of Spain: place, sex and birth_date, one row per person, in random order.

    The number of persons in each municipality, sex and age group is the same as in spain-2010. Within an age group,
    each of the 1,826 days is equally likely as a date of birth, as "kanon-lab population spain-2010 --dates day"
    assumes. The group 85 and over is also treated as five years wide.
    """
    from kanon_lab.data.counts import load_counts
    from kanon_lab.population import write_register

    drawn = write_register(
        out, load_counts("spain-2010"), persons=persons, seed=seed, overwrite=overwrite, progress=True
    )
    result = {"out": out, "persons": drawn, "seed": seed, "source": "spain-2010"}
    show(result, lambda: print_lines([f"{out}: {drawn:,} invented persons, seed {seed}"]), out, as_json=as_json)


def _print_path(name: str, as_json: bool) -> None:
    from kanon_lab.data.sets import data_path, describe, find

    path = data_path(name)
    if as_json:
        print_json({**describe(find(name)), "path": str(path)})
    else:
        click.echo(path)
