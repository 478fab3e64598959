"""What a run loads of the package: no more modules than it needs."""

import subprocess
import sys

import pytest

MEASURE = ["measure", "health-survey", "--keys", "age,sex", "--weight", "weight", "--sensitive", "diagnosis"]
RUNS = {
    "class_table": "import kanon_lab, pandas as pd; kanon_lab.class_table(pd.DataFrame({'a': [1, 1]}), ['a'])",
    "measure": f"from kanon_lab.cli import run; run({MEASURE})",
}


@pytest.mark.parametrize(("name", "most"), [("class_table", 7), ("measure", 32)])
def test_a_run_loads_the_modules_that_it_needs(name, most):
    """Those of exact sums, of compatible records, and of other formats of files load where a file needs them."""
    named = "name.split('.')[0] in ('kanon_lab', 'stdnum')"
    loaded = f"import sys; print(*(name for name in sys.modules if {named}), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", f"{RUNS[name]}; {loaded}"], capture_output=True, text=True, check=True)
    modules = [line for line in done.stdout.splitlines() if line.split(".")[0] in ("kanon_lab", "stdnum")]
    assert len(modules) <= most and "stdnum" not in modules, modules
