"""``kanon-lab audit``: every published figure against its recomputation."""

import click

from kanon_lab.cli.notes import max_bytes_option
from kanon_lab.cli.output import print_frame, print_json, reader_may_leave
from kanon_lab.errors import OptionError

_EXAMPLES = """
\b
Examples:
  kanon-lab audit
  kanon-lab audit --source aepd
  kanon-lab audit --source gil-bellosta-2011 --json
  kanon-lab audit --population ine-33570 --year 2010    (after: kanon-lab data fetch ine-33570)
"""


@click.command(name="audit", epilog=_EXAMPLES)
@click.option("--source", help="One source: gil-bellosta-2011, aepd, garin-1996 or ine-chile-2023. Default: all.")
@click.option("--population", metavar="FILE", help="Recompute gil-bellosta-2011 from this file of counts.")
@click.option("--year", type=int, help="Year of the counts in FILE; the study's is 2010.")
@click.option("--columns", metavar="NAME=COLUMN,...", help="Which column of FILE is which, as in population.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a figure disagrees or a published error was found.")
@max_bytes_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
def audit(context, source, population, year, columns, strict, as_json):
    """Recompute every published figure and give each a verdict.

    Without --population the tables of gil-bellosta-2011 are recomputed from the embedded population, which was fitted
    to them: such figures are marked as fitted. The other sources are recomputed from what they print themselves, and
    what was taken from them is marked likewise.
    """
    from kanon_lab import published
    from kanon_lab.data import load_counts, parse_columns
    from kanon_lab.published.audit import check_takes_counts

    if source == "":
        raise OptionError("--source is empty; name a source such as gil-bellosta-2011, or leave it out for all")
    if population is None and (year is not None or columns is not None):
        raise OptionError("--year and --columns go with --population: the embedded population needs neither")
    counts = None
    if population is not None:
        check_takes_counts(source)
        counts = load_counts(population, year=year, pool_from=85, columns=parse_columns(columns))
    result = published.audit(source, counts)
    summary = result.summary()
    with reader_may_leave():
        _print(result, summary, as_json)
    if strict and not result.clean:
        context.exit(1)


def _figures_of_one_column(figures):
    """The figures with what was computed in one column, a number or words."""
    return figures.assign(computed=_computed(figures)).drop(columns="computed_text")


def _computed(figures):
    return figures["computed"].astype(object).where(figures["computed_text"] == "", figures["computed_text"])


def _print(result, summary, as_json):
    if as_json:
        figures = _figures_of_one_column(result.figures)
        print_json({"figures": figures, "summary": summary, "rows_that_do_not_add_up": result.rows_off})
        return
    print_frame(summary)
    findings = result.figures[result.figures["verdict"].isin(["disagrees", "published-error"])]
    click.echo(f"\n{len(findings)} of {len(result.figures)} figures ask for attention:")
    for figure in findings.assign(computed=_computed(findings)).itertuples():
        computed = figure.computed if isinstance(figure.computed, str) else f"{figure.computed:.6g}"
        click.echo(
            f"  {figure.source}, {figure.table}, {figure.row}, {figure.column}: printed {figure.printed}, computed "
            f"{computed} ({figure.verdict}): {figure.reason}"
        )
    click.echo(f"\n{len(result.rows_off)} printed rows do not add up to their totals; --json lists them.")
