"""Exercises in the page, as a learner uses them: from a file, without a network, by keyboard."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace

import pytest
import small_course
from browsing import HTML, absent
from cases import in_one_test
from pytest import MonkeyPatch

from kanon_book.course import find_exercises, solved_file
from kanon_book.course.judging import judge, readings

pytestmark = pytest.mark.browser

KEPT = "JSON.parse(localStorage.getItem('kanon-lab-progress')).exercises"
# Types each text into each form and presses its button; tells what the page says, and whether as of a right answer.
TYPE_ALL = """typed => Object.fromEntries(Object.entries(typed).map(([key, texts]) => {
  const form = [...document.querySelectorAll('.kanon-ready')].find(e => JSON.parse(e.dataset.exercise).key === key);
  const said = form.querySelector('.kanon-said');
  return [key, texts.map(text => {
    const field = form.elements.answer;
    if (field instanceof RadioNodeList) field.forEach(one => { one.checked = one.value === text; });
    else field.value = text;
    form.querySelector('button[type=submit]').click();
    return [said.classList.contains('kanon-right'), said.textContent.replace(/\\s+/g, ' ').trim()];
  })];
}))"""
# What stands in the page as explanation of each option or wrong answer.
REASONS = """() => Object.fromEntries([...document.querySelectorAll('.kanon-ready')].map(form => [
  JSON.parse(form.dataset.exercise).key,
  [...form.querySelectorAll('.kanon-reasons .kanon-says')].map(e => e.textContent.replace(/\\s+/g, ' ').trim()),
]))"""
WORDS = {
    "high": "The number is too high.",
    "low": "The number is too low.",
    "unit": "The digits are right",
    "rounded": "Your number is rounded",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a page of the small course, which is a file."""
    folder = tmp_path_factory.mktemp("course")
    with MonkeyPatch.context() as patch:
        small_course.use(folder, patch)
        out = small_course.build(folder)
    small_course.forget()
    return lambda name: (out / "book" / f"{name}.html").as_uri()


@pytest.fixture
def page(desk, address):
    """The chapter of the small course, never used before."""
    visit = desk.begin(local=("file:",))
    page = visit.page
    page.goto(address("hospital"))
    page.evaluate("localStorage.clear()")
    page.reload()
    yield page
    assert visit.errors == []
    assert visit.outside == []


def exercise(page, name, kind="exercise"):
    return page.locator(f"#{kind}-hospital-{name}")


def said(form):
    return " ".join(form.get_by_role("status").inner_text().split())


def test_texts_mean_the_same_numbers_as_in_python(page):
    asked = [[text, unit] for text, unit, _ in small_course.READINGS]
    found = page.evaluate("all => all.map(([text, unit]) => kanonCourse.readings(text, unit))", asked)
    told = dict(zip(map(tuple, asked), found, strict=True))
    assert told == {(text, unit): meant for text, unit, meant in small_course.READINGS}


def test_whatever_is_typed_means_the_same_numbers_as_in_python(page):
    rng = random.Random(18)
    signs = [*"0123456789", *"01234", ",", ".", ".", ",", " ", "'", "-", "/", "%", "e", " %", "\u202f", "persons"]
    texts = ["".join(rng.choices(signs, k=rng.randint(1, 8))) for _ in range(20_000)]
    asked = [[text, rng.choice(["", "per cent", "persons"])] for text in texts]
    found = page.evaluate("all => all.map(([text, unit]) => kanonCourse.readings(text, unit))", asked)
    meant = [readings(text, unit) for text, unit in asked]
    assert sum(map(bool, meant)) > 2_000
    assert [one for one in zip(asked, found, meant, strict=True) if one[1] != one[2]] == []


def test_a_number_is_checked_by_keyboard_and_what_is_said_is_a_status(page):
    form = exercise(page, "alone")
    field = form.get_by_label("Your answer")
    field.focus()
    page.keyboard.type("33,3")
    page.keyboard.press("Enter")
    assert said(form) == "Not yet. You divided by the number of classes; the question is about patients."
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("16.7 %")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check"
    page.keyboard.press("Space")
    assert said(form) == "Right. 16.67 per cent"
    assert field.get_attribute("aria-invalid") == "false"
    assert form.locator("legend").inner_text().endswith("solved")
    answers = ["33,3", "16.7 %"]
    assert page.evaluate(KEPT)["hospital.alone"] == {"right": True, "tries": 2, "hints": 0, "answers": answers}


