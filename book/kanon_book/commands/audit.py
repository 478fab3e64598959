"""``kanon-lab audit``: every published figure against what is computed for it."""

from functools import partial

import click

from kanon_lab.cli.options import Command, json_option, max_bytes_option
from kanon_lab.cli.output import print_parts, show
from kanon_lab.errors import OptionError
from kanon_lab.show.parts import Table

_OF_AUDIT = """
\b
Examples:
  kanon-lab audit
  kanon-lab audit --source aepd
  kanon-lab audit --figure garin-1996/taula-1/catalonia/1-year/p
  kanon-lab audit --source gil-bellosta-2011 --json
  kanon-lab audit --population ine-33570 --year 2010    (after: kanon-lab data fetch ine-33570)
"""

# Characters of the names beside what is told of one figure.
_LABEL = 12


@click.command(
    cls=Command, name="audit", epilog=_OF_AUDIT, short_help="Compare every published figure with the computed one."
)
@click.option(
    "--source", help="Audit one source: gil-bellosta-2011, aepd, garin-1996 or ine-chile-2023.  [default: all]"
)
@click.option(
    "--figure",
    metavar="ID",
    help="Explain one figure: where it is printed, what it is computed from, how, and the result. ID is a figure_id "
    "from --json.",
)
@click.option(
    "--population",
    metavar="FILE",
    help="Recompute gil-bellosta-2011 from this file of counts.  [default: the embedded population]",
)
@click.option("--year", type=int, help="Use the counts of this year in FILE; the study used 2010.")
@click.option(
    "--columns", metavar="NAME=COLUMN,...", help="Say which column of FILE is which, as in kanon-lab population."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 if a figure disagrees or contains a published error.",
)
@max_bytes_option
@json_option
def audit(source, figure, population, year, columns, strict, as_json):
    """Compare each published figure with the figure computed here, and give it a verdict.

    Only figures of the kind "recomputed" are compared with something independent, so only these confirm a source. Of
    the others, some were used to fit our input, some repeat another figure of the source, and for some nothing can be
    computed: these are counted separately. Without --population, the tables of gil-bellosta-2011 are recomputed from
    the embedded population, which was fitted to them. The other sources are recomputed from what they print.
    """
    from kanon_book import studies
    from kanon_book.studies.figures import check_source
    from kanon_book.studies.verdicts import FINDINGS, check_takes_counts, source_of
    from kanon_lab.data.counts import load_counts
    from kanon_lab.data.tables import parse_columns

    if source == "":
        raise OptionError("--source is empty; name a source such as gil-bellosta-2011, or leave it out for all")
    if population is None and (year is not None or columns is not None):
        raise OptionError("--year and --columns go with --population: the embedded population needs neither")
    if source is not None:
        check_source(source)
    if figure is not None:
        name, source = source, source_of(figure)
        if name not in (None, source):
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
        row = result.figure(figure)
        computed = {"computed": row["computed_text"] or row["computed"]}
        as_one = {name: value for name, value in row.items() if name != "computed_text"} | computed
        show(as_one, partial(_print_one, row), as_json=as_json)
        clean = row["verdict"] not in FINDINGS
    if strict and not clean:
        raise click.exceptions.Exit(1)


def _of_all(result):
    """The audit as it stands in JSON: what was computed is in one column, a number or words."""
    from kanon_book.studies import KINDS, VERDICTS

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


def _print(result):
    """What was set against something else comes first; the other kinds are counted, not claimed."""
    import pandas as pd

    from kanon_book.studies import KINDS, VERDICTS
    from kanon_book.studies.verdicts import FINDINGS, computed_words

    verdicts = list(VERDICTS)[::-1]
    evidence = result.evidence().groupby("kind")[["figures", *verdicts]].sum().reindex(list(KINDS), fill_value=0)
    lines = [
        ", ".join(f"{count:,} {name}" for name, count in row.items() if count)
        for _, row in evidence[verdicts].iterrows()
    ]
    printed, first = evidence["figures"].sum(), evidence["figures"].iloc[0]
    click.echo(f"{printed:,} figures printed; {first:,} recomputed from something else: {lines[0] or 'none'}.\n")
    kinds = {"kind": evidence.index, "figures": evidence["figures"].to_numpy(), "verdicts": lines}
    meanings = pd.DataFrame(kinds | {"meaning": list(KINDS.values())})
    print_parts(Table(meanings, formats={"figures": ","}, wide=True))
    click.echo()
    summary = result.summary().assign(attention=lambda rows: rows[list(FINDINGS)].sum(axis=1))
    print_parts(Table(summary[["source", "table", "figures", *KINDS, "attention"]], wide=True))
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
