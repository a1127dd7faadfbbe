"""Notes that are pages of a site, as those of Hugo, Jekyll and MkDocs: what a page doesn't show is in no text."""

from pathlib import Path
from typing import Any

import pytest

from actors.importers.notes.html_blocks import with_headings, without_hidden
from actors.importers.recogniser import recognise
from actors.importers.records import Ignored, Item, Options, Skipped
from tests.actors.importers.test_markup import check_linear

PARAGRAPH = "The sluice is opened by hand once the gauge stands above the second mark. " * 12
"""Some 900 characters."""


def records(folder: Path, text: str, name: str = "mill.md") -> tuple[list[dict[str, Any]], list[str]]:
    """Write and read a note; return its memories, and what was left out of it."""
    (folder / name).write_text(text, "utf-8")
    found = [*recognise(folder, Options()).read()]
    left_out = [one.reason for one in found if isinstance(one, Ignored | Skipped)]
    return [one.value for one in found if isinstance(one, Item) and "content" in one.value], left_out


def note(folder: Path, text: str, name: str = "mill.md") -> list[dict[str, Any]]:
    """Write and read a note of which nothing is left out; return its memories."""
    found, left_out = records(folder, text, name)
    assert not left_out
    return found


def headings(memories: list[dict[str, Any]]) -> list[str]:
    return [one["metadata"]["division"]["heading"] for one in memories]


def test_headings_in_html_divide_a_text_but_those_in_code_and_without_text(tmp_path: Path) -> None:
    code = "```html\n<h2>Quoted</h2>\n```"
    text = (
        f'<div align="center">\n<h1>The <b>mill</b> &amp; its pond</h1>\n</div>\n\n{PARAGRAPH}\n\n'
        f'<h3 name="sluice">\nHow is the sluice\nopened?\n</h3>\n{PARAGRAPH}\n\n{code}\n\n'
        f'<H3><img src="gauge.png" alt="Gauge"></H3>\n\n{PARAGRAPH}\n\n<h3><a name="x"></a></h3>\n\nNothing.'
    )
    found = note(tmp_path, text)
    top = "The mill & its pond"
    assert found[0]["content"].startswith(f'mill\n\n<div align="center">\n\n# {top}\n</div>')
    assert headings(found)[1:] == [f"{top} › How is the sluice opened?", f"{top} › Gauge"]
    assert "### How is the sluice opened?\nThe sluice" in found[1]["content"]
    assert code in found[1]["content"]
    assert '<h3><a name="x"></a></h3>' in found[2]["content"]


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<h1>Long<br>Guide</h1>", "# Long Guide"),
        ('<h1><img alt="Logo">Projekt</h1>', "# Logo Projekt"),
        ("<h2><p>Old</p><p>m<b>il</b>l</p><!-- sic --></h2>", "## Old mill"),
        ("- Gauge\n\n<table><tr><td>a</td></tr></table>\n\n<h2>Pond</h2>", None),
    ],
)
def test_breaks_blocks_and_images_in_a_heading_divide_words(html: str, heading: str | None) -> None:
    assert with_headings(html) == (heading or html.replace("<h2>Pond</h2>", "## Pond"))


@pytest.mark.parametrize(
    "text",
    [
        "<h2>One</h2><h2>Two</h2>",
        "<!-- old:\n<h2>One</h2>\n-->",
        "<table>\n<tr><td>\n<table></table>\n\n<h2>One</h2>\n</td></tr>\n</table>",
        "<ul>\n<li>\n<h3>One</h3>\n</li></ul>",
        "1. Item\n\n   <h3>One</h3>",
        "<pre>\n<h3>One</h3>\n</pre>",
        "````md\n```html\n<h2>in code</h2>\n```\n<h2>in code</h2>\n````",
        "1. Add this:\n\n   ```html\n   <h2>in code</h2>\n   ```",
        "<details>\n```html\n<h2>in code</h2>\n```\n</details>",
    ],
)
def test_headings_in_comments_tables_items_and_code_are_no_borders(text: str) -> None:
    assert with_headings(text) == text
    assert with_headings(f"{text}\n\n<h2>Pond</h2>") == f"{text}\n\n## Pond"


