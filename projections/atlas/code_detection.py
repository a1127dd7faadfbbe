"""Tell source code from prose by its lines."""

import re
from typing import Final

_SAMPLE: Final = 16_384

_CODE_LINE: Final = re.compile(
    r"""[{};]\s*(?://.*)?$                                         # ends like a line of the C family
    |^\s*(?:async\s+)?(?:def|class|fn|func|function|impl|struct)\s+[\w<(]+.*[({:]
    |^\s*(?:(?:el)?if|for|while|with|try|else|except)\b.*:\s*$
    |^\s*(?:import\s+[\w.{*]+(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\s.*|package\s+\w+|\#include\s*[<"].*|use\s+\w+::.*)$
    |^\s*(?:return|raise|yield|await)\b.*[\w)\]]$
    |^\s*[\w.\[\]]+\s*(?:[-+*/|&]?=|:=)\s*\S
    |^\s*@\w+(?:[.(].*)?$
    |\w\((?:[^()\s]|[^()]*[,=.\[\]"'_][^()]*)?\)\s*[;:]?\s*$       # ends in a call
    |=>|->|::|===|&&|\|\|
    """,
    re.VERBOSE,
)
"""Lines that occur in common programming languages and not in prose."""
_FIELD_LINE: Final = re.compile(r"\s+\w+\??:\s*\S.*[,;{\[(]\s*$")
"""A field of a literal that goes on, between a line that ends with a brace and one that begins with one."""


def looks_like_code(content: str) -> bool:
    """Return whether a text is code rather than prose: at least half of its lines, not counting comments, are code."""
    lines = [line[:400] for line in content[:_SAMPLE].splitlines() if line.strip()]
    matched = depth = 0
    for line in lines:
        matched += bool(_CODE_LINE.search(line) or (depth > 0 and _FIELD_LINE.match(line)))
        depth += line.rstrip().endswith("{") - line.lstrip().startswith("}")
    comments = sum(line.lstrip().startswith(("#", "//", "/*", "*")) for line in lines)
    return matched > 0 and matched * 2 >= len(lines) - min(comments, matched)
