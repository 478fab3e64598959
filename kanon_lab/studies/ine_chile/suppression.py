"""The claims of the guide's section 8.2.2, on local suppression."""

from __future__ import annotations

import re
from itertools import permutations

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.keys import KeySpec
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.ine_chile.ages import EDGES, EQUAL, completions, frequencies
from kanon_lab.studies.ine_chile.methods import ETNIA
from kanon_lab.studies.ine_chile.printed import SPECS, WORDS, cells, copied, counts, example, given, unseen
from kanon_lab.studies.ine_chile.tables import recoded_regions, suppressed
from kanon_lab.suppress import Suppression, local_suppression, protection_claims

# The text's names for the variables of Bloque 8.7, where it has one.
_NAMES = {"AGEYRS": "edad", "GENDER": "sexo"}
_PLACES = ("primera", "segunda", "tercera", "cuarta")
_OTHER_RUN = "the text tells of another run, or of another file, than the block shows"
_NO_DATA = "the survey is not given, and no output shows it"


def suppression_claims() -> dict[str, Claim]:
    """The claims of section 8.2.2 by the last part of their figure_id."""
    return {**_example_claims(), **_general_claims(), **_output_claims(), **_file_claims()}


def _example_claims() -> dict[str, Claim]:
    """Claims about Tabla 8.4."""
    original, released, spec = example("Tabla 8.4"), suppressed().frame, SPECS["Tabla 8.4"]
    after = class_table(released, spec)
    either = [original.mask(_cell(original, 1, key)) for key in ("sex", "education")]
    others = [class_table(frame, spec).f_k_of_records()[1] - 1 for frame in either]
    alone = protection_claims(original, released, spec, k_required=2).set_index("claim")["records"]
    left = released.loc[1].dropna()
    alike = int((original[left.index] == left).all(axis=1).sum())
    return {
        "suppress-unsafe": Claim("única" if class_table(original, spec).f_k_of_records()[1] == 1 else "no única"),
        "suppress-others": Claim(
            WORDS[min(others)],
            f"whichever of the two values is suppressed; then the records have {after.f_k_of_records().tolist()} "
            "compatible ones, themselves among them",
        ),
        "suppress-told-apart": Claim(
            "ya no puede distinguirse" if alike >= 2 else "se distingue",
            f"from the side of the file, by the counting of Tabla 7.2, which the sentence gives as its reason: what "
            f"is left of the record fits {alike} persons. From the other side it fails: {alone['own_class']} record is "
            "alone in its released class, and whoever knows the true key of that person meets one compatible record, "
            "this one",
        ),
        "suppress-respondents": copied(WORDS[len(original)], "counted in the table"),
        "suppress-identifiers": copied(WORDS[len(spec.key_variables)], "counted in the table"),
        "suppress-value": copied(
            original.at[1, "education"], "so in the table, and four sentences before; it has no value mayor"
        ),
        "suppress-variable": copied("zona", "so in the heading of the table, which has no región"),
    }


def _general_claims() -> dict[str, Claim]:
    """Statements on local suppression as such, on the guide's small files."""
    spec, tabla_8_4 = SPECS["Tabla 8.2"], SPECS["Tabla 8.4"]
    before, after = (
        local_suppression(frame, spec, k_required=2).total for frame in (example("Tabla 8.2"), recoded_regions())
    )
    taken = {
        kept: _taken(local_suppression(example("Tabla 8.4"), tabla_8_4, k_required=2, importance={kept: 1}))
        for kept in ("sex", "education")
    }
    moved = (
        taken["sex"]["sex"] < taken["education"]["sex"] and taken["sex"]["education"] > taken["education"]["education"]
    )
    keys = KeySpec(SPECS["Tabla 7.1"].key_variables)
    plain, orders = _totals_by_importance(example("Tabla 7.1"), keys)
    more, fewer = sum(total > plain for total in orders), sum(total < plain for total in orders)
    return {
        "recode-first": Claim(
            "reduce" if after < before else "no reduce",
            f"in Tabla 8.2, for k = 2, from {before} to {after}. It never needs more: what was suppressed before is "
            "enough after",
        ),
        "recode-usual": copied("reducir", "section 8.2.2 has it so"),
        "ls-areas": given(12.0, "an example"),
        "ls-functions": copied(WORDS[2], "two it goes on to name"),
        "ls-shift": Claim(
            "aumenta" if moved else "no aumenta",
            "in our examples, of Tabla 8.4: with the sex kept an education goes, with the education kept a sex. In "
            "general it need not be",
        ),
        "ls-usually": unseen(
            "the only example is lost, and it depends on how the program chooses. Ours, on Tabla 7.1 with k = 2: "
            f"{plain} values without importance; of the {len(orders)} orders of its keys {more} need more, {fewer} "
            "fewer. The reason given, that the best pattern is barred, supposes that it is found without importance"
        ),
    }


def _taken(found: Suppression) -> pd.Series:
    return found.cells.set_index("variable")["cells"]


