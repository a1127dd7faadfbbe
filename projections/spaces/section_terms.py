"""Terms of E6 for numbered headings, by which a question finds a section: "§ 17", "section 4.2", "step 3", "ADR 7".

Many texts name the number of a section, most of them only refer to it. These terms are of those that it heads.
"""

import re
from collections.abc import Iterator
from typing import Final

_NUMBER: Final = r"\d+(?:\.\d+)*[a-z]?(?!\w)(?![.,:/]\d)"
_LETTER: Final = r"(?![AI] +[a-z])(?:[A-Z]|(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?!\w)"
"""A letter or a Roman number, which only after a word numbers a section: "Appendix B", "Part II", not "the part I
like"."""
_GAP: Final = r"[^\S\n]{1,3}"
"""Also one that doesn't break the line, as printed texts have it after "§"."""
_NAMED: Final = (
    rf"(?P<word>§+|[^\W\d_]{{2,}})(?:(?:(?<=§)|\.?{_GAP}|[.-])v?(?P<number>{_NUMBER})|{_GAP}(?P<letter>{_LETTER}))"
)
_TITLE: Final = re.compile(rf"[^\w§]{{0,3}}(?:{_NAMED}|(?:[^\W\d]\S*{_GAP}(?=v?\d+\.\d))?v?(?P<alone>{_NUMBER}))")
"""The beginning of a heading: "§ 17 Notice", "4.2 Setup", "Step 3: build", "[2.1.0] - 2024-05-03", "log4j 2.17.1"."""
_REFERENCE: Final = re.compile(rf"(?<!\w){_NAMED}|(?<![\w.,:/-])v?(?P<alone>\d+(?:\.\d+)+)(?!\w)(?![.,:/]\d)")
"""What a question may call a section: a word or § with a number, or a number of several parts."""
_NEXT_SENTENCE: Final = re.compile(r"\w[.!?]\s+[A-Z]")
_HEADING: Final = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<marked>.+)|(?P<underlined>\S.*)\n(?:={3,}|-{3,})[ \t]*$)", re.MULTILINE
)
"""A heading in Markdown, marked or underlined."""
_PATH: Final = " › "
"""Between the headings above a section, in the first line of what was cut from a document."""
_SECTIONS: Final = {
    word: names.split()[0]
    for names in (
        """
        section § §§ abschnitt art article articulo artículo artikel clause para paragraf paragraph sec seccion sección
        """,
        "adr decision record",
        "appendix anexo anhang annex annexe",
        "chapter capitulo capítulo ch chapitre kapitel",
        "part",
        "rfc",
        "step",
    )
    for word in names.split()
}
"""Names of sections whose heading may have the number alone, each with the first that means the same."""


def heading_terms(text: str) -> Iterator[str]:
    """Yield a term for each numbered heading of a text, and for those above it."""
    first, _, _ = text.partition("\n")
    above = first.split(_PATH) if _PATH in first else []
    headings = [found["marked"] or found["underlined"] for found in _HEADING.finditer(text)]
    yield from (_terms(found)[0] for found in map(_TITLE.match, above + headings) if found)


def asked_sections(query: str) -> tuple[str, ...]:
    """Return the terms that the heading of a section may have which a query names.

    A message of several sentences has none: it names a section only in passing ("Ready for Phase 2. What's first?").
    """
    if _NEXT_SENTENCE.search(query):
        return ()
    return tuple(dict.fromkeys(term for found in _REFERENCE.finditer(query) for term in _terms(found)))


def without_sections(query: str) -> str:
    """Return a query without the sections that it names."""
    return _REFERENCE.sub(" ", query)


def _terms(match: re.Match[str]) -> tuple[str, ...]:
    """Return the term of what is named by a word and a number, or by a number alone, and those of its other names."""
    number = re.sub(r"\b0+(?=\d)", "", match["alone"] or match["number"] or match["letter"]).casefold()
    word = (match["word"] or "").casefold()
    if not word or "." in number:
        return (f"§ {number}",)
    return (f"§{_SECTIONS[word]} {number}", f"§ {number}") if word in _SECTIONS else (f"§{word} {number}",)
