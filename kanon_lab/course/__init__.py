"""The course that the chapters make: its order, the frame of its pages, and exercises with what checks them."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "files": "Exercise chapter_numbers exercises_of find_exercises read_exercises",
        "judging": "readings",
        "lab": "check hint progress solution",
        "solving": "Solved faults solve solved_file",
        "learner": "workbook",
    },
)
