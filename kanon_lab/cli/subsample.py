"""``kanon-lab subsample``: the risk of identification in a sample, from subsamples of it."""

import click

from kanon_lab.cli.measure import aligned, names, one_name
from kanon_lab.cli.output import (
    FOR_OFFICE,
    OFFICE,
    by_names,
    max_bytes_option,
    missing_codes_option,
    print_frame,
    print_json,
    reader_may_leave,
    reading_notes,
)
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, about, visible

_EXAMPLES = """
\b
Examples:
  kanon-lab subsample survey.csv --keys region,age,sex --fraction 0.04 --repeats 200
  kanon-lab subsample health-survey --keys postcode,age,sex --weight weight --household household --json
  kanon-lab subsample survey.csv --keys region,age,sex --fraction 0.004 --cluster psu --cluster-fraction 0.1
"""

_POLICIES = ["wildcard", "category", "error"]


@click.command(name="subsample", epilog=_EXAMPLES)
@click.argument("file")
@click.option(
    "--keys",
    multiple=True,
    required=True,
    metavar="A,B,...",
    help="Key variables: what an intruder may know. May repeat. A name that has a comma stands in quotes: '\"a,b\",c'.",
)
@click.option(
    "--fraction",
    type=float,
    metavar="F",
    help="Sampling fraction of the sample, between 0 and 1; subsamples have the same. Not with --weight.",
)
@click.option(
    "--weight",
    multiple=True,
    metavar="COLUMN",
    help="Sampling weight: each record is drawn with the chance 1 / weight.",
)
@click.option(
    "--cluster",
    multiple=True,
    metavar="COLUMN",
    help="Clusters (primary sampling units) that the survey drew: subsamples take whole ones, as a survey of everybody "
    "in the clusters drawn did.",
)
@click.option(
    "--cluster-fraction",
    type=float,
    metavar="F",
    help="Share of all clusters that the survey drew, where it took only some households or persons in each: then "
    "subsamples draw both again.",
)
@click.option(
    "--household",
    multiple=True,
    metavar="COLUMN",
    help="Households that were surveyed as wholes: subsamples take whole ones, within clusters where these are named.",
)
@click.option(
    "--repeats", type=int, default=1, show_default=True, metavar="R", help="Subsamples to draw, up to 100,000."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Of the random numbers.")
@click.option("--fixed-size", is_flag=True, help="Subsamples of a fixed number of records, not each by its own draw.")
@click.option(
    "--p-a",
    type=float,
    default=1.0,
    show_default=True,
    metavar="P",
    help="Chance that what an intruder knows is coded as in FILE and right, from 0 to 1.",
)
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@by_names("file")
def subsample(file, keys, weight, cluster, household, missing, fixed_size, na, missing_codes, as_json, **options):
    """Risk of identification in the sample FILE: what a subsample is to it, it is taken to be to the population.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow) with a row for each record, or a data
    set such as health-survey. A csv file is in UTF-8, UTF-16 or Windows-1252. Of its n1 records u1 are unique in it; of
    the n2 of a subsample u2 are unique there, and u of these in FILE too. Then p(c) = (u1/n1)(u/u2), p(d) = u/u2, and
    p(identification) = p(a) p(b) p(c) p(d), where p(b) is the fraction. Where the survey drew clusters or households,
    name their columns, so that a subsample is drawn as the sample was. Exit code: 0; 2 after bad input.
    """
    if not file:
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")

    from kanon_lab.data.microdata import read_file
    from kanon_lab.roles import KeySpec
    from kanon_lab.sample.study import subsample_risk

    roles = {"weight": one_name(weight, "--weight"), "household": one_name(household, "--household")}
    spec, cluster = KeySpec(names(keys, "--keys"), **roles, missing=missing), one_name(cluster, "--cluster")
    units = [name for name in (cluster, spec.household) if name is not None]
    # Without units named, any column may show that there are some.
    columns = list(dict.fromkeys([*spec.variables, *units])) if units else None
    read = read_file(file, columns=columns, na=na, missing_codes=missing_codes)
    if not {*spec.variables} <= {*read.frame}:
        read_file(file, columns=spec.variables)  # it says which one is not there
    scheme = "fixed" if fixed_size else "bernoulli"
    with about(file):
        risk = subsample_risk(read.numbered, spec, scheme=scheme, cluster=cluster, **options)
    result = {**OFFICE, "file": file, **risk.to_dict()}
    result["notes"] += reading_notes(read)
    with reader_may_leave():
        if as_json:
            print_json(result)
        else:
            _print(result, risk)


def _print(result, risk):
    """Print the result for people; names of files and columns must not command the terminal."""
    from kanon_lab.roles import MISSING_POLICIES

    means = ", mean" if risk.repeats > 1 else ""
    for line in (
        f"{result['file']}: {risk.n1:,} records, keys {', '.join(map(str, risk.keys))} {FOR_OFFICE}",
        f"missing keys: {risk.missing} ({MISSING_POLICIES[risk.missing]})",
        f"subsamples: {risk.repeats:,}, {_drawn(risk)}, seed {risk.seed}",
        *aligned("Records", _records(risk, means)),
        *aligned("The four conditions of an identification", _conditions(risk)),
        "",
        "Over all subsamples, in closed form" + (f", and the spread of these {risk.repeats:,}" if means else ""),
    ):
        click.echo(visible(line))
    table = risk.spread.rename(columns={"q025": "2.5%", "q975": "97.5%"}) if means else risk.spread[[]]
    table = table.assign(expected=risk.expected)
    table = table[["expected", *table.columns[:-1]]].reset_index(names="")
    print_frame(table)
    told = [*(f"warning: {each}" for each in result["warnings"]), *result["notes"]]
    if told:
        click.echo()
    for note in told:
        click.echo(visible(note))


def _drawn(risk):
    from kanon_lab.sample.study import SCHEMES

    if risk.weight is not None:
        drawn = f"each {{}} with the chance 1 / {risk.weight}"
    else:
        drawn = f"{SCHEMES[risk.scheme].replace('record', '{}')}, fraction {risk.fraction:g}"
    if risk.units is None:
        return drawn.format("record")
    whole = risk.household if risk.cluster is None or risk.cluster_fraction is not None else risk.cluster
    within = "" if risk.cluster_fraction is None else f", of {risk.cluster} with the chance {risk.cluster_fraction:g}"
    return f"{drawn.format('record' if whole is None else f'whole {whole}')}{within}; {risk.units:,} in the sample"


def _records(risk, means):
    counts = {
        "in the sample (n1)": risk.n1,
        "unique in the sample (u1)": risk.u1,
        f"in the subsample (n2{means})": risk.n2,
        f"unique in the subsample (u2{means})": risk.u2,
        f"unique in both (u{means})": risk.u,
    }
    return {name: f"{count:,.1f}" if isinstance(count, float) else f"{count:,}" for name, count in counts.items()}


def _conditions(risk):
    shares = {
        "what the intruder knows is coded alike and right, p(a), as given": risk.p_a,
        "the person is in the sample, p(b)": risk.p_b,
        "the person's keys are unique in the population, p(c)": risk.p_c,
        "a record unique in the sample is unique in the population, p(d)": risk.p_d,
        "identification, the product of the four": risk.p_identification,
    }
    return {name: percent(share, digits=4) for name, share in shares.items()}
