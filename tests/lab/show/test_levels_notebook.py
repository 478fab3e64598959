"""The notebook of the two explorers of a file: they start where they are told, and agree with the class table."""

from kanon_lab.digits import percent
from kanon_lab.notebooks import find_notebooks, recorded, run_notebook


def test_the_explorers_start_where_they_are_told(tmp_path):
    target = tmp_path / "levels.ipynb"
    start = {"k_required": 7, "levels": {"age": 3, "sex": 1}, "missing": "category", "suppression_limit": 0.3}
    run_notebook(find_notebooks()["levels"], target, start)
    results = recorded(target)
    share = percent(results["to-remove"] / results["records"])
    assert f"At k = 7, {share} of the records must be removed" in results["levels-sentence"]
    assert "age: 20 years, sex: any sex" in results["levels-sentence"]
    assert f": {percent(results['alone'] / results['records'])}." in results["keys-sentence"]
