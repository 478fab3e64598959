"""``kanon-lab compare``: what two editions of a file tell together."""

from dataclasses import replace
from functools import partial

import click
from click.core import ParameterSource

from kanon_lab.cli.options import (
    Command,
    column_option,
    json_option,
    keys_unless_counted_option,
    missing_option,
    reading_notes,
    reads_microdata,
    whole_number,
    whole_numbers,
    without_folders,
)
from kanon_lab.cli.output import OFFICE, end, list_notes, print_lines, print_parts, show
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.roles import MISSING_POLICIES
from kanon_lab.show.parts import Bullets, Section, Table

_EXAMPLES = """
\b
Examples:
  kanon-lab compare survey-2023.csv survey-2024.csv --keys region,sex,age --id pseudonym
  kanon-lab compare first-version.csv second-version.csv --keys region,sex,age --same-order
  kanon-lab compare panel-2023.csv panel-2024.csv --keys region,sex,age --person pseudonym --id wave
  kanon-lab compare public-2023.csv public-2024.csv --config report.yml --id pseudonym --fail-under-k 3
"""
_GROUPS = {
    "old": "records of OLD, by OLD alone",
    "new": "records of NEW, by NEW alone",
    "joint": "persons in both, by both",
    "filled": "persons in both, hidden keys filled in",
    "only_old": "persons in OLD only",
    "only_new": "persons in NEW only",
    "with": "all, for an intruder who has both",
}


@click.command(cls=Command, name="compare", epilog=_EXAMPLES)
@click.argument("old")
@click.argument("file", metavar="NEW")
@keys_unless_counted_option
@column_option(
    "--id",
    "Identifier that both files have, such as a pseudonym: link records by it. With --person, the column that "
    "distinguishes the records of a person, such as the year.  [default: no link]",
)
@column_option(
    "--person",
    "Person ID that both files have, if a person has several records: link records by it, and count persons.  "
    "[default: each record is a person]",
)
@click.option(
    "--same-order",
    is_flag=True,
    help="Link records by position, if both files have the same records in the same order.  [default: no link]",
)
@click.option(
    "--config",
    metavar="R.yml",
    help="Take the key variables, --missing, --person and --id from this configuration, unless you give "
    "them as options.",
)
@missing_option
@reads_microdata("old", "config")
@click.option(
    "--k",
    default="2,3,5",
    callback=whole_numbers,
    show_default=True,
    help="Count the persons who look like fewer than this many persons, themselves included, for each "
    "of these numbers.",
)
@click.option(
    "--fail-under-k",
    callback=whole_number,
    metavar="K",
    help="Exit with 1, after the result, if the two files together single out a person among fewer than K.  "
    "[default: never]",
)
@json_option
def compare(source, old, keys, id, person, same_order, config, missing, k, fail_under_k, as_json):
    """Measure what two editions of a file, OLD and NEW, reveal together.

    An intruder who has the releases of last year and this year, or two versions of one release, knows more than either
    file reveals. The command prints only counts, never a value of a record. Keep this output inside your office all the
    same.

    With --id, the records of a person are linked: the intruder knows the keys in both files (they may have changed, or
    be in other bands), sees in one file what the other hides, and knows who came and who left. With --same-order,
    records are linked by position. Without a link, the command compares the classes of the two files: which classes
    only one file has, which differ by few records, and which bands cross.

    With --person, all records of a person are linked: the intruder knows the keys of one record in each file, and two
    persons are alike if both have a record with these keys in each file. With --id too, the intruder may also know that
    the two are the same record. A key that one file hides is filled in from the same record in the other file, or from
    all records of the person there if these have the same value.

    OLD and NEW are files that kanon-lab measure reads. A key variable that only one of them has counts in that file.

    Exit code: 0 on success; 1 if --fail-under-k is not met; 2 after bad input.
    """
    from kanon_lab.measures.editions import compare_editions

    reading = {}
    if config is not None:
        from kanon_lab.recipes.chain import read_recipe
        from kanon_lab.recipes.earlier import READING

        recipe = read_recipe(config)
        keys, reading = keys or list(recipe.spec.key_variables), recipe.reading
        reading = {name: reading[name] for name in READING if name in reading}
        person = person or recipe.spec.person
        if id is None and not same_order and recipe.earlier_release is not None:
            id = recipe.earlier_release.id
        if click.get_current_context().get_parameter_source("missing") == ParameterSource.DEFAULT:
            missing = recipe.spec.missing
    if not keys:
        raise OptionError("name the key variables (--keys), or a configuration that has them (--config)")
    id = None if id == person else id
    wanted = [*keys, *filter(None, [id, person])]
    before, after = (_read(of, wanted, reading) for of in (replace(source, file=old), source))
    files = without_folders(old, old), without_folders(source.file, source.file)
    together = compare_editions(
        before.numbered,
        after.numbered,
        keys,
        id=id,
        person=person,
        same_order=same_order,
        missing=missing,
        k=k,
        names=files if files[0] != files[1] else ("OLD", "NEW"),
    )
    result = {**OFFICE, "old": old, "new": source.file, "id": id}
    result |= ({} if person is None else {"person": person}) | together.to_dict()
    result["notes"] += [f"{name}: {note}" for name, read in zip(files, (before, after)) for note in reading_notes(read)]
    show(result, partial(_print, result, together.groups), as_json=as_json)
    if fail_under_k is not None and together.k_with < fail_under_k:
        end(1, f"{' with '.join(files)}: k is {together.k_with}, below {fail_under_k} (--fail-under-k)")


