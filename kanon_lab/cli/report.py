"""``kanon-lab init`` and ``kanon-lab report``: a first configuration, and the offline HTML page that is made by one."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from kanon_lab import files
from kanon_lab.cli.options import (
    Command,
    Source,
    engine_option,
    fail_on_cautions_option,
    file_argument,
    json_option,
    keep_codes_option,
    max_bytes_option,
    missing_codes_option,
    na_option,
    reading_notes,
    sheet_option,
    spill_option,
    thousands_option,
)
from kanon_lab.cli.output import NOT_MET, OFFICE, end, failing, print_json, print_lines, print_parts, show
from kanon_lab.errors import KanonLabError, OptionError, StorageError, inside, names_only, shortened, visible
from kanon_lab.show.parts import Table

_OF_INIT = """
\b
Example:
  kanon-lab init survey.csv --out report.yml
  kanon-lab report survey.csv --config report.yml --out report.html
  kanon-lab init --schema > kanon-lab.schema.json
"""
_OF_REPORT = """
\b
Example:
  kanon-lab report survey.csv --config report.yml --out report.html --fail

\b
where report.yml contains
  title: Household survey, the file for public use
  language: en
  key_variables: [region, sex, age]
  weight: weight
  household: household
  direct_identifiers: [name]
  limits: {k: 3, global_risk: 0.02, household_risk: 0.05}
  steps:
    - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75, null], closed: left}
    - suppress: {importance: {sex: 1, region: 2, age: 3}}

\b
The page and the protected file, with the result as JSON:
  kanon-lab report survey.csv --config report.yml --out report.html --protected public.csv --fail --json

\b
Several configurations, and settings that replace those in the file:
  kanon-lab report survey.csv --config a.yml --config b.yml --out reports/
  kanon-lab report survey.csv --config a.yml --config b.yml --out survey-{name}.html
  kanon-lab report survey.csv --config report.yml --set language=es --set limits.k=5 --out informe.html
"""


@click.command(cls=Command, name="init", epilog=_OF_INIT)
@click.argument("file", required=False)
@click.option(
    "--out", default="report.yml", show_default=True, metavar="R.yml", help="Write the configuration to this file."
)
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Write the comments and the report in this language.",
)
@na_option
@missing_codes_option
@keep_codes_option
@thousands_option
@sheet_option
@max_bytes_option
@click.option("--schema", is_flag=True, help="Only print the JSON Schema of configurations, for editors.")
@json_option
def init(file, out, language, na, missing_codes, keep_missing_codes, thousands, sheet, schema, as_json):
    """Write a first configuration, with comments, for a report on the microdata in FILE.

    FILE is a file that kanon-lab protect reads, or a data set such as health-survey. The command guesses which column
    is a key variable, the weight and so on, from the names of the columns and the number and shape of their values. It
    marks the guesses that it is unsure of, with the other roles that the column may have. Read and correct them. The
    command writes and prints no value of a record, except codes whose label says that there is no answer. It never
    replaces an existing file.

    Save the JSON Schema (last example) in the folder of the configuration: then your editor completes and checks the
    settings.
    """
    if schema:
        from kanon_lab.recipes.plan import config_schema

        print_json(config_schema())
        return
    if file is None:
        raise click.MissingParameter(param_hint="'FILE'", param_type="argument")
    if not file or not out:
        raise OptionError(f"{'--out' if file else 'FILE'} is empty; name a file")

    from kanon_lab.report.first_config import first_config, guess_roles
    from kanon_lab.report.shapes import check_named, unanswered

    _refuse_old(out)
    with names_only(Path(file)):
        reading = {"thousands": thousands, "sheet": sheet, "keep_missing_codes": keep_missing_codes}
        data = Source(file, na, missing_codes, **reading).read()
    check_named(data, str(data.found["name"]))
    guesses, notes = guess_roles(data.frame, data.labels, data.variable_labels), reading_notes(data)
    codes = {name: list(map(_code, texts)) for name, texts in missing_codes.items()}
    reading = {name: value for name, value in reading.items() if value}
    how: dict[str, Any] = {"file": Path(file).name, "config": Path(out).name, "notes": notes, "reading": reading}
    how |= {"na": na, "missing_codes": codes, "unanswered": unanswered(data.frame, data.labels)}
    text = first_config(guesses, language=language, **how)
    with files.atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
        _refuse_old(out)
    result = {"file": Path(file).name, "out": out, "language": language, "guesses": guesses, "notes": notes}
    show(result, partial(_print_guesses, guesses, notes, out, language), out, as_json=as_json)


def _code(text):
    """A code as a configuration has it: a number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _print_guesses(guesses, notes, out, language):
    """Every column with its role and why, and below them those that the command is unsure of."""
    from kanon_lab.report.first_config import doubt, why
    from kanon_lab.report.words import Words
    from kanon_lab.terms import texts as words_of

    texts = words_of("configuration", language)
    table = guesses.assign(
        variable=guesses["variable"].map(shortened),
        role=guesses["role"].where(guesses["role"] != "", texts["no_role"]),
        kind=[texts[f"kind_{kind.replace(' ', '_')}"] for kind in guesses["kind"]],
        why=[why(row, texts) for row in guesses.itertuples()],
    )
    heads = {name: texts[f"head_{name}"] for name in ("variable", "role", "kind", "distinct", "why")}
    print_parts(Table(table[[*heads]].rename(columns=heads), wide=True))
    doubts = table[table["unsure"]].groupby(["role", "other"], sort=False)["variable"]
    print_lines(f"{doubt(role, other, texts)}: {', '.join(names)}" for (role, other), names in doubts)
    noted = notes if language == "en" else map(Words(language).note, notes)
    print_lines([*(f"{texts['note']}: {note}" for note in noted), texts["is_written"].format(out=out)])


