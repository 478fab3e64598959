"""The table of measures: a row has a measure's title, function and limit, and where and how it is shown.

The command, verdicts and their limits, the map of recipes, reports, and tables and glossary of the book read it. A new
measure is a function and a row; with a `Limit` in the row, an office can require it of its releases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from operator import attrgetter, methodcaller
from typing import Any, Literal

import numpy as np

from kanon_lab import measures as room
from kanon_lab.digits import number, percent
from kanon_lab.measures.class_values import (
    beta_likeness,
    delta_disclosure,
    distinct_l,
    enhanced_beta_likeness,
    entropy_l,
    largest_share,
    recursive_l,
)
from kanon_lab.measures.risk import records_above
from kanon_lab.terms import TERMS

#: English and Spanish.
Texts = tuple[str, str]
Kind = Literal["anonymity", "risk", "diversity", "loss", "size"]
Unit = Literal["share", "records", "columns", "k", "values", "number"]
Missing = Literal["", "wildcard", "category"]
_LANGUAGES = ("en", "es")


@dataclass(frozen=True)
class Limit:
    """What an office may ask of a measure."""

    bound: Literal["at least", "at most"]  # The measure is to be this or more, or this or less
    meaning: str  # When it is met, in the Markdown of the book
    example: str  # A limit as a configuration has it
    #: What was found, then what to do, in sentences with parts like {value}: see `kanon_lab.report.measured.advice_on`.
    advice: Texts
    name: str = ""  # In configurations, where it is not that of the measure
    #: One number, or one for each sensitive variable, level of risk or combination of keys.
    by: Literal["", "variable", "level", "combination"] = ""
    title: Texts | None = None  # Where that of the measure does not do, with {variable} or {level}
    usual: bool = False  # Whether a first configuration (kanon-lab init) asks for it, as in the example
    always: bool = False  # Whether 0 is asked for where a configuration says nothing
    with_risk: bool = False  # Whether it is where k or a risk has a limit, and the measure has the role that it needs
    beside: bool = False  # Whether it adds to a limit on k or a risk, and by itself says nothing of who can be found
    #: From what the measure is taken from to the columns that it is about, for the verdict to name.
    columns: Callable[[Any], Iterable[str]] | None = None
    named: bool = False  # Whether a page for everybody names these columns: none that reveal or identify
    unset: Texts | None = None  # Why it cannot be measured where it is not known, and what to do, with {name}
    quiet: bool = False  # Whether a verdict leaves it out where nothing is counted
    inside: bool = False  # Whether the advice is for the office only, since it shows how to fill in what is hidden


@dataclass(frozen=True)
class Measure:
    """A row of the table. In the name and title of a family, # stands for one of its levels."""

    name: str  # In code, JSON and configurations
    kind: Kind  # A size is a number that is none of the others
    title: Texts | None  # None where the glossary (terms.csv) has a term of that name
    #: From what it is taken from to the measure (None: not defined). A family takes the level too; a measure of values
    #: gives one number a class, of which the file has the least or the largest.
    of: Callable[..., Any]
    #: "classes" are a `kanon_lab.measures.file_measures.ClassRisks`, "values" a
    #: `kanon_lab.measures.class_values.ClassValues`, "guesses" a `kanon_lab.measures.inference.Guesses`, "states" (the
    #: file before and after) a
    #: `kanon_lab.recipes.measured.Comparison`, a "release" a `kanon_lab.recipes.verdict.Release`.
    taken_from: Literal["classes", "states", "release", "values", "guesses"] = "classes"
    #: A share (0-1) is shown in per cent; records, columns, k and values are whole numbers.
    unit: Unit = "number"
    digits: int | None = None  # Decimals of a number in the output of the command; None: those that count
    counted: bool = True  # Whether an engine's counts of records give it; else it needs the records
    #: Places: "file" (kanon-lab measure), "state" (after each step, and on the map of recipes); and the tables of a
    #: report "summary", "steps", "utility" and "diversity".
    shown: str = "file state"
    #: On a page for everybody, which does not show it without: a method of `kanon_lab.report.public._Rounding`.
    rounding: Literal["", "count", "k", "exact", "risk", "tenth", "whole"] = ""
    limit: Limit | None = None
    needs: str = ""  # The role or setting without which it is not defined, and after a comma how much of it
    levels: Literal["", "k", "risks", "keys"] = ""  # Of a family; keys are names of key variables
    missing: Missing = ""  # The meaning of a missing key, unless it is that of the file
    part_of: str = ""  # The mapping in which JSON has it
    identifier: bool = False  # Whether it is defined only where the household's identifier is released
    kept: Texts | None = None  # Of a share of what was kept: the title of its cost, 1 less the measure
    least: bool = False  # Whether the file has the least of its classes, and more protects better; else the largest

    def called(self, language: str = "en") -> str:
        """Its title in a language."""
        return TERMS[self.name].name(language) if self.title is None else self.title[_LANGUAGES.index(language)]

    def limit_called(self, language: str = "en", **parts: Any) -> str:
        """The title of its limit in a language, with variable or level put in."""
        own = self.limit.title if self.limit is not None else None
        return self.called(language) if own is None else own[_LANGUAGES.index(language)].format(**parts)

    def advice(self, language: str = "en") -> str:
        """What to do where its limit is not met, in a language, with the parts to put in."""
        return "" if self.limit is None else self.limit.advice[_LANGUAGES.index(language)]

    def unset(self, language: str = "en") -> str:
        """Why its limit cannot be measured where that is so, and what to do, in a language, with {name} to put in."""
        texts = None if self.limit is None else self.limit.unset
        return "" if texts is None else texts[_LANGUAGES.index(language)]

    def cost_called(self, language: str = "en") -> str:
        """The title of its cost in a language."""
        if self.kept is not None:
            return self.kept[_LANGUAGES.index(language)]
        return f"1 / {self.called(language)}" if self.more_is_better else self.called(language)

    @property
    def more_is_better(self) -> bool:
        """Whether it is a share of what was kept, or a number that an office wants to be large."""
        return self.kept is not None or (self.limit is not None and self.limit.bound == "at least")

    @property
    def label(self) -> str:
        """The title of its cost in English."""
        return self.cost_called()

    @property
    def share(self) -> bool:
        """Whether it is a share of 0-1, shown as per cent."""
        return self.unit == "share"

    @property
    def is_plain(self) -> bool:
        """Whether it is one number under the meaning of missing keys that the file has, and no part of a mapping."""
        return not (self.levels or self.missing or self.part_of)

    def is_shown(self, place: str) -> bool:
        """Whether it is shown in a place."""
        return place in self.shown.split()

    def at(self, level: object) -> Measure:
        """The member of a family at a level."""
        name, *title = (text.replace("#", str(level)) for text in (self.name, *(self.title or ())))
        return replace(self, name=name, title=(title[0], title[1]) if title else None)

    def cost(self, values: Any) -> Any:
        """The cost of a value, or of each in a column: less is always better. The cost of k or l is 1 / k or 1 / l."""
        if self.kept:
            return 1 - values
        return 1 / np.maximum(values, 1) if self.more_is_better else values

    def written(self, value: float) -> str:
        """A value as text in English."""
        if self.unit == "share":
            return percent(value, digits=4)
        if self.unit == "number":
            return number(value) if self.digits is None else f"{value:,.{self.digits}f}"
        return f"{value:,}"


