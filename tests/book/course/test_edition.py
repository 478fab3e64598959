"""The foot of a page, its head, and what stands at old addresses and at none."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import small_course
import yaml
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from kanon_book import places
from kanon_book.course.order import chapters
from kanon_book.pages import edition
from kanon_lab import __version__
from kanon_lab.errors import OptionError


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


def test_an_old_address_leads_to_a_page_of_the_book_and_keeps_the_section(tmp_path):
    redirects = yaml.safe_load((places.ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["redirects"]
    documents = {chapter.document for chapter in chapters(places.TOC)}
    for old, new in redirects.items():
        assert old not in documents
        assert (Path(old).parent / new).with_suffix("").as_posix() in documents
    (tmp_path / "index.rst").write_text("Title\n=====\n", "utf-8")
    settings = {"extensions": ["sphinx_reredirects"], "redirects": redirects}
    with docutils_namespace():
        Sphinx(tmp_path, None, tmp_path / "out", tmp_path / "trees", "html", settings, status=None).build()
    assert [*redirects] == ["book/uniques"]
    text = (tmp_path / "out" / "book" / "uniques.html").read_text("utf-8")
    assert 'content="0; url=ruler.html"' in text
    assert "window.location.replace(target + window.location.hash)" in text


PLACE = "https://example.org/anonymity"
CHART = Path(__file__).resolve().parents[3] / "book" / "how-anonymous.svg"


@pytest.fixture(scope="module", params=[PLACE, ""], ids=["published", "on a disk"])
def built(request, tmp_path_factory):
    """A small book with and without an address; its folder, and whether it has one."""
    folder = tmp_path_factory.mktemp("edition")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(edition.ADDRESS, request.param)
        small_course.use(folder, patch)
        (folder / "book").mkdir()
        (folder / "book" / CHART.name).write_bytes(CHART.read_bytes())
        out = small_course.build(folder)
    small_course.forget()
    return out, bool(request.param)


def head(path):
    """What a page says of itself: by name its metadata, by language its addresses, and the canonical one."""
    soup = BeautifulSoup(path.read_text("utf-8"), "html.parser").head
    told = {each.get("property", each.get("name")): each["content"] for each in soup.select("meta[content]")}
    links = {each["hreflang"]: each["href"] for each in soup.select("link[rel=alternate]")}
    canonical = soup.select_one("link[rel=canonical]")
    return told, links, canonical and canonical["href"]


def test_the_head_of_a_page(built):
    out, published = built
    told, links, canonical = head(out / "book" / "hospital.html")
    assert told["description"] == told["og:description"] == "Words."
    assert (told["og:title"], told["og:locale"]) == ("A hospital", "en_GB")
    page = "book/hospital.html"
    if published:
        assert canonical == told["og:url"] == f"{PLACE}/{page}"
        assert links == dict.fromkeys(("en", "x-default"), canonical) | {"es": f"{PLACE}/es/{page}"}
        assert told["og:image"] == f"{PLACE}/{edition.PICTURE}"
    else:
        assert not links and canonical is None and not {"og:url", "og:image"} & told.keys()


def test_what_only_a_published_book_has(built):
    out, published = built
    names = ("sitemap.xml", "404.html", edition.PICTURE)
    assert {name: (out / name).exists() for name in names} == dict.fromkeys(names, published)
    if not published:
        return
    assert struct.unpack(">II", (out / edition.PICTURE).read_bytes()[16:24]) == (1200, 630)
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    urls = ElementTree.parse(out / "sitemap.xml").getroot().findall(f"{space}url")
    pages = [f"book/{name}.html" for name in sorted(small_course.PAGES)]
    assert [url.findtext(f"{space}loc") for url in urls] == [
        f"{PLACE}/{folder}{page}" for folder in ("", "es/") for page in pages
    ]
    assert all(len(url.findall("{http://www.w3.org/1999/xhtml}link")) == 3 for url in urls)
    told, _, canonical = head(out / "404.html")
    assert told["robots"] == "noindex" and canonical is None
    soup = BeautifulSoup((out / "404.html").read_text("utf-8"), "html.parser")
    assert soup.base["href"] == f"{PLACE}/404.html"
    assert [each["lang"] for each in soup.select("section[lang]")] == ["en", "es"]
    assert {each["href"] for each in soup.select("section[lang] a")} == {
        f"{PLACE}/{folder}{page}.html" for folder in ("", "es/") for page in ("index", "search")
    }


FORM = "https://example.org/office/book/issues/new?template=book.yml&page=https%3A%2F%2Fexample.org%2Fanonymity%2F"


@pytest.mark.parametrize(
    ("language", "addresses", "link"),
    [
        ("en", (PLACE, FORM.partition("/issues")[0]), ("Report a mistake on this page", f"{FORM}a.html")),
        ("es", (PLACE, FORM.partition("/issues")[0]), ("Avisar de un error en esta página", f"{FORM}es%2Fa.html")),
        ("en", (PLACE, ""), None),
        ("en", ("", FORM.partition("/issues")[0]), None),
    ],
    ids=["English", "Spanish", "no repository", "not published"],
)
def test_each_page_links_to_the_form_for_mistakes_where_both_addresses_are_known(
    monkeypatch, language, addresses, link
):
    for variable, address in zip((edition.ADDRESS, edition.REPOSITORY), addresses):
        monkeypatch.setenv(variable, address)
    settings = SimpleNamespace(language=language, html_title="Book")
    app = SimpleNamespace(config=settings, builder=SimpleNamespace(get_target_uri="{}.html".format))
    context = {"theme_extra_footer": "<p>Licence</p>"}
    edition.add_metadata(app, "a", "page.html", context, publish_doctree("Words."))
    foot = BeautifulSoup(context["theme_extra_footer"], "html.parser")
    assert foot.p.text == "Licence"
    assert [(each.text, each["href"]) for each in foot.select("a")] == ([link] if link else [])


def test_the_form_that_pages_link_to_takes_the_address_of_the_page():
    form = yaml.safe_load((CHART.parents[1] / ".github" / "ISSUE_TEMPLATE" / "book.yml").read_text("utf-8"))
    assert "page" in [field["id"] for field in form["body"]]


@pytest.mark.parametrize("given", ["example.org", "ftp://example.org", "https://", 'https://a"b', "https://a?b"])
def test_an_address_must_be_one(monkeypatch, given):
    monkeypatch.setenv(edition.ADDRESS, given)
    with pytest.raises(OptionError, match="must be an address such as"):
        edition.address()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One *sentence* here. Another.", "One sentence here."),
        ("Is it 3.5 per cent? Yes.", "Is it 3.5 per cent?"),
        (":math:`k` is a number.\n\nThe next one has none.", "The next one has none."),
        ("- Only a list.", ""),
        ('.. role:: tag(raw)\n   :format: html\n\nOne :tag:`<b title="A. B.">word</b>` here. Two.', "One word here."),
        ("word " * 100, "word " * 59 + "word …"),
    ],
)
def test_the_first_sentence_of_a_page(text, sentence):
    assert edition.first_sentence(publish_doctree(f"Title\n=====\n\n{text}\n")) == sentence
