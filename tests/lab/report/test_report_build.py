"""Making reports: one page, private and whole; of a failure a stripped notebook and a line without values."""

import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from warm_kernels import warm_kernels

from kanon_lab.errors import KanonLabError
from kanon_lab.measures.registry import limit_of
from kanon_lab.notebooks import NotebookError, find_notebooks, recorded, run_notebook
from kanon_lab.notebooks.running import _injected, without_values
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report import as_config, make_report, open_run
from kanon_lab.report.build import last_step, report_page
from kanon_lab.report.sections import SECTIONS
from kanon_lab.report.words import Words

CONFIG = {
    "title": "A <survey> & more",
    "key_variables": ["region", "age"],
    "weight": "w",
    "direct_identifiers": ["name"],
    "limits": {"k": 3, "global_risk": 0.5},
    "steps": [{"recode": {"variable": "age", "width": 20}}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a survey of 300 persons in it."""
    folder = tmp_path_factory.mktemp("deep")
    rows = [f"CANARY{i},{'north' if i % 3 else 'south'},{i * 37 % 90},{1 + i % 5}" for i in range(300)]
    (folder / "survey.csv").write_text("\n".join(["name,region,age,w", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(folder):
    """The report on it, in the place of an older one that anybody may read."""
    out = folder / "out" / "report.html"
    out.parent.mkdir()
    out.write_text("old")
    out.chmod(0o644)
    left = new_notebook(metadata={"kanon_lab": {"failed": True}})
    nbformat.write(left, out.parent / "report.failed.ipynb")
    with warm_kernels():
        return make_report(folder / "survey.csv", as_config(CONFIG), out)


def test_page_draws_without_a_script(made):
    """Its pictures are HTML: it has no copy of a library, which would ask for a notice, and no code that makes code."""
    page = made.path.read_text("utf-8")
    assert "vega-lite" not in page and "unsafe-eval" not in page and page.count("<script>") == 1
    assert len(page) < 100_000


def test_report_is_one_private_file_with_its_verdict(made):
    assert [path.name for path in made.path.parent.iterdir()] == ["report.html"]
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.path.stat().st_size < 2_000_000
    assert made.parameters == {"file": "survey.csv", **CONFIG, "seed": 0}
    # 300 persons in 2 regions by 5 bands of 20 years: (60, 80] and more than 80 in the north and south are large too.
    limits = {row["name"]: row for row in made.judged["limits"]}
    assert list(limits) == [name for name in as_config(CONFIG).limits if not limit_of(name).quiet]
    assert limits["k"]["limit"] == 3
    assert limits["k"]["value"] >= 3
    assert isinstance(limits["k"]["value"], int)
    assert made.met
    assert made.seconds > 0


def test_page_has_no_record_no_path_and_no_address_to_load(made, folder):
    page = made.path.read_text("utf-8")
    assert "CANARY" not in page
    assert str(folder) not in page
    assert "kanon-lab-" not in page  # the folder in which it was made
    assert "<title>A &lt;survey&gt; &amp; more</title>" in page
    assert "A <survey>" not in page
    assert '<html lang="en">' in page
    head, body = page[: page.index("<script>\n")].split("<body>")
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"'](?!data:)", head + body)
    assert page.count("</script>") == page.count("<script")
    for name in SECTIONS:
        assert f'show("{name}")' not in page  # no code


def test_a_failed_step_is_named_and_its_notebook_kept_without_values(folder, tmp_path):
    config = as_config(CONFIG | {"weight": "name", "direct_identifiers": []}, name="report.yml")
    with pytest.raises(NotebookError) as error:
        make_report(folder / "survey.csv", config, tmp_path / "r.html")
    line = str(error.value)
    assert line.startswith("survey.csv: row 2 (and 299 more): a weight that is not a number in column name;")
    assert re.search(
        r" \(step: [\w ]+; no report was written; the executed notebook is kept beside it: r.failed.ipynb\)$", line
    )
    assert [path.name for path in tmp_path.iterdir()] == ["r.failed.ipynb"]
    kept = tmp_path / "r.failed.ipynb"
    assert kept.stat().st_mode & 0o777 == 0o600
    text = kept.read_text("utf-8")
    nbformat.validate(nbformat.reads(text, as_version=4))
    for word in ("CANARY", str(folder), str(tmp_path), "kanon-lab-", "Traceback"):
        assert word not in text + line


def test_a_file_of_the_user_is_not_taken_for_what_a_failed_run_left(folder, tmp_path):
    own = tmp_path / "r.failed.ipynb"
    nbformat.write(new_notebook(), own)
    before = own.read_bytes()
    config = as_config(CONFIG | {"weight": "name", "direct_identifiers": []}, name="report.yml")
    with pytest.raises(NotebookError, match=r"its notebook was not kept, since r\.failed\.ipynb is another file"):
        make_report(folder / "survey.csv", config, tmp_path / "r.html")
    assert own.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.failed.ipynb"]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_page_linked_to_the_file_is_refused_and_changes_nothing(folder, tmp_path, link):
    survey = tmp_path / "survey.csv"
    survey.write_bytes((folder / "survey.csv").read_bytes())
    survey.chmod(0o644)
    getattr(tmp_path / "r.html", link)(survey)
    with pytest.raises(KanonLabError, match=r"^r\.html: the output path is equal to the input"):
        make_report(survey, as_config(CONFIG), tmp_path / "r.html")
    assert survey.stat().st_mode & 0o777 == 0o644
    assert survey.read_bytes() == (folder / "survey.csv").read_bytes()


def test_notebook_has_one_cell_a_section_in_their_order():
    notebook = nbformat.read(find_notebooks()["report"], as_version=4)
    shown = re.findall(r'^show\("(\w+)"\)$', "\n".join(cell.source for cell in notebook.cells), re.MULTILINE)
    assert tuple(shown) == tuple(SECTIONS)


def test_without_parameters_the_notebook_has_a_file_of_its_own():
    run = open_run()
    assert run.file.found["name"] == "health-survey"
    run.config.recipe.check(run.file.frame)
    assert {*run.config.limits} >= {"k", "global_risk", "household_risk", "exposed_by_columns"}
    with run.step("nothing is written"):
        run.say("anywhere")


@pytest.mark.slow
def test_plain_papermill_runs_the_notebook_on_a_file_and_a_configuration(folder, tmp_path):
    (tmp_path / "r.yml").write_text(dump_yaml(CONFIG), "utf-8")
    parameters = ["-p", "file", str(folder / "survey.csv"), "-p", "configuration", "r.yml"]
    parameters += ["-y", "overrides: {language: es, limits.k: 4}"]
    command = [sys.executable, "-m", "papermill", str(find_notebooks()["report"]), "out.ipynb", *parameters]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.ipynb", "r.yml"]
    found = recorded(tmp_path / "out.ipynb")
    assert (found["title"], found["records"]) == (CONFIG["title"], 300)
    assert found["judged"]["limits"][0]["limit"] == 4
    text = (tmp_path / "out.ipynb").read_text("utf-8")
    assert "CANARY" not in text
    assert Words("es").say("h_variables") in text


def test_the_notebook_gets_tuples_of_a_configuration_as_lists():
    settings = {"key_variables": ("age", "sex"), "steps": ({"recode": {"bands": (0, 30, None)}},)}
    (cell,) = _injected(new_notebook(), {"configuration": settings}).cells
    values: dict = {}
    exec(cell.source, values)
    steps = [{"recode": {"bands": [0, 30, None]}}]
    assert values["configuration"] == {"key_variables": ["age", "sex"], "steps": steps}


def test_a_number_is_no_file():
    with pytest.raises(KanonLabError, match="as a text"):
        open_run(5)


def test_a_file_of_ones_own_needs_a_configuration(folder):
    with pytest.raises(KanonLabError, match="configuration is not given"):
        open_run(str(folder / "survey.csv"))


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("gone.csv", None, "gone.csv: no such file"),
        ("empty.csv", "", "empty.csv: is empty"),
        ("surveys", "folder", "surveys: is a folder"),
    ],
)
def test_files_that_are_none_are_refused_without_a_notebook(tmp_path, name, content, fault):
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(KanonLabError) as error:
        make_report(tmp_path / name, as_config(CONFIG), tmp_path / "r.html")
    assert str(error.value).startswith(fault)
    assert str(tmp_path) not in str(error.value)


def test_a_place_for_the_failed_notebook_is_looked_at_first(folder, tmp_path):
    (tmp_path / "r.failed.ipynb").mkdir()
    with pytest.raises(KanonLabError, match=r"^r\.failed\.ipynb: is a folder"):
        make_report(folder / "survey.csv", as_config(CONFIG), tmp_path / "r.html")


@pytest.mark.parametrize("kind", ["OptionError", "StepError", "ValueError"])
def test_what_is_kept_of_errors_has_no_words_but_ours(kind):
    error = new_output("error", ename=kind, evalue="SECRET", traceback=["SECRET 1", "SECRET 2"])
    shown = new_output("display_data", {"text/html": "<p>kept</p>"})
    warned = new_output("stream", name="stderr", text="SECRET")
    cell = new_code_cell("f()", outputs=[shown, warned, error], metadata={"papermill": {"x": "SECRET"}})
    notebook = new_notebook(cells=[cell, new_markdown_cell("words")], metadata={"papermill": {"path": "SECRET"}})
    text = nbformat.writes(without_values(notebook, "our words"))
    assert "SECRET" not in text
    assert "<p>kept</p>" in text
    assert ("our words" in text) == (kind != "ValueError")
    assert kind in text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise DataError('survey.csv: a b')", "survey.csv: a b"),
        ("print('SECRET')\nraise KeyError('SECRET')", "an unexpected KeyError"),
        ("import os\nos._exit(1)", "its Python process did not start, or died (out of memory?)"),
    ],
)
def test_the_reason_of_a_private_failure_is_a_type_unless_the_words_are_ours(tmp_path, code, reason):
    cells = [new_code_cell('word = ""', metadata={"tags": ["parameters"]})]
    cells.append(new_code_cell(f"from kanon_lab.errors import DataError\n{code}"))
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), tmp_path / "n.ipynb")
    with pytest.raises(NotebookError) as caught, warm_kernels():
        run_notebook(tmp_path / "n.ipynb", tmp_path / "out.ipynb", {"word": "GIVEN"}, private=True)
    assert caught.value.reason == reason
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert not re.search("GIVEN", (tmp_path / "out.failed.ipynb").read_text("utf-8"))


def test_the_last_step_is_told(tmp_path):
    steps = tmp_path / "steps.txt"
    assert last_step(steps) == "start Python"
    steps.write_text("read\nmeasure\n")
    assert last_step(steps) == "measure"


@pytest.mark.parametrize("error", [ValueError("SECRET"), KeyError("SECRET"), MemoryError("SECRET")])
def test_steps_let_no_words_of_unforeseen_errors_out(tmp_path, error):
    (tmp_path / "s.csv").write_text("region,age,name,w\n" + "a,1,x,1\n" * 3)
    run = open_run(str(tmp_path / "s.csv"), CONFIG, steps=str(tmp_path / "steps.txt"))
    with pytest.raises(KanonLabError) as caught, run.step("measure"):
        raise error
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert (tmp_path / "steps.txt").read_text() == "read the file\nmeasure\n"


def test_page_shows_html_and_figures_only(tmp_path):
    outputs = [
        new_output("stream", name="stdout", text="printed"),
        new_output("display_data", {"text/plain": "plain"}),
        new_output("display_data", {"application/papermill.record/text/plain": "hidden"}),
        new_output("display_data", {"text/html": "<h2>a &lt;script&gt;</h2>", "text/plain": "plain"}),
    ]
    notebook = new_notebook(cells=[new_markdown_cell("written"), new_code_cell("code()", outputs=outputs)])
    nbformat.write(notebook, tmp_path / "n.ipynb")
    page = report_page(tmp_path / "n.ipynb", title='"t" </title>', language="es")
    body = page[page.index("<body>") : page.index("<script>\n")]
    assert "<h2>a &lt;script&gt;</h2>" in body
    assert not [word for word in ("printed", "plain", "hidden", "written", "code()") if word in body]
    assert "<title>&#34;t&#34; &lt;/title&gt;</title>" in page


def test_no_title_or_name_turns_the_direction_of_the_page(tmp_path):
    turned = "a\u202eb"
    rows = [f"{region},{n % 3}" for region in ("n", "s") for n in range(30)]
    (tmp_path / "survey.csv").write_text("\n".join([f"{turned},x", *rows]), "utf-8")
    config = as_config({"key_variables": [turned, "x"], "title": f"t{turned}", "limits": {"k": 3}})
    made = make_report(tmp_path / "survey.csv", config, tmp_path / "r.html")
    page = made.path.read_text("utf-8")
    assert "\u202e" not in page
    assert "[U+202E]" in page or "\\u202e" in page
