"""Temporary folders: nobody removes one that is in use, and somebody removes those of runs that were killed."""

import os
import subprocess
import sys
import tempfile

import pytest

from kanon_lab import folders
from kanon_lab.errors import StorageError
from kanon_lab.folders import held_folder

pytest.importorskip("fcntl", reason="needs locks, which this system lacks")
HOLD = (
    "import sys, pathlib\n"
    "from kanon_lab.folders import held_folder\n"
    "with held_folder(pathlib.Path(sys.argv[1])) as folder:\n"
    "    (folder / 'records').touch()\n"
    "    print(folder.name, flush=True)\n"
    "    sys.stdin.read()\n"
)


def names(root):
    return sorted(path.name for path in root.iterdir())


def test_folder_of_a_living_process_stays_and_that_of_a_killed_one_goes(tmp_path):
    """Whatever the number of the process: in another container it may be that of none."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        held = other.stdout.readline().strip()
        with held_folder(tmp_path) as own:
            assert names(tmp_path) == sorted([held, own.name])
    finally:
        other.kill()
        other.communicate()
    assert names(tmp_path) == [held]
    with held_folder(tmp_path) as own:
        assert names(tmp_path) == [own.name]
    assert names(tmp_path) == []


def test_what_is_not_ours_stays(tmp_path):
    aside = tmp_path / "aside"
    aside.mkdir()
    (aside / ".held").touch()
    root = tmp_path / "root"
    root.mkdir()
    (root / f"kanon-lab-{'0' * 16}").symlink_to(aside, target_is_directory=True)  # a link to somebody's folder
    (root / f"kanon-lab-{'1' * 16}").mkdir()  # without a lock
    (root / f"kanon-lab-{'2' * 16}").write_text("a file")
    (root / "kanon-lab-notes").mkdir()
    (root / "kanon-lab-notes" / ".held").touch()
    linked = root / f"kanon-lab-{'3' * 16}"
    linked.mkdir()
    (linked / ".held").symlink_to(aside / ".held")
    before = names(root)
    with held_folder(root):
        pass
    assert names(root) == before
    assert names(aside) == [".held"]


def test_folder_is_for_its_owner_and_goes_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), held_folder(tmp_path, hidden=True) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.name.startswith(".kanon-lab-")
        (folder / "records").touch()
        raise ZeroDivisionError
    assert names(tmp_path) == []


def test_folder_without_locks_is_left_to_its_owner(tmp_path, monkeypatch):
    """A file system, such as one over a network, may have none."""

    def refused(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(folders.fcntl, "flock", refused)
    with held_folder(tmp_path) as first, held_folder(tmp_path):
        assert names(first) == []
        assert first.exists()


def test_no_folder_that_can_be_written_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", lambda *_: (_ for _ in ()).throw(FileNotFoundError("none")))
    with (
        pytest.raises(StorageError, match="no folder for temporary files that can be written; free space in it"),
        held_folder(),
    ):
        pass
    with pytest.raises(StorageError, match="cannot be written"), held_folder(tmp_path / "gone"):
        pass


def test_killed_report_leaves_nothing_to_the_next(tmp_path):
    """Its folder holds the configuration with its seed."""
    run = (
        "import os, signal, sys\n"
        "from kanon_lab.report import build, config\n"
        "build._executed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "build.make_report('health-survey', config.as_config({'key_variables': ['age']}), sys.argv[1])\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", run, str(tmp_path / "r.html")], env=environment, check=False)
    assert done.returncode == -9
    assert len(names(tmp_path)) == 1
    with held_folder(tmp_path) as folder:
        assert names(tmp_path) == [folder.name]
