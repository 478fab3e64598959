"""The errors a user can meet: each one line that says what was wrong, where, and what to do."""


class KanonLabError(Exception):
    """Base of every error that kanon_lab raises on purpose.

    Its text is always one line, so that the command line can print it as it stands. It may hold names of files and
    columns, row numbers, and values of options; never a value from the data.
    """

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))


class DataError(KanonLabError):
    """A file or frame that cannot be used as it is."""


class OptionError(KanonLabError):
    """An option, argument or configuration value that cannot be used."""


class NetworkError(KanonLabError):
    """A download that could not be made or finished."""


class StorageError(KanonLabError):
    """A file or folder that cannot be written."""


class MissingPackageError(KanonLabError):
    """An optional package that a function needs and that is not installed."""
