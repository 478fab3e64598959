"""The foot of a page, and what stands at old addresses."""

from __future__ import annotations

import os
import subprocess
from types import SimpleNamespace

import pytest
from sphinx.builders.html import StandaloneHTMLBuilder

from kanon_lab import __version__
from kanon_lab.course import edition


@pytest.fixture
def checkout(tmp_path):
    """A repository of one commit, of another day than today."""
    (tmp_path / "_toc.yml").write_text("root: a\n", "utf-8")
    git = ["git", "-C", tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org"]
    dated = {"GIT_COMMITTER_DATE": "2020-02-03T04:05:06Z", "GIT_AUTHOR_DATE": "2019-01-01T00:00:00Z"}
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First."]):
        subprocess.run([*git, *command], check=True, env=dated | {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    return tmp_path


def config(**options):
    return SimpleNamespace(language="en", html_theme_options=options)


def test_the_commit_and_its_own_date_stand_at_the_foot(checkout):
    inside = checkout / "_build" / "site"
    inside.mkdir(parents=True)
    commit, date = edition.commit_of(inside)
    assert date == "2020-02-03"
    given = config(extra_footer="<p>Licence</p>")
    edition.add_edition(SimpleNamespace(confdir=inside), given)
    told = f"Version {__version__}, commit {commit} of {date}"
    assert given.html_theme_options["extra_footer"] == f'<p>Licence</p><p class="kanon-edition">{told}</p>'


def test_without_a_checkout_the_version_alone(tmp_path, checkout):
    """Nor is the commit of another project ours, inside whose checkout this one was unpacked."""
    (checkout / "_toc.yml").unlink()
    assert edition.commit_of(checkout) is None
    given = config(extra_footer="")
    edition.add_edition(SimpleNamespace(confdir=checkout), given)
    assert given.html_theme_options["extra_footer"] == f'<p class="kanon-edition">Version {__version__}</p>'


def test_without_git_the_version_alone(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout))
    assert edition.commit_of(checkout) is None


@pytest.mark.parametrize(
    ("documents", "written"),
    [({"book/ruler"}, True), ({"book/uniques"}, False), ({"book/ruler", "book/uniques"}, False)],
)
def test_an_old_address_leads_to_the_new_one_once_there_is_one(tmp_path, documents, written):
    (tmp_path / "book").mkdir()
    app = SimpleNamespace(outdir=tmp_path, config=config(), env=SimpleNamespace(found_docs=documents))
    app.builder = StandaloneHTMLBuilder.__new__(StandaloneHTMLBuilder)
    app.builder.format, app.builder.out_suffix, app.builder.link_suffix = "html", ".html", ".html"
    edition.write_redirects(app, None)
    old = tmp_path / "book" / "uniques.html"
    assert old.exists() == written
    if written:
        text = old.read_text("utf-8")
        assert 'content="0; url=ruler.html"' in text
        assert "location.replace('ruler.html' + location.hash)" in text