def _refuse_old(out):
    if files.status(out) is not None:
        raise StorageError(f"{out}: already exists; choose another name (--out), or remove it first")


@click.command(cls=Command, name="report", epilog=_OF_REPORT)
@file_argument
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="YML",
    help="Read the configuration from this file. Repeatable: each gives a page.",
)
@click.option(
    "--out",
    metavar="OUT",
    help="Write the page to this file; for several configurations, give a folder or a name with {name}.",
)
@click.option(
    "--protected",
    metavar="OUT",
    help="Also write the protected file here; {name} as in --out.  [default: only the page]",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace the protected file if it exists with other contents.  [default: refuse]"
)
@click.option(
    "--internal",
    is_flag=True,
    help="Write a page for the office only, with every setting, category and rare key.  [default: a public page]",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="NAME=VALUE",
    help="Use this value instead of the one in the configuration. Repeatable.",
)
@click.option("--fail", is_flag=True, help="If a limit is not met, write only the page and exit with 3.")
@fail_on_cautions_option
@max_bytes_option
@engine_option
@spill_option
@json_option
def report(
    file, configs, out, protected, overwrite, internal, overrides, fail, fail_on_cautions, engine, spill, as_json
):
    """Write one HTML page on FILE and its protection by the steps of a configuration.

    The page needs no network, contains no record, and has at most 2 MB; only its owner may read it. It shows the
    verdict on the limits, key variables, classes, the riskiest combinations as counts, diversity, each step, risk and
    utility.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow), or a data set such as health-survey.
    A configuration is a recipe for kanon-lab protect plus the settings of the report. The command checks every
    configuration before it reads FILE. For several configurations, OUT is a folder, or a name that contains {name}: the
    name of the configuration takes its place.

    --protected also writes the protected file, with the same bytes as kanon-lab protect: the command writes both the
    page and the file, or neither. There is one exception: if a limit is not met with --fail, or there is a caution with
    --fail-on-cautions, it writes only the page. It never replaces an input file. Without --overwrite it does not
    replace an existing protected file that has other contents.

    --internal writes a page for the office instead, marked as confidential on every screen. It adds the codes of groups
    and mappings, what each category became, and the key values with the highest risk. Keep it inside the office.

    An engine (--engine) reports on a .parquet, .csv or .csv.gz FILE, or a folder of such parts, that is larger than
    memory, with steps that recode, suppress and remove. The page then has no map and no measures that need single
    records, and says so.

    If a step fails, its notebook is kept beside the page as NAME.failed.ipynb, without anything that may quote data.

    Exit code: 0 on success; 2 after bad input; 3 with --fail if a limit is not met, or with --fail-on-cautions if there
    is a caution.
    """
    if not configs:
        raise OptionError("--config is not given; name a configuration (kanon-lab init writes a first one)")
    if not out:
        raise OptionError("--out is not given; name the page to write, such as report.html")

    from kanon_lab.report import Report, make_report, read_config
    from kanon_lab.report.build import check_targets

    wanted = {path: read_config(path, overrides) for path in configs}
    pages, releases = _pages(out, configs), {}
    if protected and len(configs) > 1 and "{name}" not in protected:
        raise OptionError("--protected: several configurations write several files; put {name} in it")
    if protected:
        releases = {path: Path(protected.replace("{name}", Path(path).stem)) for path in configs}
    if overwrite and not protected:
        raise OptionError(
            "--overwrite is for the protected file, and --protected is not given; a page is replaced anyway"
        )
    inputs = [(f"the configuration {Path(path).name}", path) for path in configs]
    inputs += [(f"the {kind}", path) for config in wanted.values() for path, kind in config.files.items()]
    for path, config in wanted.items():
        check_targets(pages[path], releases.get(path), file, config, inputs)
    source = Source(file, (), {}, engine, spill)
    engines = {path: _engine(source, config, releases.get(path)) for path, config in wanted.items()}
    reports: dict[str, Report] = {}
    errors: list[str] = []
    for path, config in wanted.items():
        options = {"protected": releases.get(path), "overwrite": overwrite, "only_met": fail, "internal": internal}
        options |= {"only_without_cautions": fail_on_cautions}
        options |= {"engine": engines[path], "spill": spill, "progress": True}
        try:
            reports[path] = make_report(file, config, pages[path], **options)
        except KanonLabError as error:
            if len(wanted) == 1:
                raise
            name = f"{Path(path).name}: "
            errors.append(f"{name}{str(error).removeprefix(name)}")
    rows = [_row(path, wanted[path], report) for path, report in reports.items()]
    written = [report.path.name for report in reports.values()]
    written += [Path(row["protected"]["file"]).name for row in rows if (row["protected"] or {}).get("records")]
    result = rows[0] if len(wanted) == 1 else {"reports": rows, "errors": errors}
    show(result, partial(_print, rows), *written, as_json=as_json, what="the report is there")
    for fault in errors:
        click.echo(f"kanon-lab: {visible(fault)}", err=True)
    if errors:
        raise click.exceptions.Exit(2)
    judged = [report.judged for report in reports.values()]
    if reason := failing(judged, fail=fail, on_cautions=fail_on_cautions):
        withheld = [row["protected"]["file"] for row in rows if row["protected"] and not row["protected"]["records"]]
        nothing = f"; not written: {', '.join(withheld)}" if withheld else ""
        end(NOT_MET, f"{reason}{nothing}")