def _totals_by_importance(frame: pd.DataFrame, spec: KeySpec) -> tuple[int, list[int]]:
    """Values that 2-anonymity takes without importance, and with every order of it."""
    keys = spec.key_variables
    orders = (dict(zip(keys, ranks, strict=True)) for ranks in permutations(range(1, len(keys) + 1)))
    totals = [local_suppression(frame, spec, k_required=2, importance=order).total for order in orders]
    return local_suppression(frame, spec, k_required=2).total, totals


def _cell(frame: pd.DataFrame, record: int, column: str) -> pd.DataFrame:
    """A mask of one cell."""
    mask = pd.DataFrame(False, frame.index, frame.columns)
    mask.at[record, column] = True
    return mask


def _output_claims() -> dict[str, Claim]:
    """Claims about the first output of Bloque 8.7."""
    gone = counts("Bloque 8.7", "suppressions")
    order = gone.sort_values(ascending=False)
    others = [name for name in order.index[order > 0] if name != "AGEYRS"]
    call = cells("Bloque 8.7").loc["localSuppression()"]
    after = "the output with importance is not in the text"
    return {
        "ls-k": copied(
            int(call["k"]), f"{_OTHER_RUN}: of one file a larger k never needs fewer suppressions; this one has fewer"
        ),
        "ls-most": Claim(_NAMES[order.index[0]]),
        "ls-age": copied(gone["AGEYRS"], _OTHER_RUN),
        "ls-etnia": copied(gone["etnia"], _OTHER_RUN),
        "ls-only": Claim(", ".join(others), _OTHER_RUN),
        "ls-second": Claim(_PLACES[list(order.index).index("etnia")]),
        "ls-least": Claim(_NAMES["GENDER"] if gone["GENDER"] == gone.min() else "otra", "with REGION: none in either"),
        "ls-total": Claim(gone.sum(), f"80 and 8 are 88; {' and '.join(map(str, order[order > 0]))} are {gone.sum()}"),
        "ls-total-after": unseen(after),
        "ls-none": unseen(after),
        "ls-more": unseen(
            f"{after}; the vector has 5 for sizeRes and RELIG, of which the text names one, and 4 for etnia"
        ),
        "ls-strata": copied(
            "strata_region",
            "so the code before Bloque 8.1. Section 8.2.2 does not say that suppression, and so k-anonymity, is within "
            "regions; section 6.6 says so of every object that has strata",
        ),
        "ls-bands": copied(10.0, "so Bloque 8.2, from which the code takes the object"),
        **_importance_claims(call["importance"], list(gone.index)),
    }


def _importance_claims(vector: str, keys: list[str]) -> dict[str, Claim]:
    """Claims about the vector of importance; its places are those of the key variables of the file."""
    importance = dict(zip(keys, map(int, re.findall(r"\d+", vector)), strict=True))
    first = [key for key in keys if importance[key] == min(importance.values())]
    places = {_NAMES[key]: _PLACES[keys.index(key)] for key in first}
    order = (
        "the key variables of the file begin with sizeRes, AGEYRS and GENDER, and the vector, which goes by their "
        "order, has its ones at the last two"
    )
    return {
        "ls-keys": copied(WORDS[len(keys)], "the output has six, RELIG among them, and so has the vector"),
        "ls-fifth": copied(
            ", ".join(key for key in keys if key not in ("GENDER", "REGION", "AGEYRS", "etnia")),
            "footnote 2 has sizeRes in place of religión; the block has both",
        ),
        "ls-range": copied(len(keys), "the number of key variables, and six values are given"),
        "ls-vector": copied(vector, "the same in the block"),
        "ls-lower": copied(
            "importancia alta" if {*first} == {"AGEYRS", "GENDER"} else "no",
            "so the vector of the next paragraph: its ones, in the order of the key variables, are those of edad and "
            "sexo, which are to be kept",
        ),
        "ls-first": copied(places["sexo"], order),
        "ls-fourth": copied(places["edad"], order),
    }


def _file_claims() -> dict[str, Claim]:
    """Claims about the file behind Bloque 8.7."""
    sizes, recoded = counts("Bloque 8.1", "before"), counts("Bloque 8.1", "after")
    shares = cells("Bloque 8.7")["%"].dropna().astype(float)
    gone = counts("Bloque 8.7", "suppressions")
    (records,) = {round(100 * number / share) for number, share in zip(gone, shares, strict=True) if share}
    lost = unseen(_NO_DATA)
    return {
        "ls-records": Claim(
            records,
            f"by every percentage of the output, and by the {sizes.sum():,} of Bloque 8.1. The code keeps the first "
            "record of each household: as many households, and nobody below 12",
        ),
        "ls-variables": lost,
        "ls-age-categories": copied(
            len(EDGES[EQUAL]) - 1,
            f"ten bands, of which {int((frequencies(completions()[0])[EQUAL] > 0).sum())} hold anybody",
        ),
        "ls-sex-categories": lost,
        "ls-size-categories": unseen(
            f"{len(sizes)} before Bloque 8.1, {len(recoded)} after it, and nothing that we have undoes that before "
            "Bloque 8.7. But the code of Bloque 8.2, in between, is lost; that of section 8.2.1.3 takes the file anew",
            len(recoded),
        ),
        "ls-region-categories": lost,
        "ls-etnia-categories": copied(len(ETNIA), "the code that makes it has five"),
    }
