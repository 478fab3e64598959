"""``kanon-lab measure`` and ``kanon-lab subsample``: what a microdata file shows as it is, and as a sample."""

import re
from functools import partial

import click

from kanon_lab import files
from kanon_lab.cli.bounds import bounds_options, bounds_section, check_options, find_bounds
from kanon_lab.cli.options import (
    Command,
    Number,
    column_option,
    engine_option,
    file_argument,
    json_option,
    keys_option,
    keys_unless_counted_option,
    missing_option,
    names,
    optional_file_argument,
    reading_notes,
    reads_microdata,
    spill_option,
    whole_number,
    whole_numbers,
    with_point,
    without_folders,
)
from kanon_lab.cli.output import OFFICE, end, list_diversity, list_notes, print_for_office, show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, about, shortened
from kanon_lab.roles import MISSING_POLICIES, KeySpec
from kanon_lab.show.parts import Section, Table

_OF_MEASURE = """
\b
Examples:
  kanon-lab measure health-survey --keys postcode,age,sex --weight weight --sensitive diagnosis
  kanon-lab measure survey.sav --keys region,sex,age --weight w --household hh --missing category --json
  kanon-lab measure panel.csv --keys region,sex,age --person id
  kanon-lab measure survey.csv --keys region,sex,age --fail-under-k 3
  kanon-lab measure survey.csv --keys region,sex,age --population register.csv --population-count persons
  kanon-lab measure register.parquet --keys place,sex,birth_date --engine duckdb --memory 2GB
  kanon-lab measure north.csv --keys region,sex,age --save-classes north.parquet
  kanon-lab measure --classes north.parquet --classes south.parquet
"""
_OF_SUBSAMPLE = """
\b
Examples:
  kanon-lab subsample survey.csv --keys region,age,sex --fraction 0.04 --repeats 200
  kanon-lab subsample health-survey --keys postcode,age,sex --weight weight --household household --json
  kanon-lab subsample survey.csv --keys region,age,sex --fraction 0.004 --cluster psu --cluster-fraction 0.1
  kanon-lab subsample survey.csv --keys region,age,sex --fraction 0.25 --bounds --known region-by-age.csv
"""

# The mappings of JSON that hold families of measures.
_LEVELS = {"violations_#": "violations", "above_#": "records_above"}
_ESTIMATORS = ["benedetti-franconi", "exact", "inverse"]


def _bands(context, parameter, texts):
    """Bands by variable, open on both sides and closed on the left, from texts such as income=1000,2000."""
    from kanon_lab.measures import Bands

    bands = {}
    for text in texts:
        name, _, edges = text.rpartition("=")
        try:
            numbers = [float(edge) for edge in edges.split(",")]
            bands[name.strip()] = Bands([None, *numbers, None], "left")
        except (ValueError, OptionError):
            name = ""
        if not name.strip():
            raise OptionError(
                f"--bands {shortened(text)!r}: write a variable and rising edges, such as income=1000,2000"
            )
    return bands


def _shares(context, parameter, texts):
    """The numbers from 0 to 1 in texts, between commas; between semicolons where commas stand before decimals."""
    try:
        lists = [text.split(";" if re.fullmatch("0,[0-9]+(;.*)?", text) else ",") for text in texts]
        shares = [float(with_point(part)) for parts in lists for part in parts]
    except ValueError:
        shares = [-1]
    if not all(0 <= share <= 1 for share in shares):
        typed = shortened(",".join(texts))
        raise OptionError(f"--threshold {typed!r}: write numbers from 0 to 1 with a point, such as 0.05,0.2")
    return shares


