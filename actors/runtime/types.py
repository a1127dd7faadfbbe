"""Type aliases that several packages share."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object: arguments or the answer of an operation."""
