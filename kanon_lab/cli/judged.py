"""A verdict and its cautions as lines, for the commands that judge a release."""

import textwrap

import click

from kanon_lab.digits import number, percent
from kanon_lab.errors import shortened, visible

#: Exit code where --fail is given and a limit is not met.
NOT_MET = 3
# What is limited, where the terms of the field have no name for it.
_LABELS = {
    "individual_risk": "largest individual risk",
    "above_risk": "records with a risk above {level}",
    "key_linkage": "records linked by their true keys",
    "distinct": "different values of {variable} in each class",
    "entropy": "entropy l-diversity of {variable}",
    "t_closeness": "t-closeness of {variable}",
    "household_uniques": "records unique with the composition of their household",
    "exposed_by_columns": "records below k by columns that are no keys",
}
_SHARES = ("global_risk", "household_risk", "individual_risk", "key_linkage")


def print_judged(judged):
    """A line a limit, and a line a caution."""
    from kanon_lab.terms import TERMS

    for row in judged["limits"]:
        name = row["name"]
        label = _LABELS.get(name) or (TERMS[name].en if name in TERMS else name)
        label = label.format(level=percent(row["level"]), variable=shortened(str(row["variable"])))
        told = percent if name in _SHARES else number
        found = "not known" if row["value"] is None else told(row["value"], row["limit"])
        line = f"{label}: {found}, to be {row['bound']} {told(row['limit'], row['value'])}"
        _line("met" if row["met"] else "NOT MET", line)
    for each in judged["cautions"]:
        _line("caution", each["text"])


def _line(mark, text):
    click.echo(textwrap.fill(visible(text), 100, initial_indent=f"  {mark:7}  ", subsequent_indent=" " * 13))
