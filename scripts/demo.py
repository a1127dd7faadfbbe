"""The demo: store a conversation through a real MCP client, restart, find it again, tidy up, undo, erase, replay."""

import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import TextContent
from rich.console import Console

COMMAND = str(Path(sys.executable).parent / "context-graph")
NAMESPACE = "shop"

CODE = '''\
def refresh_if_due(token: Token, now: datetime) -> Token:
    """Renew an access token once 80 % of its life is over."""
    if now - token.issued_at < 0.8 * token.lifetime:
        return token
    return auth_client.renew(token.refresh_id)
'''
TURNS = (
    ("2026-03-09T09:12", "Ana: The login tests are flaky again. Sessions expire in the middle of the checkout."),
    ("2026-03-09T09:14", "Ben: Since 2 March JWTs live only five minutes, and nobody refreshes them."),
    ("2026-03-09T09:20", "Ana: Decision then: access tokens live 15 minutes, and the client refreshes them at 12."),
    ("2026-03-09T09:41", CODE),
    ("2026-03-14T22:05", "Ben: Payments were down from 21:10 to 21:52: the connection pool ran dry."),
    (
        "2026-03-14T22:11",
        "Ben: A retry loop in billing-worker v2.3.1 never gave its connection back, that was the cause.",
    ),
    (
        "2026-03-15T08:30",
        "Ana: I pinned billing-worker to v2.3.0 and set a pool timeout of 5 s in deploy/pool.yaml.",
    ),
    ("2026-03-20T16:02", "Ana: I'm off to Lisbon with Mara from 2 to 9 April; Ben has the pager."),
    (
        "2026-03-20T16:05",
        "Ben: Fine. I like stand-ups short, ten minutes, and never before half past nine.",
    ),
)
QUESTIONS = (
    "Why did the payments fail?",
    "How long do access tokens live?",
    "Python function that renews a token",
    "Who is on call while Ana is on holiday?",
    "When does Ben like to meet in the morning?",
)
LEFTOVERS = (
    ("2026-03-21T09:00", "Ben: Payments were down from 21:10 to 21:52:\n    the connection pool ran dry.", 0.5),
    ("2025-01-07T11:30", "Ana: The coffee machine on the third floor is being descaled.", 0.1),
)
"""A duplicate, as an import might bring it, and a memory of low value."""

OUT = Console(highlight=False, soft_wrap=True)


@asynccontextmanager
async def connect(data: Path) -> AsyncIterator[Client]:
    """Start the server as an agent's client would, and connect to it."""
    command = StdioServerParameters(
        command=COMMAND, args=["serve", "--linger", "0", "--data", str(data), "--namespace", "default"]
    )
    async with Client(command) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; an error ends the demo with its message."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit("\n".join(one.text for one in result.content if isinstance(one, TextContent)))
    return result.structured_content


def run(*arguments: str, data: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command of `context-graph` on the store."""
    return subprocess.run([COMMAND, *arguments, "--data", data], check=check, capture_output=True, text=True)


def heading(text: str) -> None:
    """Print a heading."""
    OUT.print(f"\n[bold]{text}[/]")


def show(text: str) -> None:
    """Print the output of a command."""
    OUT.print(text.rstrip(), markup=False)


async def store(data: Path) -> list[str]:
    """Store the conversation and return the ids."""
    ids = []
    async with connect(data) as client:
        tools = await client.list_tools()
        heading(f"A server starts, and offers {len(tools.tools)} tools")
        for created_at, text in TURNS:
            answer = await call(
                client,
                "inject_context",
                content=text,
                rationale="A turn of the team's chat",
                session="team-chat",
                namespace=NAMESPACE,
                created_at=created_at,
                modality="code" if text is CODE else "text",
            )
            ids.append(answer["fingerprintId"])
            utl, quadrant = answer["utl"], answer["_cognitive_pulse"]["quadrant"]
            figures = f"new {utl['entropy']:.2f}  coherent {utl['coherence']:.2f}  {quadrant}"
            OUT.print(f"  {shorten(text.splitlines()[0], 38, placeholder=' …'):<40}[dim]{figures}[/]")
    return ids


async def search(data: Path, ids: list[str]) -> str:
    """Ask a new server, show why it found what it found, and return the best memory of the first question."""
    best = ""
    async with connect(data) as client:
        for question in QUESTIONS:
            answer = await call(client, "search_graph", query=question, namespace=NAMESPACE, top_k=2, explain=True)
            heading(f"{question}  [dim]{answer['queryLatencyMs']:.0f} ms[/]")
            for hit in answer["results"]:
                best = best or hit["fingerprintId"]
                spaces = ", ".join(f"{space['space']} {space['contribution']:+.2f}" for space in hit["topSpaces"])
                show(f"  {hit['content'].splitlines()[0]}")
                OUT.print(f"    [green]found by {spaces}[/]")
        others = [memory for memory in ids if memory != best]
        alike = await call(client, "memory_batch_compare", reference=best, targets=others)
        heading("Most similar to the first answer, over all thirteen spaces")
        for line in alike["comparisons"][:2]:
            memory = await call(client, "memory_retrieve", id=line["target"])
            show(f"  {line['similarity']:.2f}  {memory['content'].splitlines()[0]}")
    return best


async def store_leftovers(data: Path) -> str:
    """Store a duplicate and a memory of low value, and return the id of the latter."""
    memory = ""
    async with connect(data) as client:
        for created_at, text, importance in LEFTOVERS:
            arguments = {"content": text, "namespace": NAMESPACE, "created_at": created_at, "importance": importance}
            memory = (await call(client, "store_memory", **arguments))["fingerprintId"]
    return memory


def consolidate(data: Path) -> None:
    """Consolidate: dry run, run, undo."""
    show(run("consolidate", "light", "--dry-run", data=data).stdout)
    done = json.loads(run("consolidate", "light", "--json", data=data).stdout)
    OUT.print(f"Done: {done['merged_count']} merged, {done['pruned_count']} pruned. Undo:")
    show(run("undo", done["run_id"], data=data).stdout)


def erase(data: Path, memory: str) -> None:
    """Erase a memory, look for it in the past, replay the log and verify the store."""
    before = json.loads(run("status", "--json", data=data).stdout)["log"]["position"]
    show(run("forget", memory, "--hard", "--reason", "nobody needs it", data=data).stdout)
    refused = run("show", memory, "--as-of", str(before), data=data, check=False)
    show(f"As of event {before}, before that: {refused.stderr}")
    heading("Does all state follow from the log, and is every event what it was?")
    show(run("replay", data=data).stdout.splitlines()[-1])
    show(run("verify", data=data).stdout)


def main() -> None:
    """Run the demo in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        ids = anyio.run(store, data)
        heading(f"{len(ids)} memories stored. The server stops, and another one starts on the same folder.")
        best = anyio.run(search, data, ids)
        heading("What the log knows about the first answer")
        show(run("history", best, data=data).stdout)
        unneeded = anyio.run(store_leftovers, data)
        heading("A duplicate and a memory of low value are stored, and consolidated")
        consolidate(data)
        heading("One of them is erased, also from the past")
        erase(data, unneeded)


if __name__ == "__main__":
    main()
