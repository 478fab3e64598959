"""INE Chile's guide: its transcription held against the text, cell by cell and statement by statement."""

import re
from collections import Counter

import pytest

from kanon_book.studies import published_figures
from kanon_book.studies.ine_chile import cells

SOURCE = "ine-chile-2023"
FILE = "ine-chile-guia-sdc-2023.txt"
AGES = "Ages (8.2.1.3)"
#: The columns of the tables that the text has as rows of tabs, under the first words of their headings.
TABBED = {
    "Tabla 7.1": ("Id\tÁrea", "area gender education employment weight f_k F_k".split()),
    "Tabla 7.2": ("Id\tGénero", "gender education employment f_k".split()),
    "Tabla 8.1": ("Método\t", ["classification", "data", "function"]),
    "Tabla 8.2": (
        "Individuo\tRegión",
        ["region", "sex", "religion", "f_k", "region after", "sex after", "religion after", "f_k after"],
    ),
    "Tabla 8.4": ("ID\tSexo", ["sex", "zone", "education", "sex after", "zone after", "education after"]),
}
#: Chapters whose first lines stand before their first numbered section.
CHAPTERS = {"Prefacio": "Prefacio", "2": "Introducción", "4": "Tipos de liberación de datos"}
#: Statements that the end of a page tears in two, or that stand in a list: what is looked for in their place.
WHOLE = {
    "high-risk": ["3, 5,", "7 y 8 en la Tabla"],
    **{f"prob-size-{i}": ["prob=c(0.60,0.27, 0.13"] for i in (1, 2, 3)},
    **{f"prob-etnia-{i}": ["prob=c(0.2,0.1,0.1,0.1, 0.95))"] for i in range(1, 6)},
}


@pytest.fixture(scope="module")
def text(source_text):
    return source_text(FILE)


@pytest.fixture(scope="module")
def lines(text):
    return text.splitlines()


def after(lines, heading):
    """The lines below the one that begins so, up to the next empty one; each split at its tabs."""
    (start,) = (i for i, line in enumerate(lines) if line.startswith(heading))
    rows = []
    for line in lines[start + 1 :]:
        if not line:
            return rows
        rows.append([cell.strip(" '‘ʻ") for cell in line.split("\t")])
    return rows


def printed(name, columns):
    return cells(name)[columns].reset_index().to_numpy().tolist()


def between(text, start, end):
    return text.partition(start)[2].partition(end)[0]


@pytest.mark.parametrize("name", TABBED)
def test_rows_of_a_table(lines, name):
    heading, columns = TABBED[name]
    assert printed(name, columns) == after(lines, heading)


def test_tabla_6_1_and_6_2(lines):
    functions = {row[0] + row[1] * (row[0] == "Excel"): row[3] for row in after(lines, "Tipo/software\t")}
    functions = {name.replace("Excel.", "Excel ."): function for name, function in functions.items()}
    found = cells("Tabla 6.1")["function"]
    assert {name: functions.pop(next(row for row in functions if row.startswith(name))) for name in found.index} == (
        found.to_dict()
    )
    in_the_text = published_figures(SOURCE).set_index("figure_id")["printed"][f"{SOURCE}/text/csv-function"]
    assert functions == {"Excel .csv": in_the_text}
    assert cells("Tabla 6.2")["slot"].tolist() == [row[0] for row in after(lines, "Nombre de elemento\t") if row[0]]


def test_tabla_7_3(lines):
    """Two cells are torn out of their rows; the line below the table has it again, column after column."""
    rows = after(lines, "Area\tGénero")
    (again,) = (row for row in rows if len(row[1]) > 50)
    values = "Secundaria incompleta|Secundaria completa|Primaria incompleta|Primaria completa|Post secundaria"
    education = re.findall(f"(?:Femenino|Masculino) ({values})", again[3])
    rows = [row[:2] + row[2:] for row in rows if row is not again]
    torn = [i for i, row in enumerate(rows) if not row[2][0].isalpha() or len(row[2]) < 4]
    assert torn == [3, 4]
    for i in torn:
        rows[i][2] = education[i]
    assert [row[2] for row in rows[:9]] == education
    columns = "area gender education employment health f_k F_k l".split()
    assert cells("Tabla 7.3")[columns].to_numpy().tolist() == rows


def test_tabla_8_3(lines):
    first, second = after(lines, "Número de categorías\tRegión")
    columns = ["region", "marital status", "age", "combinations"]
    assert cells("Tabla 8.3").loc["before", columns].tolist() == [cell.split()[0] for cell in first[1:]]
    assert cells("Tabla 8.3").loc["after", columns].tolist() == second[1:]


def test_bloque_7_1(text):
    block = between(text, "Bloque 7.1. ", "# Especificar nombres")
    *factors, weights = re.findall(r"c\(([^)]*)\)", block)
    employment, health = (re.findall(r"'([^']*)'", factor) for factor in factors)
    found = cells("Bloque 7.1")
    assert found["employment"].dropna().tolist() == employment
    assert found["health"].tolist() == health
    assert found["weight"].dropna().tolist() == weights.split(", ")


def numbers_of(output):
    """The numbers of an output; not those inside the brackets of labels, nor in code."""
    return re.findall(r"\d+", re.sub(r"\(\d+, ?\d+\]", "", output))


def test_bloque_8_1(text):
    block = between(text, "Frequencias de sizeRes antes de recodificar", "La ?? ilustra el efecto")
    first, _, last = block.partition("# Recodificar urbano")
    found = cells("Bloque 8.1")
    assert found["before"].dropna().tolist() == numbers_of(first)
    assert found["after"].dropna().tolist() == numbers_of(last)
    assert all(name in first for name in found["before"].dropna().index)