@pytest.mark.parametrize(
    "fence", ["1. Add this:\n\n   ```html\n   {}\n   ```", "````md\n```\n```\n{}\n````", "<div>\n```\n{}\n```\n</div>"]
)
@pytest.mark.parametrize("name", ["script", "style"])
def test_scripts_and_styles_in_code_stay(fence: str, name: str) -> None:
    text = fence.format(f"<{name}>\n   var widget = init('abc')\n   </{name}>")
    assert without_hidden(text) == (text, 0)
    assert without_hidden(f"{text}\n\n<{name}>\nx\n</{name}>\n") == (f"{text}\n\n", 1)


@pytest.mark.parametrize(
    "text",
    ["See <h3>here</h3>.", "    <h3>Code</h3>", "`<h3>x</h3>`", "<h3>Open", f"<h3>{'long ' * 50}</h3>", "<h3></h4>"],
)
def test_what_is_no_heading_in_html_stays_as_it_is(text: str) -> None:
    assert with_headings(text) == text


def test_scripts_and_styles_are_left_out_and_counted_and_tags_are_those_of_the_text(tmp_path: Path) -> None:
    script = '<script>\nconst gauge = "#mark";\n\n// [[Sluice]] #later\n</script>'
    style = "<style media=print>\n#pond { color: red }\n</style>"
    fenced = "```html\n<script>kept()</script>\n```"
    code = "Build it:\n\n    #include <mill.h>\n\nDone."
    (found,), left_out = records(tmp_path, f"# Mill\n\n{style}\n\nOpened. #pond2\n\n{script}\n\n{fenced}\n\n{code}")
    assert found["content"] == f"# Mill\n\n\nOpened. #pond2\n\n\n{fenced}\n\n{code}"
    assert found["tags"] == ["pond2"]
    assert left_out == ["scripts and styles"] * 2
    assert records(tmp_path, script) == ([], ["scripts and styles", "empty files"])


@pytest.mark.parametrize("text", ["Put a <script> here.\n</script>", "<script>\nnever closed #tag", "    <script>\n"])
def test_a_script_that_is_no_block_or_never_ends_is_text(text: str) -> None:
    assert without_hidden(text) == (text, 0)


@pytest.mark.parametrize(
    "piece", ["<script>\n", "<style>\n`", "<h1>\n", "<h2>a</h3>\n", "<!--\n<h2>\n", "<ul>\n\n", "- <h2>a\n"]
)
def test_html_that_is_never_closed_takes_no_longer_than_text(piece: str) -> None:
    check_linear(lambda text: with_headings(without_hidden(text)[0]), piece)


@pytest.mark.parametrize(
    "attributes", ["{#pond}", "{: #pond }", "{: .no_toc }", "{:.no_toc #pond}", '{: data-toc-skip="" }', "{.wide}"]
)
def test_attributes_are_no_part_of_a_heading_and_no_tags(tmp_path: Path, attributes: str) -> None:
    text = f"# Mill {attributes}\n\n{PARAGRAPH}\n\n## Pond {attributes}\n\n{PARAGRAPH}{PARAGRAPH}\n\n{PARAGRAPH}"
    found = note(tmp_path, text)
    assert headings(found) == ["Mill", *["Mill › Pond"] * (len(found) - 1)]
    assert not any("{" in one["content"] or "tags" in one for one in found)


def test_attributes_of_a_block_are_left_out_and_braces_in_code_and_in_text_stay(tmp_path: Path) -> None:
    (found,) = note(
        tmp_path, "# Mill\n{: .no_toc }\n\n{:toc}\n\n{:name mill, :gauge 2}\n\n```\n# a {#b}\n{: .c}\n```\n"
    )
    assert found["content"] == "# Mill\n\n\n{:name mill, :gauge 2}\n\n```\n# a {#b}\n{: .c}\n```"


@pytest.mark.parametrize(
    ("front", "title", "tags"),
    [
        ("---\ntitle:\tOld mill\ndate:\t2024-05-03\ntags:\n\t- water\n---", "Old mill", ["water"]),
        ("---\nTitle: Old mill\nDate: 2024-05-03\nTags: [water]\n---", "Old mill", ["water"]),
        ('+++\nTitle = "Old mill"\nDate = 2024-05-03\nTAGS = ["water"]\n+++', "Old mill", ["water"]),
        ("---\ntitle: Mill\nTitle: Old mill\ndate: 2024-05-03\n---", "Mill", None),
    ],
)
def test_tabs_and_capitals_in_properties_are_read(tmp_path: Path, front: str, title: str, tags: Any) -> None:
    (found,) = note(tmp_path, f"{front}\n\nOpened.\n")
    assert (found["metadata"]["title"], found["created_at"][:10], found.get("tags")) == (title, "2024-05-03", tags)


