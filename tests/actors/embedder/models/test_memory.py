"""What the packaged model keeps in memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from actors.embedder.models.backbone import VOCABULARY, Backbone, package_folder
from actors.embedder.models.bert import supported_precisions
from actors.embedder.weights import StoredRows, WeightsError

MATRIX = "embeddings.word_embeddings.weight"
WEIGHTS = package_folder() / "model.safetensors"

ANONYMOUS = """
from pathlib import Path
from actors.embedder.models.backbone import Backbone

def read():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("Anonymous:"))

backbone = Backbone.load(precision="bfloat16")
before = read()
for length in range(1, 200):
    backbone.forward([range(length)])
print(read() - before)
"""


@pytest.mark.skipif("bfloat16" not in supported_precisions(), reason="the processor has no bfloat16")
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells what a process holds")
def test_texts_of_every_length_leave_little_in_memory():
    done = subprocess.run([sys.executable, "-c", ANONYMOUS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30, "megabytes"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process has mapped")
def test_the_published_weights_are_not_mapped_once_the_model_is_loaded():
    code = (
        "from pathlib import Path; from actors.embedder.models.backbone import Backbone; backbone = Backbone.load(); "
        f"print({WEIGHTS.name!r} in Path('/proc/self/maps').read_text())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_input_embeddings_are_the_rows_of_the_published_matrix():
    published = safetensors.numpy.load_file(WEIGHTS)[MATRIX]
    rows = [0, len(published) - 1, 2023, 2023]
    assert Backbone.load().input_embeddings(rows).tobytes() == published[rows].tobytes()


def test_a_file_that_was_cut_off_after_it_was_verified_gives_no_rows(tmp_path: Path):
    copy = tmp_path / "model.safetensors"
    copy.write_bytes(WEIGHTS.read_bytes())
    rows = StoredRows(copy, MATRIX)
    with copy.open("r+b") as file:
        file.truncate(1 << 20)
    with pytest.raises(WeightsError, match=r"model\.safetensors was cut off"):
        rows.take(np.array([0, VOCABULARY - 1]))