def below(classes: Any, k: int) -> int:
    """Records, or persons, with f_k below k."""
    return classes.table.violations([k])[k]


def above(classes: Any, risk: float) -> int:
    """Records, or persons, with an individual risk above a level."""
    risks, units = classes.table.by_unit(classes.risk.of_class)
    return records_above(risks, threshold=risk, records=units).records


def _part_of(whole: str, part: str) -> Callable[[Any], Any]:
    """A part of a mapping, None where there is no such mapping."""
    return lambda source: None if getattr(source, whole) is None else getattr(source, whole)[part]


_GROW = (
    "Recode {key} more broadly so that classes grow. Or release {broader} in broader categories.",
    "Recodifique {key} en categorías más amplias para que crezcan las clases. O publique {broader} con menos detalle.",
)
# Broader categories of it would leave fewer values.
_OR_KEEP = tuple(
    f"{text.partition('. ')[0]}. {more}"
    for text, more in zip(
        _GROW,
        (
            "Or ask for a larger k in suppress. Or do not release {variable}.",
            "O pida un k mayor en suppress. O no publique {variable}.",
        ),
        strict=True,
    )
)
_NO_LINKS = (
    "“{name}” cannot be measured, because a step put a quantity into bands or groups, or changed a key variable as a "
    "quantity. Give the column the role that fits its released values (bands make a key variable), or leave that step "
    "out.",
    "«{name}» no puede medirse, porque un paso puso una cantidad en tramos o grupos, o cambió una variable clave como "
    "cantidad. Dé a la columna el papel que corresponde a sus valores publicados (con tramos es una variable clave), o "
    "prescinda de ese paso.",
)
_BY_CHANCE = ("records re-identified, expected", "registros reidentificados, esperados")
_BELOW = ("records below k = #", "registros por debajo de k = #")
_ABOVE = ("records with a risk above #", "registros con un riesgo superior a #")
_MEANINGS: dict[Missing, Texts] = {
    "wildcard": ("any value", "cualquier valor"),
    "category": ("a value", "un valor más"),
}
_STATE: dict[str, Any] = {"taken_from": "states", "counted": False, "shown": "state utility"}
_DIVERSITY: dict[str, Any] = {"taken_from": "values", "shown": "file diversity"}


def _by_meaning(name: str, titles: Texts, of: Callable[..., Any], **more: Any) -> list[Measure]:
    """A row for each meaning of a missing key."""
    rows = []
    for missing, (english, spanish) in _MEANINGS.items():
        texts = f"{titles[0]} (missing: {english})", f"{titles[1]} (faltante: {spanish})"
        rows.append(Measure(f"{name}_{missing}", "risk", texts, of, shown="state", missing=missing, **more))
    return rows


def _with_size(part: str, kind: Kind, titles: Texts, unit: Unit) -> Measure:
    """A row of `kanon_lab.measures.with_household_size`."""
    name, whole = f"with_household_size_{part}", "with_household_size"
    of = _part_of(whole, part)
    return Measure(name, kind, titles, of, unit=unit, shown="state", needs="household", part_of=whole, identifier=True)


def _in_population(
    name: str, kind: Kind, titles: Texts, part: str, unit: Unit, shown: str, rounding: Any, **more: Any
) -> Measure:
    """A row of `kanon_lab.measures.InPopulation`."""

    def of(file: Any, *level: Any) -> Any:
        if file.in_population is None:
            return None
        value = getattr(file.in_population, part)
        return value(*level) if callable(value) else value

    more |= {"needs": "population", "part_of": "population", "shown": shown, "rounding": rounding}
    return Measure(name, kind, titles, of, unit=unit, **more)


def _claim(name: str, meaning: str, titles: Texts, unmet: Texts) -> Measure:
    """The measure of a claim: its smallest count of records; see `kanon_lab.methods.CLAIMS`."""
    step = f"suppress: {{{{k_required: {{limit}}, claim: {name}}}}}"
    advice = (
        f"{unmet[0]} End the recipe with a step {step}. Or recode {{key}} more broadly.",
        f"{unmet[1]} Termine la receta con un paso {step}. O recodifique {{key}} en categorías más amplias.",
    )
    of = methodcaller("least", name)
    return Measure(
        name, "anonymity", titles, of, "release", unit="k", shown="", limit=Limit("at least", meaning, "3", advice)
    )


