"""Texts with very long runs without spaces, as dumps and attachments in notes: their time grows with their length."""

import json
import random
import subprocess
import sys
from pathlib import Path

from tests.acceptance.conftest import PATIENCE
from tests.actors.cli.conftest import run, run_json
from tests.sampling import sampled

LENGTH = 50_000
"""Characters of a run in a note that is stored as one memory."""

SMILE = "\N{GRINNING FACE}"

READ = """
import sys
from pathlib import Path
from actors.importers.notes.reader import read
from actors.importers.records import Options, project
from actors.text.entities import find_entities
from actors.workspace.learning import emotional_weight
from tests.sampling import sampled
text = sys.stdin.read()
print(len(find_entities(text)), emotional_weight(text))
note = Path(sys.argv[1], "note.md")
note.write_text(text, encoding="utf-8")
records = read(note.parent, [note], Options(namespace=None, everything=False, project=project))
assert "".join(one.value["content"] for one in records).endswith("The ferryman rows home.")
"""
"""What reads the characters of an imported note one by one, beside the model."""


def numbers(length: int) -> str:
    """Return numbers between commas, as in minified JSON."""
    rng = random.Random(7)
    return ",".join(str(rng.randrange(1_000)) for _ in range(length // 3))[:length]


@sampled("characters", [numbers(300_000), SMILE * 60_000, "[" * 300_000, "a1b2" * 75_000], every=2)
def test_rules_read_a_long_run_in_time_that_grows_with_its_length(tmp_path: Path, characters: str) -> None:
    """With the square of the length each of the first three takes many times the bound; linear, a second."""
    text = f"The heron stands in the pond.\n\n{characters}\n\nThe ferryman rows home.\n"
    command = [sys.executable, "-c", READ, str(tmp_path)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def test_notes_with_long_runs_are_imported_whole_and_found_by_their_ordinary_words(tmp_path: Path) -> None:
    folder, store = tmp_path / "notes", tmp_path / "store"
    folder.mkdir()
    texts = {
        "heron": f"The heron stands in the pond.\n\n[{numbers(LENGTH // 4)}]\n\nThe ferryman rows home.",
        "barn": f"The barn has a red door.\n\n{SMILE * LENGTH}\n\nIts roof leaks in the west.",
    }
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")

    assert run(store, "import", str(folder)).exit_code == 0
    kept = [json.loads(line)["content"] for line in run(store, "export", "--format", "memories").stdout.splitlines()]
    paragraphs = [paragraph for text in texts.values() for paragraph in text.split("\n\n")]
    assert all(any(paragraph in content for content in kept) for paragraph in paragraphs)
    for question, answer in (("Who rows home?", "ferryman"), ("Where does the roof leak?", "roof leaks")):
        (found,) = run_json(store, "search", question, "--top-k", "1")["results"]
        assert answer in found["content"]
