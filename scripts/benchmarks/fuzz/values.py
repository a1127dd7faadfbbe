"""Hypothesis strategies for single values: what a tool's JSON schema allows, and hostile values in place of it.

Ids and cursors that only the server knows are drawn as placeholders, `{{memory:7}}`, and filled in when a message is
sent; so the shape of every message follows from the seed alone.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from hypothesis import strategies as st

BEGINNING = datetime(2025, 1, 1, tzinfo=UTC)
PLACEHOLDER = re.compile(r"\{\{(canary|memory|cursor|run)(?::(\d+))?\}\}")


class Raw(msgspec.Struct, frozen=True):
    """Text that is inserted into the line as it is, since no encoder writes it."""

    text: str


def encode(value: Any, *, ascii_only: bool) -> bytes:
    """Return a value as JSON; a lone surrogate that isn't escaped becomes invalid UTF-8."""
    raws: list[Raw] = []

    def hold(raw: Raw) -> str:
        raws.append(raw)
        return f"raw:{len(raws) - 1}:"

    text = json.dumps(value, ensure_ascii=ascii_only, default=hold)
    for place, raw in enumerate(raws):
        text = text.replace(f'"raw:{place}:"', raw.text)
    return text.encode(errors="surrogatepass")


class Known(msgspec.Struct):
    """What the server has returned so far, from which placeholders are filled."""

    canary: str
    namespaces: dict[str, str] = {}
    """The namespace of each stored memory, by its id."""
    values: dict[str, list[str]] = {}
    """Values by kind of placeholder."""

    def add(self, kind: str, value: str) -> None:
        """Remember a value for later messages."""
        self.values.setdefault(kind, []).append(value)

    def fill(self, value: Any) -> Any:
        """Return a value with all placeholders in its texts filled in."""
        match value:
            case str():
                return PLACEHOLDER.sub(self._value, value)
            case dict():
                return {self.fill(name): self.fill(part) for name, part in value.items()}
            case list():
                return [self.fill(part) for part in value]
            case _:
                return value

    def _value(self, found: re.Match[str]) -> str:
        kind, number = found[1], int(found[2] or 0)
        known = [self.canary] if kind == "canary" else self.values.get(kind)
        return known[number % len(known)] if known else str(UUID(int=number, version=4))


def _reference(kind: str) -> st.SearchStrategy[str]:
    return st.integers(0, 10**6).map(lambda number: f"{{{{{kind}:{number}}}}}")


MEMORY = _reference("memory") | st.uuids().map(str)
WORDS = st.sampled_from("fox river ledger invoice garden compiler Berlin Mara deadline because def return".split())
SENTENCE = st.lists(WORDS, min_size=2, max_size=9).map(" ".join)
ATTACKS = st.sampled_from(json.loads(Path(__file__).with_name("attacks.json").read_text(encoding="utf-8")))
"""SQL, paths, prompt, protocol, template and shell injection, markup, control characters, lone surrogates, blanks."""
HOSTILE_TEXT = ATTACKS | st.tuples(SENTENCE, ATTACKS, WORDS).map(" ".join) | st.text(st.characters(), max_size=40)
LONG_TEXT = st.builds(
    # Around the limits, rarely around the largest. Blanks cost the model nothing, so that such a text may be stored.
    lambda limit, off, fill: "x".ljust(limit + off, fill if limit < 10_000 else " ") + ".",
    st.sampled_from([256] * 20 + [1_024] * 10 + [4_096, 16_384] * 10 + [65_536, 1_000_000]),
    st.integers(-1, 1),
    st.sampled_from((" ", "y")),
)
DEEP = st.builds(
    lambda depth, brackets: Raw(brackets[0] * depth + "1" + brackets[1] * depth),
    st.sampled_from((5, 60, 200, 255, 1_000, 5_000)),
    st.sampled_from((("[", "]"), ('{"a":', "}"))),
)
NO_JSON = st.sampled_from(["NaN", "-Infinity", "1e400", "1e-400", "01", "+1", "0x10", "9" * 5_000, "nul", ""]).map(Raw)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from((2**53 + 1, 2**64))
HOSTILE = st.one_of(
    HOSTILE_TEXT,
    NUMBER,
    NO_JSON,
    DEEP,
    LONG_TEXT,
    st.sampled_from((None, True, False, {"__proto__": {}}, {"$ref": "#"}, {"": None}, [[]])),
    st.builds(lambda text, count: [text] * count, HOSTILE_TEXT, st.sampled_from((1, 2, 65, 101))),
    st.dictionaries(HOSTILE_TEXT, NUMBER, max_size=3),
)