def _read(source, wanted, reading):
    """A file with the wanted columns, or with all where one is not there: the other file may have it."""
    try:
        return source.read(columns=wanted, **reading)
    except DataError:
        return source.read(**reading)


def _print(result, groups):
    """Print the result for people."""
    records, by = result["records"], result["linked_by"]
    link = {"order": "by their place"}.get(by) or (f"by {shortened(str(result[by]))}" if by else "not linked")
    both = result.get("persons", records)["both"]
    print_lines(
        [
            f"{result['old']}: {records['old']:,} records; {result['new']}: {records['new']:,} (for the office only)",
            f"keys: {', '.join(map(shortened, result['keys']))}; missing keys: {result['missing']} "
            f"({MISSING_POLICIES[result['missing']]})",
            f"records: {link}" + (f"; persons in both: {both:,}" if by else ""),
        ]
    )
    print_parts(
        _alike(groups, "person" in result),
        *(_cells(result) if by else ()),
        _classes(result),
        list_notes(result["notes"]),
    )


def _alike(groups, of_persons):
    """The fewest alike in each group of persons, and those below each k."""
    names = {name: text.replace("records", "persons") for name, text in _GROUPS.items()} if of_persons else _GROUPS
    shown = groups[groups["persons"] > 0].drop(columns="persons")
    rows = [[names[name], *(f"{count:,}" for count in row)] for name, *row in shown.itertuples()]
    heads = [name if isinstance(name, str) else f"below {name}" for name in shown.columns]
    return Section("Persons alike", [Table.of_texts(["who, and by what", *heads], rows)])


def _cells(result):
    """Who is in one edition only, and the cells that differ."""
    only = result["only_in_one"]
    rows = [
        [shortened(name), f"{cells['only_old']:,}", f"{cells['only_new']:,}", f"{result['changed'][name]:,}"]
        for name, cells in result["shown_in_one"].items()
    ]
    yield Section("Persons that only one has", [Bullets([f"OLD: {only['old']:,}; NEW: {only['new']:,}"])])
    heads = ["key", "shown by OLD only", "shown by NEW only", "another value"]
    yield Section("Cells of persons in both", [Table.of_texts(heads, rows)])


def _classes(result):
    """The classes by the common keys, how their counts differ, and bands that cross."""
    classes, lines = result["classes"], []
    lines.append(f"in both: {classes['both']:,}; OLD only: {classes['only_old']:,}; NEW only: {classes['only_new']:,}")
    lines += [f"in both, with counts that differ by fewer than {k}: {n:,}" for k, n in result["differing"].items()]
    if result["nested"]:
        more, less = ("NEW", "OLD") if result["nested"] == "new" else ("OLD", "NEW")
        lines.append(f"{more} may be {less} with more persons: no class of it has fewer")
    for name, crossing in result["crossing"].items():
        fewest = "" if crossing["fewest"] is None else f", {crossing['fewest']:,} persons in the smallest finer band"
        lines.append(
            f"{shortened(name)}: {crossing['bands']:,} pairs of bands cross; the narrowest overlap is "
            f"{crossing['narrowest']:g} wide{fewest}"
        )
    return Section("Classes by the keys that both have", [Bullets(lines)])
