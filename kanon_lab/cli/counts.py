"""``kanon-lab population``, ``audit`` and ``data``: counts of a population, published figures, and the data sets."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from kanon_lab.cli.options import json_option, max_bytes_option
from kanon_lab.cli.output import print_frame, print_json, print_lines, show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened

_OF_POPULATION = """
\b
Examples:
  kanon-lab population spain-2010 --by province --dates day --ranges 1,2+
  kanon-lab population spain-2010 --place 28079 --place 29025 --json
  kanon-lab population ine-33570 --year 2010 --place 29025 --dates day --round-each-k --ranges 1,2,3,4,5,6-10,11+
  kanon-lab population counts.csv --columns place=code,persons=total --dates week=261
"""
_OF_AUDIT = """
\b
Examples:
  kanon-lab audit
  kanon-lab audit --source aepd
  kanon-lab audit --figure garin-1996/taula-1/catalonia/1-year/p
  kanon-lab audit --source gil-bellosta-2011 --json
  kanon-lab audit --population ine-33570 --year 2010    (after: kanon-lab data fetch ine-33570)
"""

_OF_REGISTER = """
\b
Examples:
  kanon-lab data make register --out register.parquet
  kanon-lab data make register --persons 1000000 --seed 7 --out sample.parquet
"""

_NOTE = (
    "persons: expected number; sd and half_width (95 %): what the draw of birth dates adds, the counts taken as known."
)

_FORMATS: dict[str, str | Callable[[Any], str]] = {
    "population": ",",
    "periods": ",",
    "persons": ",.1f",
    "share": percent,
    "sd": ",.1f",
    "half_width": ",.1f",
}
# Characters of the names beside what is told of one figure.
_LABEL = 12


@click.command(name="population", epilog=_OF_POPULATION)
@click.argument("source")
@click.option("--year", type=int, help="Year of the counts; required when the file holds several.")
@click.option("--place", "places", multiple=True, metavar="CODE", help="Only this municipality or two-digit province.")
@click.option(
    "--by",
    type=click.Choice(["all", "province", "municipality"]),
    help="What to add up to. Default: municipality with --place, else all.",
)
@click.option(
    "--dates",
    multiple=True,
    metavar="DATES",
    help="day, month, year, or NAME=PERIODS in an age group (week=261). May repeat. Default: day, month and year.",
)
@click.option("--ranges", default="1,2,3,4,5,6-10,11-20,21-50,51+", show_default=True, help="Ranges of k.")
@click.option("--round-each-k", is_flag=True, help="Round every single k before adding up, as Cuadros 2-4 were made.")
@click.option(
    "--pool-ages",
    metavar="AGE",
    default="85",
    show_default=True,
    help="Make all ages from this one on one group, as the study did; or none.",
)
@click.option(
    "--columns",
    metavar="NAME=COLUMN,...",
    help="For csv, xlsx, xls and parquet: the file's name for place, sex, age_group, persons, name, province or year.",
)
@max_bytes_option
@json_option
def population(source, year, places, by, dates, ranges, round_each_k, pool_ages, columns, as_json):
    """Expected number of persons per range of k for the counts in SOURCE.

    SOURCE is spain-2010 (the embedded population), ine-33570 (after "kanon-lab data fetch ine-33570"), or a .px, .csv,
    .xlsx, .xls or .parquet file with a row for each place, sex and five-year age group ("0-4", ..., "85+") or year of
    age, and its number of persons. A person is k-anonymous when k persons share place, sex and date of birth,
    known by day, month or year.
    """
    from kanon_lab.data.counts import load_counts
    from kanon_lab.data.tables import parse_columns
    from kanon_lab.population import PERIODS, anonymity
    from kanon_lab.population.law import parse_ranges

    parsed = parse_ranges(ranges)
    chosen_dates = parse_dates(dates) if dates else PERIODS
    counts = load_counts(source, year=year, pool_from=_age(pool_ages), columns=parse_columns(columns))
    notes = counts.attrs.get("notes", [])
    if places:
        counts = only_places(counts, places, source)
    by = by or ("municipality" if places else "all")
    rows = anonymity(counts, dates=chosen_dates, ranges=parsed, by=by, round_each_k=round_each_k)
    if as_json:
        print_json({"source": source, "note": _NOTE, "notes": notes, "rows": rows})
    else:
        print_frame(rows, _FORMATS)
        click.echo("\n" + "\n".join([_NOTE, *(f"note: {note}" for note in notes)]))


def parse_dates(dates):
    """Names of dates, and ``NAME=PERIODS``, as a mapping of name to periods; each name once."""
    from kanon_lab.population import PERIODS

    result = {}
    for text in dates:
        name, given, number = text.partition("=")
        periods = _whole_number(number) if given else PERIODS.get(name)
        if not name.isprintable() or not name or not periods:
            raise OptionError(
                f"--dates {shortened(text)!r}: write {', '.join(PERIODS)}, or NAME=PERIODS such as week=261"
            )
        if name in result or (given and name in PERIODS):
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


def _age(text):
    if text == "none":
        return None
    age = _whole_number(text)
    if age is None:
        raise OptionError(f"--pool-ages {shortened(text)!r}: write an age in years, such as 85, or none")
    return age


def _whole_number(text):
    """The number that decimal digits make; None for other text, and for more digits than any number here has."""
    return int(text) if text.isdecimal() and len(text) <= 18 else None


@click.command(name="audit", epilog=_OF_AUDIT)
@click.option("--source", help="One source: gil-bellosta-2011, aepd, garin-1996 or ine-chile-2023. Default: all.")
@click.option(
    "--figure",
    metavar="ID",
    help="One figure alone: where it is printed, what it is computed from, how, and the result. ID is a figure_id of "
    "--json, which begins with its source; with --source it must be of that one.",
)
@click.option("--population", metavar="FILE", help="Recompute gil-bellosta-2011 from this file of counts.")
@click.option("--year", type=int, help="Year of the counts in FILE; the study's is 2010.")
@click.option("--columns", metavar="NAME=COLUMN,...", help="Which column of FILE is which, as in population.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 where a figure (with --figure: this one) disagrees or a published error was found.",
)
@max_bytes_option
@json_option
def audit(source, figure, population, year, columns, strict, as_json):
    """Give each published figure a verdict, and tell what it was set against.

    Only figures of the kind "recomputed" are set against something else, and only these confirm a source. To others
    our input was fitted, or they are copied within the source, or inputs that nothing can be computed for: these are
    counted apart. Without --population the tables of gil-bellosta-2011 are recomputed from the embedded population,
    which was fitted to them; the other sources from what they print themselves.
    """
    from kanon_lab import studies
    from kanon_lab.data.counts import load_counts
    from kanon_lab.data.tables import parse_columns
    from kanon_lab.studies.figures import check_source
    from kanon_lab.studies.verdicts import FINDINGS, check_takes_counts, source_of

    if source == "":
        raise OptionError("--source is empty; name a source such as gil-bellosta-2011, or leave it out for all")
    if population is None and (year is not None or columns is not None):
        raise OptionError("--year and --columns go with --population: the embedded population needs neither")
    if source is not None:
        check_source(source)
    if figure is not None:
        given, source = source, source_of(figure)
        if given not in (None, source):
            raise OptionError(f"--figure is one of {source}: leave out --source, or name that one")
    counts = None
    if population is not None:
        check_takes_counts(source)
        counts = load_counts(population, year=year, pool_from=85, columns=parse_columns(columns))
    result = studies.audit(source, counts)
    if figure is None:
        show(_of_all(result) if as_json else None, partial(_print, result), as_json=as_json)
        clean = result.clean
    else:
        one = result.figure(figure)
        show(_of_one(one), partial(_print_one, one), as_json=as_json)
        clean = one["verdict"] not in FINDINGS
    if strict and not clean:
        raise click.exceptions.Exit(1)


def _of_all(result):
    """The audit as it stands in JSON: what was computed is in one column, a number or words."""
    from kanon_lab.studies import KINDS, VERDICTS

    figures = result.figures
    computed = figures["computed"].astype(object).where(figures["computed_text"] == "", figures["computed_text"])
    figures = figures.assign(computed=computed).drop(columns="computed_text")
    return {
        # "fitted" is what "kind" was before there were several.
        "figures": figures.assign(fitted=figures["kind"] == "fitted"),
        "kinds": {name: (figures["kind"] == name).sum() for name in KINDS},
        "verdicts": {name: (figures["verdict"] == name).sum() for name in VERDICTS},
        "evidence": result.evidence(),
        "summary": result.summary(),
        "rows_that_do_not_add_up": result.rows_off,
    }


def _of_one(figure):
    computed = {"computed": figure["computed_text"] or figure["computed"]}
    return {name: value for name, value in figure.items() if name != "computed_text"} | computed


def _print(result):
    """What was set against something else comes first; the other kinds are counted, not claimed."""
    import pandas as pd

    from kanon_lab.studies import KINDS, VERDICTS
    from kanon_lab.studies.verdicts import FINDINGS, computed_words

    verdicts = list(VERDICTS)[::-1]
    evidence = result.evidence().groupby("kind")[["figures", *verdicts]].sum().reindex(list(KINDS), fill_value=0)
    told = [
        ", ".join(f"{count:,} {name}" for name, count in row.items() if count)
        for _, row in evidence[verdicts].iterrows()
    ]
    printed, first = evidence["figures"].sum(), evidence["figures"].iloc[0]
    click.echo(f"{printed:,} figures printed; {first:,} recomputed from something else: {told[0] or 'none'}.\n")
    kinds = {"kind": evidence.index, "figures": evidence["figures"].to_numpy(), "verdicts": told}
    print_frame(pd.DataFrame(kinds | {"meaning": list(KINDS.values())}), {"figures": ","})
    click.echo()
    summary = result.summary().assign(attention=lambda rows: rows[list(FINDINGS)].sum(axis=1))
    print_frame(summary[["source", "table", "figures", *KINDS, "attention"]])
    findings = result.figures[result.figures["verdict"].isin(FINDINGS)]
    click.echo(f"\n{len(findings)} of {len(result.figures)} figures ask for attention (each alone: --figure ID):")
    for figure in findings.assign(computed=computed_words(findings)).itertuples():
        click.echo(
            f"  {figure.figure_id} ({figure.kind})\n    {figure.table}, {figure.row}, {figure.column}: "
            f"printed {figure.printed}, computed {figure.computed} ({figure.verdict}): {figure.reason}"
        )
    click.echo(f"\n{len(result.rows_off)} printed rows do not add up to their totals; --json lists them.")


def _print_one(figure):
    click.echo(f"{figure['figure_id']}\n")
    for name, text in _told(figure):
        if text:
            click.echo(f"{name:<{_LABEL}}{text}")


def _told(figure):
    """What is told of one figure, by name; what there is nothing of is empty."""
    row = [figure["table"], f"row {figure['row']}", f"column {figure['column']}"]
    place = [figure["place"], *([figure["column"]] if figure["table"] == "text" else row)]
    missing = figure["computed"] != figure["computed"]
    yield "source", figure["citation"]
    yield "where", ", ".join(filter(None, place))
    yield "unit", figure["unit"]
    yield "printed", figure["printed"]
    yield "computed", figure["computed_text"] or ("" if missing else f"{figure['computed']:.10g}")
    yield "difference", "" if figure["difference"] != figure["difference"] else f"{figure['difference']:.6g}"
    yield "noise", f"{figure['noise']:.3g} (of the study's simulation)" if figure["noise"] else ""
    yield "tolerance", f"{figure['tolerance']:.3g}" if figure["tolerance"] else ""
    yield "kind", f"{figure['kind']}: {figure['kind_meaning']}"
    yield "verdict", f"{figure['verdict']}: {figure['verdict_meaning']}"
    yield "reason", figure["reason"]
    yield "inputs", figure["inputs"]
    yield "formula", figure["formula"]
    yield "code", figure["code"]
    yield "chapter", figure["chapter"] and f"{figure['chapter']} (book/{figure['chapter']}.md)"


@click.group()
def data() -> None:
    """List, fetch, find and make data sets."""


@data.command("list", epilog="Example: kanon-lab data list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets: those of the package and those to fetch."""
    from kanon_lab.data.sets import catalogue

    sets = catalogue()
    if as_json:
        print_json(sets)
    else:
        print_frame(sets.assign(sha256=sets["sha256"].str[:12]))


