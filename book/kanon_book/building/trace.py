"""Run by IPython when the kernel of a notebook starts (PYTHONSTARTUP): notes which files of the project it reads."""


def _note_files() -> None:
    import os
    import sys
    from importlib.util import source_from_cache

    root, target = os.environ["KANON_LAB_TRACE"].split(os.pathsep)
    notes = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT)  # processes that the notebook forks write here too
    noted = set()

    def note(event: str, arguments: tuple) -> None:
        if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], str):
            return
        path = os.path.abspath(arguments[0])  # noqa: PTH100 - an event of the interpreter: nothing may be opened here
        if path in noted or not path.startswith(root + os.sep):
            return
        noted.add(path)
        name = path[len(root) + 1 :]
        if name.startswith((".", "_build")) or (event != "open" and name != "book/exercises"):
            return  # of other folders what is opened counts: Python lists those that it looks for modules in
        if name.endswith(".pyc"):
            name = source_from_cache(path)[len(root) + 1 :]
        os.write(notes, f"{name}\n".encode())

    sys.addaudithook(note)


_note_files()
del _note_files
