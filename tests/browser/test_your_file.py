"""The page "Your file": it counts as the package does, connects to nothing, and shows no cell."""

from __future__ import annotations

import base64
import json
import random
import re
import shlex
import string
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations

import pytest

from kanon_book.pages import your_file
from kanon_book.pages.exercises import asset
from kanon_book.words import texts
from kanon_lab import KeySpec, class_table, cli, load_microdata
from kanon_lab.data import read_file
from kanon_lab.errors import DataError
from kanon_lab.methods import Hierarchy, cut_bands
from kanon_lab.show.page import style

pytestmark = pytest.mark.browser

CELLS = {
    "code": ["01", "1", "1.0", "1", "01", "NA", "", "2"],
    "whole": ["3", "17", "0", "42", " 8 ", "", "100", "5"],
    "decimal": ["0.5", "-0.0", "0.0", "1.25", "", "2.5"],
    "comma": ["0,5", "1,25", "2", "", "1,5"],
    "point": ["1.234", "2.345", "12.345", ""],
    "text": ["a", "b", "ä", "a ", "c\u00a0", "", "NA", "x y", "?"],
    "quoted": ['say ""a""', "one; two, three", "two\nlines", "", "plain"],
    "place": ["8001", "37003", "37002", "8002"],
    "weight": ["1.5", "2.25", "3", "0.1"],
}
# What the package says of a fault, and the page's word for it.
FAULTS = {
    "fewer cells": "fewer",
    "more cells": "more",
    "there is text after": "after_quote",
    "never closed": "open_quote",
    "same name": "same_name",
    "no column names": "no_names",
    "no records": "no_records",
    "is empty": "empty",
    "zero bytes": "zero",
    "wrong encoding": "encoding",
    "only one column": "one_column",
    "is not .csv": "not_csv",
}


def generated(seed: int) -> tuple[bytes, dict[str, str]]:
    """A csv file of a few rows, and which of its columns are of which kind."""
    rng = random.Random(seed)
    kinds = rng.sample([kind for kind in CELLS if kind != "weight"], rng.randint(2, 5)) + ["weight"] * (seed % 2)
    separator = rng.choice(",;;\t|")
    kinds = [kind for kind in kinds if kind != "comma" or separator != ","]
    line = rng.choice(["\n", "\r\n"])
    names = dict(zip(kinds, rng.sample(["edad", "sex", "código", "a b", "x,y", "región", "w", "k"], len(kinds))))
    few = {kind: rng.sample(CELLS[kind], min(len(CELLS[kind]), rng.choice([2, 3, 6]))) for kind in kinds}
    rows = [[names[kind] for kind in kinds]]
    rows += [[rng.choice(few[kind]) for kind in kinds] for _ in range(rng.randint(1, 60))]

    def written(cell: str) -> str:
        must = any(sign in cell for sign in f'"\n{separator}') or (seed % 5 == 0 and rng.random() < 0.3)
        return f'"{cell}"' if must else cell

    lines = [separator.join(map(written, row)) for row in rows]
    if seed % 7 == 0:
        lines.insert(rng.randint(1, len(lines)), "")
    if seed % 11 == 3 and len(lines) > 2:
        lines[rng.randint(2, len(lines) - 1)] += rng.choice([separator, f"{separator}x{separator}"])
    text = line.join(lines) + line * rng.choice([0, 1, 2])
    if seed % 13 == 1:
        text = f"sep={separator}{line}{text}"
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"])
    return text.encode(encoding), names


FAULTY = [
    b"",
    b"a,b\n",
    b"\na,b\n1,2\n",
    b"a,a\n1,2\n",
    b"a,b\n1,2\n3\n",
    b"a,b\n\n1,2\n3,4,5\n",
    b'a,b\n"1\n2",3\n4\n',
    b'a;b\n"1" ;2\n',
    b'a;b\nx;y\n"1;2\n',
    b"a:b\n1:2\n3:4\n",
    b"a,b\n1,\xc3\xb1\n2,\xf1\n3,\xc3\xb1\n",
    b"a,b\n1,\x81\x8d\n",
    b'"',
    "a,b\n1,2\n".encode("utf-16-le"),
    b"PK\x03\x04\x14\x00",
    b"PAR1xxxx",
]
SOUND = [
    b'a\n1\n\n \n""\n2\n',
    b"a,b\r1,2\r3,4\r",
    b"sep=;\na;b\n1;2\n3;4\n",
    b"a,b\n1e400,1\n2,3\n",
    b"a,b\n-0,1\n0,2\n",
    b'a,b\n1,"x\n\ny"\n\n1,"x\n\ny"\n',
    b"a,,b\n1,2,3\n1,4,5\n",
    b"caf\xe9,b\n\xe1,1\n\xe9,1\n",
    "a,\u200bcafe\u0301 \nN,co\u0301lico\n N\u2060,\u00a0cólico\n\u200bN\ufeff,cólico\u3000\n\u200b ,c\n".encode(),
]


