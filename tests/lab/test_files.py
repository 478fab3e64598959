import gzip
import hashlib
import os

import pytest

from kanon_lab import files
from kanon_lab.errors import DataError, KanonLabError, OptionError, StorageError


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("a.CSV.gz", "csv"), ("a.b.px", "px"), ("a.gz", ""), ("a", ""), ("2010.01.xlsx", "xlsx")],
)
def test_format_is_the_extension_before_gz(name, form):
    assert files.file_format(name) == form


def test_an_error_is_one_line_whatever_its_text():
    assert str(KanonLabError("first\nsecond\r\nthird")) == "first second third"


@pytest.mark.parametrize("text", ["\x1b[31mred\x07", "gpj.\u202efdp", "a\x9b1mb", "a\udcffb", "a\x00\u2028b"])
def test_an_error_commands_no_terminal(text):
    message = str(KanonLabError(text))
    assert message.isprintable()
    assert "\\" in message or " " in message


def test_letters_of_all_languages_stay():
    assert str(KanonLabError("Coruña, 東京, \xa0 Łódź")) == "Coruña, 東京, \xa0 Łódź"


def test_reads_plain_and_compressed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"x", mtime=0))
    assert files.read_bytes(tmp_path / "a.csv") == files.read_bytes(str(tmp_path / "b.csv.gz")) == b"x"


def test_what_is_packed_depends_on_its_content_only():
    """RFC 1952: no flags, no time, packed as small as possible, on Unix; Python 3.13 says an unknown system there."""
    packed = files.gzipped(b"sex\nman\n")
    assert packed[:10] == b"\x1f\x8b\x08\x00" + bytes(4) + b"\x02\x03"
    assert gzip.decompress(packed) == b"sex\nman\n"


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("empty.csv", b"", "is empty"),
        ("empty.csv.gz", b"", "is empty"),
        ("nothing.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("plain.csv.gz", b"place,sex\n", "not a gzip file"),
        ("cut.csv.gz", gzip.compress(bytes(range(256)) * 4, mtime=0)[:-20], "cut short"),
        ("garbled.csv.gz", gzip.compress(b"a" * 1000, mtime=0)[:12] + b"\xff" * 20, "damaged"),
    ],
    ids=["empty", "empty-gz", "nothing", "plain", "cut", "garbled"],
)
def test_unreadable_content_is_one_line_with_the_file(tmp_path, name, content, fault):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=fault) as caught:
        files.read_bytes(path)
    assert str(caught.value).startswith(str(path))


def test_absent_file_and_folder(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        files.read_bytes(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="is a folder"):
        files.read_bytes(tmp_path)


@pytest.mark.parametrize("look", [files.read_bytes, files.sha256, files.status, files.is_file])
@pytest.mark.parametrize("name", ["loop", "x" * 300, "zero\0byte"])
def test_a_path_that_the_system_refuses(tmp_path, look, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataError, match=r"cannot be (read|the path)"):
        look(tmp_path / name)


def test_what_never_ends_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(DataError, match="is not a regular file"):
            files.read_bytes(tmp_path / name)
        assert not files.is_file(tmp_path / name)
    assert files.status(tmp_path / "absent" / "file") is None


def test_sha256_is_that_of_the_content(tmp_path):
    files.write_text(tmp_path / "a", "ñ")
    assert files.sha256(tmp_path / "a") == hashlib.sha256("ñ".encode()).hexdigest()


def test_a_write_that_breaks_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "result.csv"
    files.write_text(target, "old")

    def write_half():
        with files.atomic_path(target) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_cannot_start_names_the_target(tmp_path):
    target = tmp_path / "absent folder" / "result.csv"
    with pytest.raises(StorageError, match="cannot be written") as caught:
        files.write_text(target, "x")
    assert str(caught.value).startswith(str(target))


def test_a_draft_follows_no_link_and_leaves_the_file_of_nobody_else(tmp_path, monkeypatch):
    """Names of drafts cannot be foreseen; and were one there, it would not be written to."""
    names = []
    for _ in range(2):
        with files.atomic_path(tmp_path / "o.csv", ending=".csv") as draft:
            names.append(draft.name)
            assert str(os.getpid()) not in draft.name.split(".")
            assert draft.suffix == ".csv"
    assert names[0] != names[1]
    other = tmp_path / "of another.txt"
    other.write_text("theirs")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "known")
    files.new_path(tmp_path, ".tmp").symlink_to(other)
    with pytest.raises(StorageError, match="File exists"):
        files.write_text(tmp_path / "o.csv", "ours")
    assert other.read_text() == "theirs"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_pass_to_the_new_file_and_a_draft_never_has_more(tmp_path, request, umask):
    before = os.umask(umask)
    request.addfinalizer(lambda: os.umask(before))
    files.write_text(tmp_path / "new.csv", "new")
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o666 & ~umask
    target = tmp_path / "o.csv"
    target.write_text("old")
    target.chmod(0o440)
    with files.atomic_path(target) as draft:
        assert draft.stat().st_mode & 0o777 == 0o640
    assert target.stat().st_mode & 0o777 == 0o440
    with files.atomic_path(target, mode=0o600) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_that_is_written_to_is_replaced_and_its_file_left_as_it_is(tmp_path, link):
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0o644)
    getattr(tmp_path / "b", link)(tmp_path / "a")
    with files.atomic_path(tmp_path / "b", mode=0o600) as draft:
        draft.write_text("b")
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_more_than_the_limit_is_not_unpacked(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000), mtime=0))
    with files.limited(10_000_000):
        assert len(files.read_bytes(path)) == 10_000_000
    with files.limited(9_999_999), pytest.raises(DataError, match=r"more than 9,999,999 bytes .*\(--memory"):
        files.read_bytes(path)
    (tmp_path / "plain.csv").write_bytes(b"abc")
    with files.limited(2), pytest.raises(DataError, match="more than 2 bytes"):
        files.read_bytes(tmp_path / "plain.csv")


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "4 GB"])
def test_a_limit_is_a_whole_number_of_bytes(wrong):
    with pytest.raises(OptionError, match="max_bytes must be a whole number"), files.limited(wrong):
        pass


def test_a_gzip_file_may_have_many_members(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n", mtime=0) + gzip.compress(b"1\n", mtime=0) * 100_000)
    assert files.read_bytes(path) == b"a\n" + b"1\n" * 100_000


def test_a_text_is_made_once_and_kept_where_it_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    made = []

    def make():
        made.append(1)
        return "é\r\n"

    assert [files.kept_text(make, "figures", "a", "b") for _ in range(2)] == ["é\r\n"] * 2
    assert len(made) == 1
    assert files.kept_text(make, "figures", "ab") == "é\r\n"
    assert len(made) == 2
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "file")
    assert files.kept_text(make, "figures", "a", "b") == "é\r\n"