def _indicators(part: str, titles: Texts, kept: Texts | None = None, kind: Kind = "loss") -> Measure:
    """A row of `kanon_lab.measures.indicator_loss`."""
    name, of, unit = "indicators", _part_of("indicators", part), "share" if kept else "number"
    more = _STATE | {"unit": unit, "needs": name, "part_of": name, "kept": kept, "shown": "state"}
    return Measure(f"{name}_{part}", kind, titles, of, **more)


# fmt: off
_ROWS = [
    Measure("classes", "size", ("classes", "clases"), attrgetter("table.n_classes"), unit="k", shown="file state"),
    Measure("k_achieved", "anonymity", ("k achieved", "k alcanzado"), attrgetter("table.k_achieved"),
        unit="k", shown="file state summary steps", rounding="k",
        limit=Limit("at least",
            "is met when an intruder who knows a person's true keys finds at least this many records that may be "
            "theirs (a missing key matches any value); with `missing: category`, when every released class has at "
            "least this many", "3",
            ("For {records} of {all} records, an intruder who knows the true keys finds fewer than {limit} records. "
             "Recode {key} more broadly, which most often makes records rare. Or end the recipe with a step "
             "suppress: {{k_required: {limit}, claim: {claim}}}.",
             "Para {records} de {all} registros, un intruso que conozca las claves verdaderas encuentra menos de "
             "{limit} registros. Recodifique {key} en categorías más amplias: es lo que más los hace raros. "
             "O termine la receta con un paso suppress: {{k_required: {limit}, claim: {claim}}}."),
            name="k", usual=True,
            title=("k (for an intruder who knows the true keys)",
                   "k (para un intruso que conozca las claves verdaderas)"))),
    _claim("compatible",
        "is met when every record is compatible with at least this many released records, itself included",
        ("fewest compatible records, as released", "mínimo de registros compatibles, tal como se publican"),
        ("{records} records, as released, are compatible with fewer than {limit}, some with {value}.",
         "{records} registros, tal como se publican, son compatibles con menos de {limit}, alguno con {value}.")),
    _claim("true_key", "is met when every true key is compatible with at least this many released records",
        ("fewest released records for a true key", "mínimo de registros publicados para una clave verdadera"),
        ("{records} true keys are compatible with fewer than {limit} released records, some with {value}.",
         "{records} claves verdaderas son compatibles con menos de {limit} registros publicados, alguna con {value}.")),
    _claim("own_class", "is met when every released class has at least this many records, a missing value being a "
        "value of its own",
        ("records in the smallest released class", "registros en la menor clase publicada"),
        ("{records} records are in a released class of fewer than {limit}, some in one of {value}.",
         "{records} registros están en una clase publicada de menos de {limit}, alguno en una de {value}.")),
    Measure("combinations", "anonymity",
        ("fewest records or persons alike on some keys", "mínimo de registros o personas iguales en algunas claves"),
        attrgetter("table.k_achieved"), unit="k", shown="",
        limit=Limit("at least",
            "is met when at least this many records (`at_least`), or persons of the population as estimated by "
            "the weights (`persons`), share some keys (`keys`), or each set of this many keys (`size`)",
            "[{size: 2, at_least: 3}, {keys: [age, sex], persons: 100}]",
            ("On {variable}, {records} records have fewer than {limit} records alike; the fewest are {value}, on "
             "{columns}. Recode {wide} more broadly. Or name such combinations in a step suppress.",
             "En {variable}, {records} registros tienen menos de {limit} iguales; el mínimo es {value}, en {columns}. "
             "Recodifique {wide} en categorías más amplias. O indique esas combinaciones en un paso suppress."),
            by="combination", named=True, title=("fewest alike on {variable}", "mínimo de iguales en {variable}"))),
    Measure("k_with", "anonymity",
        ("k (for an intruder who has the earlier release too)",
         "k (para un intruso que tenga también la edición anterior)"),
        attrgetter("k_with"), "release", unit="k", counted=False, shown="",
        limit=Limit("at least",
            "is met when an intruder who has the file of `earlier_release` too finds at least this many persons alike. "
            "Persons in both releases are compared by the keys of both, and what one release hides is filled in from "
            "the other; persons in one release only are compared by its keys. With a `person`, persons are alike if "
            "they have such a record in each release. Default: the limit on `k`, if there is an `earlier_release`", "5",
            ("An intruder who has the earlier release too finds some person among {value}, and {limit} were wanted. "
             "Recode the keys as in the earlier release, suppress the same cells, give new pseudonyms and shuffle the "
             "records.",
             "Un intruso que tenga también la edición anterior encuentra a alguna persona entre {value}, y se exigían "
             "{limit}. Recodifique las claves como en la edición anterior, suprima las mismas celdas, dé seudónimos "
             "nuevos y desordene los registros."),
            unset=("This needs the file that was released earlier (earlier_release: {{file: last_year.csv, id: "
                   "pseudonym}}) and records in memory. If no column links the records of both, say so: same_order: "
                   "false.",
                   "Esto requiere el archivo que se publicó antes (earlier_release: {{file: anterior.csv, id: "
                   "seudonimo}}) y los registros en memoria. Si ninguna columna vincula los registros de ambos, "
                   "indíquelo: same_order: false."),
            inside=True)),
    _in_population("k_map", "anonymity",
        ("k-map: fewest persons of the population with the key of a record",
         "k-map: mínimo de personas de la población con la clave de un registro"),
        "k_map", "k", "file state summary", "k",
        limit=Limit("at least",
            "is met when at least this many persons of the `population` have the key of each record", "5",
            ("For {records} of {all} records, fewer than {limit} persons of the population have the same key; the "
             "fewest are {value}. Recode {key} more broadly.",
             "Para {records} de {all} registros, menos de {limit} personas de la población tienen la misma clave; el "
             "mínimo es {value}. Recodifique {key} en categorías más amplias."),
            title=("k-map (persons of the population)", "k-map (personas de la población)"))),
    _in_population("k_map_below_#", "anonymity",
        ("records with fewer than # such persons", "registros con menos de # personas así"),
        "below", "records", "file state", "count", levels="k"),
    Measure("sample_uniques", "anonymity", ("sample uniques (f_k = 1)", "registros únicos (f_k = 1)"),
        attrgetter("table.sample_uniques"), unit="records", shown="file"),
    Measure("violations_#", "anonymity", ("records with f_k below #", "registros con f_k menor que #"), below,
        unit="records", shown="file", levels="k"),
    *_by_meaning("violations_#", _BELOW, below, unit="records", rounding="count", levels="k"),
    Measure("global_risk", "risk", None, attrgetter("risk.global_risk"),
        unit="share", shown="file state summary steps", rounding="risk",
        limit=Limit(
            "at most", "is met when the mean of the individual risks is at most this, from `0` to `1`", "0.02",
            ("The mean risk of a record is {value}, and {limit} was wanted: about {persons} persons would be "
             "re-identified by somebody who looks for all of them. Broader categories of {key} lower it most directly. "
             "A smaller sample or removing a key variable lowers it too.",
             "El riesgo medio de un registro es {value} y se exigía {limit}: quien buscara a todas las personas "
             "reidentificaría a unas {persons}. Lo baja más directamente usar categorías más amplias en {key}. También "
             "lo bajan una muestra menor y retirar una variable clave."),
            usual=True)),
    Measure("expected_reidentifications", "risk", _BY_CHANCE, attrgetter("risk.expected_reidentifications"),
        digits=2, shown="file state summary steps", rounding="risk"),
    Measure("sum_population_frequency", "risk", ("sum of F_k over records", "suma de F_k sobre los registros"),
        attrgetter("risk.sum_population_frequency"), digits=1, shown="file"),
    Measure("household_risk", "risk", None, attrgetter("risk.household_risk"),
        unit="share", shown="file state summary steps", rounding="risk", needs="household",
        limit=Limit("at most",
            "is met when the mean of the risks of the records' households is at most this; needs `household`", "0.05",
            ("The mean risk that some member of the household is re-identified is {value}, and {limit} was wanted. "
             "Recode or suppress more of what the members of a household share, or lower the risk of the persons. "
             "Removing the column {household} does not change this number: it is computed with the households of the "
             "input.",
             "El riesgo medio de que se reidentifique a algún miembro del hogar es {value} y se exigía {limit}. "
             "Recodifique o suprima más de lo que comparten los miembros de un hogar, o baje el riesgo de las "
             "personas. Retirar la columna {household} no cambia este número: se calcula con los hogares del "
             "original."),
            usual=True)),
    Measure("expected_household_reidentifications", "risk",
        ("households re-identified, expected", "hogares reidentificados, esperados"),
        attrgetter("risk.expected_household_reidentifications"),
        digits=2, shown="file state summary", rounding="risk", needs="household"),
    Measure("expected_persons_in_reidentified_households", "risk",
        ("persons in such households", "personas de esos hogares"),
        attrgetter("risk.expected_persons_in_reidentified_households"), digits=2, needs="household"),
    Measure("individual_risk", "risk", ("largest individual risk", "mayor riesgo individual"),
        lambda file: float(file.risk.of_class.max()), unit="share", shown="",
        limit=Limit("at most", "is met when no record's individual risk is above this", "0.2",
            ("The record that is easiest to find has a risk of {value}, and {limit} was wanted. A step suppress_risk "
             "with that threshold lowers it. Broader categories of {key} lower it too.",
             "El registro más fácil de encontrar tiene un riesgo de {value} y se exigía {limit}. Lo baja un paso "
             "suppress_risk con ese umbral. También lo bajan categorías más amplias en {key}."))),
    Measure("above_#", "risk", _ABOVE, above,
        unit="records", shown="file state summary", rounding="count", levels="risks",
        limit=Limit(
            "at most", "is met when at most this many records have a risk above a level; a whole number is enough "
            "if `risks` has one level", "{0.05: 0, 0.02: 100}",
            ("Records with a risk above {level}: {value}, and at most {limit} were wanted. A step suppress_risk with "
             "that threshold lowers it. Broader categories of {key} lower it too.",
             "Registros con un riesgo superior a {level}: {value}, y se exigían {limit} como máximo. Lo baja un paso "
             "suppress_risk con ese umbral. También lo bajan categorías más amplias en {key}."),
            name="above_risk", by="level",
            title=("records with a risk above {level}", "registros con un riesgo superior a {level}"))),
    _in_population("known_risk", "risk",
        ("global risk, F_k counted in the population", "riesgo global, con F_k contada en la población"),
        "global_risk", "share", "file state summary", "risk"),
    _in_population("delta_presence", "risk",
        ("largest share of a class that is in the file (delta-presence)",
         "mayor proporción de una clase que está en el archivo (delta-presencia)"),
        "highest", "share", "file state summary", "risk",
        limit=Limit("at most",
            "is met when at most this share of the persons of the `population` who have the key of a record are in the "
            "file: anyone who knows that a person is in the population should not learn that they are in the file",
            "0.5",
            ("Of the persons with some key, {value} are in the file, and {limit} was wanted: anyone who knows such a "
             "person learns that they are in it ({records} records). Recode {key} more broadly. Or release a smaller "
             "sample.",
             "De las personas con alguna clave, el {value} está en el archivo y se exigía {limit}: quien conozca a una "
             "de ellas sabe que está en él ({records} registros). Recodifique {key} en categorías más amplias. O "
             "publique una muestra menor."),
            beside=True)),
    _in_population("delta_presence_lowest", "size",
        ("smallest share of a class that is in the file", "menor proporción de una clase que está en el archivo"),
        "lowest", "share", "file state", "risk"),
    _in_population("population_persons", "size", ("persons of the population", "personas de la población"),
        "persons", "number", "file state", "count"),
    _in_population("population_absent", "size",
        ("persons whose key no record has", "personas cuya clave no tiene ningún registro"),
        "absent", "number", "file state", "count"),
    _in_population("population_short", "size",
        ("records of keys with fewer persons than records", "registros de claves con menos personas que registros"),
        "short", "records", "file state", "count"),
    *_by_meaning("expected_reidentifications", _BY_CHANCE, attrgetter("risk.expected_reidentifications"),
                 rounding="risk"),
    *_by_meaning("above_#", _ABOVE, above, unit="records", rounding="count", levels="risks"),
    _with_size("classes", "size", ("classes, with household size", "clases, con el tamaño del hogar"), "k"),
    _with_size("k_achieved", "size", ("k, with household size", "k, con el tamaño del hogar"), "k"),
    _with_size("sample_uniques", "risk",
               ("unique records, with household size", "registros únicos, con el tamaño del hogar"), "records"),
    Measure("key_linkage", "risk", ("records linked by their keys", "registros vinculados por sus claves"),
        attrgetter("key_linkage"), **_STATE, unit="share", rounding="whole",
        limit=Limit(
            "at most", "is met when an intruder who links records by true keys finds at most this share of them", "0.1",
            ("Somebody who knows the true keys of all finds {value} of the records, and {limit} was wanted. Recode "
             "{key} more broadly. Or perturb more.",
             "Quien conozca las claves verdaderas de todos encuentra el {value} de los registros y se exigía {limit}. "
             "Recodifique {key} en categorías más amplias. O perturbe más."),
            unset=_NO_LINKS)),
    Measure(
        "numeric_linkage", "risk", ("records linked by their quantities", "registros vinculados por sus cantidades"),
        attrgetter("numeric_linkage"), **_STATE, unit="share", rounding="whole", needs="numeric_variables",
        limit=Limit(
            "at most", "is met when at most this share of the released records are nearest, by their quantities, to "
            "their own original record; needs `numeric_variables`", "0.05",
            ("{value} of the released records are nearest, by their quantities, to their own original record, and "
             "{limit} was wanted: an intruder who has the true quantities links them. Round the quantities, "
             "microaggregate them, add noise, or remove them.",
             "El {value} de los registros publicados es el más cercano, por sus cantidades, a su propio original, y se "
             "exigía {limit}: un intruso que tenga las cantidades verdaderas los vincula. Redondee las cantidades, "
             "microagréguelas, añádales ruido o retírelas."),
            usual=True, unset=_NO_LINKS)),
    Measure("joint_linkage", "risk",
        ("records linked by keys and quantities together", "registros vinculados por claves y cantidades a la vez"),
        attrgetter("joint_linkage"), "release",
        unit="share", counted=False, shown="", rounding="whole", needs="numeric_variables",
        limit=Limit(
            "at most", "is met when an intruder who knows true keys and true quantities, and takes the nearest of the "
            "compatible records, finds at most this share of them; `1` where nobody can know the quantities; needs "
            "`numeric_variables`", "0.1",
            ("Somebody who knows the true keys and quantities of all finds {value} of the records, and {limit} was "
             "wanted. Recode the quantities into bands and name them as keys, recode {key} more broadly, or "
             "microaggregate the quantities in larger groups.",
             "Quien conozca las claves y cantidades verdaderas de todos encuentra el {value} de los registros y se "
             "exigía {limit}. Recodifique las cantidades en intervalos y declárelas claves, recodifique {key} en "
             "categorías más amplias o microagregue las cantidades en grupos mayores."),
            unset=_NO_LINKS)),
    # Of a sensitive variable: the worst class.
    Measure(
        "distinct", "diversity", ("different values", "valores distintos"), lambda values: distinct_l(values.counts),
        **_DIVERSITY, unit="values", rounding="exact", least=True,
        limit=Limit(
            "at least", "is met when each class has at least this many values of each sensitive variable; one number "
            "for all, or one for each", "2",
            ("The fewest different values of {variable} in a class are {value}, and {limit} were wanted: whoever finds "
             "the class learns the value. " + _OR_KEEP[0],
             "El menor número de valores distintos de {variable} en una clase es {value} y se exigía {limit}: quien "
             "encuentre la clase conoce el valor. " + _OR_KEEP[1]),
            by="variable", beside=True,
            title=("different values of {variable} in each class", "valores distintos de {variable} en cada clase"))),
    Measure("entropy", "diversity", None, lambda values: entropy_l(values.counts),
        **_DIVERSITY, rounding="tenth", least=True,
        limit=Limit("at least", "is met when each class has at least this *l* by its entropy "
            "({doc}`not-enough`)", "{diagnosis: 1.5}",
            ("In some class the values of {variable} are as even as {value} equal ones, and {limit} was wanted. "
             + _OR_KEEP[0],
             "En alguna clase los valores de {variable} equivalen a {value} valores igual de frecuentes y se exigían "
             "{limit}. " + _OR_KEEP[1]),
            by="variable", beside=True,
            title=("entropy l-diversity of {variable}", "l-diversidad por entropía de {variable}"))),
    Measure("recursive", "diversity", ("recursive l", "l recursiva"),
        lambda values: recursive_l(values.counts, c=values.recursive_c), **_DIVERSITY,
        unit="values", rounding="exact", least=True),
    Measure("alpha", "diversity", ("share of one value", "proporción de un valor"),
        lambda values: largest_share(values.counts), **_DIVERSITY, rounding="tenth"),
    Measure(
        "t_closeness", "diversity", None, lambda values: values.distance(values.counts),
        **_DIVERSITY, rounding="tenth",
        limit=Limit(
            "at most", "is met when no class is further from the file than this, in each sensitive variable", "0.4",
            ("In some class the distribution of {variable} lies {value} from that of the file, and {limit} was wanted. "
             + _GROW[0],
             "En alguna clase la distribución de {variable} dista {value} de la del archivo y se exigía {limit}. "
             + _GROW[1]),
            by="variable", beside=True, title=("t-closeness of {variable}", "t-proximidad de {variable}"))),
    Measure("delta_disclosure", "diversity", ("delta-disclosure", "delta-divulgación"),
        lambda values: delta_disclosure(values.counts), "values", shown="file"),
    Measure("beta_likeness", "diversity", None,
        lambda values: beta_likeness(values.counts), "values", shown="file"),
    Measure("enhanced_beta_likeness", "diversity", ("enhanced beta-likeness", "beta-semejanza reforzada"),
        lambda values: enhanced_beta_likeness(values.counts), "values", shown="file"),
    # Of a sensitive variable: the whole file.
    Measure(
        "inferred", "diversity",
        ("right guesses beyond the most frequent value of the file",
         "aciertos por encima del valor más frecuente del archivo"),
        attrgetter("beyond_margins"), "guesses", unit="share", shown="file", rounding="tenth",
        limit=Limit(
            "at most", "compares two guesses of a sensitive variable: the most frequent value of the record's "
            "class, and the most frequent value of the whole file. It is met when the first is right for at most this "
            "share of the records more than the second", "{diagnosis: 0.1}",
            ("The classes raise the share of right guesses of {variable} by {value}, and at most {limit} was wanted. "
             + _GROW[0],
             "Las clases elevan en {value} la proporción de aciertos sobre {variable} y se exigía {limit} como máximo. "
             + _GROW[1]),
            by="variable", beside=True,
            title=("right guesses of {variable} beyond its most frequent value",
                   "aciertos sobre {variable} por encima de su valor más frecuente"))),
    Measure(
        "inferred_own", "diversity",
        ("right guesses due to the record itself", "aciertos debidos a la presencia del propio registro"),
        attrgetter("beyond_others"), "guesses", unit="share", shown="file", rounding="tenth",
        limit=Limit(
            "at most", "is met when a value drawn from the class of each record is right for at most this share of the "
            "records more than it would be if the record were not in the file", "0.05",
            ("Being in the file raises the share of right guesses of a record's {variable} by {value}, and at most "
             "{limit} was wanted. " + _GROW[0],
             "La presencia de un registro en el archivo eleva en {value} los aciertos sobre su {variable} y se exigía "
             "{limit} como máximo. " + _GROW[1]),
            by="variable", beside=True,
            title=("right guesses of {variable} due to the record itself",
                   "aciertos sobre {variable} debidos a la presencia del propio registro"))),
    # Counted by a verdict only.
    Measure("household_uniques", "risk", ("records unique with the size and composition of their household",
                                      "registros únicos con el tamaño y la composición de su hogar"),
        attrgetter("households.records"), "release", unit="records", shown="", needs="household",
        limit=Limit(
            "at most", "is met when at most this many records are unique with the size and composition of their "
            "household, where the file says which records are of one household, or may be (by its ID, the order, or "
            "other columns that members share, such as a rounded weight); needs `household`", "0",
            ("Records that are unique to somebody who knows the keys of all who live with them: {value}, and at most "
             "{limit} were wanted. Remove {household} and what members of a household share ({columns}), or make that "
             "much coarser, and shuffle the records. Or recode {key} more broadly.",
             "Registros únicos para quien conozca las claves de todas las personas de su hogar: {value}, y se exigían "
             "{limit} como máximo. Retire {household} y lo que comparten los miembros de un hogar ({columns}), o "
             "hágalo mucho menos detallado, y desordene los registros. O recodifique {key} en categorías más amplias."),
            usual=True, columns=attrgetter("households.columns"))),
    Measure("person_uniques", "risk",
        ("persons unique by all their records", "personas únicas por todos sus registros"),
        attrgetter("path_uniques"), "release", unit="records", counted=False, shown="", needs="person",
        limit=Limit(
            "at most", "is met when at most this many persons are unique to an intruder who knows the keys of all "
            "their records, and can tell which records are of one person (by its ID, other columns, or the order); `0` "
            "where `person` is given and k, a claim or a risk has a limit, unless you set it", "0",
            ("Persons who are unique to somebody who knows their keys in all their records: {value}, and at most "
             "{limit} were wanted. Remove {person} and everything that reveals which records belong to one person "
             "({columns}), and shuffle the records. Or recode {key} more broadly.",
             "Personas únicas para quien conozca sus claves en todos sus registros: {value}, y se exigían {limit} como "
             "máximo. Retire {person} y todo lo que revele qué registros son de una persona ({columns}), y desordene "
             "los registros. O recodifique {key} en categorías más amplias."),
            beside=True, with_risk=True, columns=attrgetter("paths.columns"))),
    Measure("shown_by_records", "risk",
        ("persons that their other records bring below k", "personas que sus otros registros dejan por debajo de k"),
        attrgetter("by_records.records"), "release", unit="records", shown="", needs="person",
        limit=Limit(
            "at most", "is met when at most this many persons fall below k once every hidden key value that other "
            "records of the same person show is filled in; `0` where `person` is given and k, a claim or a risk has a "
            "limit, unless you set it", "0",
            ("Persons who fall below k = {k} for an intruder who fills in hidden key values from other records of the "
             "person: {value}, and at most {limit} were wanted. Remove {person} and every column that is the same in "
             "all records of a person, and shuffle the records.",
             "Personas que quedan por debajo de k = {k} para un intruso que complete los valores clave ocultos con los "
             "de otros registros de la persona: {value}, y se exigían {limit} como máximo. Retire {person} y toda "
             "columna igual en todos los registros de una persona, y desordene los registros."),
            beside=True, with_risk=True, columns=attrgetter("by_records.columns"), inside=True)),
    Measure("repeated_identifiers", "size",
        ("identifiers that repeat without a role person", "identificadores que se repiten sin un papel person"),
        lambda release: len(release.repeated), "release", unit="columns", counted=False, shown="",
        limit=Limit(
            "at most", "is met when at most this many identifiers have most of their values in several records, like "
            "the ID of persons with several records, while no `person` is named; `0` unless you set it, and `null` if "
            "each record is a person all the same", "0",
            ("Identifiers whose values repeat ({columns}): {value}, and at most {limit} were wanted. If the records of "
             "one value are of one person, name it under person (person: NAME), so that persons are counted; if each "
             "record is a person of its own, write limits: {{repeated_identifiers: null}}.",
             "Identificadores cuyos valores se repiten ({columns}): {value}, y se exigían {limit} como máximo. Si los "
             "registros con un mismo valor son de una persona, nómbrelo en person (person: NOMBRE), para que se "
             "cuenten personas; si cada registro es otra persona, escriba limits: {{repeated_identifiers: null}}."),
            always=True, beside=True, columns=lambda release: release.repeated, named=True, quiet=True)),
    Measure("exposed_by_columns", "risk",
        ("records that other columns bring below k (household size not counted)",
         "registros que otras columnas dejan por debajo de k (sin contar el tamaño del hogar)"),
        lambda release: release.exposure.records, "release", unit="records", counted=False, shown="",
        limit=Limit(
            "at most", "is met when at most this many records fall below k for an intruder who guesses keys by other "
            "released columns, beyond what guessing without them gets; `0` wherever k, a claim "
            "or a risk has a limit, unless you set it", "0",
            ("Records that fall below k = {k} because other released columns ({columns}) let an intruder guess their "
             "key values: {value}, and at most {limit} were wanted. Recode these columns as the key variables are, "
             "remove them, or name them as key variables.",
             "Registros que quedan por debajo de k = {k} porque otras columnas publicadas ({columns}) permiten "
             "adivinar sus valores clave: {value}, y se exigían {limit} como máximo. Recodifique esas columnas como "
             "las variables clave, retírelas o declárelas variables clave."),
            beside=True, with_risk=True, columns=lambda release: release.exposure.names)),
    Measure("shown_by_members", "risk",
        ("records that other members of their household bring below k",
         "registros que otros miembros de su hogar dejan por debajo de k"),
        attrgetter("by_members.records"), "release", unit="records", shown="", needs="household",
        limit=Limit(
            "at most", "is met when at most this many records fall below k once every hidden key value that other "
            "members of the household show is filled in; `0` where `household` is "
            "given and k, a claim or a risk has a limit, unless you set it", "0",
            ("Records that fall below k = {k} for an intruder who fills in hidden key values from other members of the "
             "household: {value}, and at most {limit} were wanted. Suppress what members share once for each household "
             "(household_level), or remove {household} and every column that is the same for all members of a "
             "household, and shuffle the records.",
             "Registros que quedan por debajo de k = {k} para un intruso que complete los valores clave ocultos con "
             "los de otros miembros del hogar: {value}, y se exigían {limit} como máximo. Suprima lo que comparten los "
             "miembros una vez por hogar (household_level), o retire {household} y toda columna igual para todos los "
             "miembros de un hogar, y desordene los registros."),
            beside=True, with_risk=True, columns=attrgetter("by_members.columns"), inside=True)),
    Measure("shown_by_neighbours", "risk",
        ("records that their neighbours in the file bring below k",
         "registros que sus vecinos en el archivo dejan por debajo de k"),
        attrgetter("by_neighbours.records"), "release", unit="records", counted=False, shown="",
        limit=Limit(
            "at most", "is met when at most this many records fall below k once hidden key values are filled in from "
            "the records before and after, of variables by which the file is in order; `0` wherever k, a claim or a "
            "risk has a limit, unless you set it", "0",
            ("Records that fall below k = {k} for an intruder who fills in hidden key values from the records before "
             "and after: {value}, and at most {limit} were wanted. End the recipe with a step shuffle_records.",
             "Registros que quedan por debajo de k = {k} para un intruso que complete los valores clave ocultos con "
             "los de los registros anterior y posterior: {value}, y se exigían {limit} como máximo. Termine la receta "
             "con un paso shuffle_records."),
            beside=True, with_risk=True, columns=attrgetter("by_neighbours.columns"), inside=True)),
    Measure("unassigned_columns", "size", ("released columns without a role", "columnas publicadas sin papel"),
        lambda release: len(release.unassigned), "release", unit="columns", shown="",
        limit=Limit(
            "at most", "is met when at most this many columns are released that have no role and are not listed under "
            "`released_as_is`; `0` unless you set it, and `null` for no such limit", "0",
            ("Released columns without a role ({columns}): {value}, and at most {limit} were wanted. Give each column "
             "a role, remove it, or list it under released_as_is if anybody may have it as it is.",
             "Columnas publicadas sin papel ({columns}): {value}, y se exigían {limit} como máximo. Dé un papel a cada "
             "columna, retírela o, si cualquiera puede tenerla tal cual, inclúyala en released_as_is."),
            always=True, beside=True, columns=lambda release: release.unassigned, named=True)),
    Measure("identifiers_found", "size",
        ("columns that identify persons by what their cells hold",
         "columnas que identifican a personas por lo que contienen sus celdas"),
        lambda release: None if release.identifying is None else len(release.identifying),
        "release", unit="columns", counted=False, shown="",
        limit=Limit(
            "at most", "is met when at most this many released columns hold e-mail addresses, telephone numbers, "
            "numbers of persons and the like, free text, or a value of its own in nearly every filled cell; `0` unless "
            "you set it, and `null` for no such limit", "0",
            ("Columns that identify persons by what their cells hold ({columns}): {value}, and at most {limit} were "
             "wanted. Remove them, or name them under direct_identifiers; the cautions say what they hold. Only a "
             "column of free text, or with a value of its own in nearly every cell, may be listed under released_as_is "
             "once somebody has looked at it.",
             "Columnas que identifican a personas por lo que contienen sus celdas ({columns}): {value}, y se exigían "
             "{limit} como máximo. Retírelas o nómbrelas en direct_identifiers; las advertencias dicen qué contienen. "
             "Solo una columna de texto libre, o con un valor propio en casi cada celda, puede incluirse en "
             "released_as_is cuando alguien la haya revisado."),
            always=True, beside=True, columns=lambda release: release.identifying or ())),
    # What a release has lost.
    Measure(
        "equal_cells", "loss", ("key cells unchanged", "celdas clave sin cambios"), attrgetter("equal_cells"),
        **_STATE, unit="share", rounding="whole",
        kept=("key cells changed or missing", "celdas clave cambiadas o faltantes")),
    Measure("known_cells", "loss", ("key cells not missing", "celdas clave no faltantes"), attrgetter("known_cells"),
        "states", unit="share", shown="state summary steps", rounding="whole",
        kept=("key cells without a value", "celdas clave sin valor")),
    Measure("distinct_#", "size", ("different values of #", "valores distintos de #"),
        lambda states, key: states.distinct_values[key], "states", unit="values", shown="state", levels="keys"),
    Measure("granularity", "loss", ("granularity lost", "granularidad perdida"), attrgetter("granularity"),
        **_STATE, unit="share", rounding="whole"),
    Measure("non_uniform_entropy", "loss",
        ("information lost (non-uniform entropy)", "información perdida (entropía no uniforme)"),
        attrgetter("non_uniform_entropy"), "states",
        unit="share", counted=False, shown="state steps utility", rounding="whole"),
    Measure("discernibility", "loss", None, lambda file: room.discernibility(file.table), unit="values", shown="state"),
    Measure("average_class_size", "loss", None,
        lambda file: room.average_class_size(file.table), digits=2, shown="state utility", rounding="risk"),
    Measure("table_distance", "loss", ("distance of tables (Hellinger)", "distancia de las tablas (Hellinger)"),
        attrgetter("table_distance"), "states",
        unit="share", counted=False, shown="state steps utility", rounding="whole"),
    Measure("il1s", "loss", ("change of quantities (IL1s)", "cambio de las cantidades (IL1s)"),
        _part_of("quantity_loss", "il1s"), **_STATE, digits=4, rounding="risk", needs="numeric_variables"),
    Measure("eigenvalues", "loss", ("difference of eigenvalues", "diferencia de los valores propios"),
        _part_of("quantity_loss", "eigenvalues"), "states",
        digits=4, counted=False, shown="state", needs="numeric_variables, two"),
    Measure("correlations", "loss", ("difference of correlations", "diferencia de las correlaciones"),
        _part_of("quantity_loss", "correlations"), **_STATE, digits=4, rounding="tenth", needs="numeric_variables, two",
    ),
    Measure("numeric_lost", "loss", ("quantities lost", "cantidades perdidas"), attrgetter("numeric_lost"),
        **_STATE, rounding="exact", needs="numeric_variables"),
    _indicators("compared", ("indicators compared", "indicadores comparados"), kind="size"),
    _indicators("lost", ("indicators lost", "indicadores perdidos")),
    _indicators("overlap_all", ("overlap of intervals", "solapamiento de los intervalos"),
        ("overlap of intervals lost", "solapamiento perdido de los intervalos")),
    _indicators("overlap_mean", ("overlap, where compared", "solapamiento, entre los comparados"),
        ("overlap lost, where compared", "solapamiento perdido, entre los comparados")),
    _indicators("overlap_least", ("overlap, the worst compared", "solapamiento, el peor de los comparados"),
        ("overlap lost, the worst compared", "solapamiento perdido, el peor de los comparados")),
    _indicators("covered", ("indicators inside their first interval", "indicadores dentro de su primer intervalo"),
        ("indicators outside their first interval", "indicadores fuera de su primer intervalo")),
]
# fmt: on


