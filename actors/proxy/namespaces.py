"""Names of namespaces: which a person, an agent or a folder may give, without slow imports."""

from actors.exporters.json_text import CONTROLS

SHARED = ("personal", "default")
"""Namespaces in which every project's searches look too: what belongs to a person, and what to no project."""

EVERYWHERE = "*"
"""What names all namespaces in a search."""

MAX_NAME = 256
"""Characters of a namespace."""


_UNFIT = frozenset(map(chr, (*range(0x20), 0x2028, 0x2029, *CONTROLS)))
"""Characters that end a line, control a terminal or change the direction of writing."""


def problem_of(name: str) -> str | None:
    """Return why a name can't be given to a namespace; None if it can.

    Stored names are not checked: an earlier version took any.
    """
    if name != name.strip():
        return "must neither begin nor end with a blank"
    if not _UNFIT.isdisjoint(name):
        return "must not contain line breaks or control characters"
    return None


def name_of_folder(folder: str) -> str:
    """Return the name of a folder as one of a namespace: without control characters and blanks around it."""
    return "".join("_" if character in _UNFIT else character for character in folder).strip() or "_"
