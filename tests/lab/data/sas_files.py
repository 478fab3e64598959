"""Small sas7bdat files, by the writer of ReadStat: its library is in pyreadstat, which has no function for it."""

import ctypes

import pytest
from pyreadstat import _readstat_writer

_TEXT, _NUMBER, _WIDTH = 0, 5, 40
_TAKE = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def write_sas(columns, path, formats=()):
    """Write columns of texts and numbers, some with a format.

    None is missing, and ``".A"`` in a column of numbers the missing value .A.
    """
    library = ctypes.CDLL(_readstat_writer.__file__)
    if not hasattr(library, "readstat_begin_writing_sas7bdat"):
        pytest.skip("this build of pyreadstat shows no writer of sas7bdat")
    for name in ("readstat_writer_init", "readstat_add_variable"):
        getattr(library, name).restype = ctypes.c_void_p
    content = bytearray()

    @_TAKE
    def take(data, size, _):
        content.extend(ctypes.string_at(data, size))
        return size

    def call(name, *arguments):
        assert getattr(library, f"readstat_{name}")(writer, *arguments) == 0, name

    def insert(variable, text, value):
        if value is None:
            call("insert_missing_value", variable)
        elif text:
            call("insert_string_value", variable, value.encode())
        elif isinstance(value, str):
            call("insert_tagged_missing_value", variable, ctypes.c_char(value[1].encode()))
        else:
            call("insert_double_value", variable, ctypes.c_double(value))

    writer = ctypes.c_void_p(library.readstat_writer_init())
    call("set_data_writer", take)
    variables = []
    for name, values in columns.items():
        text = any(isinstance(value, str) and value[:1] != "." for value in values)
        kind, width = (_TEXT, _WIDTH) if text else (_NUMBER, 8)
        made = library.readstat_add_variable(writer, name.encode(), kind, ctypes.c_size_t(width))
        variables.append((ctypes.c_void_p(made), text))
        if name in formats:
            library.readstat_variable_set_format(ctypes.c_void_p(made), formats[name].encode())
    rows = list(zip(*columns.values(), strict=True))
    call("begin_writing_sas7bdat", None, ctypes.c_long(len(rows)))
    for row in rows:
        call("begin_row")
        for (variable, text), value in zip(variables, row, strict=True):
            insert(variable, text, value)
        call("end_row")
    call("end_writing")
    library.readstat_writer_free(writer)
    path.write_bytes(content)
