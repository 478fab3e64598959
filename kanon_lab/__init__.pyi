from . import classes as classes
from . import data as data
from . import measures as measures
from . import methods as methods
from . import population as population
from . import recipes as recipes
from . import sample as sample
from . import show as show
from .classes import class_table as class_table
from .data import catalogue as catalogue
from .data import check_counts as check_counts
from .data import fetch as fetch
from .data import load_counts as load_counts
from .data import load_microdata as load_microdata
from .data import national_totals as national_totals
from .data import read_counts as read_counts
from .data import read_microdata as read_microdata
from .data import write_microdata as write_microdata
from .errors import KanonLabError as KanonLabError
from .measures import measure as measure
from .methods import local_suppression as local_suppression
from .recipes import protect as protect
from .recipes import read_recipe as read_recipe
from .roles import KeySpec as KeySpec

__version__: str