def page_of(language="en"):
    """A page with nothing but the fields."""
    head = f'<meta charset="utf-8">{your_file.META}<title>Own</title>'
    css = f"<style>{style()}{asset('your_file.css')}</style>"
    body = f"<main>{your_file.page(language)}</main><script>{your_file.script(language)}</script>"
    return f"<!DOCTYPE html><html lang='{language}'><head>{head}{css}</head><body>{body}</body></html>"


@pytest.fixture(scope="module")
def own_page(tmp_path_factory):
    """Address of that page, as a file."""
    path = tmp_path_factory.mktemp("own") / "page.html"
    path.write_text(page_of(), "utf-8")
    return path.as_uri()


@pytest.fixture
def visit(desk, request):
    """A visit that reaches files and nothing else."""
    return desk.begin(getattr(request, "param", 1280), local=("file:",))


ASK = """async (asked) => {
  const scope = {};
  engine(scope);
  const found = [];
  const answer = (data) => new Promise((resolve) => {
    scope.postMessage = (said) => said.share === undefined && resolve(said);
    scope.onmessage({ data });
  });
  for (const { bytes, na, measure } of asked) {
    const file = new File([Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0))], "own.csv");
    const read = await answer({ file, na });
    found.push(read.done && measure ? await answer({ measure }) : read);
  }
  return found;
}"""


def ask(visit, asked):
    visit.page.goto("about:blank")
    visit.page.add_script_tag(content=your_file.engine())
    packed = [data | {"bytes": base64.b64encode(data["bytes"]).decode()} for data in asked]
    return visit.page.evaluate(ASK, packed)


def counted(path, measure, changes):
    """What the package says of a file."""
    frame = read_file(path, na=measure["na"]).frame
    for name, change in changes.items():
        frame[name] = recoded(frame[name], change)
    spec = KeySpec(measure["keys"], weight=measure["weight"] or None, missing=measure["missing"])
    table = class_table(frame, spec)
    sizes = sorted({*table.f_k.tolist()})
    return {
        "rows": table.n,
        "classes": table.n_classes,
        "k": table.k_achieved,
        "uniques": table.sample_uniques,
        **{f"below_{k}": records for k, records in table.violations([3, 5]).items()},
        "distribution": [[f, int((table.f_k == f).sum()), int(table.records[table.f_k == f].sum())] for f in sizes],
        "sum": pytest.approx(float(table.F_k @ table.records)),
        "least": pytest.approx(float(table.F_k.min())),
    }


def recoded(column, change):
    """A column as the steps of the recipe make it."""
    (size,) = change.values()
    if "width" in change:
        return cut_bands(column, width=size)
    length = int(column.dropna().astype(str).str.len().max())
    return Hierarchy.from_masks([length, size], width=length).recode(column, 1)


def singles_of(path, measure):
    """Sample uniques of each two and three of more keys."""
    frame, keys = read_file(path, na=measure["na"]).frame, measure["keys"]
    for name, change in measure["changes"].items():
        frame[name] = recoded(frame[name], change)
    sets = [set_ for size in (2, 3) if size < len(keys) for set_ in combinations(keys, size)]
    spec = {"missing": measure["missing"]}
    return {set_: class_table(frame, KeySpec(set_, **spec)).sample_uniques for set_ in sets}


