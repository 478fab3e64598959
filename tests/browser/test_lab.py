"""Notebooks in JupyterLab, driven as a reader drives them."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from time import monotonic, sleep

import nbformat
import pytest
from browsing import ROOT

from kanon_book.course import learner
from kanon_book.course.spanish import LANGUAGES

# That it is given what the pages are given, tests/book/figures/test_same_specification.py says each time.
pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHART = """from kanon_lab import show
import altair as alt
import pandas as pd
show.enable()
frame = pd.DataFrame({"k": [1, 2, 3], "persons": [5, 3, 1]})
chart = alt.Chart(frame).mark_bar().encode(x="k:O", y="persons")
show.figure(chart, table=frame, alt="Persons fall as k rises")"""

RECIPES = """from kanon_lab import load_microdata
from kanon_lab.show import explore_recipes
recipe = {
    "key_variables": ["postcode", "age", "sex"],
    "steps": ["$coarser", {"suppress": {"k_required": "$k"}}],
}
bands = {f"{width} years": {"recode": {"variable": "age", "width": width}} for width in (10, 20, 40)}
explore_recipes(load_microdata("health-survey"), recipe, {"coarser": bands, "k": [2, 5]})"""

DETAIL = """from kanon_lab import load_microdata
from kanon_book.figures.detail_explorer import explore_detail
ages = {"1 year": None, "10 years": {"width": 10}}
explore_detail(load_microdata("health-survey"), ["postcode", "age", "sex"], {"age": ages}, [0.1, 0.2, 0.4])"""

EXERCISE = """from kanon_book.course import check
check("1.1", "-1")"""

SMALL = {"chart": CHART, "recipes": RECIPES, "detail": DETAIL, "exercise": EXERCISE}

ALL_RAN = """() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);
  return prompts.length > 0 && prompts.every(text => /\\d/.test(text));
}"""
DRAWN = ".jp-OutputArea-output :is(canvas.marks, svg.marks)"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address (a function of the notebook's name) of a JupyterLab that works on copies, with a home of its own."""
    folder = tmp_path_factory.mktemp("lab")
    for name in ("explorer", "levels"):
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", folder)
    # A working copy as kanon-lab lab makes it, but of one chapter: to solve all exercises takes a minute.
    shutil.copy(ROOT / "notebooks" / "identify.ipynb", folder / learner.copied_names()["identify"])
    (folder / "exercises").mkdir()
    for language in LANGUAGES:
        (folder / learner.first_name(language)).write_text(learner.first_notebook(language), "utf-8")
        exercises = folder / "exercises" / learner.workbook_name("what-identifies", language)
        exercises.write_text(learner.workbook("what-identifies", language=language), "utf-8")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [nbformat.v4.new_code_cell(code) for code in SMALL.values()]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "small.ipynb")
    port, token = free_port(), secrets.token_hex(8)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}", "--LabApp.news_url="]
    home = tmp_path_factory.mktemp("home")
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=os.environ | {"HOME": str(home)}, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, home / "log")
            yield lambda name: f"http://127.0.0.1:{port}/lab/tree/{name}?token={token}&reset"
        finally:
            server.terminate()
            server.wait(timeout=20)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url, server, log, seconds=120):
    """Wait until the server answers; say what it wrote if it does not."""
    end = monotonic() + seconds
    while monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            sleep(0.2)
    pytest.fail(f"JupyterLab did not start: {log.read_text()[-2000:]}")


def run_all(visit, url):
    """Open a notebook, run all its cells, wait until each has run."""
    page = visit.page
    page.goto(url)
    # Not the indicator's own attribute: it says idle before there is a kernel, and Run then asks for one.
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(ALL_RAN, timeout=120_000)
    assert not page.query_selector_all("[data-mime-type='application/vnd.jupyter.stderr']")
    return page


@pytest.fixture
def cell(lab, desk):
    """A cell of the notebook of small ones by its name; all have run, for the first test that asks."""
    if "small.ipynb" not in desk.page.url:
        run_all(desk.begin(), lab("small.ipynb"))

    def by_name(name: str):
        found = desk.page.locator(".jp-CodeCell").nth(list(SMALL).index(name))
        found.scroll_into_view_if_needed()
        found.locator(DRAWN).first.wait_for(timeout=30_000)
        return found

    yield by_name
    assert desk.outside == []


def test_figure_is_drawn_without_network(cell):
    assert shown(cell("chart"))


def test_the_explorer_of_recipes_follows_its_controls(cell):
    recipes = cell("recipes")
    slider = recipes.locator(".widget-slider .noUi-handle").first
    losses = recipes.locator(".widget-dropdown select").last
    for change in (lambda: slider.press("ArrowRight"), lambda: losses.select_option(index=0)):
        before = shown(recipes)
        change()
        end = monotonic() + 10
        while shown(recipes) == before and monotonic() < end:
            recipes.page.wait_for_timeout(100)
        assert shown(recipes) != before
    recipes.get_by_text("beaten by no other").first.wait_for(timeout=10_000)


