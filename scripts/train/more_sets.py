"""Write further data sets for the fit of `auto`, made from other sets and from the installed packages.

    python -m scripts.train.more_sets OUT [FOLDER ...]

From each folder in the BEIR layout whose documents are turns of sessions or long texts in parts: `NAME-long`, in which
up to `PART` consecutive documents of a session are one memory, and questions ask for the memory that contains their
answer. From each folder whose documents are paragraphs without a session: `NAME-claim`, in which a sentence of a
paragraph asks for the rest of it. From the installed packages: `readmes` (a heading asks for its section) and
`docstrings` (the first line asks for the rest). From the packages' comments and docstrings: `reasons` ("Why …?" asks
for a sentence with "because") and `reasons-only` (it asks for the reason alone). Seeded.
"""

import ast
import csv
import inspect
import json
import random
import re
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from benchmarks.datasets import Dataset, Document, read_dataset, sessions
from typer import Argument

PART: Final = 24
"""Documents of a session that become one long memory, at most."""
QUESTIONS: Final = 400
MEMORIES: Final = 900
CLAIM: Final = range(8, 41)
"""Words of a sentence that can stand for its paragraph."""
SECTION: Final = range(25, 901)
"""Words of a section or of a docstring's rest."""
MODULES: Final = (
    "argparse asyncio collections csv datetime decimal functools http.client inspect itertools json logging "
    "multiprocessing pathlib random re shutil socket sqlite3 statistics string subprocess tarfile tempfile threading "
    "typing unittest urllib.parse zipfile numpy numpy.linalg numpy.random torch torch.nn torch.nn.functional "
    "torch.optim scipy.stats scipy.sparse scipy.optimize"
).split()

BECAUSE: Final = re.compile(r"([A-Z][^,;:()`<>=]{15,120}?),? because (?!of )([a-z][^;`<>=]{20,200})[.!]")
REFERRING: Final = re.compile(r"(?:This|That|It|These|Those|Note|Here)\b")
"""Beginnings of a clause that can't be understood alone."""

Pairs = list[tuple[str, str]]
"""Questions, each with the memory that answers it."""


def long_memories(judged: Dataset) -> tuple[list[Document], dict[str, dict[str, float]]]:
    """Join the documents of each session, up to `PART` together; return them with the judgements of the questions."""
    joined: list[Document] = []
    place: dict[str, str] = {}
    for turns in sessions(judged.documents):
        for start in range(0, len(turns), PART):
            part = turns[start : start + PART]
            kept = {key: value for key, value in part[0].metadata.items() if key in {"namespace", "created_at"}}
            text = "\n".join(turn.full_text for turn in part)
            joined.append(Document(id=f"{part[0].id}+", text=text, metadata=kept))
            place |= {turn.id: joined[-1].id for turn in part}
    judgements = {
        query: {place[name]: grade for name, grade in grades.items() if name in place}
        for query, grades in judged.judgements.items()
    }
    return joined, judgements


def claims(judged: Dataset, rng: random.Random) -> Pairs:
    """Return sentences with the paragraphs from which they were removed."""
    found: Pairs = []
    for document in rng.sample(judged.documents, len(judged.documents)):
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", document.full_text)
        if len(sentences) > 4:
            at = rng.randrange(2, len(sentences))
            if len(sentences[at].split()) in CLAIM:
                found.append((sentences[at], " ".join(sentences[:at] + sentences[at + 1 :])))
    return found