def test_a_choice_is_made_by_keyboard_and_each_one_is_explained(page):
    form = exercise(page, "harmless")
    form.get_by_role("button", name="Check").press("Enter")
    assert said(form) == "Choose one of the answers first."
    form.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert said(form) == "Not yet. A large file has small classes too."
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert said(form) == "Right. Key variables still point at persons."
    assert page.evaluate(KEPT)["hospital.harmless"]["tries"] == 2


def test_every_control_has_a_name_and_every_form_a_group(page):
    nameless = """() => [...document.querySelectorAll('.kanon-exercise :is(input, button, summary)')]
      .filter(e => !(e.textContent || e.labels[0].textContent).trim()).length"""
    assert page.evaluate(nameless) == 0
    groups = page.get_by_role("group")  # folded parts are groups too
    names = page.locator(".kanon-exercise legend").all_inner_texts()
    assert len(names) == 5 <= groups.count()
    assert names[:2] == ["Guess first: Guess first", "Exercise 1.1 Alone in the hospital compute"]
    assert page.evaluate("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == page.evaluate(
        "document.querySelectorAll('[id]').length"
    )


def test_hints_come_one_after_another(page):
    form = exercise(page, "alone")
    first, second = form.locator(".kanon-hint").all()
    assert first.is_visible()
    assert not second.is_visible()
    first.locator("summary").press("Enter")
    second.wait_for(state="visible")
    assert page.evaluate(KEPT)["hospital.alone"]["hints"] == 1
    assert not form.locator(".kanon-explained").is_visible()
    form.locator(".kanon-solution summary").press("Enter")
    assert form.locator(".kanon-explained").is_visible()


def test_what_follows_a_guess_is_shown_after_it_and_stays(page):
    form, inside = exercise(page, "guess", "guess"), page.get_by_role("button", name="A chart to move")
    assert inside.count() == 0
    form.get_by_label("Your guess").fill("50")
    form.get_by_label("Your guess").press("Enter")
    assert said(form) == "It is 16.67 patients. Your guess was higher."
    assert inside.is_visible()
    assert "solved" not in form.inner_text()
    page.reload()
    assert inside.is_visible()


def test_nobody_has_to_guess(page):
    exercise(page, "guess", "guess").get_by_role("button", name="Show it without a guess").press("Enter")
    assert page.get_by_role("button", name="A chart to move").is_visible()
    assert page.evaluate("document.activeElement.className") == "kanon-guessed"


def test_progress_is_counted_saved_and_forgotten(page, address, tmp_path):
    form = exercise(page, "classes")
    form.get_by_label("Your answer").fill("16")
    form.get_by_label("Your answer").press("Enter")
    assert page.locator(".kanon-bar span").inner_text() == "1 of 4 exercises solved."
    page.goto(address("later"))
    assert page.locator(".kanon-exercise").count() == 2
    page.goto(address("preface"))
    assert page.locator("[data-chapter=hospital]").inner_text() == "1 of 4"
    kept = page.locator(".kanon-progress")
    assert (
        kept.get_by_role("status").inner_text()
        == "1 of 4 exercises solved. Your answers are kept in this browser only."
    )
    with page.expect_download() as download:
        kept.get_by_role("button", name="Save as a file").press("Enter")
    assert download.value.suggested_filename == "kanon-lab-progress.json"
    download.value.save_as(tmp_path / "kept.json")
    saved = json.loads((tmp_path / "kept.json").read_text("utf-8"))
    assert saved == {"exercises": {"hospital.classes": {"right": True, "tries": 1, "hints": 0, "answers": ["16"]}}}
    for answer in ("dismiss", "accept"):
        page.once("dialog", lambda dialog, answer=answer: getattr(dialog, answer)())
        kept.get_by_role("button", name="Start again").press("Enter")
        assert page.evaluate(KEPT) == (saved["exercises"] if answer == "dismiss" else {})
    assert kept.get_by_role("status").inner_text().startswith("0 of 4")
    # What was saved is loaded again, and added to what is there.
    page.goto(address("hospital"))
    form = exercise(page, "harmless")
    form.get_by_label("b)").check()
    form.get_by_role("button", name="Check").click()
    page.goto(address("preface"))
    with page.expect_file_chooser() as chooser:
        kept.get_by_role("button", name="Load a file").press("Enter")
    chooser.value.set_files(tmp_path / "kept.json")
    page.wait_for_function("document.querySelector('.kanon-progress').textContent.includes('are here now')")
    wrong = {"right": False, "tries": 1, "hints": 0, "answers": ["b"]}
    assert page.evaluate(KEPT) == saved["exercises"] | {"hospital.harmless": wrong}
    assert kept.get_by_role("status").inner_text().startswith("1 of 4")
    (tmp_path / "other.json").write_text("no progress")
    page.locator("input[type=file]").set_input_files(tmp_path / "other.json")
    page.wait_for_function("document.querySelector('.kanon-progress').textContent.includes('no saved answers')")
    assert page.evaluate(KEPT) == saved["exercises"] | {"hospital.harmless": wrong}


