"""What subsamples say of the risk of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice, check_frame, check_whole
from kanon_lab.classes import class_table
from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.roles import KeySpec, as_spec, check_seed, refuse_person
from kanon_lab.sample.curve import as_fraction
from kanon_lab.sample.subsamples import COUNTS, MOST_REPEATS, Design, Uniques, clustering, count_subsamples

#: The quantities whose spread over the subsamples is computed.
SPREAD = ["n2", "u2", "u", "p_c", "p_d", "p_identification"]


def _mean(name: str, doc: str) -> property:
    """The property `name`: the mean over the subsamples, or the count of a single subsample, with a docstring."""
    return property(lambda risk: risk._means[name], doc=doc)


@dataclass(frozen=True)
class SubsampleRisk:
    """The result of `subsample_risk`.

    Attributes
    ----------
    keys : tuple of str
    n1, u1 : int
        Records of the sample, and those of them that are unique in it (*úniques a la mostra*).
    fraction : float
        Sampling fraction (*factor de mostreig*), 0-1; with weights n1 over their sum.
    p_a : float
    scheme : str
    repeats, seed : int
    missing : str
        What a missing key means (`kanon_lab.roles.MISSING_POLICIES`).
    weight : str or None
    draws : DataFrame
        One row a subsample: ``repeat`` (from 1), ``n2``, ``u2``, ``u``, ``p_c``, ``p_d``, ``p_identification`` (0-1,
        NaN where u2 is 0).
    expected : dict of str to float
        The means of n2, u2 and u over all subsamples, in closed form, and ``p_c``, ``p_d``, ``p_identification`` that
        follow from them.
    notes : tuple of str
        What a reader of the numbers should know.
    cluster, household : str or None
        Columns of the units that subsamples took as wholes.
    cluster_fraction : float or None
        Chance of a cluster, where units were drawn in those that were drawn.
    units : int or None
        Units of the sample; None where records were drawn one by one. Records are units where only clusters are named,
        with a `cluster_fraction`.
    warnings : tuple of str
        Why records should perhaps not have been drawn one by one.
    """

    keys: tuple[str, ...]
    n1: int
    u1: int
    fraction: float
    p_a: float
    scheme: str
    repeats: int
    seed: int
    missing: str
    weight: str | None
    draws: pd.DataFrame = field(repr=False)
    expected: dict[str, float] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    cluster: str | None = None
    household: str | None = None
    cluster_fraction: float | None = None
    units: int | None = None
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def _means(self) -> dict[str, int | float]:
        means = {name: float(self.draws[name].mean()) for name in COUNTS}
        chances = conditions(means, self.u1 / self.n1, self.fraction, self.p_a)
        counts = {name: int(mean) for name, mean in means.items()} if self.repeats == 1 else means
        return {**counts, **{name: float(chance) for name, chance in chances.items()}}

    n2 = _mean("n2", "Records of the subsample; the mean over several.")
    u2 = _mean("u2", "Records unique in the subsample (*submostra*); the mean over several.")
    u = _mean("u", "Records unique in the subsample and in the sample; the mean over several.")
    p_b = property(lambda risk: risk.fraction, doc="Chance that a person is in the sample: the sampling fraction.")
    p_c = _mean("p_c", "Chance that a sampled person (unweighted: any) is unique, (u1 / n1)(u / u2); NaN for u2 = 0.")
    p_d = _mean("p_d", "Chance that a record unique in the sample is unique in the population, u / u2; NaN for u2 = 0.")
    p_identification = _mean("p_identification", "The product of the four; NaN for u2 = 0.")

    @cached_property
    def spread(self) -> pd.DataFrame:
        """How much the subsamples differ: sd (NaN of one), min, max, and q025 and q975, the central 95 %."""
        of = self.draws[SPREAD]
        columns = {"sd": of.std(), "min": of.min(), "max": of.max()}
        return pd.DataFrame({**columns, "q025": of.quantile(0.025), "q975": of.quantile(0.975)})

    def to_dict(self) -> dict:
        """The result by name, in types that JSON has, NaN as None; `draws` are left out."""
        single = "n1 n2 u1 u2 u p_a p_b p_c p_d p_identification".split()
        options = "fraction repeats seed scheme weight missing cluster household cluster_fraction units".split()
        return {
            "keys": list(self.keys),
            **{name: _known(getattr(self, name)) for name in single},
            "spread": {name: {at: _known(value) for at, value in row.items()} for name, row in self.spread.T.items()},
            "expected": {name: _known(value) for name, value in self.expected.items()},
            **{name: getattr(self, name) for name in options},
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def conditions(counts: Mapping, u1_share: float, fraction: float, p_a: float) -> dict[str, Any]:
    """p(c), p(d) and their product with p(a) and p(b), from numbers or columns of them; NaN where u2 is 0."""
    with np.errstate(invalid="ignore"):
        p_d = np.divide(counts["u"], counts["u2"])
    p_c = u1_share * p_d
    return {"p_c": p_c, "p_d": p_d, "p_identification": p_a * fraction * p_c * p_d}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


#: The ways to draw a subsample, in words for a reader.
SCHEMES = {"bernoulli": "each record by a draw of its own", "fixed": "a fixed number of records"}
#: Records that a sample must have.
LEAST_RECORDS = 100
# A subsample says something with so many unique records, and a relative standard error of p(d) of so much.
_LEAST_U2, _MOST_ERROR = 50, 0.25
_REMEDY = (
    "the mean over many subsamples, and the expectation over all, are more reliable, though they too depend on this "
    "one sample"
)
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
        Chance that what the intruder knows of a person is coded as in the file and without error.
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
    We assume that the sample relates to the population as the subsample relates to the sample. Of the n1 records of the
    sample u1 are unique in it. Of the n2 of the subsample u2 are unique there, and u of these in the sample too:

    p(b) = f; p(c) = (u1 / n1)(u / u2); p(d) = u / u2; p(identification) = p(a) p(b) p(c) p(d).

    Over several subsamples the probabilities are those of the mean counts, not means of the probabilities. Under the
    policy ``wildcard`` a record is unique when no other is compatible with it.

    With weights w each record is drawn with the chance 1 / w, and p(b) is n1 over the sum of weights. p(c) is then that
    of a person in the sample, as equation (1) has it, p(c|a,b): it is not the share of the population that is unique
    where unique persons were drawn with other chances than the rest. The more weights differ, the larger is n2 / n1
    beside p(b): the step from sample to subsample is another than the one that it stands for, as a note then says.

    The subsample repeats the design: units that the survey drew as wholes are drawn as wholes; a unit with several
    weights has the mean of its records' chances. If no unit is named but a column looks like one, ``warnings`` of the
    result says so. Naming units corrects the step from sample to subsample, not the assumption that uniqueness falls as
    steeply beyond the sample. Weights and units are our addition to the study.

    References
    ----------
    Garín i Ramírez (1996), sections 2.5 and 3.2, equations (1) to (3).

    Examples
    --------
    >>> frame = pd.DataFrame({'age': [*range(60)] * 2 + [*range(60, 140)]})
    >>> risk = kanon_lab.sample.subsample_risk(frame, 'age', fraction=0.5, repeats=10, seed=1)
    >>> risk.n1, risk.u1, round(risk.expected['p_d'], 4)
    (200, 80, 0.5714)
    """
    spec, design = planned(frame, spec, fraction, repeats, scheme, p_a, seed, cluster, cluster_fraction)
    table = class_table(frame, spec)
    design, uniques = design.completed(frame, table), Uniques(table)
    risk = collected(uniques, design, count_subsamples([uniques], design)[0])
    return replace(risk, warnings=() if design.units else clustering(frame, table))