MOMENT = st.integers(0, 10**6).map(lambda number: (BEGINNING + timedelta(minutes=number)).isoformat())
NAMESPACES = st.sampled_from(
    "default|home|work|a|a/|A|a | a|a\u200b|\u0430|\uff41|a\x00|a/b|../a|\u00e9|e\u0301|%|*".split("|")
)
"""All different, however alike they look; a few can't be given."""
ITEM = SENTENCE | st.fixed_dictionaries({"content": SENTENCE, "namespace": NAMESPACES}) | HOSTILE
SPACES = st.lists(st.integers(0, 12), min_size=1, max_size=13, unique=True)
BY_NAME = {
    "content": SENTENCE | HOSTILE_TEXT,
    "query": SENTENCE | HOSTILE_TEXT,
    "namespace": NAMESPACES,
    "session": st.sampled_from(("session 1", "session 2")),
    "items": st.lists(ITEM, min_size=1, max_size=4),
    "cursor": _reference("cursor") | st.sampled_from(("", "AAAA", "lgDNAZDAwMQIAAAAAAAAAADA", "é", "x" * 1_024)),
    "weights": st.permutations([0.88] + [0.01] * 12),
    "purpose_vector": st.lists(st.floats(-1, 1), min_size=13, max_size=13),
    "space_index": st.integers(0, 12),
    "perspectives": SPACES,
    "active_spaces": SPACES,
    "run_id": _reference("run"),
    "as_of": st.integers(1, 100) | MOMENT,
    "modality": st.sampled_from(("text", "code")),
    "blocking": st.sampled_from((False,) * 9 + (True,)),
    "max_seconds": st.sampled_from((0.01, 1)),
    **dict.fromkeys(("created_at", "since", "until", "asked_at"), MOMENT),
}
"""Parameters whose schema alone doesn't say what a valid value is."""


def arguments(params: type[msgspec.Struct]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that the schema of an operation allows: all required ones, and up to four others."""
    schema = msgspec.json.schema(params)
    definitions = schema["$defs"]
    own = definitions[params.__name__]
    fields = {name: BY_NAME.get(name, from_schema(field, definitions)) for name, field in own["properties"].items()}
    required = own.get("required", [])
    optional = sorted(fields.keys() - set(required))

    @st.composite
    def draw_arguments(draw: st.DrawFn) -> dict[str, Any]:
        more = draw(st.lists(st.sampled_from(optional), max_size=4, unique=True)) if optional else []
        return {name: draw(fields[name]) for name in (*required, *more)}

    return draw_arguments()


def from_schema(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a JSON schema allows; only the keywords that msgspec writes are read."""
    low, high = schema.get("minimum", 0), schema.get("maximum")
    match schema:
        case {"$ref": name}:
            return from_schema(definitions[name.rpartition("/")[2]], definitions)
        case {"enum": values}:
            return st.sampled_from(values)
        case {"anyOf": parts}:
            return st.one_of(*(from_schema(part, definitions) for part in parts))
        case {"type": "null"}:
            return st.none()
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "integer"}:
            return st.integers(low, min(low + 10, high or low + 10))
        case {"type": "number"}:
            return st.floats(low, high if high is not None else max(low, 1.0))
        case {"type": "string", "format": "uuid"}:
            return MEMORY
        case {"type": "array", "items": items}:
            least = schema.get("minItems", 0)
            most = min(least + 3, schema.get("maxItems", least + 3))
            return st.lists(from_schema(items, definitions), min_size=least, max_size=most)
        case {"type": "object"}:
            return st.dictionaries(WORDS, SENTENCE | st.sampled_from((1, 0.5, None, [1])), max_size=2)
        case _:
            return SENTENCE
