"""Risk under a Poisson log-linear model of the keys: combinations that the model makes rare are the risky ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kanon_lab.arguments import check_positive
from kanon_lab.classes import ClassTable
from kanon_lab.columns import first_row
from kanon_lab.errors import DataError, OptionError, meant, shortened
from kanon_lab.measures.risk import fraction_by_weights, refuse_light_classes
from kanon_lab.roles import refuse_person

#: Cells of the largest table that is fitted.
MOST_CELLS = 20_000_000
#: Fitting ends where no margin is off by more than this many records, raking by this share, or after so many rounds.
FINISHED, SETTLED, MOST_ROUNDS = 1e-6, 1e-6, 500
#: After so many rounds, a fit is accepted if no margin is off by more records than this.
TOLERANCE = 0.1


@dataclass(frozen=True)
class Block:
    """Key variables that interact with each other and with no other."""

    names: tuple[str, ...]
    keys: tuple[int, ...]
    margins: tuple[tuple[int, ...], ...]


def blocks(terms: tuple[tuple[str, ...], ...], names: tuple[str, ...]) -> list[Block]:
    """The blocks of a hierarchical model of all main effects and the interactions in `terms`."""
    margins = {frozenset(term) for term in (*terms, *((name,) for name in names))}
    margins = {margin for margin in margins if not any(margin < other for other in margins)}
    groups: list[set[str]] = []
    for margin in margins:
        together = [group for group in groups if group & margin]
        groups = [group for group in groups if not group & margin] + [set(margin).union(*together)]
    parts = []
    for keys in sorted(sorted(map(names.index, group)) for group in groups):
        group = {names[key] for key in keys}
        within = sorted(tuple(sorted(keys.index(names.index(name)) for name in m)) for m in margins if m <= group)
        parts.append(Block(tuple(names[key] for key in keys), tuple(keys), tuple(within)))
    return parts


def fitted_counts(codes: np.ndarray, counts: np.ndarray, parts: list[Block]) -> tuple[np.ndarray, int, float]:
    """Expected counts, by maximum likelihood, of the combinations that occur; the rounds of fitting, and the gap left.

    `codes` (shape (rows, keys), from 0 on) are the combinations that occur, `counts` their records. Blocks are
    independent in the model, so the expected count is the product of their shares, and only the table of one block at a
    time is held. A block of one margin has that margin's counts (0 rounds); another starts from equal cells, and is
    scaled to each margin in turn until all agree. The gap is the most records by which a margin is still off, up to
    `TOLERANCE`; where the zeros of a sparse table drive further cells towards 0, it shrinks ever more slowly.
    """
    total = counts.sum()
    expected, rounds, gap = np.full(len(codes), float(total)), 0, 0.0
    for block in parts:
        here = codes[:, block.keys]
        shape = tuple(int(top) + 1 for top in here.max(axis=0))
        if (cells := np.prod(shape, dtype=float)) > MOST_CELLS:
            raise OptionError(
                f"the keys {', '.join(block.names)} interact, and have {cells:,.0f} combinations, of which "
                f"{MOST_CELLS:,} are the most that can be fitted; leave out interactions, or recode to fewer values"
            )
        observed = np.bincount(np.ravel_multi_index(here.T, shape), weights=counts, minlength=int(cells)).reshape(shape)
        if len(block.margins) > 1:
            observed, used, off = _fitted_to_margins(observed, block)
            rounds, gap = max(rounds, used), max(gap, off)
        expected *= observed[tuple(here.T)] / total
    return expected, rounds, gap


def raked(codes: np.ndarray, counts: np.ndarray, totals: np.ndarray, parts: list[Block]) -> np.ndarray:
    """Counts (1 or more) scaled by factors of the model's terms until they have the margins of the totals (0 or more).

    Over `counts` the result is a mean per record, smoothed by the model. Margins agree to a share of `SETTLED`, or as
    far as `MOST_ROUNDS` lead.
    """
    margins = []
    for block in parts:
        for margin in block.margins:
            here = codes[:, [block.keys[at] for at in margin]]
            number = np.ravel_multi_index(here.T, tuple(int(top) + 1 for top in here.max(axis=0)))
            margins.append((number, np.bincount(number, weights=totals)))
    scaled = counts * (totals.sum() / counts.sum())
    gap, used = np.inf, 0
    while gap > SETTLED and used < MOST_ROUNDS:
        gap, used = 0.0, used + 1
        for number, target in margins:
            now = np.bincount(number, weights=scaled)
            factor = np.divide(target, now, out=np.ones_like(now), where=now > 0)
            gap = max(gap, float(np.abs(factor - 1).max()))
            scaled *= factor[number]
    return scaled


def _fitted_to_margins(observed: np.ndarray, block: Block) -> tuple[np.ndarray, int, float]:
    """Cells scaled from 1 until each margin is the observed one, the rounds used, and the gap left."""
    others = [tuple(set(range(observed.ndim)) - set(margin)) for margin in block.margins]
    targets = [observed.sum(axis=axes, keepdims=True) for axes in others]
    cells = np.ones_like(observed)
    gap, used = np.inf, -1
    while gap > FINISHED and used < MOST_ROUNDS:
        gap, used = 0.0, used + 1
        for axes, target in zip(others, targets, strict=True):
            now = cells.sum(axis=axes, keepdims=True)
            gap = max(gap, float(np.abs(target - now).max()))
            cells *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
    if gap > TOLERANCE:
        raise DataError(
            f"the model of {', '.join(block.names)} does not settle: after {MOST_ROUNDS} rounds a margin is still off "
            f"by {gap:.1g} records; leave out an interaction, or recode rare values together"
        )
    return cells, used, gap


# Points of Gauss-Legendre quadrature, and decay lengths over which it is taken: errors are of the order of 1e-14.
_POINTS, _LENGTHS = 32, 40.0


@dataclass(frozen=True)
class LogLinear:
    """A Poisson log-linear model of a sample's keys, and the risks that follow from it.

    Attributes
    ----------
    expected : ndarray
        The mu_k, expected sample frequency of each class, shape (n_classes,).
    risk : ndarray
        Expected 1/F_k given f_k, in (0, 1/f_k], shape (n_classes,).
    probability_unique : ndarray
        Probability that F_k = 1 given f_k, 0-1, shape (n_classes,); 0 where f_k is 2 or more.
    fractions : ndarray
        The pi_k, probability that a person of each class is in the sample, in (0, 1], shape (n_classes,).
    tau_1 : float
        Expected number of sample uniques that are population uniques: sum of `probability_unique`.
    tau_2 : float
        Expected number of sample uniques that are re-identified: sum of `risk` over sample uniques.
    sampling_fraction : float
        Share of the population in the sample, in (0, 1]: the option, or n over the sum of the weights.
    interactions : tuple of tuple of str
        Those in the model, each in the order of the keys.
    iterations : int
        Rounds of iterative proportional fitting; 0 where the model has a closed form.
    gap : float
        The most records by which a fitted margin still differs from the sample's: next to 0, at most 0.1.
    """

    expected: np.ndarray = field(repr=False)
    risk: np.ndarray = field(repr=False)
    probability_unique: np.ndarray = field(repr=False)
    fractions: np.ndarray = field(repr=False)
    tau_1: float
    tau_2: float
    sampling_fraction: float
    interactions: tuple[tuple[str, ...], ...]
    iterations: int
    gap: float


def loglinear(
    table: ClassTable, *, interactions: Iterable[Iterable[str]] = (), sampling_fraction: float | None = None
) -> LogLinear:
    """Fit a Poisson log-linear model to the counts of all combinations of key values, and compute risks from it.

    Parameters
    ----------
    table : ClassTable
        Of a sample. Combinations of the keys' values that no record has are part of the model too.
    interactions : iterable of iterable of str
        Key variables that interact, such as ``[("region", "age")]``. The model is hierarchical: main effects and the
        interactions of fewer variables inside these are in it too.
    sampling_fraction : float, optional
        Probability of being in the sample, the same for everybody, above 0 and up to 1. Default: a probability for each
        class, from the weights.

    Notes
    -----
    The population count F_k is Poisson with mean lambda_k, and each person of the class is in the sample independently
    with probability pi_k. So f_k is Poisson with mean mu_k = pi_k lambda_k, and F_k - f_k is Poisson with mean x = mu_k
    (1 - pi_k)/pi_k. Then P(F_k = 1 | f_k = 1) = exp(-x), and the expected 1/F_k is the integral of s^(f_k - 1)
    exp(-x (1 - s)) from 0 to 1: (1 - exp(-x))/x for f_k = 1 (Skinner and Holmes 1998; Elamir and Skinner 2006).

    mu_k is fitted to the records, without weights. pi_k comes from the design weights: a record of weight w represents
    w - 1 persons outside the sample, and the mean of w - 1 in its class, smoothed by the terms of the same model,
    estimates (1 - pi_k)/pi_k. Where the weights follow from the keys by these terms, pi_k is f_k over the sum of the
    weights; where all weights are equal it is n/N. F_k that was counted in a population plays no part.

    All persons of a class must have the same probability. So the keys should include what the sampling depends on, and
    two variables on which it depends together should interact. Otherwise the risk is off: in simulations tau_1 came out
    twice too large with fractions of 2% and 32% by a variable that was no key, a twentieth with 10% and 30%.

    Unlike `individual_risk`, the model learns from the classes around a class, and is as good as its interactions. With
    too few, combinations that nobody has take up expected counts, and the risk of sample uniques is often too high;
    with too many, mu_k comes near f_k, and it is often too low (Skinner and Shlomo 2008).

    Examples
    --------
    >>> from kanon_lab.measures import loglinear
    >>> frame = pd.DataFrame({"sex": list("ffmmm"), "age": [30, 41, 30, 30, 41]})
    >>> model = loglinear(kanon_lab.class_table(frame, ["sex", "age"]), sampling_fraction=0.1)
    >>> model.expected.round(2).tolist(), round(model.tau_1, 6), round(model.tau_2, 4)
    ([1.2, 0.8, 1.8, 1.2], 0.000787, 0.324)
    """
    refuse_person(table.spec, "the log-linear model")
    terms = _terms(interactions, table.spec.key_variables)
    parts = blocks(terms, table.spec.key_variables)
    codes = _complete_codes(table)
    weighted = sampling_fraction is None
    overall = fraction_by_weights(table) if weighted else check_positive(sampling_fraction, "sampling_fraction", 1)
    if overall is None:
        raise OptionError("the model needs a sample: name its weight in the spec, or give the sampling_fraction")
    expected, iterations, gap = fitted_counts(codes, table.records, parts)
    fractions = np.full(table.n_classes, overall)
    if weighted:
        sums = np.bincount(table.class_of_record, weights=table.weight_of_record, minlength=table.n_classes)
        refuse_light_classes(table, table.records, sums)
        # 1 over 1 and the mean of w - 1 of the class, smoothed by the model.
        beyond = raked(codes, table.records, np.maximum(sums - table.records, 0), parts)
        fractions = table.records / (table.records + beyond)
    others = np.minimum(expected * ((1 - fractions) / fractions), 1e300)
    risk = _mean_inverse(table.f_k.astype(float), others)
    unique = table.f_k == 1
    probability = np.where(unique, np.exp(-others), 0.0)
    taus = float(probability.sum()), float(risk[unique].sum())
    return LogLinear(expected, risk, probability, fractions, *taus, overall, terms, iterations, gap)


def _mean_inverse(f: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Expectation of 1/(f + X) for X Poisson with mean x: the integral of (1 - t)^(f - 1) exp(-x t) from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    with np.errstate(divide="ignore"):  # the integrand falls at least as fast as exp(-(f - 1 + x) t)
        upper = np.minimum(1.0, _LENGTHS / (f - 1 + x))
    total = np.zeros_like(f)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        t = upper * node
        total += weight * np.exp((f - 1) * np.log1p(-t) - x * t)
    return np.minimum(total * upper, 1 / f)


def _terms(interactions: object, keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The interactions, each in the order of the keys."""
    form = 'give each interaction as two or more key variables, such as [("region", "age")]'
    if isinstance(interactions, str) or not isinstance(interactions, Iterable):
        raise OptionError(f"interactions: {form}")
    terms = []
    for names in interactions:
        names = [] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        if strange := [name for name in names if name not in keys]:
            remedy = meant(strange[0], keys, "name key variables")
            raise OptionError(f"interactions: {shortened(str(strange[0]))} is not a key variable; {remedy}")
        if len(names) < 2 or len(set(names)) < len(names):
            raise OptionError(f"interactions: {form}")
        terms.append(tuple(name for name in keys if name in names))
    return tuple(dict.fromkeys(terms))


def _complete_codes(table: ClassTable) -> np.ndarray:
    """Key codes of the classes, shape (n_classes, keys), from 0 on."""
    absent = table.policy_codes < 0
    if absent.any():
        at = int(absent.any(axis=0).argmax())
        name = shortened(str(table.spec.key_variables[at]))
        row = first_row(absent[table.class_of_record, at], table.index)
        raise DataError(
            f"row {row}: a missing value in column {name}; the model counts every combination of the "
            "keys, so fill it in, or choose the policy category"
        )
    return table.policy_codes
