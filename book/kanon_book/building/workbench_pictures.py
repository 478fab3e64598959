"""Draw the pictures of the workbench and of a report on the survey health-survey, in both languages.

Chromium opens the pages as a user does. A picture has at most 256 colours, which keeps it small.
"""

from __future__ import annotations

import base64
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kanon_book.building.printing import chromium
from kanon_book.building.stamps import command_line
from kanon_book.places import CHAPTERS
from kanon_lab.files import write_bytes
from kanon_lab.terms import texts

SOURCE = "health-survey"
# It may ask nothing of other machines.
_FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
_SIZE = {"width": 1120, "height": 700}
# A report is drawn as a telephone shows it, so that it can be read there, and sharp elsewhere.
_PHONE = {"width": 400, "height": 1600}
# What Chromium drew, as bytes of red, green, blue and opacity.
_PIXELS = """async (png) => {
  const picture = await createImageBitmap(await (await fetch(png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
  canvas.drawImage(picture, 0, 0);
  const bytes = canvas.getImageData(0, 0, picture.width, picture.height).data;
  let text = '';
  for (let n = 0; n < bytes.length; n += 8192) text += String.fromCharCode(...bytes.subarray(n, n + 8192));
  return btoa(text);
}"""


@contextmanager
def opened(browser: Any, language: str) -> Iterator[Any]:
    """The workbench on the survey, in a browser; nothing of it is kept."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kanon_lab", "open", SOURCE, "--no-browser", "--language", language]
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"XDG_STATE_HOME": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            address = next(line for line in server.stdout or () if line.startswith("http://")).strip()
            page = browser.new_page(viewport=_SIZE, color_scheme="light")
            page.goto(address)
            yield page
            page.close()
        finally:
            server.terminate()
            server.wait()


def settle(page: Any, language: str) -> None:
    """Wait until nothing has been computed for a while."""
    words = texts("workbench", language)
    stop = page.get_by_role("button", name=words["stop"], exact=True)
    for _ in range(3):
        page.wait_for_timeout(1500)
        stop.wait_for(state="hidden", timeout=120_000)
        page.get_by_text(words["computing_verdict"]).first.wait_for(state="hidden", timeout=120_000)


def drawn(browser: Any, language: str) -> Iterator[tuple[str, bytes]]:
    """Each picture by the name of its file, on the way of the guided tour."""
    words = texts("workbench", language)
    with opened(browser, language) as page:

        def press(key: str) -> None:
            page.get_by_role("button", name=re.compile(rf"^(\d )?{re.escape(words[key])}$")).first.click()
            settle(page, language)

        def picture(parts: str) -> bytes:
            """The page down to the last of its parts that is wholly in view."""
            page.mouse.move(0, 0)
            page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
            boxes = [part.bounding_box() for part in page.locator(parts).all() if part.is_visible()]
            ends = [box["y"] + box["height"] for box in boxes if box]
            height = max((end for end in ends if end < _SIZE["height"]), default=_SIZE["height"] - 8) + 8
            return page.screenshot(clip={"x": 0, "y": 0, "width": _SIZE["width"], "height": height})

        page.get_by_role("button", name=re.compile(rf"^\d {words['place_variables']}$")).wait_for(timeout=120_000)
        press("place_variables")
        yield "workbench-variables", picture(".kanon-variable")
        page.get_by_label("birth_date").select_option(label=words["choice_remove_variables"])
        settle(page, language)
        press("place_risk")
        press("usual_limits")
        yield "workbench-risk", picture(".kanon-field")
        press("place_protect")
        press("first_steps")
        yield "workbench-protect", picture(".kanon-step")


def reports(browser: Any, language: str) -> Iterator[tuple[str, bytes]]:
    """The verdict and first limits of the report that the chapter on reports makes, on a light and on a dark page."""
    configuration = re.findall(r"```yaml\n(.*?)```", (CHAPTERS / "report.md").read_text("utf-8"), re.DOTALL)[0]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "report.yml").write_text(configuration, "utf-8")
        options = ["--config", "report.yml", "--out", "report.html", "--set", f"language={language}"]
        command = [sys.executable, "-m", "kanon_lab", "report", SOURCE, *options]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for theme, ending in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(viewport=_PHONE, color_scheme=theme, device_scale_factor=2)
            page.goto(Path(folder, "report.html").as_uri())
            first, last = page.locator(".kanon-verdict").first, page.locator(".kanon-limits tbody tr").nth(3)
            top, end = first.bounding_box(), last.bounding_box()
            clip = {
                "x": 0,
                "y": top["y"] - 8,
                "width": _PHONE["width"],
                "height": end["y"] + end["height"] - top["y"] + 9,
            }
            yield f"report-verdict{ending}", page.screenshot(clip=clip)
            page.close()


def few_colours(browser: Any, png: bytes) -> bytes:
    """The same picture as a PNG of 256 colours: the most frequent ones, and for any other the nearest of them."""
    page = browser.new_page()
    text = page.evaluate(_PIXELS, f"data:image/png;base64,{base64.b64encode(png).decode()}")
    page.close()
    width, height = struct.unpack(">II", png[16:24])
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3].astype(np.int64)
    colours, place, count = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.sort(np.argsort(-count, kind="stable")[:256])]
    nearest = ((colours[:, None] - palette[None]) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    lines = nearest[place.ravel()].reshape(height, width)
    rows = np.hstack([np.zeros((height, 1), np.uint8), lines]).tobytes()

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette.astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(rows, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in [*parts, (b"IEND", b"")])


def main() -> None:
    from playwright.sync_api import sync_playwright

    command_line("kanon_book.building.workbench_pictures", __doc__).parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=_FLAGS)
        for language, ending in (("en", "png"), ("es", "es.png")):
            for name, png in chain(drawn(browser, language), reports(browser, language)):
                path = CHAPTERS / f"{name}.{ending}"
                write_bytes(path, few_colours(browser, png))
                print(f"{path.name}: {path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