@click.command(cls=Command, name="measure", epilog=_OF_MEASURE)
@optional_file_argument
@keys_unless_counted_option
@column_option("--weight", "Sampling weight, which the measures of risk need.  [default: every weight is 1]")
@column_option("--household", "Household ID: also measure the risk of whole households.  [default: none]")
@column_option(
    "--person",
    "Person ID, if a person has several records: count persons, not records.  [default: each record is a person]",
)
@click.option(
    "--sensitive",
    multiple=True,
    callback=names,
    metavar="S,...",
    help="Also measure the diversity of these variables.  [default: none]",
)
@missing_option
@reads_microdata("save_classes", "population")
@engine_option
@spill_option
@click.option(
    "--classes",
    multiple=True,
    metavar="COUNTS",
    help="Read counts that --save-classes wrote, instead of FILE. Repeat it to add up several parts.",
)
@click.option(
    "--save-classes",
    metavar="OUT",
    help="Also write a .parquet file with the number of records for each combination of keys and sensitive values.",
)
@click.option(
    "--k",
    default="2,3,5",
    callback=whole_numbers,
    show_default=True,
    help="Count the records with f_k below each of these numbers.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    default=["0.05"],
    callback=_shares,
    show_default=True,
    metavar="R,...",
    help="Count the records with an individual risk above each of these risks, from 0 to 1. Repeatable.",
)
@click.option(
    "--estimator",
    type=click.Choice(_ESTIMATORS),
    default=_ESTIMATORS[0],
    show_default=True,
    help="Estimate individual risk by the mean of 1/F_k given f_k (approximate or exact), or by 1/F_k as if F_k were "
    "known.",
)
@click.option(
    "--recursive-c",
    type=Number(),
    default=2.0,
    show_default=True,
    metavar="C",
    help="Use this c for recursive (c,l)-diversity.",
)
@click.option(
    "--distance",
    type=click.Choice(["equal", "ordered"]),
    default="equal",
    show_default=True,
    help="Treat sensitive values as equally distant or as ordered, for t-closeness.",
)
@click.option(
    "--bands",
    multiple=True,
    callback=_bands,
    metavar="S=EDGE,...",
    help="Group a sensitive quantity: income=1000,2000 gives below 1000, 1000 to below 2000, and "
    "2000 or more. Repeatable.  [default: no bands]",
)
@click.option(
    "--population",
    metavar="FILE",
    help="Also count how many persons have each key in this file of the whole population, which needs the same key "
    "variables.  [default: none]",
)
@column_option(
    "--population-count",
    "Column of --population with the number of persons, if a row is a group.  [default: each row is a person]",
)
@click.option(
    "--fail-under-k",
    default="1",
    callback=whole_number,
    metavar="K",
    help="Exit with 1, after the result, if the file is not K-anonymous.  [default: 1, which never fails]",
)
@json_option
def measure(
    source,
    keys,
    weight,
    household,
    person,
    sensitive,
    missing,
    classes,
    save_classes,
    population,
    population_count,
    fail_under_k,
    as_json,
    **options,
):
    """Measure anonymity, risk and diversity of the records in FILE.

    The command prints only counts, never a value of a record. Keep this output inside your office all the same:
    comparing a run with a person and a run without reveals that person's values.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow) with a row for each record, or a data
    set such as health-survey. A csv file is in UTF-8, UTF-16 or Windows-1252. f_k is the number of records that share a
    record's keys, F_k the sum of their weights. With --person, the command counts persons: f_k is the number of
    different persons with these keys, and a person is unique, below k or at risk if one of the person's records is.

    Exit code: 0 on success; 1 if --fail-under-k is not met; 2 after bad input.
    """
    from kanon_lab.measures import measure

    if population_count is not None and population is None:
        raise OptionError("--population-count is of a population, and --population is not given")
    if classes and (source.file or weight or household or person or save_classes):
        others = "--weight, --household, --person and --save-classes"
        raise OptionError(f"--classes takes the place of FILE, and of {others}")
    if not classes and not source.file:
        raise OptionError("name a FILE, or counts that were saved (--classes)")
    if not classes and not keys:
        raise click.UsageError("Missing option '--keys'.", click.get_current_context())
    if classes:
        read, table, file = _counted_before(classes, keys, sensitive, missing)
    else:
        file = source.file
        roles = {"weight": weight, "household": household, "person": person, "sensitive_variables": sensitive}
        spec = KeySpec(keys, **roles, missing=missing)
        read, table = _grouped(source, spec, save_classes)
    if population is not None:
        options["population"] = source.read_population(population, population_count, table.spec)
    with about(file):
        measured = measure(table, **options)
    result = {**OFFICE, "file": file, **measured.to_dict()}
    result["notes"] += reading_notes(read)
    show(result, partial(_print, result, measured.diversity), as_json=as_json)
    if (k_achieved := measured.k_achieved) < fail_under_k:
        name = without_folders(file, file)
        end(1, f"{name}: k achieved is {k_achieved}, below {fail_under_k} (--fail-under-k)")


def _grouped(source, spec, save_classes):
    """What was read of FILE, and its class table; the counts are saved where that is asked for."""
    from kanon_lab.classes import class_table

    if save_classes:
        files.refuse_inputs(save_classes, [("the input", source.file)])
    if source.counted_by != "memory":
        read = source.count(spec)
        table = read.table()
    else:
        read = source.read(columns=spec.variables)
        with about(source.file):
            table = class_table(read.numbered, spec)
    if save_classes:
        from kanon_lab.engines import save_counts
        from kanon_lab.engines.counting import counted_in_memory

        with about(source.file):
            counted = counted_in_memory(source.file, read, table) if source.counted_by == "memory" else read
        save_counts(counted, save_classes)
    return read, table


