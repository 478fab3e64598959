"""``kanon-lab measure``: anonymity, risk and diversity of a microdata file."""

import csv

import click

from kanon_lab.cli.output import (
    FOR_OFFICE,
    OFFICE,
    by_names,
    max_bytes_option,
    missing_codes_option,
    print_json,
    reader_may_leave,
    reading_notes,
    without_folders,
)
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, about, shortened, visible

_EXAMPLES = """
\b
Examples:
  kanon-lab measure health-survey --keys postcode,age,sex --weight weight --sensitive diagnosis
  kanon-lab measure survey.sav --keys region,sex,age --weight w --household hh --missing category --json
  kanon-lab measure survey.csv --keys region,sex,age --fail-under-k 3
"""

_ESTIMATORS = ["benedetti-franconi", "exact", "inverse"]
# What f_k counts where keys are missing: two tables, since neither has the records of the other.
_COMPATIBLE = "Anonymity by compatible records (a missing key may be any value)"
_OWN_CLASS = "Anonymity by own class (a missing key is a value of its own)"
_POLICIES = ["wildcard", "category", "error"]


@click.command(name="measure", epilog=_EXAMPLES)
@click.argument("file")
@click.option(
    "--keys",
    multiple=True,
    required=True,
    metavar="A,B,...",
    help="Key variables: what an intruder may know. May repeat. A name that has a comma stands in quotes: '\"a,b\",c'.",
)
@click.option(
    "--weight",
    multiple=True,
    metavar="COLUMN",
    help="Sampling weight: the measures of risk need a sample with weights. Default: every weight is 1.",
)
@click.option("--household", multiple=True, metavar="COLUMN", help="Identifier of the household.")
@click.option("--sensitive", multiple=True, metavar="S,...", help="Variables that an intruder wants to learn.")
@click.option(
    "--missing",
    type=click.Choice(_POLICIES),
    default="wildcard",
    show_default=True,
    help="A missing key is compatible with anything, a value of its own, or an error.",
)
@click.option("--na", multiple=True, metavar="TEXT", help="A text that means missing, such as NA. May repeat.")
@missing_codes_option
@max_bytes_option
@click.option("--k", default="2,3,5", show_default=True, help="Count the records with f_k below these.")
@click.option(
    "--threshold",
    multiple=True,
    default=["0.05"],
    show_default=True,
    metavar="R,...",
    help="Count the records with an individual risk above these, from 0 to 1. May repeat.",
)
@click.option(
    "--estimator",
    type=click.Choice(_ESTIMATORS),
    default=_ESTIMATORS[0],
    show_default=True,
    help="Of individual risk: the mean of 1/F_k given f_k by approximation, the same exactly, or 1/F_k as if known.",
)
@click.option(
    "--recursive-c", type=float, default=2.0, show_default=True, metavar="C", help="The c of recursive (c,l)-diversity."
)
@click.option(
    "--distance",
    type=click.Choice(["equal", "ordered"]),
    default="equal",
    show_default=True,
    help="Between sensitive values, for t-closeness.",
)
@click.option(
    "--bands",
    multiple=True,
    metavar="S=EDGE,...",
    help="Bands of a sensitive quantity: income=1000,2000 is below 1000, 1000 to below 2000, and the rest. May repeat.",
)
@click.option(
    "--fail-under-k",
    default="1",
    metavar="K",
    help="Exit with 1, after the result, where the file is not K-anonymous.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
@by_names("file")
def measure(
    context,
    file,
    keys,
    weight,
    household,
    sensitive,
    missing,
    na,
    missing_codes,
    k,
    threshold,
    estimator,
    recursive_c,
    distance,
    bands,
    fail_under_k,
    as_json,
):
    """Anonymity, risk and diversity of the records in FILE, from counts only: no value of a record is printed.

    What is printed is for the office only: two runs, with and without one person, tell that person's values.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow) with a row for each record, or a data
    set such as health-survey. A csv file is in UTF-8, UTF-16 or Windows-1252. f_k is the number of records that share a
    record's keys, F_k the sum of their weights. Exit code: 0; 1 where --fail-under-k is not met; 2 after bad input.
    """
    k = whole_numbers(k, "--k")
    (k_required,) = whole_numbers(fail_under_k, "--fail-under-k", most=1)
    if not file:
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")

    from kanon_lab.data.microdata import read_file
    from kanon_lab.measures import measure
    from kanon_lab.roles import KeySpec

    spec = KeySpec(
        names(keys, "--keys"),
        weight=one_name(weight, "--weight"),
        household=one_name(household, "--household"),
        sensitive_variables=names(sensitive, "--sensitive"),
        missing=missing,
    )
    options = {"estimator": estimator, "recursive_c": recursive_c, "distance": distance, "bands": parse_bands(bands)}
    options["thresholds"] = shares(threshold, "--threshold")
    read = read_file(file, columns=spec.variables, na=na, missing_codes=missing_codes)
    with about(file):
        measured = measure(read.numbered, spec, k=k, **options)
    result = {**OFFICE, "file": file, **measured.to_dict()}
    result["notes"] += reading_notes(read)
    with reader_may_leave():
        if as_json:
            print_json(result)
        else:
            _print(result)
    if measured.k_achieved < k_required:
        below = (
            f"{without_folders(file, file)}: k achieved is {measured.k_achieved}, below {k_required} (--fail-under-k)"
        )
        click.echo(f"kanon-lab: {visible(below)}", err=True)
        context.exit(1)


def names(texts, option):
    """Names in comma-separated texts, each once; a name in double quotes may have commas."""
    found = []
    for text in texts:
        try:
            (row,) = csv.reader([text], skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            row = []
        found += [name.strip() for name in row or [""]]
    if not all(found):
        raise OptionError(
            f"{option} {shortened(','.join(texts))!r}: write names of columns between commas, such as a,b,c"
        )
    return found


def one_name(texts, option):
    """The one name given, or None; a name may have commas."""
    if len(texts) > 1:
        raise OptionError(f"{option} stands {len(texts)} times; name one column")
    name = texts[0].strip() if texts else None
    if name == "":
        raise OptionError(f"{option} is empty; name a column, or leave it out")
    return name


def parse_bands(texts):
    """Bands by variable, open on both sides and closed on the left, from texts such as income=1000,2000."""
    from kanon_lab.measures import Bands

    found = {}
    for text in texts:
        name, _, edges = text.rpartition("=")
        try:
            numbers = [float(edge) for edge in edges.split(",")]
            found[name.strip()] = Bands([None, *numbers, None], "left")
        except (ValueError, OptionError):
            name = ""
        if not name.strip():
            raise OptionError(
                f"--bands {shortened(text)!r}: write a variable and rising edges, such as income=1000,2000"
            )
    return found


def shares(texts, option):
    """The numbers from 0 to 1 in comma-separated texts."""
    try:
        found = [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        found = [-1]
    if not all(0 <= share <= 1 for share in found):
        raise OptionError(
            f"{option} {shortened(','.join(texts))!r}: write numbers from 0 to 1 with a point, such as 0.05,0.2"
        )
    return found


def whole_numbers(text, option, most=None):
    """The whole numbers from 1 on in a comma-separated text, and no more than so many of them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) <= 18 and int(part) > 0 for part in parts) or len(parts) > (most or 1000):
        wanted = "whole numbers from 1 on, such as 2,3,5" if most is None else "a whole number from 1 on, such as 3"
        raise OptionError(f"{option} {shortened(text)!r}: write {wanted}")
    return [int(part) for part in parts]


def _print(result):
    """Print the measures for people; names of files and columns must not command the terminal."""
    for line in _lines(result):
        click.echo(visible(line))


def _lines(result):
    from kanon_lab.measures import MEASURES
    from kanon_lab.roles import MISSING_POLICIES

    n, missing = result["n"], result["missing"]
    combinations = f"{result['classes']:,} combinations of {', '.join(result['keys'])}"
    yield f"{result['file']}: {n:,} records, {combinations} {FOR_OFFICE}"
    yield f"missing keys: {missing} ({MISSING_POLICIES[missing]})"
    yield f"weight: {result['weight'] or 'none'}; household: {result['household'] or 'none'}"
    own = result["own_class"]
    yield from aligned("Anonymity" if own is None else _COMPATIBLE, _anonymity(result, n))
    if own is not None:
        yield from aligned(_OWN_CLASS, _anonymity(own, n))
    risk = {
        "global risk": percent(result["global_risk"], digits=4),
        "expected re-identifications": f"{result['expected_reidentifications']:,.2f}",
        "sum of F_k over records": f"{result['sum_population_frequency']:,.1f}",
    }
    for threshold, records in result["records_above"].items():
        risk[f"records with a risk above {threshold}"] = f"{records:,} ({percent(records / n)})"
    if result["household"]:
        risk["household risk"] = percent(result["household_risk"], digits=4)
        risk["expected households re-identified"] = f"{result['expected_household_reidentifications']:,.2f}"
        risk["expected persons in those households"] = f"{result['expected_persons_in_reidentified_households']:,.2f}"
    yield from aligned(f"Risk of re-identification ({result['estimator']})", risk)
    for name, values in result["diversity"].items():
        title = f"Diversity of {name}: the worst class (c = {values['recursive_c']:g}, {values['distance']} distance)"
        numbers = {measure: value for measure, value in values.items() if measure not in ("recursive_c", "distance")}
        yield from aligned(
            title,
            {
                f"{measure} ({'least' if MEASURES[measure] else 'largest'})": "infinite"
                if value is None
                else f"{value:.6g}"
                for measure, value in numbers.items()
            },
        )
    if result["notes"]:
        yield ""
    yield from result["notes"]


def _anonymity(counts, n):
    found = {"sample uniques (f_k = 1)": counts["sample_uniques"]}
    found |= {f"records with f_k below {k}": records for k, records in counts["violations"].items()}
    texts = {name: f"{records:,} ({percent(records / n)})" for name, records in found.items()}
    return {"k achieved": f"{counts['k_achieved']:,}", **texts}


def aligned(title, texts):
    """A title, and below it a line for each text: its name to the left, the text to the right."""
    yield ""
    yield title
    left, right = max(map(len, texts)), max(map(len, texts.values()))
    for name, text in texts.items():
        yield f"  {name:<{left}}  {text:>{right}}"