def planned(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    fraction: float | None = None,
    repeats: int = 1,
    scheme: str = "bernoulli",
    p_a: float = 1.0,
    seed: int = 0,
    cluster: str | None = None,
    cluster_fraction: float | None = None,
) -> tuple[KeySpec, Design]:
    """The keys, weight, household and policy of the spec; and how to draw, without the weights and units of `frame`."""
    check_frame(frame)
    spec = as_spec(spec)
    refuse_person(spec, "a subsample")
    scheme = check_choice(scheme, "scheme", SCHEMES)
    if scheme == "fixed" and cluster_fraction is not None:
        raise OptionError("scheme fixed: with a cluster_fraction clusters and records are drawn; leave one of them out")
    if spec.weight is not None:
        name = shortened(str(spec.weight))
        if fraction is not None:
            raise OptionError(f"fraction: the weights in {name} say with what chance each record is drawn; give one")
        if scheme == "fixed":
            raise OptionError(f"scheme fixed: a fixed number of records is not for weights; leave it or {name} out")
        fraction = np.nan  # follows from the weights
    elif fraction is None:
        raise OptionError("fraction: give the sampling fraction of the sample, such as 0.04, or a weight")
    else:
        fraction = as_fraction(fraction)
    repeats, seed = check_whole(repeats, "repeats", 1, MOST_REPEATS), check_seed(seed)
    design = Design(len(frame), fraction, scheme, repeats, seed, cluster=cluster, household=spec.household)
    spec = KeySpec(spec.key_variables, weight=spec.weight, household=spec.household, missing=spec.missing)
    spec.check(frame)
    if len(frame) < LEAST_RECORDS:
        raise DataError(f"has {len(frame)} records; a study by subsamples needs {LEAST_RECORDS} or more")
    return spec, replace(design, cluster_fraction=cluster_fraction, p_a=as_share(p_a, "p_a"))


def collected(uniques: Uniques, design: Design, counts: np.ndarray) -> SubsampleRisk:
    """The result from the `COUNTS` of each subsample, shape (repeats, counts)."""
    shares = uniques.u1 / design.n1, design.fraction, design.p_a
    draws = pd.DataFrame(counts, columns=list(COUNTS))
    draws.insert(0, "repeat", range(1, design.repeats + 1))
    draws = draws.assign(**conditions({name: draws[name] for name in draws.columns}, *shares))
    means = uniques.expected(design)
    means |= conditions(means, *shares)
    expected = {name: float(means[name]) for name in SPREAD}
    spec, drawn = uniques.spec, "n1 fraction p_a scheme repeats seed cluster household cluster_fraction".split()
    return SubsampleRisk(
        keys=spec.key_variables,
        u1=uniques.u1,
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
            "the spread is over subsamples of this one sample: another sample would have another u1, and repeating "
            "cannot show that"
        )
