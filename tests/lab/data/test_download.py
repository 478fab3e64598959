"""Downloads from a server on this machine: whole, broken, resumed, wrong, silent."""

import contextlib
import io
import socket
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from px_files import px_text

from kanon_lab.data import fetch, read_counts
from kanon_lab.data.sets import download
from kanon_lab.errors import DataError, NetworkError, OptionError, StorageError

resource = pytest.importorskip("resource", reason="needs limits on the size of files, which this system lacks")

LAST_MODIFIED = "Mon, 01 Feb 2010 12:00:00 GMT"
CONTENT = bytes(range(256)) * 2000
BREAK = 100_000


class Server:
    """What the next answers shall be, and what was asked."""

    def __init__(self):
        self.content = CONTENT
        self.status = 200
        self.last_modified = LAST_MODIFIED
        self.ranges = True
        self.break_after = None
        self.announced = None
        self.location = None
        self.drip = 0.0
        self.wait = 0.0
        self.pause = 0.0
        self.asked = []

    def answer(self, request):
        self.asked.append(dict(request.headers))
        time.sleep(self.wait)
        start = self.start_of(request.headers)
        if start is not None and start >= len(self.content):
            request.send_error(416)
            return
        if self.location is not None:
            request.wfile.write(b"HTTP/1.0 302 Found\r\nLocation: " + self.location + b"\r\n\r\n")
            return
        body = self.content[start or 0 :]
        request.send_response(self.status if start is None else 206)
        request.send_header("Last-Modified", self.last_modified)
        request.send_header("Content-Length", str(self.announced or len(body)))
        request.end_headers()
        if self.drip:
            self.send_slowly(body, request)
        request.wfile.write(body[: self.break_after])
        time.sleep(self.pause)

    def send_slowly(self, body, request):
        """Single bytes until the client has had enough."""
        for byte in body:
            request.wfile.write(bytes([byte]))
            time.sleep(self.drip)

    def start_of(self, headers):
        """First byte asked for, if the server honours it: the file must still be of the date that the client has."""
        asked = headers.get("Range")
        if not asked or not self.ranges or headers.get("If-Range") != self.last_modified:
            return None
        return int(asked.removeprefix("bytes=").removesuffix("-"))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            with contextlib.suppress(ConnectionError):
                state.answer(self)

        def log_message(self, *args):
            """Stay silent."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{httpd.server_port}/file"
    yield state
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def accept(path):
    """The check of a download that takes any file."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_download_is_all_that_is_left(server, tmp_path):
    target = tmp_path / "new" / "file"
    download(server.address, target, accept)
    assert target.read_bytes() == CONTENT
    assert names(target.parent) == ["file"]


def broken(server, tmp_path):
    server.break_after = BREAK
    with pytest.raises(NetworkError, match=f"broke off after {BREAK} bytes; run the same again"):
        download(server.address, tmp_path / "file", accept)
    assert names(tmp_path) == ["file.part"]
    server.break_after = None


def test_a_broken_download_goes_on_where_it_was(server, tmp_path):
    broken(server, tmp_path)
    download(server.address, tmp_path / "file", accept)
    assert server.asked[-1]["Range"] == f"bytes={BREAK}-"
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert names(tmp_path) == ["file"]


def test_it_starts_anew_when_the_file_has_changed(server, tmp_path):
    broken(server, tmp_path)
    server.content, server.last_modified = CONTENT[::-1], "Tue, 02 Feb 2010 12:00:00 GMT"
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT[::-1]


def test_it_starts_anew_where_the_server_cannot_resume(server, tmp_path):
    broken(server, tmp_path)
    server.ranges = False
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_it_starts_anew_when_nothing_is_left_to_send(server, tmp_path):
    broken(server, tmp_path)
    server.content = CONTENT[:BREAK]
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT[:BREAK]


def test_a_length_other_than_announced(server, tmp_path):
    server.announced = len(CONTENT) + 5
    with pytest.raises(NetworkError, match="broke off after"):
        download(server.address, tmp_path / "file", accept)
    assert names(tmp_path) == ["file.part"]


@pytest.mark.parametrize("length", ["abc", "5.0", "9" * 5000])
def test_an_announced_length_that_is_none(server, tmp_path, length):
    server.announced = length
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_two_announced_lengths(server, tmp_path):
    server.announced = f"{len(CONTENT)}, {len(CONTENT) + 1}"
    with pytest.raises(NetworkError, match="cannot be downloaded"):
        download(server.address, tmp_path / "file", accept)


@pytest.mark.parametrize(
    "date", ["rubbish", "Wed, 31 Feb 2010 12:00:00 GMT", "1 Feb 99999 12:00:00 GMT", "1 Feb 2010 12:00:00 +999999"]
)
def test_a_date_that_is_none(server, tmp_path, date):
    server.last_modified = date
    broken(server, tmp_path)
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_was_not_asked_for(server, tmp_path):
    server.status = 206
    with pytest.raises(NetworkError, match="a part that was not asked for"):
        download(server.address, tmp_path / "file", accept)
    assert names(tmp_path) == []


@pytest.mark.parametrize("location", [b"http://[::bad", b"http://a..b/", b"http://%b/" % (b"a" * 300), b"/\xff\xfe"])
def test_a_redirection_to_what_is_no_address(server, tmp_path, location):
    server.location = location
    with pytest.raises(NetworkError, match="check the address"):
        download(server.address, tmp_path / "file", accept)