def test_generated_files_are_counted_as_the_package_counts_them(visit, tmp_path):
    asked = []
    for seed in range(48):
        content, names = generated(seed)
        rng = random.Random(seed)
        keys = [name for kind, name in names.items() if kind != "weight"]
        offered = {"whole": {"width": 5}, "decimal": {"width": 2}, "place": {"first": rng.choice([1, 2, 3])}}
        changes = {name: offered[kind] for kind, name in names.items() if kind in offered and rng.random() < 0.7}
        measure = {
            "keys": rng.sample(keys, rng.randint(1, len(keys))),
            "weight": names.get("weight", ""),
            "missing": rng.choice(["wildcard", "category"]),
            "na": rng.choice([[], [], ["NA"], ["NA", "?"]]),
        }
        measure["changes"] = {name: change for name, change in changes.items() if name in measure["keys"]}
        asked.append({"bytes": content, "na": measure["na"], "measure": measure})
    names = [["a"], ["a", "b"], ["a", "b"], ["a"], ["a"], ["a", "b"], ["a"], ["café"], ["a", "café"]]
    for content, keys in zip(SOUND, names, strict=True):
        measure = {"changes": {}, "keys": keys, "weight": "", "missing": "wildcard", "na": []}
        asked.append({"bytes": content, "na": [], "measure": measure})
    found = ask(visit, asked)
    path = tmp_path / "own.csv"
    refused = 0
    for number, (data, said) in enumerate(zip(asked, found, strict=True)):
        path.write_bytes(data["bytes"])
        try:
            expected = [counted(path, data["measure"], changes) for changes in ({}, data["measure"]["changes"])]
        except DataError as error:
            refused += 1
            assert "fault" in said, (number, said, str(error))
            row = re.search(r"row (\d+)", str(error))
            assert said["parts"].get("row") == (row and int(row[1])), (number, said, str(error))
            continue
        assert "done" in said, (number, said, data)
        before, after = said["done"]
        singles = {tuple(names): alone for names, alone in after.pop("singles")}
        before.pop("singles", None)
        assert [before, after] == expected, (number, data)
        assert singles == singles_of(path, data["measure"]), number
    assert 3 <= refused <= 12


def test_more_keys_than_a_number_has_bits(visit, tmp_path):
    rng = random.Random(3)
    keys = [f"c{i}" for i in range(36)]
    rows = [keys, *([rng.choice(["a"] * 9 + ["b", ""]) for _ in keys] for _ in range(40))]
    path = tmp_path / "own.csv"
    path.write_text("\n".join(map(",".join, rows)), "utf-8")
    measure = {"changes": {}, "keys": keys, "weight": "", "missing": "wildcard", "na": []}
    (said,) = ask(visit, [{"bytes": path.read_bytes(), "na": [], "measure": measure}])
    assert said["done"][0].items() >= counted(path, measure, {}).items()


def test_faults_are_those_of_the_package(visit, tmp_path):
    found = ask(visit, [{"bytes": content, "na": []} for content in FAULTY])
    path = tmp_path / "own.csv"
    for content, said in zip(FAULTY, found, strict=True):
        path.write_bytes(content)
        with pytest.raises(DataError) as raised:
            read_file(path)
        told = str(raised.value).removeprefix(str(path))
        (word,) = [word for words, word in FAULTS.items() if words in told][:1]
        row = re.search(r": row (\d+)", told)
        assert (said["fault"], said["parts"].get("row", 1)) == (word, int(row[1]) if row else 1), (content, told)


STATUS, ROLES, RESULT = ".kanon-own-status", ".kanon-own-roles:not([hidden])", ".kanon-own-result:not([hidden])"


def choose(page, path):
    page.set_input_files(".kanon-own input[type=file]", path)
    page.wait_for_selector(ROLES)


def changed(page, name, change, size=None):
    row = page.locator(".kanon-own-columns tr", has=page.get_by_label(name, exact=True))
    row.get_by_label(name, exact=True).check()
    row.locator("select").select_option(change)
    if size is not None:
        row.locator("input[type=number]").fill(str(size))


def number_shown(page, which, name):
    return int(page.inner_text(f'[data-value="{which} {name}"]').partition(" (")[0].replace(",", ""))