def _counted_before(classes, keys, sensitive, missing):
    """Counts that were saved, their class table, and what they are called."""
    from kanon_lab.engines import load_counts
    from kanon_lab.engines.saved import with_roles

    counted = load_counts(classes)
    roles = {"key_variables": keys, "sensitive_variables": sensitive}
    spec = with_roles(counted, missing=missing, **{role: names for role, names in roles.items() if names})
    return counted, counted.table(spec), " + ".join(classes)


def _print(result, diversity):
    """Print the measures for people."""
    lines = [
        f"keys: {', '.join(result['keys'])}, in {result['classes']:,} combinations",
        f"missing keys: {result['missing']} ({MISSING_POLICIES[result['missing']]})",
        f"weight: {result['weight'] or 'none'}; household: {result['household'] or 'none'}",
    ]
    if "person" in result:
        lines.append(f"person: {result['person']}; {result['persons']:,} persons are counted, once each")
    own, n, anonymity = result["own_class"], result.get("persons", result["n"]), {"value": result}
    if own is not None:
        anonymity = {"if a missing key may be any value": result, "if it is a value of its own": own}
    options = {f" (c = {of.recursive_c:g}, {of.distance} distance)" for of in diversity.values()}
    worst = {name: of.file for name, of in diversity.items()}
    print_for_office(
        result["file"],
        result["n"],
        lines,
        Section("Anonymity", [_table("anonymity", n, anonymity)]),
        Section(f"Risk of re-identification ({result['estimator']})", [_table("risk", n, {"value": result})]),
        _population(result.get("population"), n),
        list_diversity(f"Diversity of sensitive values: the worst class{''.join(options)}", worst),
        list_notes(result["notes"]),
    )


def _population(known, n):
    """What was counted in a population."""
    from kanon_lab.measures.registry import measures

    rows = []
    for row in measures(shown="file", part_of="population") if known else ():
        values = {row.called(): known[row.name]} if not row.levels else {}
        values |= {row.at(k).called(): known["below"][k] for k in known["below"] if row.levels}
        for title, value in values.items():
            rows.append([title, row.written(value) + (f" ({percent(value / n)})" if row.unit == "records" else "")])
    return Section("Counted in the population", [Table.of_texts(["measure", "value"], rows)] if rows else [])


def _table(kind, n, results):
    """The measures of a kind in results, by the head of their column; families have a line a level."""
    from kanon_lab.measures.registry import measures

    texts: dict[str, list[str]] = {}
    counts_persons = "person" in next(iter(results.values()))
    for row in measures(shown="file", kind=kind):
        for result in results.values():
            levels = result.get(_LEVELS.get(row.name, "")) or {}
            values = {row.at(level).called(): value for level, value in levels.items()}
            if not row.levels and result.get(row.name) is not None:
                values = {row.called(): result[row.name]}
            for title, value in values.items():
                if counts_persons and row.name != "sum_population_frequency":
                    title = title.replace("records", "persons")
                share = f" ({percent(value / n)})" if row.unit == "records" else ""
                texts.setdefault(title, [title]).append(row.written(value) + share)
    return Table.of_texts(["measure", *results], texts.values())