def test_without_solutions_answers_are_kept_and_not_judged(desk, tmp_path):
    with MonkeyPatch.context() as patch:
        small_course.use(tmp_path, patch)
        out = small_course.build(tmp_path, kanon_solutions=False)
    small_course.forget()
    visit = desk.begin(local=("file:",))
    page = visit.page
    page.goto((out / "book" / "hospital.html").as_uri())
    page.evaluate("localStorage.clear()")
    page.reload()
    for name, fill in (("alone", lambda form: form.get_by_label("Your answer").fill("17 %")), ("harmless", None)):
        form = exercise(page, name)
        fill(form) if fill else form.get_by_label("c)").check()
        form.get_by_role("button", name="Keep my answer").click()
        assert said(form) == "Your answer is kept, not judged. You can change it."
    kept = {key: (record["right"], record["answers"]) for key, record in page.evaluate(KEPT).items()}
    assert kept == {"hospital.alone": (False, ["17 %"]), "hospital.harmless": (False, ["c"])}
    assert visit.errors == visit.outside == []


@in_one_test(
    "found",
    [
        *("null", "[", '"text"', '{"exercises": "text"}', '{"exercises": true}', '{"exercises": ["hospital.classes"]}'),
        '{"exercises": {"hospital.classes": null, "hospital.alone": 1, "__proto__": {"right": true}}}',
        '{"exercises": {"hospital.classes": {"right": "<b>no</b>", "tries": "<b>", "hints": -1, "more": {}}}}',
    ],
)
def test_what_is_damaged_where_progress_is_kept_is_left_out(page, address, found):
    page.goto(address("hospital"))
    page.evaluate("text => localStorage.setItem('kanon-lab-progress', text)", found)
    page.reload()
    form = exercise(page, "classes")
    assert page.locator(".kanon-bar span").inner_text() == "0 of 4 exercises solved."
    form.get_by_label("Your answer").fill("16")
    form.get_by_label("Your answer").press("Enter")
    assert said(form) == "Right. 16"
    page.goto(address("preface"))
    told = page.locator(".kanon-progress").get_by_role("status").inner_text()
    assert told == "1 of 4 exercises solved. Your answers are kept in this browser only."
    assert page.evaluate(KEPT)["hospital.classes"] == {"right": True, "tries": 1, "hints": 0, "answers": ["16"]}


def test_where_nothing_may_be_kept_answers_are_checked_all_the_same(chromium, address):
    context = chromium.new_context()
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error.stack))  # Sphinx's own script has some
    page.goto(address("hospital"))
    form = exercise(page, "classes")
    form.get_by_label("Your answer").fill("16")
    form.get_by_label("Your answer").press("Enter")
    assert said(form) == "Right. 16"
    page.goto(address("preface"))
    assert "forgotten when you leave" in page.locator(".kanon-progress").inner_text()
    assert [stack for stack in errors if "kanon-course" in stack] == []
    context.close()


