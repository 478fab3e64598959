"""Settings as people write them in YAML: what is read, and what is said where it cannot be."""

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError
from kanon_lab.recipes import read_recipe
from kanon_lab.recipes.yaml_file import dump_yaml, read_yaml

SHARED = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def written(tmp_path):
    def _written(text):
        (tmp_path / "recipe.yml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "recipe.yml"

    return _written


CODES = """010 0 08 0o17 0x1F 0b11 1_000 12:30:45 190:20:30 yes No ON off y NaN .nan 1e3 1.5e3 01.5 +5 -0 2011-11-01
2011-11-01T10:00:00 None = <<""".split()


@pytest.mark.parametrize("code", [code for code in CODES if code != "0"])
def test_what_may_be_a_code_stays_as_it_is_written(written, code):
    assert read_yaml(written(f"a: {code}\nb: [{code}]\nc: {{{code}: 1}}\n")) == {"a": code, "b": [code], "c": {code: 1}}


def test_numbers_truth_and_nothing(written):
    text = "a: [0, 12, -3, 0.10, -0.5, .5, 1.0e+3, 2.5E-01, .inf, -.INF, true, False, null, ~, 'null', '7', Null]\nb:\n"
    infinite = float("inf")
    expected = [0, 12, -3, 0.1, -0.5, 0.5, 1000, 0.25, infinite, -infinite, True, False, None, None, "null", "7", None]
    assert read_yaml(written(text)) == {"a": expected, "b": None}


@given(st.text("0123456789_.:+-eEoxbB", min_size=1, max_size=7))
@SHARED
def test_no_number_is_read_that_is_not_written(written, text):
    try:
        value = read_yaml(written(f"a: [{text}]\n"))["a"]
    except DataError:
        return
    if len(value) == 1 and isinstance(value[0], (int, float)):
        number = re.fullmatch(r"-?(0|[1-9]\d*|(?=\.))(\.\d+([eE][+-]\d+)?)?", text)
        assert number and float(text) == value[0]
        assert "." in text or str(value[0]) == text
    elif len(value) == 1 and isinstance(value[0], str):
        assert value == [text]


LETTERS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Co", "Cn"]), max_size=9)
TEXTS = st.one_of(LETTERS, st.sampled_from(CODES), st.from_regex(r"[-+.0-9a-f:_]{1,6}", fullmatch=True)).map(
    lambda text: unicodedata.normalize("NFC", text)
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@given(st.dictionaries(TEXTS, NESTED, min_size=1, max_size=3))
@SHARED
def test_what_is_written_is_read_again(written, plain):
    assert repr(read_yaml(written(dump_yaml(plain)))) == repr(plain)


@given(st.integers(0, 200), st.integers(0, 3), st.sampled_from(list("[]{}:,-*&!|>'\"#%@`?\n\t \\") + ["\n  ", ""]))
@SHARED
def test_any_slip_is_one_line_that_names_a_line(written, at, gone, put):
    text = "key_variables: [age, 'sex']\nk_required: 3\nsteps:\n  - recode:\n      variable: age\n      width: 10\n"
    text = text[:at] + put + text[at + gone :]
    try:
        assert isinstance(read_yaml(written(text)), dict)
    except DataError as error:
        line = re.search(r"recipe\.yml: line (\d+)(?:, column \d+)?: ", str(error))
        assert line is None or 1 <= int(line[1]) <= text.count("\n") + 1
        assert line or re.search("does not hold settings|a space is missing", str(error))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("- age\n", "does not hold settings"),
        ("age", "does not hold settings"),
        ("key_variables:[age]\n", "a space is missing after a colon"),
        ("key_variables:[age]\nweight: w\n", "line 1: a space is missing after a colon"),
        ("key_variables:[age,\n  sex]\nweight: w\n", "line 3, column 7: a colon where none can be"),
        ("key_variables: [age]\nk_required:3\n", "line 2: a space is missing after a colon"),
        ("key_variables: [age]\nk_required:3\n\nsteps:\n", "line 2: a space is missing after a colon"),
        (
            "steps:\n- recode:\n    variable:age\n    width: 5\n",
            "line 3: a space is missing after a colon",
        ),
        ("a: 1\nimportance: {sex:1, age: 2}\n", "line 2, column 14: a space is missing after a colon"),
        ("key_variables: [age]\nweight\n", "line 2, column 1: a name without a colon"),
        ("key_variables: [age]\nweight w\nk: 3\n", "line 2, column 1: a name without a colon"),
        ("weight w\nk: 3\n", "line 2, column 2: a colon where none can be"),
        ("a: 1\nlabel: rest: all\n", "line 2, column 12: a colon where none can be"),
        ("key_variables: [age]\n  weight: w\n", "line 2, column 3: is not indented as the lines"),
        ("weight: w\n\n# why\n   k: 3\n", "line 4, column 4: is not indented as the lines"),
        ("steps:\n- a:\n    b: 1\n   c: 2\n", r"line 4, column \d+: is not indented as the lines"),
        ("steps:\n  - a: {b: 1}\n - c:\n", r"line 3, column \d+: is not indented as the lines"),
        ("steps: - a\n", r"line 1, column \d+: a - in the middle"),
        ("key_variables: [age]\n\tweight: w\n", r"line 2, column \d+: a tab"),
        ("key_variables: [age\nweight: w\n", r"line 1, column 16: a \[ or { is never closed, or lacks"),
        ("a: 1\nb: {c: [0, 15, null}\n", r"line 2, column 8: a \[ or { is never closed, or lacks"),
        ("a: [Who is it?]\n", r"line 1, column 4: .* holds a text with \? or #; .* such a text in quotes"),
        ("a: 1\nb: [0, 15\n", r"line 2, column 4: a \[ or { is never closed"),
        ("a: [x]]\n", r"line 1, column \d+: ] closes a bracket that was never opened"),
        ("key_variables: [age]\nweight: 'w\n", r"line 2, column \d+: a quotation mark is never closed"),
        ("label: 'it's'\n", "line 1, column 12: there is more text after the end of a value"),
        ('path: "a\\q"\n', r"line 1, column \d+: a backslash in double quotes"),
        ("a: 1\nmask: *\n", r"line 2, column \d+: a \* or & that means a reference here; put it in quotes"),
        ("top: @x\n", "line 1, column 6: a text that begins with a sign"),
        (
            "key_variables: [age]\nweight: w\nkey_variables: [sex]\n",
            "line 3, column 1: a name that is already there",
        ),
        (
            "key_variables: [age]\nsteps:\n- round: {base: 1, base: 2}\n",
            r"line 3, column \d+: a name that is already there",
        ),
        ("key_variables: &a [age]\nstrata: *a\n", r"line 2, column \d+: a reference to an anchor"),
        ("key_variables: !!python/name:os.system x\n", r"line 1, column \d+: a ! that means a type"),
        ("a: 1\nb: !!timestamp x\n", r"line 2, column \d+: a ! that means a type"),
        ("key_variables: [age]\n---\nweight: w\n", r"line 2, column \d+: --- begins another document"),
        ("key_variables: [age]\ntrue: 1\n", r"line 2, column \d+: a key that is a truth value"),
        ("a: 1\ngroups: {1.10: [a]}\n", r"line 2, column \d+: a number that is written otherwise; put it in quotes"),
        ("groups: {2.0: [a]}\n", r"line 1, column \d+: a number that is written otherwise; put it in quotes"),
        ("? [a]\n: 1\n", r"line 1, column \d+: a key that is neither text nor a number"),
        ("seed: " + "9" * 5000, "holds a number that is too long"),
        ("a: " + "[" * 50_000, "nested too deeply"),
        (b"\x00\x01\x02", "line 1: a control character"),
        (b"key_variables: [a\xf1o]", "is not text in UTF-8"),
        ("a" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_files_that_hold_no_settings(written, text, fault):
    path = written(text)
    with pytest.raises(DataError, match=fault) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_paths_that_are_no_file(tmp_path):
    (tmp_path / "folder.yml").mkdir()
    (tmp_path / "device.yml").symlink_to("/dev/zero")
    for name, fault in {
        "folder.yml": "is a folder",
        "absent.yml": "no such file",
        "device.yml": "not a regular file",
    }.items():
        with pytest.raises(DataError, match=fault):
            read_yaml(tmp_path / name)


def test_references_cannot_grow_without_end(written):
    lines = ["a0: &a0 [x, x, x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(DataError, match=r"line 2, column \d+: a reference"):
        read_yaml(written("\n".join(lines)))


def test_a_byte_order_mark_and_letters_of_two_signs_are_read(written):
    for name in (b"a\xc3\xb1o", b"an\xcc\x83o"):
        assert read_recipe(written(b"\xef\xbb\xbfkey_variables: [" + name + b"]\n")).spec.key_variables == ("a\u00f1o",)


@pytest.mark.parametrize("text", [r'na: "\ud800"', r'"\udfff": 1'])
def test_half_a_character_is_refused_in_values_and_names(written, text):
    with pytest.raises(DataError, match=r"line 1, column .* half a character"):
        read_yaml(written(text))