def test_certificates_that_are_not_there(server, tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/absent")
    with pytest.raises(NetworkError, match="check REQUESTS_CA_BUNDLE"):
        download(server.address.replace("http:", "https:"), tmp_path / "file", accept)


def test_a_trickle_is_given_up_and_kept(server, tmp_path):
    server.drip = 0.02
    with pytest.raises(NetworkError, match="slower than 500 bytes a second"):
        download(server.address, tmp_path / "file", accept, timeout=(0.5, 0.3))
    kept = (tmp_path / "file.part").read_bytes()
    assert kept
    assert CONTENT.startswith(kept)


@pytest.mark.parametrize("status", [404, 500, 503])
def test_a_refusal_leaves_nothing(server, tmp_path, status):
    server.status = status
    with pytest.raises(NetworkError, match=f"the server answers {status}"):
        download(server.address, tmp_path / "file", accept)
    assert names(tmp_path) == []


def test_a_server_that_does_not_answer(server, tmp_path):
    server.wait = 1.0
    with pytest.raises(NetworkError, match=r"no answer within 0\.2 s"):
        download(server.address, tmp_path / "file", accept, timeout=(0.2, 0.2))


def test_an_answer_that_drips_without_end(tmp_path):
    def drip():
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.02)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip, daemon=True).start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/file"
        with pytest.raises(NetworkError, match=r"no whole answer within 0\.6 s"):
            download(address, tmp_path / "file", accept, timeout=(0.1, 0.1))
    assert names(tmp_path) == []


def test_no_server(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(NetworkError, match="cannot be reached; check the network connection") as caught:
        download("http://127.0.0.1:9/file", tmp_path / "file", accept)
    assert "\n" not in str(caught.value)


def test_an_address_that_is_none(tmp_path):
    with pytest.raises(NetworkError, match="check the address"):
        download("no address", tmp_path / "file", accept)


def test_an_interrupted_download_leaves_only_its_part(server, tmp_path, monkeypatch):
    from tqdm import tqdm

    def interrupt(self, n=1):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tqdm, "update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            download(server.address, tmp_path / "file", accept)
    assert names(tmp_path) == ["file.part"]
    download(server.address, tmp_path / "file", accept)
    assert int(server.asked[-1]["Range"].removeprefix("bytes=").removesuffix("-")) > 0
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_that_falls_silent_in_the_middle(server, tmp_path):
    server.break_after, server.pause = BREAK, 1.0
    with pytest.raises(NetworkError, match=r"no answer within 0\.2 s"):
        download(server.address, tmp_path / "file", accept, timeout=(0.2, 0.2))
    assert names(tmp_path) == ["file.part"]


def test_a_file_that_cannot_grow_as_on_a_full_disk(server, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"file\.part: cannot be written .*; free space"):
            download(server.address, tmp_path / "file", accept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    download(server.address, tmp_path / "file", accept)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(StorageError, match="cannot be written"):
        download(server.address, tmp_path / "cache" / "file", accept)


def national_px(municipalities=8000):
    places = [f"{1 + n // 160:02d}{n % 160 + 1:03d} Place {n}" for n in range(municipalities)]
    return px_text(places=places, years=["1 de enero de 2010"]).encode("iso-8859-15")


def archive(name="pobmun10.xls", method=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as writer:
        writer.writestr(name, "x" * 100)
    return content.getvalue()


def test_the_national_table_is_fetched_once(server, tmp_path):
    server.content = national_px()
    path, downloaded = fetch("ine-33570", address=server.address, folder=tmp_path)
    assert downloaded
    assert path == tmp_path / "33570.px"
    assert read_counts(path)["place"].nunique() == 8000
    assert fetch("ine-33570", address=server.address, folder=tmp_path) == (path, False)
    assert len(server.asked) == 1
    assert fetch("ine-33570", address=server.address, folder=tmp_path, force=True) == (path, True)
    assert len(server.asked) == 2


@pytest.mark.parametrize("content", [b"<html>Busy</html>", national_px(7999), national_px()[:-100]])
def test_a_table_with_another_layout_is_removed(server, tmp_path, content):
    old = tmp_path / "33570.px"
    old.write_text("the file fetched last year")
    server.content = content
    with pytest.raises(DataError, match="not the expected file, and was removed"):
        fetch("ine-33570", address=server.address, folder=tmp_path, force=True)
    assert names(tmp_path) == ["33570.px"]
    assert old.read_text() == "the file fetched last year"


def test_the_municipal_spreadsheets(server, tmp_path):
    server.content = archive()
    path, _ = fetch("ine-pobmun", address=server.address, folder=tmp_path)
    assert zipfile.is_zipfile(path)


def spoilt(at, value, method=zipfile.ZIP_STORED):
    """An archive in whose directory one field is changed, and likewise in the head of its file."""
    content = bytearray(archive(method=method))
    directory = content.index(b"PK\1\2")
    content[directory + at] = content[at - 2] = value
    return bytes(content)


def with_damaged_contents(method):
    content = bytearray(archive(method=method))
    content[45:55] = b"\xff" * 10
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        b"<html>Busy</html>",
        archive("readme.txt"),
        archive().replace(b"xxx", b"xyx", 1),
        spoilt(8, 1),
        spoilt(10, 77),
        spoilt(6, 99),
        with_damaged_contents(zipfile.ZIP_DEFLATED),
        with_damaged_contents(zipfile.ZIP_BZIP2),
        with_damaged_contents(zipfile.ZIP_LZMA),
    ],
    ids="page other-files checksum encrypted method version deflate bzip2 lzma".split(),
)
def test_an_archive_with_another_layout_is_removed(server, tmp_path, content):
    server.content = content
    with pytest.raises(DataError, match="not the expected file"):
        fetch("ine-pobmun", address=server.address, folder=tmp_path)
    assert names(tmp_path) == []


def test_what_is_embedded_needs_no_download():
    path, downloaded = fetch("spain-2010")
    assert path.is_file()
    assert not downloaded


def test_an_unknown_name():
    with pytest.raises(OptionError, match="no such data set; there are spain-2010"):
        fetch("spain")
