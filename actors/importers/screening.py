"""Take secrets and private passages out of what an importer yields."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from actors.api.params.parsing import is_blank
from actors.importers.records import Broken, Item, Record, Redactions, Skipped
from actors.text.secrets import find, map_texts, redact, without_private


def screened(records: Iterable[Record]) -> Iterator[Record]:
    """Yield records without private passages and secrets; a memory of which nothing is left to see is skipped."""
    for record in records:
        if isinstance(record, Item) and isinstance(record.value, dict) and "content" in record.value:
            yield _screened(record)
        else:
            yield record


def _screened(item: Item) -> Record:
    taken = Redactions()

    def clean(text: str, name: str) -> str:
        public = without_private(text)
        taken.private += public != text
        found = find(public, name)
        taken.secrets.update(one.kind for one in found)
        return redact(public, secrets=found) if found else public

    try:
        value = {
            name: map_texts(value, clean) if name in {"content", "rationale", "metadata", "tags"} else value
            for name, value in item.value.items()
        }
    except RecursionError:
        return Broken(item.file, item.line, "nested too deep")
    before, after = item.value["content"], value["content"]
    if isinstance(after, str) and before.strip() and is_blank(after):
        return Skipped("texts of invisible characters" if after == before else "memories that are private as a whole")
    return replace(item, value=value, taken=taken)
