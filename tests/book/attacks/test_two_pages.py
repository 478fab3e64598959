"""What two public pages tell of a person who is in one of their files."""

import pandas as pd

from kanon_book.attacks import two_pages_attack
from kanon_lab.report import as_config


def test_a_count_at_the_edge_of_its_step_tells_the_value_of_who_is_left_out():
    """23 persons are shown as 25, and 22 as 20; 37 and 36 both as 35."""
    frame = pd.DataFrame({"sex": [*"mf"] * 30, "ill": ["yes"] * 23 + ["no"] * 37, "pay": [*range(60)]})
    roles = {"key_variables": ["sex"], "sensitive_variables": ["ill"], "numeric_variables": ["pay"]}
    limits = {"k": 3, "exposed_by_columns": None, "identifiers_found": None}
    attacked = two_pages_attack(frame, as_config({**roles, "limits": limits}), [0, 59]).set_index("question")
    assert attacked.loc["sensitive value"].tolist() == [2, 1, 1]
    assert attacked.loc["sample unique"].tolist() == [2, 0, 0]
    assert attacked.loc["difference", "answered"] >= 1
