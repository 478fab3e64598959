from .files import (
    Exercise as Exercise,
)
from .files import (
    chapter_numbers as chapter_numbers,
)
from .files import (
    exercises_of as exercises_of,
)
from .files import (
    find_exercises as find_exercises,
)
from .files import (
    read_exercises as read_exercises,
)
from .judging import readings as readings
from .lab import (
    check as check,
)
from .lab import (
    hint as hint,
)
from .lab import (
    progress as progress,
)
from .lab import (
    solution as solution,
)
from .learner import workbook as workbook
from .solving import (
    Solved as Solved,
)
from .solving import (
    faults as faults,
)
from .solving import (
    solve as solve,
)
from .solving import (
    solved_file as solved_file,
)
