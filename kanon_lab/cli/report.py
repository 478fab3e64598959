"""``kanon-lab init`` and ``kanon-lab report``: a first configuration, and the offline HTML page that is made by one."""

from functools import partial
from pathlib import Path

import click

from kanon_lab import files
from kanon_lab.cli.options import (
    Source,
    engine_option,
    file_argument,
    json_option,
    max_bytes_option,
    missing_codes_option,
    na_option,
    spill_option,
)
from kanon_lab.cli.output import NOT_MET, OFFICE, end, print_frame, print_json, print_lines, show
from kanon_lab.cli.protect import is_streamed
from kanon_lab.cli.protect_text import print_judged
from kanon_lab.errors import KanonLabError, OptionError, StorageError, inside, shortened, visible

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
where report.yml holds
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
The page and the protected file, for programs:
  kanon-lab report survey.csv --config report.yml --out report.html --protected public.csv --fail --json

\b
Others, of many configurations and with settings in place of those in the file:
  kanon-lab report survey.csv --config a.yml --config b.yml --out reports/
  kanon-lab report survey.csv --config a.yml --config b.yml --out survey-{name}.html
  kanon-lab report survey.csv --config report.yml --set language=es --set limits.k=5 --out informe.html
"""


@click.command(name="init", epilog=_OF_INIT)
@click.argument("file", required=False)
@click.option("--out", default="report.yml", show_default=True, metavar="R.yml", help="Configuration to write.")
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Of the comments, and of the report.",
)
@na_option
@missing_codes_option
@max_bytes_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of configurations, for editors, and do no more.")
@json_option
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

    from kanon_lab.report.config import names_only
    from kanon_lab.report.first_config import first_config, guess_roles
    from kanon_lab.report.shapes import check_named

    _refuse_old(out)
    with names_only(Path(file)):
        found = Source(file, na, missing_codes).read()
    check_named(found, str(found.found["name"]))
    guesses = guess_roles(found.frame)
    codes = {name: list(map(_code, texts)) for name, texts in missing_codes.items()}
    names = {"file": Path(file).name, "config": Path(out).name}
    text = first_config(guesses, **names, language=language, na=na, missing_codes=codes)
    with files.atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
        _refuse_old(out)
    told = {"file": Path(file).name, "out": out, "language": language, "guesses": guesses}
    show(told, partial(_print_guesses, guesses, out), out, as_json=as_json)


def _code(text):
    """A code as a configuration has it: a number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _print_guesses(guesses, out):
    """Every column with its role and why, and below them those that the command is unsure of."""
    from kanon_lab.report.first_config import doubt, why
    from kanon_lab.terms import texts as words_of

    texts = words_of("configuration", "en")
    table = guesses.assign(
        variable=guesses["variable"].map(shortened),
        role=guesses["role"].where(guesses["role"] != "", "none"),
        why=[why(row, texts) for row in guesses.itertuples()],
    )
    print_frame(table[["variable", "role", "kind", "distinct", "why"]])
    doubts = table[table["unsure"]].groupby(["role", "other"], sort=False)["variable"]
    print_lines(f"{doubt(role, other, texts)}: {', '.join(names)}" for (role, other), names in doubts)
    print_lines([f"written: {out}; its roles are guesses: read and mend it before a report"])


def _refuse_old(out):
    if files.status(out) is not None:
        raise StorageError(f"{out}: is there already; choose another name (--out), or remove it first")


