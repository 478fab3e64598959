"""The frame of a page of the book: a Sphinx extension with what stands around the text of chapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from kanon_lab import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Languages that words of the sources stand in, by the role that marks them: {es}`clave`.
SOURCES = ("es", "ca")


class Foreign(SphinxRole):
    """Words of a source in its own language, emphasised; screen readers speak them as such."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        # docutils writes a class language-es as the attribute lang="es".
        return [nodes.emphasis(self.rawtext, self.text, classes=[f"language-{self.name}"])], []


class Absent(SphinxDirective):
    """Stands for a directive of the exercises until there is one: what is inside it is shown."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return self.parse_content_to_nodes()


def stand_in(app: Sphinx, config: Any) -> None:
    """Once every extension has registered what it has."""
    for name in ("exercises", "review", "predict"):
        if name not in directives._directives:
            app.add_directive(name, Absent)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_lab.course.frame`` in ``_config.yml``)."""
    for language in SOURCES:
        app.add_role(language, Foreign())
    app.connect("config-inited", stand_in, priority=900)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