@click.command(cls=Command, name="subsample", epilog=_OF_SUBSAMPLE)
@file_argument
@keys_option
@click.option(
    "--fraction",
    type=Number(),
    metavar="F",
    help="Sampling fraction of the sample, between 0 and 1, used for the subsamples too. Not with --weight.",
)
@column_option("--weight", "Sampling weight: draw each record with probability 1 / weight, instead of --fraction.")
@column_option(
    "--cluster",
    "Column of the clusters (primary sampling units) that the survey drew: draw whole clusters, because the survey "
    "took everybody in them.  [default: draw records]",
)
@click.option(
    "--cluster-fraction",
    type=Number(),
    metavar="F",
    help="Share of all clusters that the survey drew, if it took only some households or persons in each: draw "
    "both stages again.  [default: clusters are whole]",
)
@column_option(
    "--household",
    "Household ID, if the survey took whole households: draw whole households, within --cluster if it is named.",
)
@click.option(
    "--repeats", type=int, default=1, show_default=True, metavar="R", help="Draw this many subsamples, up to 100,000."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Seed of the random numbers.")
@click.option(
    "--fixed-size",
    is_flag=True,
    help="Draw a fixed number of records.  [default: draw each record on its own, so that the number varies]",
)
@click.option(
    "--p-a",
    type=Number(),
    default=1.0,
    show_default=True,
    metavar="P",
    help="Probability, from 0 to 1, that what an intruder knows is right and coded as in FILE.",
)
@bounds_options
@missing_option
@reads_microdata()
@json_option
def subsample(
    source,
    keys,
    weight,
    cluster,
    household,
    missing,
    fixed_size,
    bounds,
    confidence,
    persons,
    cells,
    known,
    as_json,
    **options,
):
    """Estimate the risk of identification in the sample FILE by drawing subsamples of it.

    We assume that the sample relates to the population as a subsample relates to the sample.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow) with a row for each record, or a data
    set such as health-survey. A csv file is in UTF-8, UTF-16 or Windows-1252. If the survey drew clusters or
    households, name their columns, so that subsamples are drawn in the same way.

    FILE has n1 records; u1 of them are unique in FILE. A subsample has n2 records; u2 of them are unique in the
    subsample, and u of these u2 are unique in FILE too. Then p(c) = (u1/n1)(u/u2), p(d) = u/u2, and p(identification) =
    p(a) p(b) p(c) p(d), where p(b) is the fraction.

    Exit code: 0 on success; 2 after bad input.
    """
    from kanon_lab.sample.study import subsample_risk

    spec = KeySpec(keys, weight=weight, household=household, missing=missing)
    units = [name for name in (cluster, household) if name is not None]
    of_bounds = check_options(bounds, units, confidence=confidence, persons=persons, cells=cells, known=known)
    # Without units named, any column may show that there are some.
    read = source.read(columns=list(dict.fromkeys([*spec.variables, *units])) if units else None)
    if not {*spec.variables} <= {*read.frame}:
        source.read(columns=spec.variables)  # it says which one is not there
    scheme = "fixed" if fixed_size else "bernoulli"
    with about(source.file):
        risk = subsample_risk(read.numbered, spec, scheme=scheme, cluster=cluster, **options)
        of_bounds = {
            "known": (),
            **of_bounds,
            "scheme": scheme,
            "seed": options["seed"],
            "fraction": options["fraction"],
        }
        bounds = find_bounds(source, read.numbered, spec, **of_bounds) if bounds else None
    result = {**OFFICE, "file": source.file, **risk.to_dict()}
    result["notes"] += reading_notes(read)
    if bounds is not None:
        result["bounds"] = bounds.to_dict()
        result["notes"] += [note for note in bounds.notes if note not in risk.warnings]
    show(result, partial(_print_study, result, risk, bounds), as_json=as_json)


def _print_study(result, risk, bounds):
    """Print the study for people."""
    means = ", mean" if risk.repeats > 1 else ""
    counts = {
        "in the sample (n1)": risk.n1,
        "unique in the sample (u1)": risk.u1,
        f"in the subsample (n2{means})": risk.n2,
        f"unique in the subsample (u2{means})": risk.u2,
        f"unique in both (u{means})": risk.u,
    }
    records = [(name, f"{count:,.1f}" if isinstance(count, float) else f"{count:,}") for name, count in counts.items()]
    conditions = {
        "what the intruder knows is coded alike and right, p(a), as given": risk.p_a,
        "the person is in the sample, p(b)": risk.p_b,
        "the person's keys are unique in the population, p(c)": risk.p_c,
        "a record unique in the sample is unique in the population, p(d)": risk.p_d,
        "identification, the product of the four": risk.p_identification,
    }
    shares = [(name, percent(share, digits=4)) for name, share in conditions.items()]
    spread = f", and the spread of these {risk.repeats:,}" if means else ""
    table = risk.spread.rename(columns={"q025": "2.5%", "q975": "97.5%"}) if means else risk.spread[[]]
    table.insert(0, "expected", risk.expected)
    lines = [
        f"keys: {', '.join(map(str, risk.keys))}",
        f"missing keys: {risk.missing} ({MISSING_POLICIES[risk.missing]})",
        f"subsamples: {risk.repeats:,}, {_drawn(risk)}, seed {risk.seed}",
    ]
    print_for_office(
        result["file"],
        risk.n1,
        lines,
        Section("Counts", [Table.of_texts(["records", "number"], records)]),
        Section("The four conditions of an identification", [Table.of_texts(["condition", "probability"], shares)]),
        Section(f"Over all subsamples, in closed form{spread}", [Table(table.reset_index(names="estimate"))]),
        *bounds_section(bounds),
        list_notes([*(f"warning: {warning}" for warning in result["warnings"]), *result["notes"]]),
    )


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
