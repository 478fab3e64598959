"""Small PC-Axis files in INE's newer layout, whole and spoilt."""

from collections.abc import Sequence

AGES = ("Todas las edades", "De 0 a 4 años", "De 5 a 9 años", "100 y más años")
SEXES = ("Total", "Hombres", "Mujeres")
PLACES = ("Total Nacional", "01001 Alegría-Dulantzi", "29025 Benalmádena")
YEARS = ("1 de enero de 2011", "1 de enero de 2010")


def person_rows(places: int = len(PLACES), years: int = len(YEARS)) -> list[list[str]]:
    """Rows of the DATA part (sex x place x year, one number per age) whose totals are the sums of their parts."""
    men = [[[7 * place + 3 * year + age for age in range(3)] for year in range(years)] for place in range(places)]
    women = [[[2 * place + year + 5 * age for age in range(3)] for year in range(years)] for place in range(places)]
    both = [
        [[m + w for m, w in zip(*ages, strict=True)] for ages in zip(*years, strict=True)]
        for years in zip(men, women, strict=True)
    ]
    return [[str(sum(ages)), *map(str, ages)] for sex in (both, men, women) for place in sex for ages in place]


def px_text(
    rows: Sequence[Sequence[str]] | None = None,
    *,
    places: Sequence[str] = PLACES,
    years: Sequence[str] = YEARS,
    sexes: Sequence[str] = SEXES,
    ages: Sequence[str] = AGES,
    codepage: str = "iso-8859-15",
    end: str = ";\n",
) -> str:
    """A PC-Axis file as text; `rows` are those of `person_rows` by default."""
    rows = person_rows(len(places), len(years)) if rows is None else rows
    body = "\n".join(" ".join(row) for row in rows)
    return (
        'AXIS-VERSION="2006";\nCHARSET="ANSI";\n'
        f'CODEPAGE="{codepage}";\n'
        'TITLE="Población por sexo, municipios y edad";\n'
        'STUB="Sexo","Municipios","Periodo";\nHEADING="Edad (grupos quinquenales)";\n'
        f'VALUES("Sexo")={_listed(sexes)};\nVALUES("Municipios")={_listed(places)};\n'
        f'VALUES("Edad (grupos quinquenales)")={_listed(ages)};\nVALUES("Periodo")={_listed(years)};\n'
        f'CODES("Municipios")="00","01001","29025","30001","31001";\nDATA=\n{body}{end}'
    )


def _listed(labels: Sequence[str]) -> str:
    return ",\n".join(f'"{label}"' for label in labels)