@pytest.mark.parametrize(("name", "end"), {"Bloque 8.2": "# Guardo objeto", "Bloque 8.3": "Figura 8.3"}.items())
def test_bands(text, name, end):
    """The text tears these outputs: what is compared is which labels and counts there are."""
    output = between(between(text, f"{name}. ", end), "# Frecuencias de edad después de recodificar", "```")
    found = cells(name)["persons"]
    assert Counter(re.sub(" ", "", label) for label in re.findall(r"\(\d+, ?\d+\]", output)) == Counter(found.index)
    assert Counter(numbers_of(output)) == Counter(found[found != ""])


def test_single_ages(text):
    section = between(text, "8.2.1.3 Redondeo", "En la siguiente sección")
    raw, rounded = section.split("# Se redondea a la decena más cercana")
    rows = [re.findall(r"\d+", line) for line in raw.splitlines() if re.match(r"(## )?\d+( \d+)+", line)]
    # The third line of counts stands before the second.
    first, counts, second, third, of_third, of_second, rest = rows
    found = cells(AGES)["persons"].dropna()
    assert found.index[:52].tolist() == first + second
    assert len(third) == 24
    assert found[found != ""].tolist() == counts + of_second + of_third + rest
    tens = cells(AGES)["rounded to tens"].dropna()
    tens = tens.sort_index(key=lambda rows: rows.astype(int))
    assert [*tens.index, *tens] == numbers_of(rounded.partition("table(")[2])


def test_bloque_8_7(text):
    output = between(text, "# supresión local sin vector", "# Deshacer")
    rows = re.findall(r"(\w+) \|\s+(\d+) \|\s+([\d.]+)", output)
    found = cells("Bloque 8.7")
    assert found[["suppressions", "%"]].dropna().reset_index().to_numpy().tolist() == [list(row) for row in rows]
    assert re.findall(r"k = (\d+)\)", output) == [found.at["localSuppression()", "k"]]
    assert f"importance = {found.at['localSuppression()', 'importance']}, k" in text


def normalised(words):
    words = re.sub("[“”]", '"', words)
    return re.sub(r"\s+", " ", re.sub(r"[*\\`$'’‘]", "", words))


def section(lines, row):
    """The numbered section that a statement is in, or that has the table or block."""
    starts = [i for i, line in enumerate(lines) if re.match(r"\d(\.\d+)+ \S", line)]
    if row in CHAPTERS:
        start = lines.index(CHAPTERS[row])
    elif row[0].isdigit():
        (start,) = (i for i in starts if lines[i].startswith(f"{row} "))
    else:
        at = next(i for i, line in enumerate(lines) if re.match(rf"{re.escape(row)}[.:] ", line))
        start = max(i for i in starts if i <= at) if row != "Tabla 4.1" else lines.index(CHAPTERS["4"])
    end = min(i for i in [*starts, len(lines)] if i > start and not (row == "Tabla 4.1" and i < at))
    return normalised("\n".join(lines[start:end]))


def stands_in(words, where):
    """Whether words stand in a text, as words or numbers of their own, and in their order."""
    for part in words.split(" ... "):
        found = re.search(rf"(?<![\w.,]){re.escape(normalised(part))}(?![\w])", where)
        found = found or (not part[0].isalnum() and re.search(re.escape(normalised(part)), where))
        if not found:
            return False
        where = where[found.end() :]
    return True


def test_statements_stand_in_their_section(lines):
    figures = published_figures(SOURCE)
    figures = figures[(figures["table"] == "text") & (figures["printed"] != "")]
    lost = []
    for figure in figures.itertuples():
        name = figure.figure_id.rpartition("/")[2]
        where = section(lines, figure.row)
        if not all(stands_in(words, where) for words in WHOLE.get(name, [figure.printed])):
            lost.append((name, figure.row, figure.printed))
    assert lost == []


@pytest.mark.parametrize(
    ("first", "second", "between"),
    [
        ("debe ser superior a un umbral", "es menor que el umbral especificado", 2),
        ("El más largo k,", "El resultado 1 indica", 1),
        ('Al suprimir el valor "mujer" o "superior"', 'elegimos suprimir "mayor"', 4),
    ],
)
def test_where_the_reasons_point_to(text, first, second, between):
    sentences = text.split(". ")
    (start,), (end,) = ([i for i, sentence in enumerate(sentences) if words in sentence] for words in (first, second))
    assert end - start == between


def test_what_footnote_5_assumes(text):
    """INE Chile (2023), section 7.5.1: what makes the case the worst is the outside file."""
    footnote = text.partition("\n⁵Los supuestos para esta medida")[2].partition("\n")[0]
    assert "todos los individuos de la muestra también están incluidos en el archivo externo" in footnote
    assert "los archivos no contienen errores" in footnote
    assert "asumen el mayor riesgo de divulgación" in footnote


def test_objects_that_the_reasons_name(text):
    assert text.count("'HID'") == text.count("HID") == 1
    assert "sdcInitial <- sdc_respaldo" in text.partition("8.2.1.3 Redondeo\n")[2]
    before = text.partition("8.2.1.1.1 ")[2].partition("Bloque 8.1. ")[0]
    assert "sdc_respaldo <- sdcHH" in before
    assert "sdcInitial <-" not in before
    assert "set.seed" not in before
