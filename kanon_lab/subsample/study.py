"""The subsample study: the risk of identification from a sample whose population is unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, as_share, check_choice, check_frame, check_whole
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.keys import KeySpec, as_spec, check_seed
from kanon_lab.recode.columns import refuse
from kanon_lab.subsample.clustering import clustering
from kanon_lab.subsample.counting import COUNTS, MOST_REPEATS, Design, Uniques, count_subsamples
from kanon_lab.subsample.result import SPREAD, SubsampleRisk, conditions
from kanon_lab.subsample.sizes import as_fraction
from kanon_lab.subsample.units import sampling_units

#: How a subsample is drawn, and how it is told to a reader.
SCHEMES = {
    "bernoulli": "each record by a draw of its own",
    "fixed": "a fixed number of records",
}
#: Records that a sample must have.
LEAST_RECORDS = 100
# A subsample says something with so many unique records, and a relative standard error of p(d) of so much.
_LEAST_U2, _MOST_ERROR = 50, 0.25
_REMEDY = "the mean over many subsamples and what is expected over all say more, as far as one sample can"
# Weights that differ make n2 / n1 greater than n1 / N; so many times is said.
_MOST_STEP = 1.1


def subsample_risk(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    fraction: float | None = None,
    repeats: int = 1,
    scheme: str = "bernoulli",
    p_a: float = 1.0,
    seed: int = 0,
    cluster: str | None = None,
    cluster_fraction: float | None = None,
) -> SubsampleRisk:
    """Estimate the risk of identification in a sample from subsamples of it.

    Parameters
    ----------
    frame : DataFrame
        The sample, 100 records or more. The order of rows decides which of them are drawn.
    spec : KeySpec or sequence of str
        The roles of its variables, or the keys. Where it names a household, subsamples take whole households.
    fraction : float, 1e-9 to below 1
        Sampling fraction of the sample; the subsample has the same. Not with a weight.
    repeats : int, 1 to 100,000
        Subsamples.
    scheme : {"bernoulli", "fixed"}
        Each record is drawn or not by itself, as in the study; or so many records are drawn as the fraction comes to,
        rounded. ``fixed`` is not for weights.
    p_a : float, 0-1
        Chance that what the outsider knows of a person is coded as in the file and without error.
    seed : int, 0 to below 2 ** 63
    cluster : str, optional
        Column of the clusters that the survey drew: subsamples take whole clusters. It may be a key variable.
    cluster_fraction : float, optional
        Share of the population's clusters that the survey drew, from the fraction of the sample to 1. With it a
        subsample draws clusters with that chance, and in those drawn whole households, or records, so that it has the
        fraction in all. Without it everybody in a drawn cluster is taken to be in the sample.

    Returns
    -------
    SubsampleRisk

    Raises
    ------
    DataError
        A household is in two clusters, all records are in one, or a weight is below 1.

    Notes
    -----
    What the subsample is to the sample, the sample is taken to be to the population. Of the n1 records of the sample
    u1 are unique in it, of the n2 of the subsample u2 are unique there, and u of these in the sample too:

    p(b) = f; p(c) = (u1 / n1)(u / u2); p(d) = u / u2; p(identification) = p(a) p(b) p(c) p(d).

    Over several subsamples the probabilities are those of the mean counts, not means of the probabilities. Under the
    policy ``wildcard`` a record is unique when no other is compatible with it.

    With weights w each record is drawn with the chance 1 / w, and p(b) is n1 over the sum of weights. p(c) is then that
    of a person in the sample, as equation (1) has it, p(c|a,b): it is not the share of the population that is unique
    where unique persons were drawn with other chances than the rest. The more weights differ, the larger is n2 / n1
    beside p(b): the step from sample to subsample is another than the one that it stands for, as a note then says.

    The subsample repeats the design: units that the survey drew as wholes are drawn as wholes, one of several weights
    with the mean of its records' chances. Where none is named and a column shows that there are some, ``warnings`` of
    the result says so. Naming them mends the step, not the guess that uniqueness goes on falling as steeply beyond the
    sample. Weights and units are ours, not the study's.

    References
    ----------
    Garín i Ramírez (1996), sections 2.5 and 3.2, equations (1) to (3).

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({'age': [*range(60)] * 2 + [*range(60, 140)]})
    >>> found = kanon_lab.subsample.subsample_risk(frame, 'age', fraction=0.5, repeats=10, seed=1)
    >>> found.n1, found.u1, round(found.expected['p_d'], 4)
    (200, 80, 0.5714)
    """
    asked = {"cluster": cluster, "cluster_fraction": cluster_fraction}
    spec, design, p_a = checked(frame, spec, fraction, repeats, scheme, p_a, seed, **asked)
    table = class_table(frame, spec)
    design, uniques = completed(design, table, frame), Uniques(table)
    found = collected(uniques, design, count_subsamples([uniques], design)[0], p_a)
    return replace(found, warnings=() if design.units else clustering(frame, spec, table))


def checked(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    fraction: float | None,
    repeats: int,
    scheme: str,
    p_a: float,
    seed: int,
    *,
    cluster: str | None,
    cluster_fraction: float | None,
) -> tuple[KeySpec, Design, float]:
    """The keys, weight, household and policy of the spec; how to draw, weights and units not yet read; and p(a)."""
    check_frame(frame)
    spec = as_spec(spec)
    scheme = check_choice(scheme, "scheme", SCHEMES)
    if scheme == "fixed" and cluster_fraction is not None:
        raise OptionError("scheme fixed: with a cluster_fraction clusters and records are drawn; leave one of them out")
    fraction = _checked_fraction(fraction, scheme, spec.weight)
    names = {"cluster": cluster, "household": spec.household, "cluster_fraction": cluster_fraction}
    design = Design(
        len(frame), fraction, scheme, check_whole(repeats, "repeats", 1, MOST_REPEATS), check_seed(seed), **names
    )
    spec = KeySpec(spec.key_variables, weight=spec.weight, household=spec.household, missing=spec.missing)
    spec.check(frame)
    if len(frame) < LEAST_RECORDS:
        raise DataError(f"has {len(frame)} records; a study by subsamples needs {LEAST_RECORDS} or more")
    return spec, design, as_share(p_a, "p_a")


def _checked_fraction(fraction: object, scheme: str, weight: str | None) -> float:
    """The fraction as a float; NaN where weights stand for it."""
    if weight is not None:
        name = shortened(str(weight))
        if fraction is not None:
            raise OptionError(f"fraction: the weights in {name} say with what chance each record is drawn; give one")
        if scheme == "fixed":
            raise OptionError(f"scheme fixed: a fixed number of records is not for weights; leave it or {name} out")
        return np.nan
    if fraction is None:
        raise OptionError("fraction: give the sampling fraction of the sample, such as 0.04, or a weight")
    return as_fraction(fraction)


def completed(design: Design, table: ClassTable, frame: pd.DataFrame) -> Design:
    """The design with the weights of the records and their units, if any are named."""
    weights = table.weight_of_record
    if weights is not None:
        fault = "a weight below 1; a record stands for itself at least, so mend it or leave out the weight"
        refuse(weights < 1 - ROUNDING, table.index, table.spec.weight, fault)
        design = replace(design, weights=weights, fraction=min(table.n / float(weights.sum()), 1.0))
    names = design.cluster, design.household, design.cluster_fraction
    return replace(design, units=sampling_units(frame, *names, design.fraction))


def collected(uniques: Uniques, design: Design, counts: np.ndarray, p_a: float) -> SubsampleRisk:
    """The result from the `COUNTS` of each subsample, shape (repeats, counts)."""
    u1_share = uniques.u1 / design.n1
    draws = pd.DataFrame(counts, columns=list(COUNTS))
    draws.insert(0, "repeat", range(1, design.repeats + 1))
    draws = draws.assign(**conditions(draws, u1_share, design.fraction, p_a))
    means = uniques.expected(design)
    found = conditions(means, u1_share, design.fraction, p_a)
    expected = {name: float({**means, **found}[name]) for name in SPREAD}
    spec, drawn = uniques.spec, "n1 fraction scheme repeats seed cluster household cluster_fraction".split()
    return SubsampleRisk(
        keys=spec.key_variables,
        u1=uniques.u1,
        p_a=p_a,
        missing=spec.missing,
        weight=spec.weight,
        draws=draws,
        expected=expected,
        notes=tuple(_notes(draws, design, expected["n2"] / design.n1)),
        units=None if design.units is None else design.units.number,
        **{name: getattr(design, name) for name in drawn},
    )


def _notes(draws: pd.DataFrame, design: Design, share: float) -> Iterator[str]:
    """What to know of subsamples that are expected to have a `share` of the records."""
    u2, u = draws["u2"].mean(), draws["u"].mean()
    if u == 0 or u2 < _LEAST_U2 or np.sqrt(1 / u - 1 / u2) > _MOST_ERROR:
        yield (
            f"a subsample has too few unique records to say anything of p(c) and p(d): u2 = {u2:,.4g}, u = {u:,.4g}; "
            f"u2 should be {_LEAST_U2} or more, and the relative standard error of p(d), sqrt(1/u - 1/u2), "
            f"{percent(_MOST_ERROR)} or less (p(identification) has twice that); {_REMEDY}"
        )
    if design.weights is not None and share > _MOST_STEP * design.fraction:
        yield (
            f"the weights differ so much that a subsample has {percent(share, design.fraction)} of the records, where "
            f"the sample has {percent(design.fraction, share)} of the population: p(c) and p(d) cannot be trusted"
        )
    if len(draws) > 1:
        yield (
            "the spread is that of subsamples of this one sample: another sample would give another u1, and repeating "
            "does not lessen that"
        )
