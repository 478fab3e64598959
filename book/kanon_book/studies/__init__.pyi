from .census import (
    CATALAN_KEYS as CATALAN_KEYS,
)
from .census import (
    CATALAN_LEVELS as CATALAN_LEVELS,
)
from .census import (
    Census as Census,
)
from .census import (
    catalan_census as catalan_census,
)
from .census import (
    catalan_codes as catalan_codes,
)
from .census import (
    census_parameters as census_parameters,
)
from .figures import (
    CITATIONS as CITATIONS,
)
from .figures import (
    KINDS as KINDS,
)
from .figures import (
    SOURCES as SOURCES,
)
from .figures import (
    as_printed as as_printed,
)
from .figures import (
    explanation as explanation,
)
from .figures import (
    published_figures as published_figures,
)
from .inverse import (
    PRINTED_RANGES as PRINTED_RANGES,
)
from .inverse import (
    Reconstruction as Reconstruction,
)
from .inverse import (
    compare_cells as compare_cells,
)
from .inverse import (
    compare_reconstructions as compare_reconstructions,
)
from .inverse import (
    one_person_transfers as one_person_transfers,
)
from .inverse import (
    printed_row as printed_row,
)
from .inverse import (
    printed_table as printed_table,
)
from .inverse import (
    reconstruct_cells as reconstruct_cells,
)
from .verdicts import (
    VERDICTS as VERDICTS,
)
from .verdicts import (
    Audit as Audit,
)
from .verdicts import (
    audit as audit,
)
