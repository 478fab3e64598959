"""Everything that a report says, as aggregates: computed once, without a word in any language."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from math import ceil
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.classes import ClassTable, size_ranges
from kanon_lab.data.microdata import MicrodataFile, reading_notes, without_codes
from kanon_lab.recipes.chain import Protection, protect
from kanon_lab.recipes.measured import without_variables
from kanon_lab.recipes.released import held_identifier
from kanon_lab.recipes.verdict import Caution, Judged, Release, decisive_claim, judge_release, k_of
from kanon_lab.report import tables
from kanon_lab.report.config import ReportConfig
from kanon_lab.report.safe import named_grid, shown_settings
from kanon_lab.report.tables import Internal
from kanon_lab.report.words import Words
from kanon_lab.roles import KeySpec
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.engines.release import Records

_PACKAGES = ("kanon-lab", "numpy", "pandas", "scipy")
# Records of the release that are searched for direct identifiers, at most: others are much alike.
_MOST_SEARCHED = 50_000


@dataclass(frozen=True, repr=False)
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
        ``records``; names of columns by role (``keys``, ``weight``, ``household``, ``person``, ``sensitive``,
        ``identifiers``); ``persons`` (their number, where one is named); ``identifiers_searched`` (records searched for
        them, at equal steps) and ``identifiers_found`` (a line on the first that the release holds, or None);
        ``missing``, ``policy`` (how records below k are counted), ``estimator``, ``claim`` (that decides on k), ``k``,
        ``risks`` (records above these are counted), ``least`` (records of a named category),
        ``perturbed`` (keys); under ``before`` and ``after`` each measure of `kanon_lab.recipes.measured.Measured.row`.
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
        `kanon_lab.classes.counts.size_ranges`, and ``low``, ``high``, ``records``, ``share`` of ranges of individual
        risk; both by ``version`` (before, after).
    riskiest : DataFrame
        Of the release, the riskiest first: ``f_k``, ``low``, ``high``, ``records``, and ``classes`` (unless f_k counts
        compatible records of other classes).
    suda, unique_sets : DataFrame
        ``version``, ``variable``, ``contribution``, ``msus``, without rows where no record is unique; and ``version``,
        ``variables``, ``size``, ``records``: sets of up to ``suda_size`` keys that make records unique.
    diversity : DataFrame
        ``variable``, the worst class by `kanon_lab.measures.MEASURES`, ``inferred`` (the measure of that name), and
        ``homogeneous`` (records that match only records of one value).
    steps : DataFrame
        `Protection.history`, with ``settings`` (text) and ``below`` (records below k); of a suppression ``key_cells``
        that it took, the ``least_cells`` that any needs, and how far ``above`` these it is at most (whole per cents),
        or why ``no_bound`` is claimed.
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
    left_out : tuple of str
        What a page made from counts lacks: keys of its texts. Its frames lack most of ``variables`` for columns without
        a role, and households behind quantiles.
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
    judged: Judged
    variables: pd.DataFrame
    categories: pd.DataFrame
    quantiles: pd.DataFrame
    sizes: pd.DataFrame
    risks: pd.DataFrame
    riskiest: pd.DataFrame
    suda: pd.DataFrame
    unique_sets: pd.DataFrame
    suda_size: int
    diversity: pd.DataFrame
    steps: pd.DataFrame
    claims: pd.DataFrame
    indicators: pd.DataFrame
    indicators_lost: int
    map: Any
    map_axes: tuple[str, str]
    released: pd.DataFrame
    notes: tuple[Any, ...]
    left_out: tuple[str, ...]
    parameters: dict[str, Any]
    seeds: pd.DataFrame
    versions: dict[str, str]
    internal: bool = False
    office: Internal | None = None

    @cached_property
    def shown(self) -> list[Analysis]:
        """What `kanon_lab.report.public.public` leaves of it, once that was asked for."""
        return []


def analyse(
    file: MicrodataFile | Records | pd.DataFrame,
    config: ReportConfig,
    *,
    name: str = "the data",
    progress: Callable[[str], None] = lambda step: None,
    released: Callable[[Protection], None] | None = None,
    internal: bool = False,
) -> Analysis:
    """Protect a file as its configuration says, and count all that a report shows.

    Parameters
    ----------
    file : MicrodataFile, Records or DataFrame
        As `kanon_lab.data.read_file` gives it; or what an engine has counted (`opened_records`), or a frame of records
        under index labels of their own, called `name`.
    config : ReportConfig
    progress : callable
        Called with the name of each step before it begins.
    released : callable, optional
        Called with the protection, for its file to be written.
    internal : bool
        Whether it is for the office only; unless it is, no category that few hold is in it.
    """
    protection = _protected(file, config, progress)
    if released is not None:
        progress("the protected file")
        released(protection)
    progress("classes")
    progress("limits")
    release = Release(protection, k_of(config.limits, config.recipe.k_required))
    judged = judge_release(release, config.limits)
    more: dict[str, Any] = {"name": name, "progress": progress, "internal": internal}
    return analyse_release(file, config, protection, release, judged, **more)


def analyse_release(
    file: MicrodataFile | Records | pd.DataFrame,
    config: ReportConfig,
    protection: Protection,
    release: Release,
    judged: Judged,
    *,
    name: str = "the data",
    progress: Callable[[str], None] = lambda step: None,
    internal: bool = False,
    brief: bool = False,
) -> Analysis:
    """The same of a protection that was judged; a `brief` one has neither the map nor what is for the office alone."""
    about_file = _describe_file(file, name, internal)
    summary = _summary(protection, config, about_file["name"], judged.k)
    if error := summary["identifiers_found"]:
        held = Caution("held_identifier", None, (), Note("caution_held_identifier", error=error))
        judged = replace(judged, cautions=(held, *judged.cautions))
    least = summary["least"]
    states = _states(protection)
    of_risk = {when: tables.Risks(table, protection.estimator) for when, table in states.items()}
    progress("uniques")
    suda, sets, size = tables.unique_keys(states)
    progress("variables")
    columns = protection.released_table
    variables = tables.variables(protection, columns, least=least)
    categories, quantiles = tables.values(protection, least=least)
    progress("indicators")
    indicators, lost = tables.indicators(protection, least=least)
    seeds = [(number, step.name, step.seed) for number, step in enumerate(protection.steps, 1) if step.seed is not None]
    progress("the map of recipes")
    return Analysis(
        title=config.title or Words(config.language).say("usual_title", name=about_file["name"]),
        file=about_file,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        summary=summary,
        judged=judged,
        variables=variables,
        categories=categories,
        quantiles=quantiles,
        sizes=pd.concat([size_ranges(table).assign(version=when) for when, table in states.items()], ignore_index=True),
        risks=tables.risk_ranges(of_risk),
        riskiest=tables.riskiest(of_risk["after"]),
        suda=suda,
        unique_sets=sets,
        suda_size=size,
        diversity=tables.diversities(release),
        steps=_steps(protection, summary),
        claims=judged.claims[["k", "claim", "records", "share"]],
        indicators=indicators,
        indicators_lost=lost,
        map=None if brief else compared_recipes(file, config),
        map_axes=(config.map_risk, config.map_loss),
        released=columns,
        notes=protection.notes,
        left_out=_left_out(protection, config),
        parameters=shown_settings(config.shown),
        seeds=pd.DataFrame(seeds, columns=["step", "name", "seed"]),
        versions=_versions(),
        internal=internal,
        office=Internal.of(protection, config.shown, of_risk, config.limits.get("k"))
        if internal and not brief
        else None,
    )


def _describe_file(file: MicrodataFile | Records | pd.DataFrame, name: str, internal: bool) -> dict[str, Any]:
    """What a report says of the file; a large file has a hash only in an internal one."""
    if isinstance(file, pd.DataFrame):
        return {"name": name, "records": len(file), "columns": file.shape[1], "notes": ()}
    notes = reading_notes(file if isinstance(file, MicrodataFile) else file.counted)
    notes_shown = tuple(notes if internal else without_codes(notes))
    if not isinstance(file, MicrodataFile):
        return {"name": name, **file.found, **(file.kept() if internal else {}), "notes": notes_shown}
    return {"name": name, **file.found, "notes": notes_shown}


def _protected(
    file: MicrodataFile | Records | pd.DataFrame, config: ReportConfig, progress: Callable[[str], None]
) -> Protection:
    """The file after every step, each named before it begins."""
    recipe = config.recipe
    progress("measuring the original file")
    protection: Protection
    if isinstance(file, (MicrodataFile, pd.DataFrame)):
        recipe.check(file)
        protection = protect(file, recipe.spec, **recipe.measured)
    else:
        from kanon_lab.recipes.counted import counted_protection

        protection = counted_protection(file, recipe)
    for position, (name, settings) in enumerate(recipe.steps, start=1):
        progress(f"step {position} ({name})")
        protection = protection.apply(name, settings)
    return protection


def _states(protection: Protection) -> dict[str, ClassTable]:
    """The classes before any step and after the last, with the sensitive variables that are still released."""
    tables_by_version = {}
    for when, state in (("before", protection.came), ("after", protection.state)):
        spec: KeySpec = without_variables(protection.spec, state.removed)
        sensitive = tuple(name for name in spec.sensitive_variables if name not in state.removed)
        tables_by_version[when] = state.table(replace(spec, sensitive_variables=sensitive, numeric_variables=()))
    return tables_by_version


def _left_out(protection: Protection, config: ReportConfig) -> tuple[str, ...]:
    """What a page of counts has not: keys of texts."""
    if protection.state.counts is None:
        return ()
    asked = {
        "columns": True,
        "identifiers": bool(config.recipe.spec.direct_identifiers),
        "households": config.recipe.spec.household is not None,
        "loss": True,
        "indicators": config.recipe.indicators is not None,
        "map": config.map is not None,
    }
    return tuple(f"left_{name}" for name, wanted in asked.items() if wanted)


def _summary(protection: Protection, config: ReportConfig, name: str, k: int) -> dict[str, Any]:
    spec, step = protection.spec, -(-protection.n // _MOST_SEARCHED)
    searched = len(range(0, protection.n, step)) if protection.state.counts is None else 0
    return {
        "records": protection.n,
        "keys": list(spec.key_variables),
        "weight": spec.weight,
        "weight_totals": _weight_totals(protection),
        "household": spec.household,
        "person": spec.person,
        "persons": None if protection.person is None else int(protection.person.max()) + 1,
        "sensitive": list(spec.sensitive_variables),
        "identifiers": list(spec.direct_identifiers),
        "identifiers_searched": searched,
        "identifiers_found": _identifiers(protection, name, step) if searched else None,
        "missing": spec.missing,
        "policy": "category" if spec.missing == "category" else "wildcard",
        "estimator": protection.estimator,
        "claim": decisive_claim(protection),
        "k": k,
        "risks": list(config.recipe.risks),
        "least": max(config.least, k),
        "before": protection.start.measured.row(),
        "after": protection.state.measured.row(),
        "perturbed": [name for name in spec.key_variables if name in protection.state.truth.perturbed],
    }


def _weight_totals(protection: Protection) -> list[float] | None:
    """The sums of the weights as they came and as released, and the change (0: none); None where none was changed."""
    name, released = protection.spec.weight, protection.state.released
    if name is None or protection.state.counts is not None or name not in released:
        return None
    if not any(step.changed.get(name) for step in protection.steps):
        return None
    before, after = (float(frame[name].sum()) for frame in (protection.original, released))
    return [before, after, after / before - 1]


def _identifiers(protection: Protection, name: str, step: int) -> str | None:
    """The message on the first direct identifier in the release, searched at equal steps, or None."""
    spec, names = protection.spec, protection.spec.direct_identifiers
    if not names:
        return None
    released, order = protection.frame.iloc[::step].reset_index(drop=True), protection.state.working.index[::step]
    originals = protection.original.loc[order].reset_index(drop=True)
    held = held_identifier(released, originals, names, roles=[*spec.variables, *spec.ghosts])
    return None if held is None else f"{name}: {held.message(rows=False)}"


def _steps(protection: Protection, summary: Mapping[str, Any]) -> pd.DataFrame:
    """The history of the steps, their settings in a line as YAML has them."""
    import yaml

    def text(settings: Mapping[str, Any]) -> str:
        shown = shown_settings(settings)
        return yaml.safe_dump(shown, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)[1:-2]

    history = protection.history.reset_index()
    below = history[f"violations_{summary['k']}_{summary['policy']}"]
    certificates = pd.Series([None, *(step.certificate for step in protection.steps)], dtype=object)
    taken = certificates.dropna()
    above = {place: ceil(100 * shown.above) / 100 for place, shown in taken.items() if shown.above is not None}
    return history.assign(
        settings=["", *(text(step.settings) for step in protection.steps)],
        below=below,
        key_cells=taken.map(lambda certificate: certificate.cells),
        least_cells=taken.map(lambda certificate: certificate.least),
        above=pd.Series(above, dtype=float),
        no_bound=taken.map(lambda certificate: certificate.required.no_bound if certificate.cells else ""),
    ).astype({"key_cells": "Int64", "least_cells": "Int64"})


def compared_recipes(file: MicrodataFile | Records | pd.DataFrame, config: ReportConfig) -> Any:
    """The map of recipes that a configuration asks for, its numbers rounded; None where it asks for none."""
    if config.map is None or not isinstance(file, (MicrodataFile, pd.DataFrame)):
        return None
    from kanon_lab.recipes.risk_map import risk_utility_map

    grid = {**config.map, "grid": named_grid(config.map)}
    frame = file.numbered if isinstance(file, MicrodataFile) else file
    options: dict[str, Any] = {"own": config.own, "risk": config.map_risk}
    compared = risk_utility_map(frame, grid, workers=1, progress=False, **options)
    overlaps = {name: 3 for name in compared.points.columns if name.startswith("indicators_overlap")}
    return replace(compared, points=compared.points.round(overlaps), spread=compared.spread.round(overlaps))


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
