"""The start of a text, where a line has room for no more."""


def excerpt(text: str, length: int) -> str:
    """Return a text on one line of at most `length` characters; one that is cut ends with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
