"""Commands of ``kanon-lab`` that are the book's: it finds them by their entry points, group ``kanon_lab.commands``."""