def test_command_and_recipe_give_the_same_as_the_page(visit, own_page, tmp_path, monkeypatch, capsys):
    """With bands, first characters and a key left out; names that a shell and YAML would take for something else."""
    frame = load_microdata("health-survey").rename(
        columns={"age": "it's,\nage", "sex": "nu\x7f\u2028ll", "education": "-e"}
    )
    frame.loc[::9, "-e"] = "NA"
    path = tmp_path / "-my survey.csv"
    frame.to_csv(path, index=False)
    page = visit.page
    page.goto(own_page)
    page.fill("[name=na]", "NA")
    choose(page, path)
    changed(page, "postcode", "first", 2)
    changed(page, "it's,\nage", "width", 10)
    changed(page, "nu\x7f\u2028ll", "same")
    changed(page, "-e", "drop")
    page.select_option("[name=weight]", "weight")
    page.keyboard.press("Tab")
    page.click("button[type=submit]")
    page.wait_for_selector(RESULT)
    shown = [{name: number_shown(page, which, name) for name in ("k", "uniques", "classes")} for which in (0, 1)]
    assert shown[0] != shown[1]
    assert page.inner_text(STATUS) == page.inner_text(".kanon-own-words")
    monkeypatch.chdir(tmp_path)
    command = shlex.split(page.inner_text(".kanon-own-command"))
    assert cli.run([*command[1:], "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    told = {"k": said["k_achieved"], "uniques": said["sample_uniques"], "classes": said["classes"]}
    assert told == shown[0]
    assert page.inner_text('[data-value="0 sum"]') == f"{said['sum_population_frequency']:,.1f}"
    (tmp_path / "recipe.yml").write_text(page.inner_text(".kanon-own-recipe"), "utf-8")
    assert cli.run(["protect", command[2], "--recipe", "recipe.yml", "--dry-run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    risk = said["steps"][-1]["risk"]
    told = {"k": risk["k_achieved"], "uniques": said["violations"]["wildcard"]["2"], "classes": risk["classes"]}
    assert told == shown[1]


def test_the_page_proves_that_nothing_leaves_it(visit, tmp_path):
    """From a server, which hears nothing more; and where a browser lets anything through, no file is read."""
    heard = []
    without = re.sub(r"<meta http-equiv[^>]*>", "", page_of())

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            heard.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((without if "without" in self.path else page_of("es")).encode())

        def log_message(self, *_):
            pass

    path = tmp_path / "own.csv"
    path.write_text("edad;sexo;ciudad\n30;f;CANARY\n30;f;CANARIES\n41;m;CANARY\n", "utf-8")
    (tmp_path / "ragged.csv").write_text("edad;sexo\n30;CANARY\n31\n", "utf-8")
    page = visit.page
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        page.goto(f"{address}/own")
        before = [each for each in heard if "favicon" not in each]
        choose(page, path)
        answers = page.locator("[data-way]").all_inner_texts()
        assert answers == ["denegado (connect-src)"] * 4 + ["denegado (img-src)", "denegado (connect-src)"]
        # By keyboard alone: from the file to the keys, and Enter to count.
        page.focus(".kanon-own input[type=file]")
        for _ in range(50):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "key":
                page.keyboard.press("Space")
            if page.evaluate("document.activeElement.type") == "submit":
                break
        page.keyboard.press("Enter")
        page.wait_for_selector(RESULT)
        assert page.inner_text(STATUS) == "El k alcanzado es 1; 3 registros son únicos en la muestra, en 3 clases."
        assert page.inner_text('[data-value="0 uniques"]') == "3 (100\N{NO-BREAK SPACE}%)"
        assert "CANAR" not in page.content()
        page.set_input_files(".kanon-own input[type=file]", tmp_path / "ragged.csv")
        page.wait_for_function(
            "() => document.querySelector('.kanon-own-status').textContent.startsWith('Fila 3: menos')"
        )
        assert "CANAR" not in page.content()
        assert not page.is_visible(".kanon-own-roles")
        assert [each for each in heard if "favicon" not in each] == before
        page.goto(f"{address}/without")
        page.set_input_files(".kanon-own input[type=file]", path)
        page.wait_for_function(
            "() => document.querySelector('.kanon-own-status').textContent.includes('no file is read')"
        )
        assert not page.is_visible(".kanon-own-roles")
        server.shutdown()


@pytest.mark.parametrize("visit", [390], indirect=True)
def test_reading_can_be_cancelled_on_a_telephone(visit, own_page, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("key,place\n" + "".join(f"{i},{i % 50}\n" for i in range(400_000)), "utf-8")
    page = visit.page
    page.goto(own_page)
    page.set_input_files(".kanon-own input[type=file]", path)
    # By the page itself: a busy machine would press it after the end.
    page.wait_for_function("""() => {
      const cancel = document.querySelector(".kanon-own-cancel");
      return document.querySelector("progress").value > 0 && (cancel.click(), true);
    }""")
    page.wait_for_selector(f"{STATUS}:has-text('Cancelled')")
    assert not page.is_visible(".kanon-own-roles")
    path.write_text("key,place\n1,2\n1,3\n", "utf-8")
    choose(page, path)
    changed(page, "place", "drop")
    page.get_by_label("key", exact=True).check()
    page.click("button[type=submit]")
    page.wait_for_selector(RESULT)
    assert page.inner_text('[data-value="0 k"]') == "1"
    assert page.inner_text('[data-value="1 k"]') == "2"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_words_have_the_same_parts_in_both_languages():
    def parts(word):
        return {name for _, name, _, _ in string.Formatter().parse(word) if name}

    words = {language: texts("your file", language) for language in ("en", "es")}
    assert all(parts(words["es"][key]) == parts(word) for key, word in words["en"].items())
