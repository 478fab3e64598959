"""Sheets whose cells look empty though they are not."""

import re
import zipfile

import openpyxl
import pytest

from kanon_lab.data import read_microdata
from kanon_lab.errors import DataError


def fault_of(path, columns=None):
    with pytest.raises(DataError) as caught:
        read_microdata(path, columns=columns)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def lists(frame):
    return {name: column.tolist() for name, column in frame.items()}


def a_book(path, change):
    book = openpyxl.Workbook()
    for row in [("a", "b", "c"), (1, 2, 3), (4, 5, 6), (7, 8, 9)]:
        book.active.append(row)
    change(book.active)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"B3": "=A3+1"}, "row 3: column b has a formula without a computed value"),
        ({"B4": "#N/A"}, "row 4: column b has an error value"),
        ({"B2": "#DIV/0!", "B4": "#N/A"}, "row 2: column b has an error value"),
        ({"A3": "=1", "B3": "=1", "C3": None}, "row 3: column a has a formula"),
    ],
)
def test_cells_of_a_sheet_that_only_look_empty(tmp_path, cells, fault):
    path = a_book(tmp_path / "a.xlsx", lambda sheet: [setattr(sheet[at], "value", cells[at]) for at in cells])
    assert fault in fault_of(path)
    if "A3" in cells:  # a row without any value is not called empty for what other columns hold
        assert fault in fault_of(path, columns=["a"])
        assert "row 3: column a has a formula" in fault_of(path, columns=["c"])
    else:
        assert lists(read_microdata(path, columns=["a"])) == {"a": [1, 4, 7]}


def test_merged_cells_of_a_sheet(tmp_path):
    path = a_book(tmp_path / "a.xlsx", lambda sheet: sheet.merge_cells("B2:C3"))
    assert "row 2: column c has merged cells" in fault_of(path, columns=["c", "a"])
    assert lists(read_microdata(path, columns=["a"])) == {"a": [1, 4, 7]}


def test_a_formula_may_give_a_number_or_an_empty_text(tmp_path):
    path = a_book(tmp_path / "plain.xlsx", lambda sheet: None)
    computed = {b"B2": b"<f>1+1</f><v>2</v>", b"B3": b'<f>""</f><v></v>'}
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        for name in plain.namelist():
            content = plain.read(name)
            for at, cell in computed.items():
                kind = b' t="str"' if at == b"B3" else b""
                content = re.sub(b'<c r="%b".*?</c>' % at, b'<c r="%b"%b>%b</c>' % (at, kind, cell), content)
            book.writestr(name, content)
    assert read_microdata(tmp_path / "a.xlsx")["b"].fillna(-1).tolist() == [2, -1, 8]
