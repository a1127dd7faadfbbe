"""What a process that serves a store does not load, and what a command beside it does not."""

import os
import subprocess
import sys
from pathlib import Path

HEAVY = "torch transformers sentence_transformers sympy openvino_telemetry openvino.tools.ovc apscheduler".split()

PROGRAM = f"""
import sys
from pathlib import Path
import anyio
from actors.api.context import Context
from actors.hub.composition import open_hub
from tests.actors.conftest import search, store

async def run():
    with open_hub(Path(sys.argv[1])) as hub:
        context = Context(hub)
        await store(context, "The physician examined her patient.")
        assert await search(context, "A doctor looked at the sick woman.")
        print([name for name in {HEAVY} if name in sys.modules])

anyio.run(run)
"""


def test_a_store_and_a_search_load_no_torch_nor_timer_and_send_no_usage_data(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "store")],
        env=os.environ
        | {"HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CONTEXT_GRAPH_PRECISION": "auto"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "[]", done.stderr
    assert not list(home.iterdir()), "OpenVINO's conversion tools would write an identifier of this user there"
    cached = {path.name.partition("-")[0] for path in (tmp_path / "cache" / "context-graph").iterdir()}
    assert cached == {"encoder", "precision.json"}


def test_a_command_that_a_hub_answers_loads_neither_numpy_nor_a_database():
    code = (
        "import sys, actors.cli.commands, actors.cli.store_access, actors.cli.views.memories, actors.proxy.client; "
        "print([name for name in ('numpy', 'duckdb', 'cryptography', 'openvino') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
