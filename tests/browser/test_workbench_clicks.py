"""The workbench as a person uses it: from a file to its release by clicks, with the bytes of the commands."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from pathlib import Path

import pytest
from browsing import findings
from click.testing import CliRunner
from serving import Served

from kanon_lab.cli import cli

pytest.importorskip("voila", reason="voila is not installed: pip install 'kanon-lab[workbench]'")
pytestmark = pytest.mark.browser

# The places, and what each shows once it is all there.
PLACES = {
    "1 File": "What was read",
    "2 Variables": "Every column is decided",
    "3 Risk": "Show the riskiest combinations",
    "4 Protect": "Risk and loss after each step",
    "5 Compare": "Every column: its role and what became of it",
    "6 Release": "Commands that repeat this",
}
# What is wider than its place, or cut: a page that scrolls sideways, and labels that end in dots.
CUT = """() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility());
  const wide = (e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1;
  const labels = shown('.kanon-workbench :is(.widget-label, button, .kanon-bars tbody th)');
  return [
    ...shown('html, .kanon-workbench, .kanon-place').filter(wide).map(e => `too wide: ${e.className}`),
    ...labels.filter(e => wide(e) || e.scrollHeight > e.clientHeight + 2).map(e => `cut: ${e.textContent}`),
    ...shown('table').filter(e => wide(e) && !e.closest('.kanon-scroll')).map(e => `cut: ${e.textContent}`),
  ];
}"""
# How much of the bars of a picture is filled or allowed, as parts of their whole width.
LENGTHS = """() => [...document.querySelectorAll('.kanon-bars .kanon-bar')].filter(e => e.checkVisibility())
  .map(e => e.querySelector('.kanon-fill, .kanon-allowed')?.offsetWidth / e.offsetWidth || 0)"""


class Person:
    """Somebody at the page, who clicks, writes, and waits for what is said."""

    def __init__(self, page, address: str):
        self.page = page
        page.goto(address)
        self.step = page.locator(".kanon-step")
        self.verdict = page.locator(".kanon-head .kanon-verdict")
        page.get_by_role("button", name="1 File").wait_for(timeout=60_000)

    def press(self, name: str, within=None) -> None:
        (within or self.page).get_by_role("button", name=name, exact=True).first.click()

    def enter(self, label: str, text: str):
        """Write into a field; its box is returned."""
        control = self.page.get_by_label(label, exact=True)
        control.fill(text)
        control.press("Enter")
        return self.page.locator(".kanon-field").filter(has=control)

    def choose(self, label: str, *options: str) -> None:
        self.page.get_by_label(label, exact=True).select_option(label=[*options])

    def hears(self, words: str, seconds: float = 60) -> None:
        """Wait until words stand in view."""
        self.page.get_by_text(words).filter(visible=True).first.wait_for(timeout=1000 * seconds)

    def hears_verdict(self, words: str, seconds: float = 60) -> None:
        """Wait until the verdict says so."""
        self.verdict.filter(has_text=words).wait_for(timeout=1000 * seconds)

    def goes(self, place: str) -> None:
        """Go to a place, and wait until it is all there."""
        self.press(place)
        self.hears(PLACES[place])
        self.page.locator(".kanon-stale").first.wait_for(state="detached")

    def writes(self, *files: tuple[str, str], seconds: float = 60) -> None:
        """Press what writes a file, and wait until the page says that it is written."""
        for what, name in files:
            self.press(f"Write the {what}")
            self.hears(f"{name} is written", seconds)


def served_page(factory, file: str):
    page = Served(factory.mktemp("clicks"), file=file)
    try:
        yield page
    finally:
        if page.process.poll() is None:
            page.end()


@pytest.fixture
def served(tmp_path_factory):
    """A workbench on a small data set."""
    yield from served_page(tmp_path_factory, "health-survey")


@pytest.fixture
def office(chromium):
    """A browser at a laptop's screen."""
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_navigation_timeout(120_000)  # a page comes when its file is judged
    yield context
    context.close()


def commands_give_the_same(person: Person, written: Path, folder: Path) -> None:
    """Run the commands that the page shows, elsewhere, with the recipe that it wrote: their files have its bytes."""
    shutil.copy(written / "recipe.yml", folder)
    names = []
    for words in map(shlex.split, person.page.locator("pre").first.inner_text().splitlines()):
        name = words[words.index("--out") + 1]
        if (written / name).exists():
            done = CliRunner().invoke(cli, words[1:])
            assert done.exit_code == 0, done.output
            assert (folder / name).read_bytes() == (written / name).read_bytes(), name
            names.append(name)
    assert {*names, "recipe.yml"} == {path.name for path in written.iterdir()}


