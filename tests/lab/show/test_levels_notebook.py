"""The notebook of the two explorers of a file: they start where they are told, and agree with the class table."""

from kanon_lab.notebooks import find_notebooks, recorded, run_notebook


def test_the_explorers_start_where_they_are_told(tmp_path):
    target = tmp_path / "levels.ipynb"
    start = {"k_required": 7, "levels": {"age": 3, "sex": 1}, "missing": "category", "suppression_limit": 0.3}
    run_notebook(find_notebooks()["levels"], target, start)
    results = recorded(target)
    assert f"<b>{results['to-remove']:,}</b> of {results['records']:,} records" in results["levels-sentence"]
    assert "age: 20 years, sex: any sex" in results["levels-sentence"]
    assert "limit of 30%" in results["levels-sentence"]
    assert f"<b>{results['alone']:,}</b> of" in results["keys-sentence"]