def test_properties_that_are_no_yaml_even_without_tabs_are_reported(tmp_path: Path) -> None:
    (found,), (reason,) = records(tmp_path, "---\nTitle:\tOld: mill\n---\n\nOpened.\n")
    assert found["content"] == "mill\n\nOpened."
    assert "its properties are no YAML" in reason


@pytest.mark.parametrize(
    ("name", "heading", "under"),
    [
        ("2024-05-03.md", "Meeting on the mill 2024-05-03", "Meeting on the mill 2024-05-03"),
        ("sluice_and_pond.md", "Sluice and Pond", "Sluice and Pond"),
        ("GUIDE.md", "User guide", "User guide"),
        ("pond.md", "The sluice", "pond › The sluice"),
        ("pond-2.md", "The pond", "pond-2 › The pond"),
    ],
)
def test_a_heading_with_the_words_of_the_files_name_stands_for_it(
    tmp_path: Path, name: str, heading: str, under: str
) -> None:
    found = note(tmp_path, f"# {heading}\n\n{PARAGRAPH}\n\n## Gauge\n\n{PARAGRAPH}\n\n## Wheel\n\n{PARAGRAPH}", name)
    assert [one["content"].partition("\n\n## ")[0] for one in found[1:]] == [under, under]


def test_properties_that_say_how_a_page_is_shown_are_in_no_text_and_stay_in_the_metadata(tmp_path: Path) -> None:
    front = "title: Mill\nlayout: default\nnav_order: 3\nweight: 20\ntemplate: Build of stone\nowner: Ilse"
    (found,) = note(tmp_path, f"---\n{front}\n---\n\n# Mill\n\nlayout: open\n")
    assert found["content"] == "# Mill\n\ntemplate: Build of stone\nowner: Ilse\n\nlayout: open"
    assert (found["metadata"]["layout"], found["metadata"]["weight"]) == ("default", 20)
    (found,) = note(tmp_path, "---\nlayout: default\nslug: mill\n---\n\n# Mill\n\nOpened.\n")
    assert found["content"] == "# Mill\n\nOpened."
    (found,) = note(tmp_path, "---\nweight: 82\n---\n\n# Monday\n\nRan.\n")
    assert "weight: 82" in found["content"]


@pytest.mark.parametrize(
    "line",
    [
        *("weight: 820", "weight: 82", "template: Jinja", "theme: grief", "layout: QWERTY", "layout: n/a"),
        *("comments: none", "toc: missing", "sidebar: left", "draft: second", "slug: red and brown"),
    ],
)
def test_properties_whose_values_tell_of_something_stay_in_the_text(tmp_path: Path, line: str) -> None:
    for text in (f"---\ntitle: Patient sheet\n{line}\n---\n\nSeen.\n", f"title: Patient sheet\n{line}\n\nSeen.\n"):
        (found,) = note(tmp_path, text)
        stated = line in found["content"] or line == "draft: second"  # in front matter, metadata alone as ever
        assert stated
    assert found["content"].endswith(f"{line}\n\nSeen.")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("---\nlayout: default\n---\n", "mill\n\nlayout: default"),
        ("---\ntheme: grief\n---\n", "mill\n\ntheme: grief"),
        ("Theme: blue\nLayout: galley\n", "mill\n\nTheme: blue\nLayout: galley"),
        ("Layout: default\nToc: true\n", "mill\n\nLayout: default\nToc: true"),
        ("title: Mill\nlayout: default\nweight: 7\n", "mill\n\ntitle: Mill"),
        ("---\ntitle: Mill\nlayout: default\n---\n\n# Mill\n", "# Mill\n\nlayout: default"),
    ],
)
def test_a_note_of_properties_alone_is_no_name_and_not_empty(tmp_path: Path, text: str, content: str) -> None:
    (found,) = note(tmp_path, text)
    assert found["content"] == content


def test_properties_without_marks_are_those_of_the_first_lines_only(tmp_path: Path) -> None:
    (found,) = note(tmp_path, "name: Wheel\ntemplate: part.html\nmade: oak\n      iron\n\n# Wheel\n\nlayout: open\n")
    assert found["content"] == "mill\n\nname: Wheel\nmade: oak\n      iron\n\n# Wheel\n\nlayout: open"
    assert found["metadata"]["template"] == "part.html"
    text = "layout: open\nThe mill has no walls."
    (found,) = note(tmp_path, text)
    assert found["content"] == f"mill\n\n{text}"