def readmes() -> Iterator[tuple[str, str]]:
    """Yield headings, with the name of the package, and the sections below them."""
    for package in sorted(metadata.distributions(), key=lambda one: one.metadata["Name"] or ""):
        text = (package.read_text("METADATA") or "").partition("\n\n")[2]
        parts = re.split(r"^#{1,4}\s+(.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
        for heading, body in zip(parts[1::2], parts[2::2], strict=True):
            plain = " ".join(re.sub(r"<[^>]+>|!?\[|\]\([^)]*\)", " ", body).split())
            if len(plain.split()) in SECTION:
                yield f"{package.metadata['Name']} {heading.strip(' #*`')}", plain


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield first lines of docstrings, and what follows them."""
    for module in map(import_module, MODULES):
        for value in vars(module).values():
            members = [value, *(vars(value).values() if inspect.isclass(value) else ())]
            for member in filter(callable, members):
                first, _, rest = (inspect.getdoc(member) or "").partition("\n\n")
                if len(first.split()) in CLAIM and len(rest.split()) in SECTION:
                    yield " ".join(first.split()), rest.strip()


def reasons() -> Iterator[tuple[str, str, str]]:
    """Yield questions for the reason that a comment or docstring gives, with its sentence and the reason alone."""
    paths = (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))
    for file in sorted({file for path in paths for file in path.rglob("*.py")}):
        source = file.read_text(encoding="utf-8", errors="ignore")
        if " because " not in source:
            continue
        comments = re.findall(r"(?:^[ \t]*#.*\n)+", source, flags=re.MULTILINE)
        texts = [re.sub(r"^[ \t]*#+", " ", comment, flags=re.MULTILINE) for comment in comments]
        with suppress(SyntaxError, ValueError):
            nodes = ast.walk(ast.parse(source))
            documented = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module))
            texts += re.split(r"\n\s*\n", "\n\n".join(ast.get_docstring(node) or "" for node in documented))
        for sentence in (one for text in texts for one in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split()))):
            found = BECAUSE.fullmatch(sentence)
            if found and not REFERRING.match(sentence) and len(found[1].split()) >= 4:
                reason = f"{found[2][0].upper()}{found[2][1:]}."
                yield f"Why {found[1][0].lower()}{found[1][1:]}?", sentence, reason


def write(folder: Path, documents: list[Document], queries: list[Document], judgements: dict[str, Any]) -> None:
    """Write a set in the BEIR layout."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
        lines = (json.dumps({"_id": row.id, "text": row.full_text, "metadata": row.metadata}) for row in rows)
        (folder / name).write_text("\n".join(lines) + "\n")
    with (folder / "qrels" / "test.tsv").open("w") as file:
        rows = csv.writer(file, delimiter="\t")
        rows.writerow(("query-id", "corpus-id", "score"))
        rows.writerows((query.id, name, grade) for query in queries for name, grade in judgements[query.id].items())
    print(f"{folder}: {len(documents)} memories, {len(queries)} questions")


def write_pairs(folder: Path, pairs: Pairs, rng: random.Random) -> None:
    """Write a set whose questions have one answer each; of equal questions the first."""
    unique = list(dict(reversed(pairs)).items())
    chosen = rng.sample(unique, min(MEMORIES, len(unique)))
    documents = [Document(id=f"m{number}", text=memory) for number, (_, memory) in enumerate(chosen)]
    queries = [Document(id=f"q{number}", text=question) for number, (question, _) in enumerate(chosen[:QUESTIONS])]
    write(folder, documents, queries, {f"q{number}": {f"m{number}": 1.0} for number in range(len(queries))})


def main(out: Path, folders: Annotated[list[Path] | None, Argument()] = None) -> None:
    """Write the sets."""
    rng = random.Random(3)
    for folder in folders or ():
        judged = read_dataset(folder)
        name = folder.name.split("-")[0]
        if all("session" in document.metadata for document in judged.documents):
            documents, judgements = long_memories(judged)
            asked = [query for query in judged.queries if judgements.get(query.id)]
            write(out / f"{name}-long", documents, asked[:QUESTIONS], judgements)
        elif pairs := claims(judged, rng):
            write_pairs(out / f"{name}-claim", pairs, rng)
    write_pairs(out / "readmes", list(readmes()), rng)
    write_pairs(out / "docstrings", list(docstrings()), rng)
    given = list(reasons())
    write_pairs(out / "reasons", [(question, sentence) for question, sentence, _ in given], rng)
    write_pairs(out / "reasons-only", [(question, reason) for question, _, reason in given], rng)


if __name__ == "__main__":
    typer.run(main)
