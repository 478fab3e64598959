"""How well a model predicts which of two files a record is from: the worse, the more alike they are."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, check_whole
from kanon_lab.columns import ORIGINAL, RELEASED, holds_numbers, numbers_of, one_column, with_absent
from kanon_lab.errors import MissingPackageError, OptionError, about, shortened
from kanon_lab.measures.information_loss import both_coded, refuse_empty
from kanon_lab.roles import names_of

if TYPE_CHECKING:
    from scipy import sparse


# From the file of each record (0 or 1) to its probability to be a released one, and whether the fit came to an end.
Fit = Callable[[np.ndarray], tuple[np.ndarray, bool]]

MODELS = ("logistic", "tree")

# Numbers with more distinct values than this are quantities, unless the caller says which are.
_MOST_CODES = 50
# A logistic model has no parameter for a category with fewer records in both files together, nor for more categories.
_RARE, _MOST_CATEGORIES = 20, 100
# A leaf of a tree has this share of the records, and this number, at least.
_LEAF, _LEAST_LEAF = 0.005, 20
# Newton steps; without separation a handful is enough, with it each adds about 1 to the linear predictor.
_NEWTON_STEPS = 100
# A column with less than this share of its variance unexplained by the others is left out.
_UNEXPLAINED = 1e-9
# Probability of the own file from which a record counts as told apart.
_SURE = 0.999


@dataclass(frozen=True)
class Propensity:
    """How well a model tells a released file from the original.

    Attributes
    ----------
    variables, numeric : tuple of str
        Predictors of the model, and which of them are quantities.
    records, released_share : int or float
        Of both files together, and the share of them that are released, 0-1.
    parameters : int or None
        Free parameters of the logistic model, the intercept included; None for a tree.
    pmse : float
        Mean over the records of (p - c)^2, where p is the probability to be a released one and c the released share: 0
        where the model sees no difference, c (1 - c), so 0.25 for files of equal length, where it separates them all.
    expected, sd : float
        Mean and standard deviation of `pmse` under no difference.
    ratio, standardised : float
        `pmse` over `expected`, and (pmse - expected) / sd.
    null : str
        Where `expected` is from: ``formula``, ``permutation`` or ``none``; with ``none`` these four are NaN.
    told_apart : float
        Share of records with a probability above 0.999 of the file that they are from, 0-1.
    converged : bool
        Whether the fit of the logistic model came to an end; always so for a tree.
    """

    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    model: str
    records: int
    released_share: float
    parameters: int | None
    pmse: float
    expected: float
    sd: float
    ratio: float
    standardised: float
    null: str
    told_apart: float
    converged: bool
    repeats: int
    seed: int


def propensity(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str,
    numeric: Iterable[str] | str | None = None,
    model: str = "logistic",
    repeats: int | None = None,
    seed: int = 0,
) -> Propensity:
    """Let a model predict whether a record is an original or a released one.

    Parameters
    ----------
    original, released : DataFrame
        Before and after protection. They need not have the same records.
    variables : iterable of str or str
        Predictors, at least one. A variable that the release lacks is missing there in every record.
    numeric : iterable of str or str, optional
        Which of them are quantities; the others are categories. By default those that are numbers in both files, with
        more than 50 distinct values in the original.
    model : str
        ``logistic``: logistic regression without interactions or penalty, which sees differences in the shares of
        categories and the means of quantities. ``tree``: a classification tree, which also sees differences in spread,
        in associations, and between whole and other numbers; its leaves have 20 records and 0.5% of all at least.
    repeats : int, optional
        Permutations of the files' labels for `expected`, 2 or more for `sd`; 0 means the formula of a logistic model (a
        tree has none). Default: 0 for a logistic model, 20 for a tree.
    seed : int
        Of the permutations and of ties between the splits of a tree, 0 to 2^32 - 1.

    Notes
    -----
    A missing category is a category of its own; a missing quantity takes the mean, beside an indicator of that. In
    the logistic model quantities are standardised; categories beyond the 100 most frequent ones of a variable, or with
    fewer than 20 records in both files together, are one category. A tree takes categories in the order of their text.

    With k parameters and N records in both files, the formula (Snoke, Raab, Nowok, Dibben and Slavkovic, General and
    specific utility measures for synthetic data, JRSS A 181, 2018, section 3) says that no difference gives (k - 1) (1
    - c)^2 c / N on average, with standard deviation sqrt(2 (k - 1)) (1 - c)^2 c / N. "No difference" means there that
    the released records are new ones, drawn from a model that was rightly fitted to the original; permuted labels give
    1 / (1 - c) times as much, so for a logistic model their result is multiplied by 1 - c. A protected file shares
    most records, or much of each, with its original, so the ratio can be far below 1. It compares releases of one file
    with each other; it is no test.

    Where some records are told apart for sure, the fit stops when the probabilities no longer change. The measure is
    that of Woo, Reiter, Oganian and Karr, Global measures of data utility for microdata masked for disclosure
    limitation, Journal of Privacy and Confidentiality 1 (2009).

    Examples
    --------
    >>> from kanon_lab.measures import propensity
    >>> before = pd.DataFrame({"sex": ["f", "m"] * 50})
    >>> propensity(before, before, variables="sex").pmse
    0.0
    >>> round(propensity(before, pd.DataFrame({"sex": ["f"] * 100}), variables="sex").pmse, 4)
    0.0833
    """
    names = names_of(variables, "variables", at_least_one=", such as [sex, age]")
    refuse_empty(original, released)
    released = with_absent(released, original, names)
    check_choice(model, "model", MODELS)
    repeats = check_whole(20 * (model == "tree") if repeats is None else repeats, "repeats", 0, 2**32 - 1)
    seed = check_whole(seed, "seed", 0, 2**32 - 1)
    quantities = _quantities(original, released, names, numeric)
    source = np.repeat([0, 1], [len(original), len(released)])
    c = len(released) / len(source)
    columns = {name: _both_numbers(original, released, name) for name in quantities}
    coded = {name: both_coded(original, released, name)[0] for name in names if name not in quantities}
    fit: Fit
    if model == "tree":
        # A tree cares for the order of numbers only, and scikit-learn keeps few of their digits.
        ranks = [pd.Series(values).rank(method="dense") for values in columns.values()]
        fit, parameters = partial(_fit_tree, np.column_stack([*ranks, *coded.values()]), seed), None
    else:
        design = _independent(_design(columns.values(), coded.values()))
        fit, parameters = partial(_fit_logistic, design), design.shape[1] + 1
    p, converged = fit(source)
    pmse = float(((p - c) ** 2).mean())
    null, expected, sd = _null(fit, source, parameters, repeats, seed)
    ratio = pmse / expected if expected > 0 else np.nan
    standardised = (pmse - expected) / sd if sd > 0 else np.nan
    sure = float((np.where(source == 1, p, 1 - p) > _SURE).mean())
    figures = pmse, expected, sd, ratio, standardised, null, sure, converged, repeats, seed
    return Propensity(names, quantities, model, len(source), c, parameters, *figures)


def _null(fit: Fit, source: np.ndarray, parameters: int | None, repeats: int, seed: int) -> tuple[str, float, float]:
    """Where the expectation under no difference is from, itself, and its standard deviation."""
    c = source.mean()
    if repeats:
        rng, scale = np.random.default_rng(seed), 1.0 if parameters is None else 1 - c
        permuted = [scale * ((fit(rng.permutation(source))[0] - c) ** 2).mean() for _ in range(repeats)]
        return "permutation", float(np.mean(permuted)), float(np.std(permuted, ddof=1)) if repeats > 1 else np.nan
    if parameters is None:
        return "none", np.nan, np.nan
    unit = float((1 - c) ** 2 * c / len(source))
    return "formula", (parameters - 1) * unit, float(np.sqrt(2 * (parameters - 1))) * unit


def _quantities(
    original: pd.DataFrame, released: pd.DataFrame, names: tuple[str, ...], numeric: Iterable[str] | str | None
) -> tuple[str, ...]:
    """Which variables are quantities, in the order of the variables."""
    if numeric is None:
        with about(ORIGINAL):
            columns = [one_column(original, name) for name in names]
            often = [holds_numbers(column) and column.nunique() > _MOST_CODES for column in columns]
        with about(RELEASED):
            return tuple(name for name, has in zip(names, often) if has and holds_numbers(one_column(released, name)))
    try:
        numeric = (numeric,) if isinstance(numeric, str) else tuple(numeric)
    except TypeError:
        numeric = (str(numeric),)
    if strange := [name for name in numeric if name not in names]:
        raise OptionError(f"numeric names {shortened(str(strange[0]))}, which is not one of the variables")
    return tuple(name for name in names if name in numeric)


def _both_numbers(original: pd.DataFrame, released: pd.DataFrame, name: str) -> np.ndarray:
    """A quantity in both files, one below the other; not a number where missing."""
    with about(ORIGINAL):
        before = numbers_of(original, (name,), may_lack_values=True)[1][:, 0]
    with about(RELEASED):
        return np.append(before, numbers_of(released, (name,), may_lack_values=True)[1][:, 0])


def _design(quantities: Iterable[np.ndarray], categories: Iterable[np.ndarray]) -> sparse.csr_array:
    """The columns of the logistic model, without the intercept."""
    from scipy import sparse

    parts = []
    for values in quantities:
        gap = np.isnan(values)
        centred = np.where(gap, 0.0, values - values[~gap].mean() if not gap.all() else 0.0)
        spread = np.sqrt((centred**2).mean())
        parts += [centred[:, None] / (spread or 1.0), gap[:, None].astype(float)]
    for codes in categories:
        counts = np.bincount(codes + 1)
        often = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
        often = often[counts[often] >= _RARE]
        # The most frequent category has no column: the others are compared with it.
        column = np.full(len(counts), len(often))
        column[often] = np.arange(len(often))
        cells = (np.ones(len(codes)), (np.arange(len(codes)), column[codes + 1]))
        parts.append(sparse.csr_array(cells, shape=(len(codes), len(often) + 1))[:, 1:])
    return sparse.csr_array(sparse.hstack([sparse.csr_array(part) for part in parts]))


def _independent(design: sparse.csr_array) -> sparse.csr_array:
    """The columns that do not follow from the others and the intercept."""
    from scipy.linalg.lapack import dpstrf

    mean = np.asarray(design.mean(axis=0)).ravel()
    covariance = (design.T @ design).toarray() / design.shape[0] - np.outer(mean, mean)
    scale = np.sqrt(np.maximum(covariance.diagonal(), 0))
    varies = np.flatnonzero(scale**2 > _UNEXPLAINED)
    if not len(varies):
        return design[:, varies]
    correlation = covariance[np.ix_(varies, varies)] / np.outer(scale[varies], scale[varies])
    _, order, rank, _ = dpstrf(correlation, tol=_UNEXPLAINED)
    return design[:, np.sort(varies[order[:rank] - 1])]


def _fit_logistic(design: sparse.csr_array, source: np.ndarray) -> tuple[np.ndarray, bool]:
    """Fit a logistic regression on some columns."""
    fitted = _sklearn("linear_model").LogisticRegression
    if not design.shape[1]:
        return np.full(len(source), source.mean()), True
    model = fitted(C=np.inf, solver="newton-cholesky", tol=1e-8, max_iter=_NEWTON_STEPS)
    # What it warns of where records are told apart is in the result.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(design, source)
    return model.predict_proba(design)[:, 1], bool(model.n_iter_[0] < _NEWTON_STEPS)


def _fit_tree(columns: np.ndarray, seed: int, source: np.ndarray) -> tuple[np.ndarray, bool]:
    """Fit a classification tree on some columns."""
    leaf = max(_LEAST_LEAF, int(np.ceil(_LEAF * len(source))))
    model = _sklearn("tree").DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed).fit(columns, source)
    return model.predict_proba(columns)[:, 1], True


def _sklearn(module: str) -> ModuleType:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise MissingPackageError(
            "propensity scores need the package scikit-learn: pip install 'kanon-lab[models]'"
        ) from None
