"""The field's terms: symbol, meaning, names in English, Spanish and Catalan. Glossary, charts and reports read them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from kanon_lab.errors import OptionError

#: Language code -> name of the language.
LANGUAGES = {"en": "English", "es": "Spanish", "ca": "Catalan"}


@dataclass(frozen=True)
class Term:
    """One term of the field.

    Attributes
    ----------
    key : str
        Its name in code.
    en, es, ca : str
        Its name in English, Spanish and Catalan.
    meaning : str
        What it means, in one English sentence.
    symbol : str
        Its symbol in formulas (LaTeX without dollar signs), or "".
    in_glossary : bool
        Whether the glossary explains it; plain words that only need a label are left out.
    """

    key: str
    en: str
    es: str
    ca: str
    meaning: str
    symbol: str = ""
    in_glossary: bool = True

    @property
    def plain_symbol(self) -> str:
        """The symbol where formulas are not set: Greek letters as such, no braces."""
        greek = re.sub(r"\\([a-z]+)", lambda name: unicodedata.lookup(f"GREEK SMALL LETTER {name[1]}"), self.symbol)
        return greek.replace("{", "").replace("}", "")

    def label(self, language: str = "en") -> str:
        """The name of the term in one of `LANGUAGES`.

        Raises
        ------
        OptionError
            For a language that has no labels.
        """
        if language not in LANGUAGES:
            raise OptionError(f"language must be one of {', '.join(LANGUAGES)}, not {language!r}")
        return getattr(self, language)


_TERMS = (
    Term(
        "k_anonymity",
        "k-anonymity",
        "k-anonimidad",
        "k-anonimitat",
        "Every record shares the values of its key variables with at least k - 1 others.",
        "k",
    ),
    Term(
        "k_anonymous",
        "k-anonymous person",
        "persona k-anónima",
        "persona k-anònima",
        "A person who is one of exactly k persons with the same values of the key variables; at k = 1, alone.",
    ),
    Term(
        "key_variables",
        "key variables",
        "variables clave",
        "variables clau",
        "Variables that an outsider may know and use to find a person; also called quasi-identifiers.",
    ),
    Term(
        "direct_identifiers",
        "direct identifiers",
        "identificadores directos",
        "identificadors directes",
        "Variables that name a person by themselves, such as a name or an identity number.",
    ),
    Term(
        "sensitive_variable",
        "sensitive variable",
        "variable sensible",
        "variable sensible",
        "A variable whose value a person would not want others to learn.",
    ),
    Term(
        "microdata",
        "microdata",
        "microdatos",
        "microdades",
        "Data with one record per person or household.",
    ),
    Term(
        "equivalence_class",
        "equivalence class",
        "clase de equivalencia",
        "classe d'equivalència",
        "The records that have the same values of all key variables.",
    ),
    Term(
        "sample_frequency",
        "sample frequency",
        "frecuencia muestral",
        "freqüència mostral",
        "The number of records of the file in one equivalence class.",
        "f_k",
    ),
    Term(
        "population_frequency",
        "population frequency",
        "frecuencia poblacional",
        "freqüència poblacional",
        "The number of persons of the population with the key values of one equivalence class.",
        "F_k",
    ),
    Term(
        "sample_unique",
        "sample unique",
        "único en la muestra",
        "únic a la mostra",
        "A record whose key values no other record of the file has.",
    ),
    Term(
        "population_unique",
        "population unique",
        "único en la población",
        "únic a la població",
        "A person whose key values nobody else in the population has.",
    ),
    Term(
        "disclosure_risk",
        "disclosure risk",
        "riesgo de revelación (o divulgación)",
        "risc de revelació",
        "The risk that published data teach an outsider something about a person.",
    ),
    Term(
        "individual_risk",
        "individual risk",
        "riesgo individual",
        "risc individual",
        "The probability that one record is re-identified.",
        "r_k",
    ),
    Term(
        "global_risk",
        "global risk",
        "riesgo global",
        "risc global",
        "The mean of the individual risks of all records.",
    ),
    Term(
        "expected_reidentifications",
        "expected re-identifications",
        "reidentificaciones esperadas",
        "reidentificacions esperades",
        "The sum of the individual risks of all records.",
    ),
    Term(
        "global_recoding",
        "global recoding",
        "recodificación global",
        "recodificació global",
        "Replacing the values of a variable by broader ones in the same way in every record.",
    ),
    Term(
        "local_suppression",
        "local suppression",
        "supresión local",
        "supressió local",
        "Deleting single values of key variables in the records at risk.",
    ),
    Term(
        "subsampling",
        "subsampling",
        "submuestreo",
        "submostreig",
        "Drawing a sample from the sample, to see how uniqueness changes with the sampling fraction.",
    ),
    Term(
        "cell",
        "cell",
        "celda",
        "cel·la",
        "The persons of one place, sex and five-year age group.",
        "n",
    ),
    Term(
        "periods",
        "periods",
        "periodos",
        "períodes",
        "The days, months or years in which a person of one five-year age group can have been born.",
        "N",
    ),
    Term(
        "date_granularity",
        "date granularity",
        "granularidad de la fecha",
        "granularitat de la data",
        "How much of the date of birth is known: the day, the month or only the year.",
    ),
    Term("day", "day", "día", "dia", "The full date of birth is known.", in_glossary=False),
    Term("month", "month", "mes", "mes", "The month and year of birth are known.", in_glossary=False),
    Term("year", "year", "año", "any", "Only the year of birth is known.", in_glossary=False),
    Term("population", "population", "población", "població", "The persons of a place.", in_glossary=False),
    Term("municipality", "municipality", "municipio", "municipi", "The smallest place of the Spanish tables."),
    Term(
        "province",
        "province",
        "provincia",
        "província",
        "One of Spain's 50 provinces; here also the cities of Ceuta and Melilla, 52 in all.",
    ),
    Term(
        "key",
        "key",
        "clave",
        "clau",
        "The combination of values of the key variables that one person has.",
    ),
    Term(
        "confusion_of_attributes",
        "confusion of attributes",
        "confusión de atributos",
        "confusió d'atributs",
        "Making values alike by leaving out detail, as two dates in a month become one when the day is left out.",
    ),
    Term(
        "inverse_problem",
        "inverse problem",
        "problema inverso",
        "problema invers",
        "To find the data from results that were computed from them.",
    ),
    Term(
        "dates_with_k",
        "expected dates with k births",
        "número esperado de periodos con k nacimientos",
        "nombre esperat de períodes amb k naixements",
        "How many of the N dates of a cell are expected to have exactly k births; formula (1) of Gil Bellosta (2011).",
        "f_k(n)",
    ),
    Term(
        "reconstructed",
        "reconstructed data",
        "datos reconstruidos",
        "dades reconstruïdes",
        "Data found by solving an inverse problem: they give the published figures, but need not be the true ones.",
    ),
    Term(
        "synthetic",
        "synthetic data",
        "datos sintéticos",
        "dades sintètiques",
        "Data drawn at random so that some of their totals are the true ones.",
    ),
    Term(
        "fitted",
        "fitted",
        "ajustado",
        "ajustat",
        "Made to agree with certain figures; that they agree is then no evidence.",
    ),
    Term(
        "half_width",
        "half-width of the 95 % interval",
        "semiamplitud del intervalo del 95 %",
        "semiamplitud de l'interval del 95 %",
        "If all dates of birth were drawn again, the count would lie within this distance of the expected number 95 "
        "times in 100; the ± of Cuadro 1.",
    ),
    Term(
        "sampling_weight",
        "sampling weight",
        "factor de expansión (peso muestral)",
        "factor d'elevació (pes mostral)",
        "How many persons of the population one record of a sample stands for.",
        "w",
    ),
    Term(
        "violation",
        "violation of k",
        "violación de k",
        "violació de k",
        "A record whose class has fewer records than the k that is required.",
    ),
    Term(
        "wildcard",
        "wildcard",
        "comodín",
        "comodí",
        "The meaning of missing values under which a gap is compatible with any value.",
    ),
    Term(
        "pattern",
        "pattern",
        "patrón",
        "patró",
        "A combination of key values and gaps; under the wildcard meaning, patterns take the place of classes.",
    ),
    Term(
        "linkage_attack",
        "linkage attack",
        "ataque de vinculación",
        "atac de vinculació",
        "Putting a file with names beside one without, to find persons by the key variables that both have.",
    ),
    Term(
        "generalisation",
        "generalisation",
        "generalización",
        "generalització",
        "Replacing values by broader ones that are still true: a postcode by its province, an age by a band.",
    ),
    Term(
        "local_generalisation",
        "local generalisation",
        "generalización local",
        "generalització local",
        "Generalisation that may treat equal values differently in different records.",
    ),
    Term(
        "record_suppression",
        "record suppression",
        "eliminación de registros",
        "eliminació de registres",
        "Removing whole records that would stand alone.",
    ),
    Term(
        "value_hierarchy",
        "value hierarchy",
        "jerarquía de valores",
        "jerarquia de valors",
        "The levels to which the values of a variable can be generalised, from the value itself to any value.",
    ),
    Term(
        "nesting",
        "nesting",
        "anidamiento",
        "niament",
        "A hierarchy nests when values merged at one level stay together at every level above it.",
    ),
    Term(
        "lattice",
        "lattice of generalisations",
        "retículo de generalizaciones",
        "reticle de generalitzacions",
        "All combinations of one level for each key variable, ordered by generality.",
    ),
    Term(
        "discernibility",
        "discernibility",
        "discernibilidad",
        "discernibilitat",
        "A loss: every record is charged with the size of its class, a removed one with the size of the file.",
    ),
    Term(
        "homogeneity",
        "homogeneity",
        "homogeneidad",
        "homogeneïtat",
        "All records of a class have the same sensitive value, so that nobody need know which one is whose.",
    ),
    Term(
        "l_diversity",
        "l-diversity",
        "l-diversidad",
        "l-diversitat",
        "Every class has at least l well represented values of the sensitive variable.",
        "l",
    ),
    Term(
        "p_sensitive",
        "p-sensitive k-anonymity",
        "k-anonimidad p-sensible",
        "k-anonimitat p-sensible",
        "Besides k-anonymity, every class has at least p different values of each sensitive variable.",
        "p",
    ),
    Term(
        "alpha_k",
        "(alpha, k)-anonymity",
        "(alfa, k)-anonimidad",
        "(alfa, k)-anonimitat",
        "Besides k-anonymity, no sensitive value has a share above alpha in any class.",
        "\\alpha",
    ),
    Term(
        "t_closeness",
        "t-closeness",
        "t-proximidad",
        "t-proximitat",
        "In every class the sensitive variable is distributed as in the whole file, up to a distance t.",
        "t",
    ),
    Term(
        "delta_disclosure",
        "delta-disclosure privacy",
        "privacidad de delta-revelación",
        "privadesa de delta-revelació",
        "No sensitive value is more common or rarer in a class than in the file by a factor above exp(delta).",
        "\\delta",
    ),
    Term(
        "beta_likeness",
        "beta-likeness",
        "beta-semejanza",
        "beta-semblança",
        "No sensitive value is more common in a class than in the file by a relative gain above beta.",
        "\\beta",
    ),
    Term(
        "household_risk",
        "household risk",
        "riesgo del hogar",
        "risc de la llar",
        "The probability that at least one member of a household in the file is re-identified.",
    ),
    Term(
        "entropy_l",
        "entropy l",
        "l de entropía",
        "l d'entropia",
        "The number of equally common values that would be as hard to guess as those of a class.",
    ),
    Term(
        "recursive_diversity",
        "recursive (c, l)-diversity",
        "(c, l)-diversidad recursiva",
        "(c, l)-diversitat recursiva",
        "The most common value of a class is rarer than c times all those from the l-th on, together.",
    ),
    Term(
        "earth_movers_distance",
        "earth mover's distance",
        "distancia del transportista",
        "distància del transportista",
        "The least work that turns one distribution into another, given how far apart the values are.",
    ),
    Term(
        "unique_match",
        "unique match",
        "correspondencia única",
        "correspondència única",
        "A person of a register with exactly one compatible record in a released file, right or wrong.",
    ),
    Term(
        "suppression_limit",
        "suppression limit",
        "límite de eliminación",
        "límit d'eliminació",
        "The largest share of the records that may be removed.",
    ),
    Term(
        "average_class_size",
        "average class size",
        "tamaño medio de clase",
        "mida mitjana de classe",
        "A loss: records per class, in multiples of the k that is required.",
        "C_{AVG}",
    ),
    Term(
        "weighted_level",
        "weighted level",
        "nivel ponderado",
        "nivell ponderat",
        "A loss: the sum over key variables of level by height of the hierarchy, times a weight.",
    ),
    Term(
        "mondrian",
        "Mondrian",
        "Mondrian",
        "Mondrian",
        "Recoding that cuts the records in parts, along one key at a time, as long as each part keeps k.",
    ),
    Term(
        "identity_disclosure",
        "identity disclosure",
        "divulgación de identidad",
        "revelació d'identitat",
        "An outsider finds out which record is a certain person's.",
    ),
    Term(
        "attribute_disclosure",
        "attribute disclosure",
        "divulgación de atributos",
        "revelació d'atributs",
        "An outsider learns something new of a certain person, with or without finding the record.",
    ),
    Term(
        "inferential_disclosure",
        "inferential disclosure",
        "divulgación inferencial",
        "revelació inferencial",
        "An outsider can guess something of a person better with the data than without.",
    ),
    Term(
        "disclosure_scenario",
        "disclosure scenario",
        "escenario de divulgación",
        "escenari de revelació",
        "Who may want to find a person, what that outsider knows, and how it is compared with the data.",
    ),
    Term(
        "public_use_file",
        "public use file",
        "archivo de uso público",
        "fitxer d'ús públic",
        "Microdata that anybody may have, so protected that the risk is taken to be small.",
    ),
    Term(
        "scientific_use_file",
        "scientific use file",
        "archivo de uso científico",
        "fitxer d'ús científic",
        "Microdata for researchers who sign an agreement.",
    ),
    Term(
        "prosecutor_risk",
        "prosecutor risk",
        "riesgo del fiscal",
        "risc del fiscal",
        "The chance to find a target who is known to be in the file: one by the records that are alike.",
        "1/f_k",
    ),
    Term(
        "journalist_risk",
        "journalist risk",
        "riesgo del periodista",
        "risc del periodista",
        "The chance to find a target who is only known to be in the population: one by the persons who are alike.",
        "1/F_k",
    ),
    Term(
        "marketer_risk",
        "marketer risk",
        "riesgo del comercializador",
        "risc del comercialitzador",
        "The expected share of records that are linked rightly by who links all of them at once.",
    ),
    Term(
        "loglinear_model",
        "log-linear model",
        "modelo log-lineal",
        "model log-lineal",
        "Expected class sizes from how the keys occur alone, and together where an interaction is asked for.",
    ),
    Term(
        "tau_1",
        "expected population uniques in the sample",
        "únicos poblacionales esperados en la muestra",
        "únics poblacionals esperats a la mostra",
        "A global risk: of the sample uniques, how many are expected to be alone in the population.",
        "\\tau_1",
    ),
    Term(
        "tau_2",
        "expected right matches of sample uniques",
        "aciertos esperados entre los únicos muestrales",
        "encerts esperats entre els únics mostrals",
        "A global risk: of the sample uniques, how many are expected to be found by a guess among those alike.",
        "\\tau_2",
    ),
    Term(
        "sampling_fraction",
        "sampling fraction",
        "fracción de muestreo",
        "fracció de mostreig",
        "The share of the population that is in the sample.",
        "\\pi",
    ),
    Term(
        "household_size",
        "household size",
        "tamaño del hogar",
        "mida de la llar",
        "The number of members of a household, which can be counted wherever records say which household is theirs.",
    ),
    Term(
        "minimal_sample_unique",
        "minimal sample unique",
        "único muestral mínimo",
        "únic mostral mínim",
        "A set of keys on which a record is alone in the sample, though on no smaller part of that set.",
    ),
    Term(
        "suda_score",
        "SUDA score",
        "puntuación SUDA",
        "puntuació SUDA",
        "A sum over the minimal sample uniques of a record that counts small ones more: how special the record is.",
    ),
    Term(
        "dis_suda",
        "DIS-SUDA score",
        "puntuación DIS-SUDA",
        "puntuació DIS-SUDA",
        "A SUDA score brought to the scale of a probability, to fit the chance of a right match in the whole file.",
    ),
    Term(
        "record_linkage",
        "distance-based record linkage",
        "vinculación de registros por distancia",
        "vinculació de registres per distància",
        "How many released records are nearest to the original record that they come from.",
    ),
    Term(
        "interval_measure",
        "interval measure",
        "medida de intervalo",
        "mesura d'interval",
        "How many original values lie within an interval around the released ones.",
    ),
    Term(
        "top_coding",
        "top and bottom coding",
        "codificación superior e inferior",
        "codificació superior i inferior",
        "All values beyond a threshold become one.",
    ),
    Term(
        "rounding",
        "rounding",
        "redondeo",
        "arrodoniment",
        "Every value becomes the nearest multiple of a base.",
    ),
    Term(
        "importance",
        "importance",
        "importancia",
        "importància",
        "The order in which key variables are kept: an important one is suppressed only where others are not enough.",
    ),
    Term(
        "strata",
        "strata",
        "estratos",
        "estrats",
        "Groups of records within which protection is applied.",
    ),
    Term(
        "ghost_variable",
        "ghost variable",
        "variable fantasma",
        "variable fantasma",
        "A variable that says the same as a key in other words, and so loses a value wherever the key does.",
    ),
    Term(
        "true_key",
        "true key",
        "clave verdadera",
        "clau vertadera",
        "The key values of a person as they were before protection, which an outsider may know.",
    ),
    Term(
        "own_class",
        "own class",
        "clase propia",
        "classe pròpia",
        "The records whose released keys are the same, a missing value being a value of its own.",
    ),
    Term(
        "protection",
        "protection",
        "protección",
        "protecció",
        "A chain of steps from the file as it came to the one that is released.",
    ),
    Term(
        "recipe",
        "recipe",
        "receta",
        "recepta",
        "A file that lists the steps of a protection, so that they can be applied again.",
    ),
    Term(
        "spontaneous_recognition",
        "spontaneous recognition",
        "reconocimiento espontáneo",
        "reconeixement espontani",
        "Somebody who works with the data happens to know a person of such rare values.",
    ),
    Term(
        "enclave",
        "data enclave",
        "enclave de datos",
        "enclavament de dades",
        "A room without a network in which researchers work on data that must not leave it.",
    ),
    Term(
        "declaration_of_use",
        "declaration of use",
        "declaración de uso",
        "declaració d'ús",
        "What users of public microdata are asked to promise, such as not to look for persons.",
    ),
    Term(
        "risk_threshold",
        "risk threshold",
        "umbral de riesgo",
        "llindar de risc",
        "An individual risk above which a record is counted as at risk.",
    ),
    Term(
        "interaction",
        "interaction",
        "interacción",
        "interacció",
        "Keys that occur together more or less often than each alone would make one expect.",
    ),
    Term(
        "special_unique",
        "special unique",
        "único especial",
        "únic especial",
        "A record that is alone already on a few of the keys.",
    ),
    Term(
        "compatible_records",
        "compatible records",
        "registros compatibles",
        "registres compatibles",
        "Records that agree on every key that both have, a missing value agreeing with any.",
    ),
    Term(
        "outlier",
        "outlier",
        "valor atípico",
        "valor atípic",
        "A value, or a record, far from most others.",
    ),
    Term(
        "upper_tail",
        "upper tail",
        "cola superior",
        "cua superior",
        "The values above a high quantile of a variable.",
    ),
    Term(
        "continuous_variable",
        "continuous variable",
        "variable continua",
        "variable contínua",
        "A quantity with so many different values that nearly each of them is alone.",
    ),
    Term(
        "non_perturbative",
        "non-perturbative method",
        "método no perturbativo",
        "mètode no pertorbatiu",
        "A method that says less, by recoding or suppression, but nothing untrue.",
    ),
    Term(
        "perturbative",
        "perturbative method",
        "método perturbativo",
        "mètode pertorbatiu",
        "A method that changes values, so that none can be trusted by itself.",
    ),
)

#: Key -> `Term`, in the order of the glossary.
TERMS = {term.key: term for term in _TERMS}


def term(key: str) -> Term:
    """The term with this key.

    Raises
    ------
    OptionError
        For a key that is not in `TERMS`.
    """
    try:
        return TERMS[key]
    except KeyError:
        raise OptionError(
            f"{key!r} is not a term of kanon_lab; the terms are the keys of kanon_lab.terms.TERMS"
        ) from None


def label(key: str, language: str = "en") -> str:
    """The name of a term in one language: ``label("month", "es")`` is ``"mes"``.

    Raises
    ------
    OptionError
        For an unknown key or language.
    """
    return term(key).label(language)
