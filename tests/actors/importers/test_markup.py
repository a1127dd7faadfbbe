"""Notes in HTML, Org and reStructuredText: what is kept of them as Markdown, and what of a page is left out."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from actors.importers.markup.hypertext import from_html
from actors.importers.markup.outlines import from_org, from_rst
from actors.importers.records import origin
from tests.actors.importers import samples
from tests.actors.importers.test_sources import links, read
from tests.sampling import sampled

PAGE = """<!DOCTYPE html>
<html><head><meta charset="windows-1252"><title>Bees &amp; honey</title>
<meta property="article:published_time" content="2026-03-04T10:00:00Z">
<style>p { color: red }</style>
<script>if (a < b && c > d) document.write("<p>tracked</p>");</script></head>
<body><nav><a href="/">Home</a></nav>
<!-- <p>an old -> paragraph</p> -->
<h1>Bees &mdash; a short guide</h1>
<p>A colony has&nbsp;one <b>queen</b>,<br>and 50&#8239;000 workers. 3 < 4 &copy; Café</p>
<ul><li>Spring: feed<ul><li>sugar</ul><li>Autumn: treat</ul>
<ol><li><p>Smoke</p></li><li><div>Open</div><p>gently</p></li></ol>
<table><tr><th>Month<th>Work</tr><tr><td>May<td>swarms</table>
<blockquote>Buckfast is best.</blockquote>
<pre><code>def f():
    return 1 &lt; 2
</code></pre>
<img src="x.png" alt="A hive in snow">
<h2>More</h2><p>Unclosed<template><p>hidden</p></template><noscript>Enable scripts</noscript>"""

TEXT = """# Bees — a short guide

A colony has one queen,
and 50 000 workers. 3 < 4 © Café

- Spring: feed
  - sugar
- Autumn: treat
- Smoke
- Open

gently

Month | Work
May | swarms

> Buckfast is best.

```
def f():
    return 1 < 2
```

A hive in snow

## More

