from .recording import NotebookError as NotebookError
from .recording import find_notebooks as find_notebooks
from .recording import record as record
from .recording import recorded as recorded
from .running import check_parameters as check_parameters
from .running import is_own as is_own
from .running import of_failed_run as of_failed_run
from .running import run_notebook as run_notebook