#: By name, in the order in which they are shown and judged.
MEASURES: dict[str, Measure] = {}
#: By the name of its limit, each measure that has one.
LIMITS: dict[str, Measure] = {}


def register(*rows: Measure) -> None:
    """Add rows to the table."""
    for row in rows:
        MEASURES[row.name] = row
        if row.limit is not None:
            LIMITS[row.limit.name or row.name] = row


register(*_ROWS)


def limit_of(name: str) -> Limit:
    """What is asked under the name of a limit."""
    if (limit := LIMITS[name].limit) is None:
        raise LookupError(f"{name} has no limit")
    return limit


def measures(**wanted: Any) -> list[Measure]:
    """The rows with these attributes; ``shown`` is one place.

    Examples
    --------
    >>> from kanon_lab.measures.registry import measures
    >>> [measure.name for measure in measures(shown="summary", kind="anonymity")]
    ['k_achieved', 'k_map']
    """
    place = wanted.pop("shown", None)
    rows = [row for row in MEASURES.values() if all(getattr(row, name) == value for name, value in wanted.items())]
    return [row for row in rows if place is None or row.is_shown(place)]


def find_measure(name: object) -> Measure | None:
    """The measure of that name, or the member of a family; None where there is none.

    Examples
    --------
    >>> from kanon_lab.measures.registry import find_measure
    >>> find_measure("above_0.05").called("es")
    'registros con un riesgo superior a 0.05'
    """
    if not isinstance(name, str):
        return None
    if "#" not in name and name in MEASURES:
        return MEASURES[name]
    for family in (row for row in MEASURES.values() if row.levels):
        level = "(.+)" if family.levels == "keys" else r"(\d+(?:\.\d+)?(?:e-\d+)?)"
        if (match := re.fullmatch(re.escape(family.name).replace(r"\#", level), name, re.DOTALL)) is not None:
            return family.at(match[1])
    return None
