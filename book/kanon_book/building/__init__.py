"""From notebooks and chapters to the book: pages in two languages, the book on paper, the archive."""
