"""The main job, end to end: a client stores a conversation, the server restarts, and questions find it again."""

import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import TextContent
from rich.console import Console

COMMAND = str(Path(sys.executable).parent / "context-graph")

CODE = '''\
def refresh_if_due(token: Token, now: datetime) -> Token:
    """Renew an access token once 80 % of its life is over."""
    if now - token.issued_at < 0.8 * token.lifetime:
        return token
    return auth_client.renew(token.refresh_id)
'''

TURNS = (
    ("2026-03-09T09:12:00", "Ana: The login tests are flaky again. Sessions expire in the middle of the checkout."),
    (
        "2026-03-09T09:14:00",
        "Ben: Since 2 March JWTs live only five minutes, and nobody refreshes them.",
    ),
    ("2026-03-09T09:20:00", "Ana: Decision then: access tokens live 15 minutes, and the client refreshes them at 12."),
    (
        "2026-03-09T09:41:00",
        CODE,
    ),
    ("2026-03-14T22:05:00", "Ben: Payments were down from 21:10 to 21:52: the connection pool ran dry."),
    (
        "2026-03-14T22:11:00",
        "Ben: A retry loop in billing-worker v2.3.1 never gave its connection back, that was the cause.",
    ),
    (
        "2026-03-15T08:30:00",
        "Ana: I pinned billing-worker to v2.3.0 and set a pool timeout of 5 s in deploy/pool.yaml.",
    ),
    ("2026-03-20T16:02:00", "Ana: I'm off to Lisbon with Mara from 2 to 9 April; Ben has the pager."),
    (
        "2026-03-20T16:05:00",
        "Ben: Fine. By the way, I like stand-ups short, ten minutes, and never before half past nine.",
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
    ("2026-03-21T09:00:00", "Ben: Payments were down from 21:10 to 21:52:\n    the connection pool ran dry.", 0.5),
    ("2025-01-07T11:30:00", "Ana: The coffee machine on the third floor is being descaled.", 0.1),
)
"""A turn that an importer brought a second time, and one that nobody needs any more."""

OUT = Console(highlight=False, soft_wrap=True)


@asynccontextmanager
async def connected(data: Path) -> AsyncIterator[Client]:
    """Start the server as an agent's client would, and connect to it."""
    command = StdioServerParameters(command=COMMAND, args=["serve", "--linger", "0", "--data", str(data)])
    async with Client(command) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; a failure ends the demo with its message."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit("\n".join(one.text for one in result.content if isinstance(one, TextContent)))
    return result.structured_content


async def remember(data: Path) -> list[str]:
    """Store the conversation and return the ids."""
    async with connected(data) as client:
        tools = await client.list_tools()
        OUT.print(f"[bold]A server starts, and offers {len(tools.tools)} tools[/]\n")
        ids = []
        for said_at, text in TURNS:
            answer = await call(
                client,
                "inject_context",
                content=text,
                rationale="A turn of the team's chat",
                session="team-chat",
                namespace="shop",
                created_at=said_at,
                modality="code" if text is CODE else "text",
            )
            ids.append(answer["fingerprintId"])
            utl = answer["utl"]
            OUT.print(
                f"  {text.splitlines()[0][:72]:<73}"
                f"[dim]entropy {utl['entropy']:.2f}  coherence {utl['coherence']:.2f}  "
                f"{answer['_cognitive_pulse']['quadrant']}[/]"
            )
        return ids


async def recall(data: Path, ids: list[str]) -> str:
    """Ask a new server about it, show why it found what it found, and return the best memory of the first question.

    At the end that memory is compared with all others.
    """
    best = ""
    async with connected(data) as client:
        for question in QUESTIONS:
            answer = await call(client, "search_graph", query=question, namespace="shop", top_k=2, explain=True)
            OUT.print(f"\n[bold]{question}[/]  [dim]{answer['queryLatencyMs']:.0f} ms[/]")
            for hit in answer["results"]:
                best = best or hit["fingerprintId"]
                scores = "  ".join(
                    f"{key.partition('_')[0]} {'–' if score is None else f'{score:.2f}'}"
                    for key, score in hit["embedderScores"].items()
                )
                top = ", ".join(f"{space['space']} {space['contribution']:+.2f}" for space in hit["topSpaces"])
                OUT.print(f"  {hit['content'].splitlines()[0]}", markup=False)
                OUT.print(f"    [green]found by {top}[/]")
                OUT.print(f"    [dim]{scores}[/]")
        others = [memory for memory in ids if memory != best]
        alike = await call(client, "memory_batch_compare", reference=best, targets=others)
        OUT.print("\n[bold]Most like the first answer, over all thirteen spaces[/]")
        for line in alike["comparisons"][:2]:
            memory = await call(client, "memory_retrieve", id=line["target"])
            OUT.print(f"  {line['similarity']:.2f}  {memory['content'].splitlines()[0]}", markup=False)
    return best


async def litter(data: Path) -> list[str]:
    """Store what sleep is there for, and return the ids."""
    ids = []
    async with connected(data) as client:
        for said_at, text, importance in LEFTOVERS:
            answer = await call(
                client, "store_memory", content=text, namespace="shop", created_at=said_at, importance=importance
            )
            ids.append(answer["fingerprintId"])
    return ids


def sleep(data: Path) -> None:
    """Tidy up by the command line: first say what would happen, then do it, then take it back."""
    command = [COMMAND, "consolidate", "light", "--data", str(data)]
    subprocess.run([*command, "--dry-run"], check=True)
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    run = json.loads(done.stdout)
    OUT.print(f"Done: {run['merged_count']} merged, {run['pruned_count']} pruned. And taken back:")
    subprocess.run([COMMAND, "undo", run["run_id"], "--data", str(data)], check=True)


def account(data: Path, memory: str) -> None:
    """Erase a memory for good, look for it in the past, and let the store account for itself."""
    folder = ("--data", str(data))
    status = subprocess.run([COMMAND, "status", "--json", *folder], check=True, capture_output=True, text=True)
    before = json.loads(status.stdout)["log"]["position"]
    subprocess.run([COMMAND, "forget", memory, "--hard", "--reason", "nobody needs it", *folder], check=True)
    then = [COMMAND, "show", memory, "--as-of", str(before), *folder]
    refused = subprocess.run(then, check=False, capture_output=True, text=True)
    OUT.print(f"As of event {before}, before that: {refused.stderr.strip()}", markup=False)
    OUT.print("\n[bold]Does all that is known follow from the log, and is every byte what it was?[/]")
    replayed = subprocess.run([COMMAND, "replay", *folder], check=True, capture_output=True, text=True)
    OUT.print(replayed.stdout.splitlines()[-1])
    sys.stdout.flush()
    subprocess.run([COMMAND, "verify", *folder], check=True)


def main() -> None:
    """Run the demo in a folder that goes away with it."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        ids = anyio.run(remember, data)
        OUT.print(
            f"\n[bold]{len(ids)} memories stored. The server stops, and another one starts on the same folder.[/]"
        )
        best = anyio.run(recall, data, ids)
        OUT.print("\n[bold]What the log knows of the first answer[/]")
        sys.stdout.flush()
        subprocess.run([COMMAND, "history", best, "--data", str(data)], check=True)
        _, unneeded = anyio.run(litter, data)
        OUT.print("\n[bold]Two leftovers are stored, and a light sleep is tried[/]")
        sys.stdout.flush()
        sleep(data)
        OUT.print("\n[bold]One of them is erased for good, and the past doesn't bring it back[/]")
        sys.stdout.flush()
        account(data, unneeded)


if __name__ == "__main__":
    main()
