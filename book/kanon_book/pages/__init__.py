"""Extensions of Sphinx that make the pages: charts, exercises, the frame of a chapter, the glossary, the edition."""