@click.command(name="report", epilog=_OF_REPORT)
@file_argument
@click.option("--config", "configs", multiple=True, metavar="YML", help="A configuration. May repeat.")
@click.option("--out", metavar="OUT", help="The page to write, a folder, or a name with {name} in it.")
@click.option("--protected", metavar="OUT", help="The protected file to write as well; {name} in it as in --out.")
@click.option("--overwrite", is_flag=True, help="Replace the protected file where it holds something else.")
@click.option("--internal", is_flag=True, help="A page for the office only: every setting, category and rare key.")
@click.option("--set", "overrides", multiple=True, metavar="NAME=VALUE", help="A setting instead of the file's.")
@click.option("--fail", is_flag=True, help="Exit with 3 where a limit is not met; only the page is written.")
@max_bytes_option
@engine_option
@spill_option
@json_option
def report(file, configs, out, protected, overwrite, internal, overrides, fail, engine, spill, as_json):
    """Measure FILE, apply the steps of a configuration to it, and write what was found as one HTML page.

    The page needs no network, holds no record, and is at most 2 MB; only its owner may read it. In it: the verdict by
    the limits, key variables, classes, the riskiest combinations as counts, diversity, each step, risk and utility.

    FILE is a .csv, .parquet, .xlsx, .sav, .dta or .sas7bdat file (.gz may follow), or a data set such as
    health-survey. A configuration is a recipe, as kanon-lab protect takes it, with settings of the report; all of them
    are checked before FILE is read. With several, OUT is a folder, in which each page has the name of its
    configuration, or a name in which {name} stands for it.

    --protected writes the protected file too, the same bytes as kanon-lab protect with this configuration: page and
    file appear together or not at all. With --fail and a limit that is not met, the page alone is written. It replaces
    neither what is read nor, without --overwrite, a file with other bytes.

    --internal makes another page: marked as confidential on every screen, with the codes of groups and mappings, what
    each category became, and the key values at the highest risk. It must not leave the office.

    An engine (--engine) reports on a .parquet, .csv or .csv.gz FILE, or a folder of such parts, larger than memory, by
    steps that recode, suppress and remove. What needs records is not told, and a map is left out; the page says so.

    Where a step fails, the notebook as far as it ran, without what an error may quote, is kept beside the page as
    NAME.failed.ipynb.

    Exit code: 0; 2 after bad input; 3 where --fail is given and a limit is not met.
    """
    if not configs:
        raise OptionError("--config is not given; name a configuration (kanon-lab init writes a first one)")
    if not out:
        raise OptionError("--out is not given; name the page to write, such as report.html")

    from kanon_lab.data.writing import refuse_inputs
    from kanon_lab.report import make_report, read_config
    from kanon_lab.report.build import check_out, check_protected

    wanted = {path: read_config(path, overrides) for path in configs}
    targets = _targets(out, configs)
    inputs = [(f"the configuration {Path(each).name}", each) for each in configs]
    inputs += [("a hierarchy file", each) for config in wanted.values() for each in config.hierarchies]
    for target in targets.values():
        check_out(target, [("the input", file), *inputs])
    kept = _protected(protected, configs)
    if overwrite and not protected:
        raise OptionError(
            "--overwrite is for the protected file, and --protected is not given; a page is replaced anyway"
        )
    for path, target in kept.items():
        check_protected(target, targets[path], file, wanted[path])
        refuse_inputs(target, inputs)
    engines = _engines(Source(file, (), {}, engine, spill), wanted, kept)
    done = {}
    errors: list[str] = []
    for path, config in wanted.items():
        options = {"protected": kept.get(path), "overwrite": overwrite, "only_met": fail, "internal": internal}
        options |= {"engine": engines[path], "spill": spill}
        try:
            done[path] = make_report(file, config, targets[path], progress=True, **options)
        except KanonLabError as error:
            if len(wanted) == 1:
                raise
            name = f"{Path(path).name}: "
            errors.append(f"{name}{str(error).removeprefix(name)}")
    pages = [each.path.name for each in done.values()]
    written = [each.protected for each in done.values() if each.protected]
    released = [Path(each["file"]).name for each in written if each.get("records")]
    rows = [_row(path, each, list(_uncounted(each))) for path, each in done.items()]
    result = rows[0] if len(wanted) == 1 else {"reports": rows, "errors": errors}
    show(result, partial(_print, rows), *pages, *released, as_json=as_json, what="the report is there")
    for fault in errors:
        click.echo(f"kanon-lab: {visible(fault)}", err=True)
    if errors:
        raise click.exceptions.Exit(2)
    if fail and not all(each.met for each in done.values()):
        withheld = [
            each.protected["file"] for each in done.values() if each.protected and not each.protected["records"]
        ]
        nothing = f"; not written: {', '.join(withheld)}" if withheld else ""
        end(NOT_MET, f"a limit is not met (--fail){nothing}")


def _targets(out, configs):
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


def _protected(protected, configs):
    """The protected file of each configuration."""
    if not protected:
        return {}
    if len(configs) > 1 and "{name}" not in protected:
        raise OptionError("--protected: several configurations write several files; put {name} in it")
    return {path: Path(protected.replace("{name}", Path(path).stem)) for path in configs}


def _engines(source, wanted, kept):
    """What counts the file for each configuration."""
    from kanon_lab.report.config import names_only

    found = {}
    for path, config in wanted.items():
        with names_only(Path(source.file), *filter(None, [kept.get(path)])), inside(Path(path).name):
            found[path] = source.counted_by if is_streamed(source, config.recipe, kept.get(path)) else "memory"
    return found


def _uncounted(report):
    """What is to be known of a report by counts."""
    from kanon_lab.recipes.streamed import not_known

    if report.engine == "memory":
        return
    yield f"counted by {report.engine}: what needs records is not told, and the page says what that is"
    if unknown := [row["name"] for row in report.judged["limits"] if row["value"] is None]:
        yield not_known(unknown)


def _row(path, report, notes):
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
    for row in rows:
        size = Path(row["report"]).stat().st_size
        print_lines([f"{row['report']}: {size:,} bytes, {row['seconds']:.1f} s ({row['config']})"])
        print_judged(row)
        lines = [] if row["limits"] else ["no limits in the configuration, so no verdict"]
        if (file := row["protected"] or {}).get("records"):
            lines.append(f"written: {file['file']}, {file['records']:,} records")
        print_lines(f"  {line}" for line in [*lines, *(f"note: {note}" for note in row["notes"])])