def test_without_javascript_there_is_all_to_read_and_nothing_to_press(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address("hospital"))
    assert page.get_by_text("Which share of the patients").is_visible()
    assert page.get_by_role("button", name="A chart to move").is_visible()
    assert page.get_by_role("button", name="Check").count() == 0
    assert page.get_by_role("textbox").count() == 0
    assert all(hint.is_visible() for hint in page.locator(".kanon-hint").all())
    page.locator("#exercise-hospital-harmless .kanon-solution summary").click()
    assert page.get_by_text("A large file has small classes too.").is_visible()
    context.close()


def test_on_paper_solutions_stand_at_the_end(page):
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    solutions = page.locator(".kanon-solutions")
    assert solutions.get_by_text("There are 16 different pairs.").is_visible()
    assert not exercise(page, "classes").get_by_text("There are 16 different pairs.").is_visible()
    assert page.evaluate(
        "document.querySelector('.kanon-solutions').compareDocumentPosition(document.querySelector('#what-to-remember'))"
        " & Node.DOCUMENT_POSITION_PRECEDING"
    )
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert solutions.count() == 0
    page.emulate_media(media="null")


def typed(solved) -> list[str]:
    """What is typed into an exercise: the answer, each wrong one, and others."""
    if solved.options:
        return [*"abcde"[: len(solved.options)]]
    wrong = [f"{each['answer']:.10g}" for each in solved.wrong]
    other = [solved.answer * 100, solved.answer / 100, solved.answer * 3 + 1, -solved.answer - 1]
    other += [math.floor(solved.answer), math.ceil(solved.answer)]
    return [solved.shown, repr(solved.answer), *wrong, *(f"{each:.8g}" for each in other), f"{solved.shown} %", "x"]


def expected(solved, text, reasons) -> tuple[bool, str]:
    """Whether Python takes a text for right, and words that must be said of it."""
    if solved.options:
        place = "abcde".index(text)
        return place == solved.answer, reasons[place]
    if not (values := readings(text, solved.unit)):
        return False, "This cannot be read as a number."
    right, known = judge(solved.to_dict(), values)
    if solved.depth == "predict":
        return right, f"It is {solved.shown}"
    return right, "Right." if right else reasons[known] if isinstance(known, int) else WORDS[known]


def differences(page, chapter, solved) -> list[str]:
    """Texts of which the open page says another thing than Python does."""
    by_key = {f"{chapter}.{each.id}": each for each in solved}
    reasons = page.evaluate(REASONS)
    assert by_key.keys() <= reasons.keys(), "the page has not all exercises"
    told = page.evaluate(TYPE_ALL, {key: typed(each) for key, each in by_key.items()})
    found = []
    for key, each in by_key.items():
        for text, (right, words) in zip(typed(each), told[key], strict=True):
            wanted, says = expected(each, text, reasons[key])
            if right != wanted or says not in words:
                found.append(f"{key}: {text!r} is {wanted} ({says}), and in the page {right} ({words})")
    return found


def test_page_and_notebook_check_alike(page):
    solved = solved_file(small_course.FILE)
    assert differences(page, "hospital", solved) == []
    other = [replace(solved[0], low=33, high=34)]
    assert differences(page, "hospital", other) != []


@pytest.fixture
def bare(desk):
    """A visit in which a page loads no script but that of the exercises."""
    visit = desk.begin(local=("file:",))
    others = re.compile(r"\.(js|css|svg|png|woff2?)(\?|$)")
    visit.page.route(others, lambda route: route.continue_() if "kanon-course" in route.request.url else route.abort())
    yield visit
    visit.page.unroute(others)


@pytest.mark.parametrize("chapter", find_exercises())
def test_every_exercise_is_checked_alike_in_page_and_notebook(bare, chapter, solved):
    page, path = bare.page, HTML / "book" / f"{chapter}.html"
    if not path.exists():
        absent("the book is not built: run make book")
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    page.evaluate("localStorage.clear()")
    assert differences(page, chapter, solved(find_exercises()[chapter])) == []
    assert bare.outside == []
