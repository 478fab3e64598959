"""``kanon-lab report``: one offline HTML page on a microdata file and its protection, without a record in it."""

from pathlib import Path

import click

from kanon_lab.cli.output import OFFICE, max_bytes_option, print_json, reader_may_leave
from kanon_lab.cli.protect_text import NOT_MET, print_judged
from kanon_lab.errors import KanonLabError, OptionError, StorageError, shortened, visible

_EXAMPLES = """
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


@click.command(name="report", epilog=_EXAMPLES)
@click.argument("file")
@click.option("--config", "configs", multiple=True, metavar="YML", help="A configuration. May repeat.")
@click.option("--out", metavar="OUT", help="The page to write, a folder, or a name with {name} in it.")
@click.option("--protected", metavar="OUT", help="The protected file to write as well; {name} in it as in --out.")
@click.option("--overwrite", is_flag=True, help="Replace the protected file where it holds something else.")
@click.option("--internal", is_flag=True, help="A page for the office only: every setting, category and rare key.")
@click.option("--set", "overrides", multiple=True, metavar="NAME=VALUE", help="A setting instead of the file's.")
@click.option("--fail", is_flag=True, help="Exit with 3 where a limit is not met; only the page is written.")
@max_bytes_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def report(context, file, configs, out, protected, overwrite, internal, overrides, fail, as_json):
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

    Where a step fails, the notebook as far as it ran, without what an error may quote, is kept beside the page as
    NAME.failed.ipynb.

    Exit code: 0; 2 after bad input; 3 where --fail is given and a limit is not met.
    """
    if not file:
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")
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
    files = _protected(protected, configs)
    if overwrite and not protected:
        raise OptionError(
            "--overwrite is for the protected file, and --protected is not given; a page is replaced anyway"
        )
    for path, target in files.items():
        check_protected(target, targets[path], file, wanted[path])
        refuse_inputs(target, inputs)
    done, errors = {}, []
    for path, config in wanted.items():
        try:
            done[path] = make_report(
                file,
                config,
                targets[path],
                protected=files.get(path),
                overwrite=overwrite,
                only_met=fail,
                internal=internal,
                progress=True,
            )
        except KanonLabError as error:
            if len(wanted) == 1:
                raise
            name = f"{Path(path).name}: "
            errors.append(f"{name}{str(error).removeprefix(name)}")
    pages = [each.path.name for each in done.values()]
    released = [Path(each.protected["file"]).name for each in done.values() if (each.protected or {}).get("sha256")]
    with reader_may_leave(*pages, *released, what="the report is there"):
        if as_json:
            rows = [_row(path, each, wanted[path].notes) for path, each in done.items()]
            print_json(rows[0] if len(wanted) == 1 else {"reports": rows, "errors": errors})
        else:
            for path, each in done.items():
                _print(path, each, wanted[path].notes)
    for error in errors:
        click.echo(f"kanon-lab: {visible(error)}", err=True)
    if errors:
        context.exit(2)
    if fail and not all(each.met for each in done.values()):
        withheld = [each.protected["file"] for each in done.values() if each.protected and not each.protected["sha256"]]
        nothing = f"; not written: {', '.join(withheld)}" if withheld else ""
        click.echo(visible(f"kanon-lab: a limit is not met (--fail){nothing}"), err=True)
        context.exit(NOT_MET)


def _targets(out, configs):
    """The page of each configuration."""
    from kanon_lab import files

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


def _row(path, report, notes):
    return {
        **OFFICE,
        "report": str(report.path),
        "config": Path(path).name,
        "parameters": report.parameters,
        "seconds": report.seconds,
        **report.judged,
        "protected": report.protected,
        "notes": notes,
    }


def _print(path, report, notes):
    click.echo(
        visible(f"{report.path}: {report.path.stat().st_size:,} bytes, {report.seconds:.1f} s ({Path(path).name})")
    )
    print_judged(report.judged)
    if not report.judged["limits"]:
        click.echo("  no limits in the configuration, so no verdict")
    if report.protected and report.protected["sha256"]:
        click.echo(visible(f"  written: {report.protected['file']}, {report.protected['records']:,} records"))
    for note in notes:
        click.echo(visible(f"  note: {note}"))
