"""Charts of single chapters, as ``from kanon_book.figures import spain``."""
