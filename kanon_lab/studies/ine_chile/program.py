"""The claims of the guide's chapters 1 to 6: laws, announced numbers, and the program."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.risk import household_size
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.ine_chile.printed import WORDS, copied, unseen

_LISTED = "so many it goes on to list"

#: Tabla 6.1: the function of the named package that reads the format; by the documentation of haven and of readxl.
READERS = {
    "SPSS": "read_sav()",
    "STATA": "read_dta()",
    "SAS": "read_sas()",
    "Excel .xls/.xlsx": "read_excel()",
}
#: Tabla 6.2: the slots of the class sdcMicroObj, by its definition in sdcMicro 5.
SLOTS = (
    "origData keyVars pramVars numVars ghostVars weightVar hhId strataVar sensibleVar manipKeyVars manipPramVars "
    "manipNumVars manipGhostVars manipStrataVar originalRisk risk utility pram localSuppression options "
    "additionalResults set prev deletedVars"
).split()


def program_claims() -> dict[str, Claim]:
    """The claims of chapters 1 to 6 by the last part of their figure_id."""
    parts = (_law_claims, _outline_claims, _number_claims, _code_claims, _value_claims, _object_claims)
    return {name: claim for part in (*parts, _household_file_claims) for name, claim in part().items()}


def _law_claims() -> dict[str, Claim]:
    """Facts of chapters 1 to 5, looked up elsewhere where they are not of the office itself."""
    return {
        "begun": copied("2019", "chapter 2 has 2019 too, for the group that began the first edition"),
        "law-secrecy": Claim("Art.29", "looked up: article 29 of law 17,374 is the one on statistical secrecy"),
        "law-private-life": Claim("Art.2e", "looked up: article 2 e) of law 19,628 defines statistical data"),
        "law-transparency": Claim(2008.0, "looked up: promulgated on 11 August 2008"),
        "first-resolution": unseen("the same sentence dates the resolution 10 June 2009; no other place has it"),
        "resolution": unseen("the number of a resolution of the office: not looked up"),
        "first-effort": unseen(
            "of all institutions of the state; not looked into. Chapter 2 begins the office's own experience in 2009, "
            "but with a local one, of economic data"
        ),
        "code-principle": unseen("of the office's own code, which is not at hand"),
        "first-edition": copied("2021", "the preface dates the first edition 2021 too"),
        "un-year": Claim("enero de 2014", "looked up: resolution 68/261 of 29 January 2014"),
        "un-principle": Claim(6.0, "looked up: the sixth of the principles is on confidentiality"),
    }


def _outline_claims() -> dict[str, Claim]:
    """The main sections that section 2.3 announces, against the chapters that there are."""
    after = unseen("announced; our text stops inside chapter 8")
    return {
        "outline-1": copied(
            "Proceso SDC: Una introducción",
            "the need for these methods and the balance of risk and utility, which it describes, are chapter 5; the "
            "chapter of the printed name, 6, is on the program",
        ),
        "outline-2": copied("Tipos de liberación de datos", "so chapter 4, though it stands before chapters 5 and 6"),
        "outline-3": copied("Medición de riesgos", "so chapter 7"),
        "outline-4": copied("Métodos SDC", "so chapter 8"),
        **{f"outline-{place}": after for place in (5, 6, 7)},
    }


def _number_claims() -> dict[str, Claim]:
    """Numbers that chapters 4 to 7 announce, and statements that are made twice."""
    return {
        "releases": copied(WORDS[3], f"{_LISTED}: PUF, SUF and the enclave of data"),
        "release-puf": copied("Aplicable", "so the paragraph before the table, and footnote 1 of section 5.2"),
        "release-suf": copied("No aplicable", "the paragraph before the table has PUF as the only kind that is"),
        "contact-points": copied("3 y 6", "of the list, 3 has discoveries reported to the office, 6 copies sent to it"),
        "motives": copied(WORDS[3], f"{_LISTED}: the first, the second and the last"),
        "ends": copied(WORDS[2], _LISTED),
        "saving": copied(WORDS[2], _LISTED),
        "stages": copied(WORDS[2], f"{_LISTED}: the household's variables, then all together"),
        "household-cases": copied(WORDS[2], "the block has two lines"),
        "level-reasons": copied(WORDS[2], _LISTED),
        "assumptions": copied(WORDS[2], f"{_LISTED}: a sample, and its weights"),
    }


def _code_claims() -> dict[str, Claim]:
    """Claims about code and its output, in sections 6.2 to 6.6 and 6.8."""
    return {
        "csv-function": copied("read.csv()", "Bloque 6.4 has it so; read_csv() is of another package"),
        "csv-separator": copied("';'", 'the code above the comment has sep = ";", as the text says'),
        "csv-decimal": copied("'.'", 'the code above the comment has dec = "."'),
        "missing-code": copied("99", "the same in the text, in the code and in its comment"),
        "class-before": copied('"matrix"', 'so the text; an R from 4.0 on prints "array" beside it'),
        "class-after": copied('"data.frame"', "so the text; the line of code that prints it is lost"),
        "all-arguments": copied(
            "5 de 9",
            "the same paragraph chooses eight roles beside dat; the block has dat and four of them. Roles may be left "
            "out, it says further on, but here it shows all",
        ),
        "numeric-argument": copied("numVar", "the text has numVars; R completes a name that is cut short"),
        "undo": copied("undolast()", "so in the text of section 6.6 and in the blocks"),
        "undo-steps": copied("solo un paso", "Tabla 6.2 has it so: information to undo one step"),
        "days": unseen(
            "depends on program and machine, not repeated here; section 6.1 calls all methods highly optimised for "
            "large files"
        ),
    }


def _value_claims() -> dict[str, Claim]:
    """Claims of sections 6.3, 6.4 and 6.9 about reading, writing, impossible values, and changes by hand."""
    with np.errstate(all="ignore"):
        by_zero = np.array([1.0, -1.0, 0.0]) / 0.0
        log = np.log(np.array(-1.0))
    named = [f"{number:g}".replace("inf", "Inf").replace("nan", "NaN") for number in by_zero]
    return {
        "readers-write": Claim(
            "salvo readxl",
            "looked up: haven and utils write what they read, in one way or another; readxl has functions that read, "
            "and none that writes. The footnote speaks of versions, not of this",
        ),
        "zero-division": Claim(
            "NaN" if {*named} == {"NaN"} else "Inf",
            f"by the arithmetic of floating point (IEEE 754), which R has too: 1, -1 and 0 by zero are "
            f"{', '.join(named)}. Only nothing by nothing is NaN, and the text says division by zero without more",
        ),
        "negative-logarithm": Claim("NaN" if np.isnan(log) else "otro", "by the same arithmetic: of -1"),
        "recalculated": copied(
            "manualmente", "so section 8.2.1.1.2 and the code of Bloque 8.5; not tried, the program is not here"
        ),
    }


def _object_claims() -> dict[str, Claim]:
    """The output of Bloque 6.9: the parts of the slot of risks."""
    names = ("global", "individual", "numeric")
    return {
        f"risk-{name}": Claim(f'"{name}"', "looked up: examples and code of sdcMicro 5 have it so") for name in names
    }


def _household_file_claims() -> dict[str, Claim]:
    """Claims of section 6.7 about files of households."""
    together, apart = pd.Series([2, 2, 1]), pd.Series([1, 2, 1])
    by_runs, sizes = (", ".join(map(str, found)) for found in (sizes_of_runs(apart), household_size(apart)))
    in_order = together.sort_values(ignore_index=True)
    alike, unlike = (_left_by_unique(region) for region in (["n", "n", "s", "s"], ["n", "n", "s", "c"]))
    return {
        "household-entries": Claim(WORDS[int(household_size(pd.Series([1, 1, 1, 1, 2])).max())]),
        "household-column": copied(
            "todas",
            "a column HID is nowhere made; every other line has IDH. But IDH would mend nothing: unique() of a data "
            "frame takes no column, passes over by = and compares whole records. What is meant stands in the code "
            "before Bloque 8.1: !duplicated(fileHH$IDH)",
        ),
        "household-records": Claim(
            "solo un registro" if alike == 2 else "más de uno",
            "where all members have the same values, as variables of a household should. The section itself has some "
            "that are the same in nearly all households only: of two households of two, one with two regions, "
            f"{unlike} records are left, whatever by = says. Footnote 7 advises to count them",
        ),
        "merge-argument": copied(
            "by.x", "the text has by; the same while the household is the only name in both files, as the text demands"
        ),
        "household-size-sorted": Claim(
            "ordenado" if _sizes_by_table(in_order) == list(household_size(in_order)) else "no"
        ),
        "household-size": Claim(
            "no ordenado" if sizes_of_runs(together).equals(household_size(together)) else "ordenado",
            "if only the households are out of order: it counts runs, so members must stand side by side. For "
            f"households 1, 2, 1 it gives {by_runs}, without warning; the sizes are {sizes}",
        ),
    }


def _left_by_unique(region: list[str]) -> int:
    """Records of two households of two that R's unique() of a data frame keeps: those that differ in any column."""
    return len(pd.DataFrame({"IDH": [1, 1, 2, 2], "region": region}).drop_duplicates())


def sizes_of_runs(households: pd.Series) -> pd.Series:
    """What the second line of Bloque 6.14 counts: records that follow each other with one household."""
    return household_size((households != households.shift()).cumsum())


def _sizes_by_table(households: pd.Series) -> list[int]:
    """What the first line of Bloque 6.14 counts: each size as often as it is large, by rising household."""
    sizes = households.value_counts().sort_index()
    return [int(size) for size in sizes.repeat(sizes)]