Unclosed"""

ORG = """#+TITLE: Garden log
#+date: <2026-04-01 Wed 08:30>
#+FILETAGS: :garden:home:
#+OPTIONS: toc:nil
# a comment
* Beds
:PROPERTIES:
:ID: 1234
:END:
** TODO Water the [[file:ferns.org][ferns]]
See [[https://example.org][the guide]], [[https://example.net]] and [[id:abc][Ilse's note]].
#+BEGIN_SRC sh
# not a comment
* no heading
#+END_SRC
#+BEGIN_QUOTE
Slow is smooth.
#+END_QUOTE
:LOGBOOK:
never closed
* Tools
"""

RST = """===========
Pump manual
===========

:Date: 2026-02-03
:tags: pond, pump
:Author: Ole

Cleaning
--------
Stop it first::

   # stop the pump
   systemctl stop pump

Details
~~~~~~~
=====  =====
Part   Every
=====  =====
Sieve  week
=====  =====

Storage
-------
Keep dry.
"""


def check_linear(work: Callable[[str], object], piece: str) -> None:
    """Check that four times the text takes far less than sixteen times as long."""

    def seconds(count: int) -> float:
        begun = process_time()
        work(piece * count)
        return process_time() - begun

    shorter, longer = (min(seconds(count) for _ in range(3)) for count in (5_000, 20_000))
    assert longer < 10 * max(shorter, 0.02)


def test_the_text_of_a_page_is_kept_without_scripts_styles_navigation_and_comments(tmp_path: Path) -> None:
    (tmp_path / "bees.html").write_bytes(PAGE.encode("windows-1252", "xmlcharrefreplace"))
    name, (item,), broken, skipped = read(tmp_path / "bees.html")
    assert (name, broken, skipped) == ("a note", [], {})
    assert item["content"] == TEXT
    assert item["created_at"] == "2026-03-04T10:00:00+00:00"
    metadata = {"source": "note", "path": "bees", "title": "Bees & honey"}
    assert item["metadata"] == metadata | {"imported_from": origin(tmp_path / "bees.html")}


@pytest.mark.parametrize(
    ("data", "content", "problem"),
    [
        ('<meta charset="utf-8"><p>Küche'.encode(), "Küche", ""),
        ('<meta charset="iso-8859-1"><p>Küche'.encode(), "Küche", ""),
        ('<meta charset="iso-8859-1"><p>“Küche”'.encode("cp1252"), "“Küche”", ""),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=iso-2022-jp"><p>蜂'.encode("iso-2022-jp"),
            "蜂",
            "",
        ),
        ("<p>Küche".encode("utf-16"), "Küche", ""),
        (b"<p>\nK\xfcche", "", "line 2: not UTF-8: save the file as UTF-8, such as by iconv -f cp1252 -t utf-8 FILE"),
        (b'<meta charset="ascii">\n<p>K\x81che', "", "line 2: not ascii"),
        (b'<meta charset="klingon">\n<p>K\xfcche', "", "line 1: unknown encoding klingon"),
        (b'<meta charset="undefined">\n<p>K\xfcche', "", "line 1: unknown encoding undefined"),
        (b'<meta charset="unicode_escape">\n<p>\\ud800', "", "line 1: not unicode_escape"),
        (b'<meta charset="utf-7">\n<p>+2AA-', "", "line 1: not utf-7"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_is_in(tmp_path: Path, data: bytes, content: str, problem: str) -> None:
    (tmp_path / "page.htm").write_bytes(data)
    (tmp_path / "z.txt").write_text("Kept.", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ([f"page\n\n{content}"] if content else []) + ["Kept."]
    assert [f"line {one.line}: {one.reason}" for one in broken] == ([problem] if problem else [])


def test_a_page_without_text_is_empty_and_a_torn_one_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    pages = {
        "app.html": "<title>App</title><div id=root></div><script>start()</script>",
        "torn.html": "<h1>Plan</h1><p>Dig the pond<![foo <a href='x",
        "comment.html": "<p>Shown<!-- never closed <p>hidden",
    }
    samples.write_files(tmp_path, pages)
    _, items, broken, skipped = read(tmp_path)
    assert [item["content"] for item in items] == [
        "comment\n\nShown",
        "# Plan\n\nDig the pond<![foo <a href='x",
    ]
    assert (broken, skipped) == ([], {"empty files": 1})


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "<p>Before</p><!--[if !mso]><!--><p>Hello, visible</p><!--<![endif]--><p>After</p>",
            "Before\n\nHello, visible\n\nAfter",
        ),
        ("<p>Before</p><!--[if mso]><p>Outlook</p><![endif]--><p>After</p>", "Before\n\nAfter"),
        ("<p>Before</p><!--><p>Hello</p><p>After</p>", "Before\n\nHello\n\nAfter"),
        ("<p>1</p><!-- a --!><p>2</p>", "1\n\n2"),
        ('<script>var s = "<!--";</script><p>Hello</p>', "Hello"),
        ("<STYLE type='text/css'>p { content: '<!--' }</Style ><p>Hello</p>", "Hello"),
        ("<!-- <script> --><p>Hello</p>", "Hello"),
        ('<p>See <a title="x > y" href=it\'s>the > guide</a></p>', "See the > guide"),
    ],
)
def test_what_a_browser_shows_beside_comments_and_scripts_is_kept(page: str, text: str) -> None:
    assert from_html(page)[1] == text


@sampled(
    "text",
    [
        "<a ",
        "<!--",
        "<!-- x >",
        "<![CDATA[>",
        "</",
        "<",
        "<blockquote>x",
        "<ul><li>x",
        '<a x="',
        '<a b=">" ',
        "<a b='>' ",
        "&#",
        "<![foo>",
        "<script ",
        "<script>",
        "<script></script ",
    ],
)
def test_what_is_opened_and_never_closed_is_read_in_linear_time(text: str) -> None:
    """Python's parser alone takes minutes for some of these, by the square of their number."""
    check_linear(from_html, text)


@pytest.mark.parametrize("text", ["<p>", "<td><p></p></td>", "<br><p>", "<td><br></td>"])
def test_a_row_that_stays_open_is_read_in_linear_time(text: str) -> None:
    check_linear(lambda row: from_html(f"<table><tr>{row}"), text)


def test_a_long_page_is_divided_at_its_headings(tmp_path: Path) -> None:
    sentences = "The beds get two litres of water each in the morning. " * 30
    (tmp_path / "log.html").write_text(
        f"<title>Log</title><h1>Log</h1><h2>May 2024</h2><p>{sentences}<h2>June 2024</h2><p>{sentences}", "utf-8"
    )
    _, items, _, _ = read(tmp_path / "log.html")
    headings = [item["metadata"]["division"]["heading"] for item in items]
    assert headings == ["Log › May 2024", "Log › June 2024"]
    assert [item["created_at"] for item in items] == ["2024-05-01", "2024-06-01"]


def test_an_org_file_keeps_headings_code_and_links_without_settings_comments_and_drawers(tmp_path: Path) -> None:
    (tmp_path / "garden.org").write_text(ORG, "utf-8")
    (tmp_path / "ferns.org").write_text("Ferns like shade.\n", "utf-8")
    _, items, broken, skipped = read(tmp_path)
    assert (broken, skipped) == ([], {"links to notes that don't exist": 1})
    garden = items[1]
    assert garden["content"] == (
        "# Garden log\n\n## Beds\n### TODO Water the [[ferns|ferns]]\n"
        "See [the guide](https://example.org), <https://example.net> and Ilse's note.\n"
        "```sh\n# not a comment\n* no heading\n```\nSlow is smooth.\n:LOGBOOK:\nnever closed\n## Tools"
    )
    assert (garden["created_at"], garden["tags"]) == ("2026-04-01T08:30", ["garden", "home"])
    assert links(items) == {(garden["content"], "links_to", "ferns\n\nFerns like shade.")}


def test_links_of_org_files_by_id_lead_to_the_note_that_holds_the_heading(tmp_path: Path) -> None:
    drawer = ":PROPERTIES:\n:ID:       {}\n:END:\n"
    (tmp_path / "ilse.org").write_text(f"{drawer.format('8D3E-01')}#+title: Ilse\nShe keeps bees.\n", "utf-8")
    (tmp_path / "plan.org").write_text(
        f"* Spring\nAsk [[id:8d3e-01::*Hives][her | Ilse]], then [[id:77]] or [[id:][Rolf]].\n"
        f"* Autumn\n{drawer.format(77)}Rest.\n"
        "#+begin_src org\nSee [[id:77]] here.\n#+end_src\n#+begin_src sh\n[[id:foo]]\n#+end_src\n"
        "Then [[id:77][rest]].\n",
        "utf-8",
    )
    (tmp_path / "tools.org").write_text("See [[id:77][autumn]].\n", "utf-8")
    _, items, broken, skipped = read(tmp_path)
    assert (broken, skipped) == ([], {"links to notes that don't exist": 1})
    ilse, plan, tools = (item["content"] for item in items[:3])
    assert "Ask her | Ilse, then  or Rolf." in plan
    assert "```org\nSee [[id:77]] here.\n```\n```sh\n[[id:foo]]\n```\nThen rest." in plan
    assert links(items) == {(plan, "links_to", ilse), (tools, "links_to", plan)}


def test_comments_of_an_org_file_are_left_out_with_their_trees(tmp_path: Path) -> None:
    (tmp_path / "log.org").write_text(
        "* Beds\n  # an aside\n#\nKept #1.\n#+begin_comment\nnot yet\n* kept, since a heading ends all\n"
        "#+BEGIN_COMMENT\nhidden\n#+END_COMMENT\nAfter.\n"
        "* COMMENT Old plans\nhidden\n** Even older\nhidden\n* TODO COMMENT Later\nhidden\n* COMMENTS by Ana\nKept.\n",
        "utf-8",
    )
    _, (item,), broken, _ = read(tmp_path / "log.org")
    assert broken == []
    assert item["content"].partition("# Beds")[2] == (
        "\nKept #1.\n#+begin_comment\nnot yet\n# kept, since a heading ends all\nAfter.\n# COMMENTS by Ana\nKept."
    )


def test_the_titles_of_restructuredtext_are_headings_by_their_first_use(tmp_path: Path) -> None:
    (tmp_path / "pump.rst").write_text(RST, "utf-8")
    _, (item,), broken, _ = read(tmp_path / "pump.rst")
    assert broken == []
    headings = [line for line in item["content"].split("\n") if line.startswith("#")]
    assert headings == ["# Pump manual", "## Cleaning", "### Details", "## Storage"]
    assert "    # stop the pump\n" in item["content"]
    assert "=====  =====\nPart   Every\n" in item["content"]
    assert ":Author: Ole" in item["content"]
    assert (item["created_at"], item["tags"]) == ("2026-02-03", ["pond", "pump"])


@pytest.mark.parametrize(
    "text", ["* x\n", ":PROPERTIES:\n", "[[a]", "===\n", "T\n==\n", "=", "*", "#+begin_", ":a", " "]
)
def test_odd_outlines_are_read_in_linear_time(text: str) -> None:
    for read_outline in (from_org, from_rst):
        check_linear(read_outline, text)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (["<p>May</p>", "<p>swarms</p><p>and\nframes</p>"], "May | swarms and frames"),
        (["<div><div>May</div></div>", "swarms"], "May | swarms"),
        (["<p>Dear Ole,</p><p>the smoker<br>ships.</p>"], "Dear Ole,\n\nthe smoker\nships."),
        (
            [f"<p>{'left ' * 60}</p>", f"<p>{'right ' * 60}</p>"],
            f"{'left ' * 60}".strip() + f"\n\n{'right ' * 60}".rstrip(),
        ),
        (["<p>Buy</p><ul><li><p>milk</p></li></ul>"], "Buy\n\n- milk"),
    ],
)
def test_a_row_is_a_line_unless_it_has_one_cell_or_long_ones_of_paragraphs(cells: list[str], text: str) -> None:
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    assert from_html(f"<table><tr>{row}</tr></table>")[1] == text


@pytest.mark.parametrize("suffix", [".md", ".txt", ".org"])
def test_an_image_within_the_text_is_left_out(tmp_path: Path, suffix: str) -> None:
    image = "iVBORw0KGgo" * 20_000
    (tmp_path / f"doc{suffix}").write_text(
        f"The hive.\n\n![][image1]\n\n[image1]: <data:image/png;base64,{image}=>\n\nEnd."
    )
    _, (item,), _, skipped = read(tmp_path)
    assert item["content"].endswith("The hive.\n\n![][image1]\n\n[image1]: <data:image/png>\n\nEnd.")
    assert skipped == {"images": 1}
