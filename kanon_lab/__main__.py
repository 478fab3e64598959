"""``python -m kanon_lab`` is the command ``kanon-lab``."""

from kanon_lab.cli import main

main()
