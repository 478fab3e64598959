"""Everything that a report says, as aggregates: computed once, without a word in any language."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.recipes.chain import Protection, protect
from kanon_lab.recipes.measured import without_variables
from kanon_lab.recipes.released import held_identifier, released_columns
from kanon_lab.recipes.verdict import Judged, judge
from kanon_lab.report import tables
from kanon_lab.report.config import ReportConfig
from kanon_lab.report.safe import named_grid, shown_settings
from kanon_lab.report.tables import Internal, internal_tables
from kanon_lab.report.words import Words
from kanon_lab.roles import KeySpec
from kanon_lab.terms import key_of

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile

_PACKAGES = ("kanon-lab", "numpy", "pandas", "scipy", "altair")
# Records of the release that are searched for direct identifiers, at most: others are much alike.
_MOST_SEARCHED = 50_000


@dataclass(frozen=True)
class Analysis:
    """What a report says of a file and its protection: counts, shares and names of columns, and no record.

    Attributes
    ----------
    file : dict
        ``name`` (without folders), ``sha256``, ``bytes``, ``format``, ``encoding``, ``separator``, ``decimal``,
        ``records`` and ``columns``, as far as known; and ``notes``: what was done in reading it.
    date : str
        On which it was made (UTC), as 2025-01-31.
    summary : dict
        ``records``; ``keys``, ``weight``, ``household``, ``sensitive``, ``identifiers`` (names of columns);
        ``identifiers_searched`` (records, at equal steps, in which they were looked for) and ``identifiers_found`` (a
        line on one that the release still holds, or None); ``missing``, ``estimator``, ``k`` (the one counted below),
        ``risks`` (above which records are counted), ``least`` (records of a category that is named), ``perturbed``
        (keys); and under ``before`` and ``after`` each measure of `kanon_lab.recipes.measured.Measured.row`.
    judged : Judged
        The verdict on each limit of the office, and what no limit counts.
    variables : DataFrame
        One row a column of the file as it came: ``column``, ``role``, ``fate`` (identifier, removed, changed,
        unchanged), ``kind`` (text, number, date, truth), ``distinct_before``, ``distinct_after``, ``few`` (categories
        of fewer than ``least`` records in the release; keys and sensitive variables), ``missing`` (records).
    categories : DataFrame
        Of the released keys and sensitive variables: ``variable``, ``category``, ``records`` (rounded to multiples of
        5) and their ``share``; a row with a missing ``category`` is the pool of so many ``pooled`` ones.
    quantiles : DataFrame
        ``variable`` and `kanon_lab.report.safe.QUANTILES`, of released quantities.
    sizes, risks : DataFrame
        `kanon_lab.classes.counts.size_ranges` by ``version`` (before, after); and records by range of individual risk:
        ``version``, ``low``, ``high``, ``records``, ``share``.
    riskiest : DataFrame
        Of the release, the riskiest first: ``f_k``, ``low``, ``high``, ``records``, and ``classes`` (unless f_k counts
        compatible records of other classes).
    suda, unique_sets : DataFrame
        ``version``, ``variable``, ``contribution``, ``msus``, without rows where no record is unique; and ``version``,
        ``variables``, ``size``, ``records``: sets of up to ``suda_size`` keys that make records unique.
    diversity : DataFrame
        ``variable``, the worst class by `kanon_lab.measures.MEASURES`, and ``homogeneous`` (records whose class shows
        one value).
    steps : DataFrame
        `Protection.history`, with ``settings`` (text) and ``below`` (records below k).
    claims : DataFrame
        Of the release, for the k of the summary: ``k``, ``claim``, ``records``, ``share``.
    indicators : DataFrame
        Of many records: ``kind``, ``variable``, ``category``, ``by``, ``group``, ``overlap`` (lower end of its range)
        and ``covered`` (whether the estimate after lies in the interval before); ``indicators_lost`` are not in it.
    map : RiskUtilityMap or None
        ``map_axes`` are its measures of risk and loss.
    released : DataFrame
        `kanon_lab.recipes.released_columns`.
    notes : tuple of Note
        What the release still gives away.
    parameters : dict
        Settings as given, without categories of the data.
    internal : bool
        Whether pages of it are for the office only, and show what is here and in ``office``; others show what
        `kanon_lab.report.public.public` leaves of it.
    """

    title: str
    file: dict[str, Any]
    date: str
    summary: dict[str, Any]
    judged: Judged = field(repr=False)
    variables: pd.DataFrame = field(repr=False)
    categories: pd.DataFrame = field(repr=False)
    quantiles: pd.DataFrame = field(repr=False)
    sizes: pd.DataFrame = field(repr=False)
    risks: pd.DataFrame = field(repr=False)
    riskiest: pd.DataFrame = field(repr=False)
    suda: pd.DataFrame = field(repr=False)
    unique_sets: pd.DataFrame = field(repr=False)
    suda_size: int
    diversity: pd.DataFrame = field(repr=False)
    steps: pd.DataFrame = field(repr=False)
    claims: pd.DataFrame = field(repr=False)
    indicators: pd.DataFrame = field(repr=False)
    indicators_lost: int
    map: Any = field(repr=False)
    map_axes: tuple[str, str]
    released: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...]
    parameters: dict[str, Any]
    seeds: pd.DataFrame = field(repr=False)
    versions: dict[str, str]
    internal: bool = False
    office: Internal | None = field(default=None, repr=False)


def analyse(
    file: MicrodataFile | pd.DataFrame,
    config: ReportConfig,
    *,
    name: str = "the data",
    progress: Callable[[str], None] | None = None,
    released: Callable[[Protection], None] | None = None,
    internal: bool = False,
) -> Analysis:
    """Protect a file as its configuration says, and count all that a report shows.

    Parameters
    ----------
    file : MicrodataFile or DataFrame
        As `kanon_lab.data.read_file` gives it, or a frame of records under index labels of their own, called `name`.
    config : ReportConfig
    progress : callable, optional
        Called with the name of each step before it begins.
    released : callable, optional
        Called with the protection, for its file to be written.
    internal : bool
        Whether it is for the office only; unless it is, no category that few hold is in it.
    """
    frame, found, labels = _opened(file, name)
    said = progress or (lambda step: None)
    name, recipe = found["name"], config.recipe
    protection = _protected(file, config, said)
    if released is not None:
        said("the protected file")
        released(protection)
    said("classes")
    said("limits")
    judged = judge(protection, config.limits, k_required=recipe.k_required)
    k = judged.k
    least = max(config.least, k)
    states = _tables(protection)
    of_risk = {when: tables.Risks.of(table, recipe.estimator) for when, table in states.items()}
    said("uniques")
    suda, sets, size = tables.unique_keys(states)
    said("variables")
    columns = released_columns(protection)
    variables = tables.variables(protection, columns, least=least)
    categories, quantiles = tables.values(protection, labels, least=least)
    said("indicators")
    indicators, lost = tables.indicators(protection, least=least)
    said("the map of recipes")
    return Analysis(
        title=config.title or Words(config.language).say("usual_title", name=name),
        file=found,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        summary=_summary(protection, config, name, k, least),
        judged=judged,
        variables=variables,
        categories=categories,
        quantiles=quantiles,
        sizes=tables.sizes(states),
        risks=tables.risk_ranges(of_risk),
        riskiest=tables.riskiest(of_risk["after"]),
        suda=suda,
        unique_sets=sets,
        suda_size=size,
        diversity=tables.diversities(states["after"]),
        steps=_steps(protection, k),
        claims=judged.claims[["k", "claim", "records", "share"]],
        indicators=indicators,
        indicators_lost=lost,
        map=_map(frame, config),
        map_axes=(config.map_risk, config.map_loss),
        released=columns,
        notes=protection.notes,
        parameters=shown_settings(config.shown),
        seeds=_seeds(protection),
        versions=_versions(),
        internal=internal,
        office=internal_tables(protection, config.shown, of_risk) if internal else None,
    )


def _opened(file: MicrodataFile | pd.DataFrame, name: str) -> tuple[pd.DataFrame, dict[str, Any], Mapping]:
    """The frame, what is known of the file, and the labels of its codes."""
    if isinstance(file, pd.DataFrame):
        return file, {"name": name, "records": len(file), "columns": file.shape[1], "notes": ()}, {}
    notes = tuple(note for note in file.notes if not key_of(note).startswith("codes_"))  # they quote codes
    return file.numbered, {**file.found, "notes": notes}, file.labels


def _protected(file: MicrodataFile | pd.DataFrame, config: ReportConfig, said: Callable[[str], None]) -> Protection:
    """The file after every step, each named before it begins."""
    recipe = config.recipe
    said("measuring the file as it came")
    recipe.check(file)
    measured = {name: getattr(recipe, name) for name in ("k", "risks", "estimator", "indicators", "seed")}
    protection = protect(file, recipe.spec, **measured)
    for position, (name, settings) in enumerate(recipe.steps, start=1):
        said(f"step {position} ({name})")
        protection = protection.apply(name, settings)
    return protection


def _tables(protection: Protection) -> dict[str, ClassTable]:
    """The classes before any step and after the last, with the sensitive variables that are still released."""
    found = {}
    for when, state in (("before", protection.start), ("after", protection.state)):
        spec: KeySpec = without_variables(protection.spec, state.removed)
        sensitive = tuple(name for name in spec.sensitive_variables if name not in state.removed)
        spec = replace(spec, sensitive_variables=sensitive)
        found[when] = class_table(state.working, spec)
    return found


def _summary(protection: Protection, config: ReportConfig, name: str, k: int, least: int) -> dict[str, Any]:
    spec = protection.spec
    return {
        "records": len(protection.original),
        "keys": list(spec.key_variables),
        "weight": spec.weight,
        "household": spec.household,
        "sensitive": list(spec.sensitive_variables),
        "identifiers": list(spec.direct_identifiers),
        "identifiers_searched": len(range(0, len(protection.original), _search_step(protection))),
        "identifiers_found": _identifiers(protection, name),
        "missing": spec.missing,
        "estimator": protection.estimator,
        "k": k,
        "risks": list(config.risks),
        "least": least,
        "before": protection.start.measured.row(),
        "after": protection.state.measured.row(),
        "perturbed": [name for name in spec.key_variables if name in protection.state.truth.perturbed],
    }


def _identifiers(protection: Protection, name: str) -> str | None:
    """What is said against the release where it holds a direct identifier under another name."""
    spec, names = protection.spec, protection.spec.direct_identifiers
    if not names:
        return None
    step = _search_step(protection)
    released, order = protection.frame.iloc[::step].reset_index(drop=True), protection.state.working.index[::step]
    originals = protection.original.loc[order].reset_index(drop=True)
    held = held_identifier(released, originals, names, roles=[*spec.variables, *spec.ghosts])
    return None if held is None else f"{name}: {held.told(rows=False)}"


def _search_step(protection: Protection) -> int:
    return -(-len(protection.original) // _MOST_SEARCHED)


def _steps(protection: Protection, k: int) -> pd.DataFrame:
    history = protection.history.reset_index()
    means = "category" if protection.spec.missing == "category" else "wildcard"
    settings = ["", *(_text(shown_settings(step.settings)) for step in protection.steps)]
    return history.assign(settings=settings, below=history[f"violations_{k}_{means}"])


def _text(settings: Mapping[str, Any]) -> str:
    """Settings in a line, as YAML would have them."""
    import yaml

    return yaml.safe_dump(dict(settings), default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)[
        1:-2
    ]


def _seeds(protection: Protection) -> pd.DataFrame:
    rows = [(n, step.name, step.seed) for n, step in enumerate(protection.steps, 1) if step.seed is not None]
    return pd.DataFrame(rows, columns=["step", "name", "seed"])


def _map(frame: pd.DataFrame, config: ReportConfig) -> Any:
    if config.map is None:
        return None
    from kanon_lab.recipes.risk_map import risk_utility_map

    grid = {**config.map, "grid": named_grid(config.map)}
    found = risk_utility_map(frame, grid, workers=1, progress=False)
    overlaps = {name: 3 for name in found.points if name.startswith("indicators_overlap")}
    return replace(found, points=found.points.round(overlaps), spread=found.spread.round(overlaps))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
