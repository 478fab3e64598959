"""Nine files with a trap that nobody named: not met by default, with its column; met after at most three edits."""

import numpy as np
import pandas as pd
from cases import in_one_test

from kanon_lab.recipes import as_recipe, judge

N = 900
RANDOM = np.random.default_rng(14)
ZONES = ["North", "South", "East", "West", "Coast"]
ROW = np.arange(N)
FILE = pd.DataFrame(
    {
        "zone": RANDOM.choice(ZONES, N, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
        "age": RANDOM.integers(18, 88, N),
        "sex": RANDOM.choice(["m", "f"], N),
        "answer": RANDOM.integers(1, 6, N),
    }
)
CODE = FILE["zone"].map({zone: code for code, zone in enumerate(ZONES, 1)})
BORN = pd.Timestamp("2024-06-01") - pd.to_timedelta(FILE["age"] * 365.25 + RANDOM.integers(1, 364, N), unit="D")
COPY = FILE["zone"].where(RANDOM.random(N) > 0.07, RANDOM.choice(ZONES, N))
HOMES = pd.DataFrame({"zone": FILE["zone"][:300].repeat(3).to_numpy()}).assign(home=np.repeat(np.arange(300), 3))
SUPPRESS = {"suppress": {"k_required": 3, "importance": {"zone": 3, "age": 1, "sex": 2}, "claim": "true_key"}}
BASE = {
    "key_variables": ["zone", "age", "sex"],
    "sensitive_variables": ["answer"],
    "limits": {"k": 3},
    "steps": [{"recode": {"variable": "age", "width": 10}}, SUPPRESS],
}
LAST = [*BASE["steps"], {"shuffle_records": {}}]


def gone(name):
    return {"steps": [*BASE["steps"], {"remove_variables": {"variables": name}}]}


# What is in the file -> the file, the limit that is not met, its columns, and the edits of the configuration.
TRAPS = {
    "a date of birth": (FILE.assign(born=BORN.dt.strftime("%d/%m/%Y")), "exposed_by_columns", "born", gone("born")),
    "a region at the end of a code": (
        FILE.assign(code=[f"{n:04}-{code:02}" for n, code in zip(RANDOM.permutation(N), CODE, strict=True)]),
        *("exposed_by_columns", "code", gone("code")),
    ),
    "a quantity of about a hundred for each region": (
        FILE.assign(rent=(100 * CODE + RANDOM.normal(0, 12, N)).round(1)),
        *("exposed_by_columns", "rent", gone("rent")),
    ),
    "a copy with one value in fourteen drawn anew": (
        FILE.assign(copy=COPY),
        *("exposed_by_columns", "copy", gone("copy")),
    ),
    "e-mails of a third": (
        FILE.assign(mail=[f"p{n}@mail.example" if n % 3 == 0 else None for n in ROW]),
        *("identifiers_found", "mail", {"direct_identifiers": "mail"}),
    ),
    "remarks": (
        FILE.assign(remark=[f"she said in {n} that all was well" if n % 5 == 0 else None for n in ROW]),
        *("identifiers_found", "remark", {"direct_identifiers": "remark"}),
    ),
    "members of a household": (
        FILE.assign(zone=HOMES["zone"], home=HOMES["home"]).sample(frac=1, random_state=1, ignore_index=True),
        *("shown_by_members", "home", gone("home")),
    ),
    "a file in the order of a key": (
        FILE.sort_values("zone", ignore_index=True),
        *("shown_by_neighbours", "zone", {"steps": LAST}),
    ),
    "a panel": (
        pd.concat([FILE.assign(id=RANDOM.permutation(N) * 7 + 11)] * 3, ignore_index=True),
        *("repeated_identifiers", "id", {"person": "id", "steps": [*LAST, {"remove_variables": {"variables": "id"}}]}),
    ),
}


@in_one_test("trap", TRAPS)
def test_a_trap_stops_a_release_until_it_is_removed(trap):
    file, limit, column, edits = TRAPS[trap]
    household = {"household": "home"} if "home" in file and limit == "shown_by_members" else {}

    def judged(settings):
        recipe = as_recipe({**BASE, **household, **settings, "seed": 1})
        return judge(recipe.apply(file), recipe.limits)

    before = judged({"direct_identifiers": column} if limit == "repeated_identifiers" else {})
    rows = before.verdict.set_index("name")
    assert not before.met
    assert not rows.loc[limit, "met"]
    assert column in rows.loc[limit, "columns"]
    assert len(edits) <= 3
    after = judged(edits)
    assert after.met, after.verdict[~after.verdict["met"]]


def test_without_a_trap_the_file_is_met():
    recipe = as_recipe({**BASE, "seed": 1})
    assert judge(recipe.apply(FILE), recipe.limits).met
