"""Put everything into one archive, for a class without internet: the book, on paper too, notebooks, exercises, a wheel.

Makes _build/kanon-lab-bundle.zip of the built book ("make bundle" builds it first), and prints the book before that if
need be. The same commit gives the same archive, as far as what is in it is the same. With packages, all that a wheel
needs stands beside it, for this system and this version of Python only.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path
from platform import platform, python_version
from tempfile import TemporaryDirectory

from kanon_book.building import printing
from kanon_book.building.stamps import HTML, command_line, files_under, run_command
from kanon_book.course.learner import PROJECT, START
from kanon_book.pages.edition import EDITIONS, commit_of
from kanon_book.places import BUILD, ROOT
from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.errors import KanonLabError
from kanon_lab.files import atomic_path
from kanon_lab.notebooks import find_notebooks

NAME = "kanon-lab-bundle"
WITH_PACKAGES = "--with-packages"
#: Folder of the notebooks to practise with, which are in English.
EXERCISES = "exercises"
_STYLE = "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1.05rem/1.5 sans-serif}pre{white-space:pre-wrap}"
# Archives cannot have an earlier date.
_FIRST = (1980, 1, 1, 0, 0, 0)


def main(arguments: list[str]) -> int:
    parser = command_line("kanon_book.building.bundle", __doc__)
    parser.add_argument(WITH_PACKAGES, action="store_true", help="put all that the wheel needs beside it, some 210 MB")
    with_packages = parser.parse_args(arguments).with_packages
    return run_command("make bundle", lambda: make(with_packages))


def make(with_packages: bool) -> int:
    """Print the book, if need be and it can be, and write the archive; another exit code than 0 is that of printing."""
    if (printed := has_chromium()) and (code := printing.main([])):
        return code
    target = BUILD / f"{NAME}.zip"
    with TemporaryDirectory() as folder:
        files = contents(printed) | wheels(Path(folder), with_packages)
        pack(target, files | {"README.html": readme(files).encode()})
    print(f"{target}: {len(files) + 1:,} files, {target.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


def has_chromium() -> bool:
    """Whether the book can be printed; without that the archive is made all the same, and says so."""
    try:
        printing.chromium()
    except KanonLabError as error:
        print(f"make bundle: without the book on paper; {error}", file=sys.stderr)
        return False
    return True


def contents(printed: bool) -> dict[str, Path]:
    """What is in the archive but for wheels, by its place there."""
    files = {f"book/{path.relative_to(HTML).as_posix()}": path for path in files_under(HTML)}
    files |= {f"notebooks/{path.name}": path for path in find_notebooks().values()}
    for language in EDITIONS:
        if printed and (paper := BUILD / f"kanon-lab-{language}.pdf").exists():
            files[paper.name] = paper
    workbooks = sorted((HTML / "exercises").glob("*.ipynb"))
    files |= {f"{EXERCISES}/{path.name}": path for path in workbooks}
    if workbooks:
        files[f"{EXERCISES}/{PROJECT}"] = ROOT / "book" / START
    return files | {"packages/constraints.txt": ROOT / "constraints.txt"}


def wheels(folder: Path, all_packages: bool) -> dict[str, Path]:
    """The wheel of this project, made in a folder; with those of all that it needs, if they are asked for."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT])
    if all_packages:
        (own,) = folder.glob("*.whl")
        asked = ["--wheel-dir", folder, "--constraint", ROOT / "constraints.txt", f"{own}[lab]"]
        run([*pip, "wheel", *asked])
    return {f"packages/{path.name}": path for path in folder.glob("*.whl")}


def run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or ["pip failed"]
        raise KanonLabError(f"the wheels were not made: {complaint[-1]}")


def readme(files: dict[str, Path]) -> str:
    """What is there and how to begin, in both languages: an HTML page, since its links lead on."""
    packages = [name for name in files if name.endswith(".whl")]
    wheel = next(name for name in packages if "kanon_lab-" in name)
    offline = len(packages) > 1
    asked = (
        "--no-index --find-links packages 'kanon-lab[lab]'"
        if offline
        else f"-c packages/constraints.txt './{wheel}[lab]'"
    )
    commands = f"python3 -m venv .venv\n.venv/bin/pip install {asked}\n.venv/bin/kanon-lab lab"
    parts = []
    for language, (folder, _) in EDITIONS.items():
        words = {key.removeprefix("bundle_"): escape(text) for key, text in texts("page", language).items()}
        there = [
            (f"book/{folder}index.html", words["book"]),
            (f"kanon-lab-{language}.pdf", words["paper"]),
            ("notebooks/", words["notebooks"]),
            (f"{EXERCISES}/", words["exercises"]),
            ("packages/", words["packages_all" if offline else "packages"]),
        ]
        items = "".join(
            f'<li><a href="{place}">{place}</a>: {text}</li>'
            for place, text in there
            if any(name.startswith(place) for name in files)
        )
        system = words["system"].format(python=python_version(), system=platform())
        install = f"{words['install_all']} {system}" if offline else words["install"]
        parts.append(
            f'<section lang="{language}"><h1>{words["title"]}</h1><p>{words["there"]}</p><ul>{items}</ul>'
            f"<h2>{words['run']}</h2><p>{install}</p><pre>{escape(commands)}</pre>"
            f"<p>{words['after']}</p></section>"
        )
    commit = commit_of(ROOT)
    version = f"kanon_lab {__version__}" + (f", {commit[0]}, {commit[1]}" if commit else "")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{NAME}</title>'
    body = f"{'<hr>'.join(parts)}<hr><p>{version}</p>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>\n'


def pack(target: Path, files: dict[str, Path | bytes]) -> None:
    """Write the archive: by name, and with the date of the commit, so that the same files give the same archive."""
    commit = commit_of(ROOT)
    date = (*map(int, commit[1].split("-")), 0, 0, 0) if commit else _FIRST
    with atomic_path(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", max(date, _FIRST))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            content = files[name]
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
