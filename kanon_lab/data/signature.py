"""What the first bytes of a file tell of it: that it is of another format than its name says, or encrypted."""

import io
import zipfile

from kanon_lab.errors import DataError

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ZIP = b"PK\x03\x04"
_SIGNATURES = {
    _ZIP: ("zip archive or a workbook of the new kind (.xlsx)", ("xlsx",)),
    _OLE: ("workbook of the old or an encrypted kind", ("xlsx", "xls")),
    b"PAR1": ("Parquet file", ("parquet",)),
    b"$FL2": ("SPSS file", ("sav",)),
    b"$FL3": ("SPSS file", ("sav",)),
    b"<stata_dta>": ("Stata file", ("dta",)),
    b"\x1f\x8b": ("gzip file", ()),
    b"%PDF": ("PDF document", ()),
}
# The name of the stream that an encrypted workbook is, in the directory of its container.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def check_signature(content: bytes, form: str) -> None:
    """Raise a `DataError` where a file is encrypted, or begins as one of another format than its name says does."""
    if content.startswith(_OLE) and form in ("xlsx", "xls") and _ENCRYPTED in content:
        raise DataError("is encrypted with a password; save it without one")
    if content.startswith(_OLE) and form == "xlsx":
        raise DataError("is a workbook of the old kind (.xls); save it as xlsx")
    if content.startswith(_ZIP) and _locked(content):
        raise DataError("is an archive protected by a password; unpack it, and save the file without one")
    for start, (kind, forms) in _SIGNATURES.items():
        if content.startswith(start) and form not in forms:
            raise DataError(f"is not .{form} but a {kind}; give the file its right ending, or unpack it")


def _locked(content: bytes) -> bool:
    """Whether some part of a zip archive is encrypted."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(part.flag_bits & 1 for part in archive.infolist())
    except Exception:  # damaged, which its reader tells
        return False
