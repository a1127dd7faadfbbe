"""Memories of other memory servers: the official one (JSON lines of entities and relations), and mem0 (JSON).

The official server is https://github.com/modelcontextprotocol/servers/tree/main/src/memory; some exports call its
fields `entityName`, `from_id` and `to_id`. An entity becomes a memory, each of its observations another one that is
linked to it; a relation becomes a sentence that is linked to both ends, and a link of its name between them.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from actors.importers.files import document, lines
from actors.importers.records import (
    Broken,
    Item,
    Options,
    Record,
    Skipped,
    beside,
    first_text,
    link,
    memory,
    memory_id,
    moment,
)
from actors.runtime.types import JsonObject

OBSERVED = "observation_of"
CONCERNS = "concerns"
KEPT_BY_MEM0 = {"id", "memory", "created_at", "user_id", "agent_id", "run_id", "actor_id", "role", "categories"}
"""Fields of mem0 that have a place of their own; the others become metadata."""


class _Line(msgspec.Struct, rename="camel"):
    type: str
    name: str | None = None
    entity_name: str | None = None
    entity_type: str | None = None
    observations: list[object] = []
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    from_id: str | None = msgspec.field(name="from_id", default=None)
    to_id: str | None = msgspec.field(name="to_id", default=None)
    relation_type: str | None = None


_line = msgspec.json.Decoder(_Line)
_json = msgspec.json.Decoder()


def is_official(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are entities or relations."""
    return any(str(line.get("type")) in {"entity", "relation"} for line in first)


def is_mem0(value: object) -> bool:
    """Tell whether a JSON document is a list of mem0's memories."""
    results = value.get("results") if isinstance(value, dict) else value
    return isinstance(results, list) and any(isinstance(one, dict) and "memory" in one for one in results)


def read_official(file: Path, options: Options) -> Iterator[Record]:
    """Yield entities, observations and relations; links last, since an entity may follow those that name it."""
    links: list[Item] = []
    entities: set[str] = set()
    relations: list[tuple[int, str, str, str]] = []
    origin = {"source": "memory-server"}
    for number, line in lines(file, _line):
        if isinstance(line, Broken):
            yield line
            continue
        name = line.name or line.entity_name
        start, end = line.from_ or line.from_id, line.to or line.to_id
        if line.type == "entity" and name:
            entities.add(name)
            kind = line.entity_type or ""
            about = origin | {"entity": name, "entity_type": kind}
            facts = {"namespace": options.namespace, "tags": [kind], "metadata": about}
            yield from memory(
                _entity(name), f"{name} ({kind})" if kind else name, file, number, **facts, memory_type="entity"
            )
            for observation in line.observations:
                if not first_text(observation):
                    yield Skipped("observations that are no text")
                    continue
                place = ("memory-server", "observation", name, observation)
                yield from memory(place, f"{name}: {observation}", file, number, **facts, memory_type="observation")
                links.append(link(memory_id(*place), memory_id(*_entity(name)), OBSERVED, file, number))
        elif line.type == "relation" and start and end:
            relations.append((number, start, line.relation_type or "relates to", end))
        else:
            yield Broken(str(file), number, "neither an entity with a name nor a relation with two ends")
    for number, start, relation, end in relations:
        if missing := {start, end} - entities:
            yield Broken(str(file), number, f"the relation names an unknown entity: {', '.join(sorted(missing))}")
            continue
        place = ("memory-server", "relation", start, relation, end)
        about = origin | {"from": start, "to": end, "relation_type": relation}
        sentence = f"{start} {relation.replace('_', ' ')} {end}"
        facts = {"namespace": options.namespace, "metadata": about}
        yield from memory(place, sentence, file, number, **facts, memory_type="relation")
        own, source, target = memory_id(*place), memory_id(*_entity(start)), memory_id(*_entity(end))
        ends = ((own, source, CONCERNS), (own, target, CONCERNS), (source, target, relation))
        links += [link(*one, file, number) for one in ends]
    yield from links


def read_mem0(file: Path, options: Options) -> Iterator[Record]:
    """Yield mem0's memories; the namespace is the user's, or else the agent's."""
    value = document(file, _json)
    if isinstance(value, Broken):
        yield value
        return
    for number, one in enumerate(value["results"] if isinstance(value, dict) else value, start=1):
        if not isinstance(one, dict) or not first_text(one.get("memory")):
            yield Broken(str(file), 0, f"memory {number} has no text in 'memory'")
            continue
        speaker = one.get("actor_id") or one.get("role")
        stated: JsonObject = {
            **{name: one[name] for name in ("user_id", "agent_id") if one.get(name)},
            **({"speaker": str(speaker)} if speaker else {}),
            **{name: kept for name, kept in one.items() if name not in {*KEPT_BY_MEM0, "metadata"} and kept},
            **(one["metadata"] if isinstance(one.get("metadata"), dict) else {}),
        }
        categories = one.get("categories") or []
        yield from memory(
            ("mem0", one.get("id") or one["memory"]),
            one["memory"],
            file,
            namespace=options.namespace or one.get("user_id") or one.get("agent_id"),
            session=one.get("run_id"),
            created_at=moment(one.get("created_at")),
            tags=[str(tag) for tag in categories] if isinstance(categories, list) else [],
            metadata=beside({"source": "mem0"}, stated),
        )


def _entity(name: str) -> tuple[str, str, str]:
    return "memory-server", "entity", name