@data.command(epilog="Example: kanon-lab data fetch ine-33570")
@click.argument("name")
@click.option("--force", is_flag=True, help="Download again even when the file is there.")
@json_option
def fetch(name: str, force: bool, as_json: bool) -> None:
    """Download the data set NAME and print its path.

    It is checked and kept in the cache folder. A download that broke off goes on with the next one.
    """
    from kanon_lab.data.sets import fetch

    if not fetch(name, force=force)[1]:
        click.echo(f"{name} is already there (a fetched one is downloaded again with --force)", err=True)
    _print_path(name, as_json)


@data.command(epilog="Example: kanon-lab data path spain-2010")
@click.argument("name")
@json_option
def path(name: str, as_json: bool) -> None:
    """Print the path of the data set NAME."""
    _print_path(name, as_json)


@data.group(epilog="Example: kanon-lab data make register --help")
def make() -> None:
    """Make invented data sets of any size."""


@make.command(epilog=_OF_REGISTER)
@click.option(
    "--persons",
    type=int,
    metavar="N",
    help="A random sample of N persons of the country. Default: all 47,021,031, in the exact counts of spain-2010.",
)
@click.option("--out", required=True, metavar="OUT", help="The .parquet file to write; some 4 bytes a person.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="S", help="Of the random numbers.")
@click.option("--overwrite", is_flag=True, help="Replace OUT where it is there.")
@json_option
def register(persons: int | None, out: str, seed: int, overwrite: bool, as_json: bool) -> None:
    """Draw an invented register of Spain: place, sex and birth_date, one row a person, in random order.

    How many persons have each municipality, sex and age group is as in spain-2010. Each is born on any of the
    1826 days of the age group with the same probability, as "kanon-lab population spain-2010 --dates day" supposes;
    those of 85 and over within five years too.
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
