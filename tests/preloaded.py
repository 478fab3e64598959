"""What notebooks import, imported: for a process that others are forked from."""

import pkgutil
from contextlib import suppress
from importlib import import_module

import kanon_lab
from kanon_lab.loading import load_jsonschema

load_jsonschema()
PACKAGES = "ipykernel.kernelapp ipykernel.ipkernel IPython nbformat pandas scipy.stats altair pyarrow".split()
PACKAGES += [each.name for each in pkgutil.walk_packages(kanon_lab.__path__, "kanon_lab.") if "__" not in each.name]
for name in PACKAGES:
    with suppress(ImportError):
        import_module(name)
