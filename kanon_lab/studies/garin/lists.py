"""What the study lists or counts itself: sections 4.4 and 5, and words such as three methods.

Nearly all of it can only be set against another place of the study: it is ``copied``, even where our code counts what
stands there.
"""

from __future__ import annotations

from kanon_lab.studies.claims import Claim
from kanon_lab.studies.garin.table import number, taula
from kanon_lab.studies.garin.variables import age_codes, data_dictionary

_UNCHECKED = "not-in-text"
_PROVINCES = ("Barcelona", "Girona", "Lleida", "Tarragona")
#: The variables whose categories section 4.4 gives before section 5 does.
_NAMES = {
    "birthplace": "REG_N",
    "sex": "PREG_6",
    "marital-status": "PREG_12",
    "occupation": "PREG_23",
    "study-level": "PREG_19",
    "activity": "PREG_22",
}
#: Statements that count what the study lists, as it says them, and the list.
_COUNTED = {
    "components": ("quatre", "equation (1) has four factors"),
    "proposals": ("les dues propostes", "the same sentence names them"),
    "situations": ("dues situacions", "a) and b) are listed"),
    "methods": ("tres mètodes", "i) to iii) are listed, and the English summary has three"),
    "types": ("dos tipus de variables", "(1) and (2) are listed"),
    "summary-forms": ("two traditional forms", "two are listed"),
    "summary-protection": ("two general methods", "two are listed"),
    "summary-models": ("Two models", "two are listed"),
    "summary-conditions": ("two conditions", "two are listed. Section 2.2 has them as c) and d)"),
    "summary-methods": ("The three most operational methods", "three are listed, those of section 2.5.1"),
}


def counted_claims() -> dict[str, Claim]:
    """Statements of the text that count, by the last part of their figure_id."""
    words = {3: "tres"}
    places, ages = (words[taula().index.unique(level).size] for level in ("geography", "age"))
    counted = {"reason": "copied: the rows and columns of Taula 1, counted", "kind": "copied"}
    copies = {name: Claim(value, f"copied: {where}", kind="copied") for name, (value, where) in _COUNTED.items()}
    return copies | {
        "levels-heading": Claim(f"{ages} estrats", **counted),
        "levels-place": Claim(f"{places} nivells DG", **counted),
        "levels-age": Claim(f"{ages} nivells de DC", **counted),
        "levels-4-5": Claim(f"{ages} nivells DC", **counted),
        "year-of-ages": _copied(number("year"), "section 5"),
        "regions": _copied(number("level-3"), "section 4.4"),
        "region-4-3": _copied(number("region-4-4"), "section 4.4"),
        "region-4-4": _copied(number("region-4-3"), "section 4.3"),
    }


def list_claims() -> dict[str, Claim]:
    """The figures of sections 4.4 and 5 by what follows the table in their figure_id."""
    return {**_categories(), **_questions(), **_of_section_4_4(), **_positions()}


def _copied(value: float, where: str) -> Claim:
    return Claim(value, f"copied: {where} has it too", kind="copied")


def _name(variable: str) -> str:
    return variable.lower().replace("_", "-").replace(": ", "-").replace(" ", "-")


def _categories() -> dict[str, Claim]:
    """Section 5: how many codes are listed, and what else is said of a variable."""
    dictionary = data_dictionary()
    listed = dictionary[dictionary["categories"].notna() & ~dictionary["variable"].str.startswith("INFRA")]
    codes = age_codes().set_index("age").loc["5 years"]
    nothing = "nothing to set it against: the questionnaire is not in the text"
    return {
        **{
            f"{_name(row.variable)}/categories": Claim(
                float(row.categories), "copied: the codes stand beside it, and were counted", kind="copied"
            )
            for row in listed.itertuples()
        },
        "preg-7/categories": Claim(
            float(codes["needed_from_5"]),
            "as in section 4.4: with a first band up to 9, which is a fair reading, ages need so many; the codes that "
            "are listed are as many",
        ),
        "preg-7/year": _copied(number("year-of-ages"), "section 4.2"),
        "preg-7/width": _copied(number("level-2-width"), "section 4.4"),
        "preg-7/top": _copied(number("age-5-top"), "section 4.4"),
        "preg-22/situations": Claim(reason=nothing, verdict=_UNCHECKED),
        "preg-23/page": Claim(reason=nothing, verdict=_UNCHECKED),
        "preg-25/digits": Claim(reason="nothing to set it against: no code is given", verdict=_UNCHECKED),
    }


def _questions() -> dict[str, Claim]:
    """The numbers of the census's questions, from which the variables have their names."""
    asked = [name for name in data_dictionary()["variable"] if name.startswith("PREG_")]
    reason = "copied: it is in the name of the variable"
    numbers = {name: Claim(float(name.split("_")[1]), reason, kind="copied") for name in asked}
    by_name = {f"{_name(name)}/question": claim for name, claim in numbers.items()}
    return by_name | {f"{name}/question": numbers[of] for name, of in _NAMES.items() if of in numbers}


def _of_section_4_4() -> dict[str, Claim]:
    dictionary = data_dictionary().set_index("variable")
    regions = float(dictionary.at["REG_R", "categories"])
    found = {
        "residence/level-1": Claim(1.0, "copied: Taula 1 has all of Catalonia as DG(1)", kind="copied"),
        "residence/level-2": Claim(float(len(_PROVINCES)), f"the provinces of Catalonia: {', '.join(_PROVINCES)}"),
        "residence/level-3": _copied(regions, "section 5"),
        "birthplace/regions": _copied(regions, "section 5"),
    }
    for level, age in enumerate(taula().index.unique("age"), start=1):
        found[f"age/level-{level}-width"] = _copied(float(age.split()[0]), "Taula 1")
    for name, variable in _NAMES.items():
        found[f"{name}/categories"] = _copied(float(dictionary.at[variable, "categories"]), "section 5")
        codes = dictionary.at[variable, "codes"].replace(" ", "")
        found[f"{name}/codes"] = Claim(codes, "copied: section 5 has them too", kind="copied")
    return found


def _positions() -> dict[str, Claim]:
    """INFRA: the digits that each item takes follow from its codes, and from them its place in the string."""
    found, last = {}, 0
    items = data_dictionary().query("variable.str.startswith('INFRA')")
    for item in items.itertuples():
        first, last = last + 1, last + (2 if item.codes == "absolute" else 1)
        reason = f"the digits of the items before it, added up; {len(items)} items take them all"
        found[f"{_name(item.variable)}/position"] = Claim(f"{first}-{last}", reason)
    return found