def test_from_a_file_to_its_release_by_clicks(served, office, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    person = Person(office.new_page(), served.address)
    person.hears_verdict("You have not set a limit")
    person.press("3 Risk")
    # a wrong entry gets its line beside its field, and is not taken
    field = person.enter("global risk", "5 per cent")
    field.get_by_role("alert").get_by_text("“global risk” (Risk) must be a number").wait_for()
    assert person.page.get_by_role("button", name="Undo", exact=True).is_disabled()
    person.enter("global risk", "0.05")
    field.get_by_role("alert").wait_for(state="detached")
    person.enter("household risk", "0.2")
    person.press("Take the usual limits")
    person.hears_verdict("NOT meet 5 of the 10 limits")
    person.press("4 Protect")
    person.press("Add the usual first steps")
    person.hears_verdict("meets every limit")
    # undo, redo, another order
    person.press("Undo")
    person.hears_verdict("NOT meet 5 of the 10 limits")
    person.press("Redo")
    person.hears_verdict("meets every limit")
    person.press("Later", person.step.first)
    person.step.first.get_by_text("Part of a date: year").wait_for()
    person.hears_verdict("meets every limit")
    person.press("6 Release")
    person.writes(("recipe", "recipe.yml"), ("protected file", "protected.csv"))
    commands_give_the_same(person, served.work, tmp_path)
    # the window is closed in the middle; one that is opened later finds the draft
    person.page.close()
    again = Person(office.new_page(), served.page)
    again.hears("5 steps are back")
    again.hears_verdict("meets every limit")
    again.goes("3 Risk")
    again.hears("The limits and what was found in the release")
    lengths = again.page.evaluate(LENGTHS)
    assert any(0.05 < length < 0.95 for length in lengths) and max(lengths) <= 1


@pytest.mark.slow
def test_the_survey_of_the_book_from_its_file_to_its_release(tmp_path_factory, office, tmp_path, monkeypatch):
    """What a person who reads the page's advice comes to; the reports are those of the commands too."""
    monkeypatch.chdir(tmp_path)
    for served in served_page(tmp_path_factory, "enusc-synthetic"):
        person = Person(office.new_page(), served.address)
        person.press("2 Variables")
        person.hears("Leave all undecided columns out of the release")
        for column in ("tam_hogar", "VP_DC", "ingreso"):
            person.choose(column, "not released")
        person.press("Leave all undecided columns out of the release")
        person.hears(PLACES["2 Variables"])
        person.press("3 Risk")
        person.press("Take the usual limits")
        person.hears_verdict("NOT meet", 300)
        person.enter("records unique with the size and composition of their household", "")
        person.press("4 Protect")
        person.press("Add the usual first steps")
        person.step.nth(3).wait_for()
        person.choose("Add a step", "Leave variables out")
        person.choose("Columns", "Fact_Pers")
        person.press("Add this step")
        person.hears_verdict("meets every limit", 300)
        person.press("6 Release")
        files = {"recipe": "recipe.yml", "protected file": "protected.csv", "public report": "report.html"}
        person.writes(*files.items(), ("report for the office", "internal.html"), seconds=300)
        commands_give_the_same(person, served.work, tmp_path)


@pytest.mark.slow
def test_two_windows_are_two_workbenches(served, office):
    one = Person(office.new_page(), served.address)
    two = Person(office.new_page(), served.page)
    for person, k in ((one, "3"), (two, "4")):
        person.hears("Next: Variables")
        anew = person.page.get_by_role("button", name="Start anew")
        if anew.is_visible():  # where an earlier test has left its work
            anew.click()
            person.hears_verdict("You have not set a limit")
        person.press("3 Risk")
        person.enter("k (for an intruder who knows the true keys)", k)
        person.hears(f"asked for: at least {k}")
    assert "asked for: at least 3" in one.page.locator(".kanon-head").inner_text()
    two.press("Undo")
    two.hears_verdict("You have not set a limit")
    # what was done last is what a third one has
    three = Person(office.new_page(), served.page)
    one.enter("global risk", "0.2")
    one.hears("asked for: at most 20%")
    three.page.reload()
    three.hears("asked for: at least 3")
    three.hears("asked for: at most 20%")


@pytest.mark.slow
def test_a_window_is_told_that_its_process_died_and_that_the_workbench_has_ended(served, office):
    person = Person(office.new_page(), served.address)
    processes = Path("/proc", str(served.process.pid), "task", str(served.process.pid), "children")
    for kernel in processes.read_text().split():
        os.kill(int(kernel), signal.SIGKILL)
    alert = person.page.locator(".kanon-head").get_by_role("alert")
    alert.get_by_text("perhaps for lack of memory. Reload the page").wait_for()
    person.page.reload()
    person.hears("Next: Variables")
    assert not alert.count()
    assert served.end()[0] == 0
    alert.get_by_text("The workbench has ended").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_place_can_be_read(served, chromium, scheme):
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, color_scheme=scheme)
    person = Person(context.new_page(), served.address)
    person.hears("Next: Variables")
    if (anew := person.page.get_by_role("button", name="Start anew")).is_visible():
        anew.click()
    person.press("3 Risk")
    person.press("Take the usual limits")
    person.hears_verdict("NOT meet")
    person.press("4 Protect")
    person.press("Add the usual first steps")
    person.hears_verdict("NOT meet 2 of")
    found, cut = {}, {}
    for place in PLACES:
        person.goes(place)
        found[place] = findings(person.page, anew=True)
        for width in (1366, 390):
            person.page.set_viewport_size({"width": width, "height": 768})
            person.page.wait_for_timeout(200)
            cut[place, width] = person.page.evaluate(CUT)
        person.page.set_viewport_size({"width": 1366, "height": 768})
    context.close()
    assert not any(found.values()), found
    assert not any(cut.values()), cut