def test_the_explorer_of_detail_follows_its_controls(cell):
    detail = cell("detail")
    levels, fractions = (detail.locator(".widget-dropdown select").nth(number) for number in (0, 1))
    for change in (lambda: fractions.select_option(index=2), lambda: levels.select_option(index=1)):
        before, said = shown(detail), sentences(detail)
        change()
        end = monotonic() + 10
        while (shown(detail) == before or sentences(detail) == said) and monotonic() < end:
            detail.page.wait_for_timeout(100)
        assert shown(detail) != before
        assert sentences(detail) != said
    detail.get_by_text(", with true shares ").wait_for(timeout=10_000)


def test_what_is_said_of_an_answer_is_shown(cell, desk):
    cell("chart")  # so that all have run
    asked = desk.page.locator(".jp-CodeCell").nth(list(SMALL).index("exercise"))
    asked.scroll_into_view_if_needed()
    asked.locator(".jp-RenderedMarkdown").get_by_text("Not yet.").wait_for(timeout=30_000)


def test_explorer_follows_its_slider(lab, visit):
    page = run_all(visit, lab("explorer.ipynb"))
    slider = page.wait_for_selector(".jp-OutputArea-output .noUi-handle", timeout=30_000)
    page.wait_for_selector(DRAWN, timeout=30_000)
    before = shown(page)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    end = monotonic() + 10
    while shown(page) == before and monotonic() < end:
        page.wait_for_timeout(100)
    assert shown(page) != before
    assert visit.outside == []


def test_explorers_of_a_file_follow_their_controls(lab, visit):
    page = run_all(visit, lab("levels.ipynb"))
    page.wait_for_function(f"() => document.querySelectorAll({DRAWN!r}).length > 1", timeout=30_000)
    level, box = page.locator(".widget-dropdown select").first, page.locator(".widget-checkbox input").first
    for change in (lambda: level.select_option(index=1), lambda: box.press("Space")):
        before, said = shown(page), sentences(page)
        change()
        end = monotonic() + 10
        while (shown(page) == before or sentences(page) == said) and monotonic() < end:
            page.wait_for_timeout(100)
        assert shown(page) != before
        assert sentences(page) != said
    page.get_by_role("button", name="Move to the best levels").click()
    page.get_by_text("Least discernibility").wait_for(timeout=10_000)
    assert visit.outside == []


@pytest.mark.parametrize(("language", "begins"), [("en", "Start here"), ("es", "Empiece aquí")])
def test_the_first_notebook_opens_what_it_links(lab, visit, language, begins):
    page = visit.page
    page.goto(lab(learner.first_name(language)))
    page.locator(".jp-RenderedMarkdown h1", has_text=begins).wait_for(timeout=60_000)
    files = page.locator(".jp-DirListing-itemText").all_text_contents()
    numbered = [name for name in files if name[:2].isdigit()]
    assert numbered == sorted(numbered) and learner.first_name(language) in numbered[:2]
    exercises = learner.workbook_name("what-identifies", language)
    for target in (f"exercises/{exercises}", learner.copied_names()["identify"]):
        page.locator(".lm-TabBar-tabLabel", has_text=learner.first_name(language)).click()
        page.locator(f".jp-RenderedMarkdown a[href*='{target}']").first.click()
        page.locator(".lm-TabBar-tabLabel", has_text=target.rpartition("/")[2]).wait_for(timeout=30_000)
    page.locator(".lm-TabBar-tabLabel", has_text=exercises).click()
    title = {"en": "Exercises: What identifies a person", "es": "Ejercicios: Qué identifica a una persona"}[language]
    page.locator(".jp-RenderedMarkdown h1", has_text=title).wait_for(timeout=30_000)
    assert visit.outside == []


def test_in_spanish_an_answer_is_judged_in_spanish(lab, visit):
    page = visit.page
    page.goto(lab(f"exercises/{learner.workbook_name('what-identifies', 'es')}"))
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.get_by_text("Todavía no hay respuesta").first.wait_for(timeout=60_000)
    page.get_by_text("ejercicios están resueltos").wait_for(timeout=60_000)


def sentences(place) -> list[str]:
    """Return what the explorers of a page or cell say in words."""
    return place.locator(".widget-html [role=status]").all_text_contents()


def shown(place) -> list[str]:
    """Return what the charts of a page or cell show, as text that changes when a drawing does."""
    return place.locator(DRAWN).evaluate_all("all => all.map(e => e.toDataURL ? e.toDataURL() : e.innerHTML)")
