from .counts import by_meaning as by_meaning
from .counts import key_grid as key_grid
from .counts import size_ranges as size_ranges
from .counts import with_population as with_population
from .table import ClassTable as ClassTable
from .table import ValueCounts as ValueCounts
from .table import class_table as class_table
from .table import table_of_counts as table_of_counts