def _pages(out, configs):
    """The page of each configuration."""
    names = [Path(path).stem for path in configs]
    with files.storage_errors(f"--out {shortened(Path(out).name)}"):
        folder = Path(out).is_dir() or out.endswith("/")
    if folder:
        try:
            Path(out).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"--out {shortened(Path(out).name)}: no folder can be made there ({error.strerror})"
            ) from None
        targets = [Path(out) / f"{name}.html" for name in names]
    else:
        targets = [Path(out.replace("{name}", name)) for name in names]
    if len(set(targets)) < len(targets):
        remedy = (
            "give the configurations different names" if folder or "{name}" in out else "name a folder, or {name}.html"
        )
        raise OptionError(f"--out {shortened(out)}: two configurations would write one page; {remedy}")
    return dict(zip(configs, targets, strict=True))


def _engine(source, config, release):
    """What counts the file for a configuration."""
    with names_only(Path(source.file), *filter(None, [release])), inside(config.recipe.name):
        return source.counted_by if source.is_streamed(config.recipe, release) else "memory"


def _row(path, config, report):
    """A report as JSON shows it."""
    from kanon_lab.recipes.streamed import not_known

    notes = list(report.notes)
    if report.engine != "memory":
        notes.append(f"counted by {report.engine}: measures that need single records are left out; the page lists them")
        if unknown := [row["name"] for row in report.judged["limits"] if row["value"] is None]:
            notes.append(not_known(unknown))
    return {
        **OFFICE,
        "report": str(report.path),
        "config": Path(path).name,
        "parameters": report.parameters,
        "seconds": report.seconds,
        "engine": report.engine,
        **report.judged,
        "protected": report.protected,
        "notes": notes,
    }


def _print(rows):
    """Print what was made for people."""
    from kanon_lab.cli.protect_text import judged_lines

    for row in rows:
        size = Path(row["report"]).stat().st_size
        print_lines([f"{row['report']}: {size:,} bytes, {row['seconds']:.1f} s ({row['config']})"])
        print_lines(judged_lines(row))
        seed = row["parameters"].get("seed")
        lines = [f"seed: {seed}; keep it secret, like the original file"] if seed else []
        if (file := row["protected"] or {}).get("records"):
            lines.append(f"written: {file['file']}, {file['records']:,} records")
        print_lines(f"  {line}" for line in [*lines, *(f"note: {note}" for note in row["notes"])])
