"""The public MCP conformance suite and the official Inspector, run against our server.

The suite reaches servers by URL: it gets the server of `context-graph serve --http`, checks of hosts and keys included.
It can send no key, so one is added to its requests. The Inspector runs against the real commands, over stdio and HTTP.
"""

import json
import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from benchmarks.processes import COMMAND, serving
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from actors.api.caller import Scope as Permission
from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.http.access.keys import Keys
from actors.http.server import HttpServer
from actors.hub.composition import open_hub

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from actors.http.mcp_endpoint import McpSessions

NPX = ("npx", "--yes", "-p", "node@22", "-p")
"""Fetches packages, and the Node.js that both need: 22.19 or newer."""

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
"""The newest published version. A plain install brings 0.1.16, which lacks the second revision below."""

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

REVISIONS = ("2025-11-25", "2026-07-28")
"""The last revision with a handshake and the first without; the suite has a frozen list of scenarios for each."""

ERAS = ("legacy", "modern")
"""The Inspector's names of these revisions."""

CONTENT = "The boathouse key hangs behind the red canoe."

SCHEMA_CHECK = "wire-schema-valid"
"""Check of every scenario: each message of the server is valid by the revision's JSON schema. It always counts, but a
scenario passes only with a check of its own."""


OWN = "uses a tool, resource or prompt of the suite's own server"
NOT_APPLICABLE = {
    **dict.fromkeys(
        """
        tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
        tools-call-error tools-call-with-progress tools-call-with-logging tools-call-sampling tools-call-elicitation
        elicitation-sep1034-defaults elicitation-sep1330-enums json-schema-2020-12 server-sse-polling
        resources-read-text resources-read-binary resources-templates-read prompts-get-simple prompts-get-with-args
        prompts-get-embedded-resource prompts-get-with-image input-required-result-basic-elicitation
        input-required-result-basic-sampling input-required-result-basic-list-roots input-required-result-request-state
        input-required-result-multiple-input-requests input-required-result-multi-round
        input-required-result-missing-input-response input-required-result-non-tool-request
        input-required-result-result-type input-required-result-tampered-state input-required-result-capability-check
        input-required-result-ignore-extra-params input-required-result-validate-input
        """.split(),
        OWN,
    ),
    **dict.fromkeys(
        """
        tasks-lifecycle tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal tasks-mrtr-input
        tasks-request-headers tasks-dispatch-and-envelope tasks-status-notifications tasks-required-task-error
        tasks-mrtr-composition
        """.split(),
        "we do not offer the tasks extension",
    ),
    "http-custom-header-server-validation": "needs a tool with a parameter in an HTTP header; none has one",
    "completion-complete": "we do not offer completions",
    "logging-set-level": "we do not offer logging, which 2026-07-28 deprecates",
    "resources-subscribe": "we do not offer subscriptions",
    "resources-unsubscribe": "we do not offer subscriptions",
}
"""Scenarios that only a server with the suite's own tools, resources and prompts, or with a capability that we do not
offer, can pass, with the reason."""

CHECKS_NOT_APPLICABLE = frozenset(
    """
    sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400
    sep-2575-http-server-no-independent-requests-on-stream sep-2575-server-no-log-without-loglevel
    """.split()
)
"""Single checks of scenarios that apply, which use the suite's own tools: these scenarios pass in part."""


class Verdict(StrEnum):
    """The result of a scenario."""

    PASSED = "passed"
    IN_PART = "in part"
    FAILED = "FAILED"
    NOT_APPLICABLE = "not applicable"


COLOURS = {
    Verdict.PASSED: "green",
    Verdict.IN_PART: "green",
    Verdict.FAILED: "bold red",
    Verdict.NOT_APPLICABLE: "dim",
}


def judge(scenario: str, checks: list[dict[str, Any]]) -> tuple[Verdict, list[str]]:
    """Return the result of a scenario, and why. Stricter than the suite, which passes a scenario that tested nothing.

    Args:
        scenario: Its name.
        checks: The suite's findings, each with `id`, `status` and perhaps `errorMessage`.
    """
    left_out = [check for check in checks if scenario in NOT_APPLICABLE or check["id"] in CHECKS_NOT_APPLICABLE]
    counted = [check for check in checks if check not in left_out or check["id"] == SCHEMA_CHECK]

    def found(status: str) -> list[str]:
        return [f"{check['id']}: {check.get('errorMessage', '')}" for check in counted if check["status"] == status]

    if failures := found("FAILURE"):
        return Verdict.FAILED, failures
    if scenario in NOT_APPLICABLE:
        return Verdict.NOT_APPLICABLE, [NOT_APPLICABLE[scenario]]
    if not any(check["status"] == "SUCCESS" and check["id"] != SCHEMA_CHECK for check in counted):
        return Verdict.FAILED, ["none of its checks was exercised"]
    notes = [f"warning, {warning}" for warning in found("WARNING")]
    if left_out:
        notes += [f"without {check['id']}, which {OWN}" for check in left_out]
        return Verdict.IN_PART, notes
    return Verdict.PASSED, notes


def results(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the checks of each scenario, from the folder that the suite wrote: server-SCENARIO-TIME/checks.json."""
    return {
        re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name): json.loads(path.read_text("utf-8"))
        for path in folder.glob("*/checks.json")
    }


class _Keyed(HttpServer):
    """The server, with a key added to requests that have none."""

    def _app(self, params: HttpListen, sessions: "McpSessions") -> "ASGIApp":
        app = super()._app(params, sessions)
        key = Keys(self._context.hub.folder).create("conformance", Permission.ADMIN, None)
        bearer = (b"authorization", f"Bearer {key}".encode())

        async def keyed(scope: "Scope", receive: "Receive", send: "Send") -> None:
            if bearer[0] not in dict(scope.get("headers", ())):
                scope["headers"] = [*scope["headers"], bearer]
            await app(scope, receive, send)

        return keyed


async def run_suite(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Serve an empty store over HTTP on a free port and run the suite against it, once for each revision.

    Raises:
        SystemExit: the suite did not finish.
    """
    found = {}
    with open_hub(folder / "store") as hub:
        async with anyio.create_task_group() as group:
            server = _Keyed(Context(hub), {}, group, nullcontext, lambda _url: None)
            url = f"{await server.listen(HttpListen(address='127.0.0.1:0'))}/mcp"
            for revision in REVISIONS:
                out = folder / revision
                suite = ["conformance", "server", "--url", url, "--requirements", revision, "-o", str(out)]
                run = await anyio.run_process(
                    [*NPX, SUITE, "--", *suite],
                    check=False,
                    stderr=subprocess.STDOUT,
                )
                if b"=== SUMMARY ===" not in run.stdout:
                    raise SystemExit(run.stdout.decode())
                found[revision] = results(out)
            group.cancel_scope.cancel()
    return found


def print_results(found: dict[str, dict[str, list[dict[str, Any]]]], out: Console) -> bool:
    """Print the result of each scenario in each revision; return whether all that apply have passed."""
    verdicts = {
        revision: {scenario: judge(scenario, checks) for scenario, checks in scenarios.items()}
        for revision, scenarios in found.items()
    }
    table = Table("scenario", *REVISIONS, "why", title=SUITE)
    names = sorted({name for of_revision in verdicts.values() for name in of_revision})
    for name in sorted(names, key=NOT_APPLICABLE.__contains__):
        of_name = [verdicts[revision].get(name) for revision in REVISIONS]
        why = dict.fromkeys(note for judgement in of_name if judgement for note in judgement[1])
        cells = [f"[{COLOURS[judgement[0]]}]{judgement[0]}" if judgement else "–" for judgement in of_name]
        table.add_row(name, *cells, escape("\n".join(why)))
    out.print(table)
    for revision, of_revision in verdicts.items():
        counts = [sum(verdict == kind for verdict, _ in of_revision.values()) for kind in Verdict]
        out.print(f"{revision}: " + ", ".join(f"{n} {kind}" for n, kind in zip(counts, Verdict, strict=True)))
    gone = sorted(NOT_APPLICABLE.keys() - names)
    if gone:
        out.print(f"[bold red]The suite no longer has {', '.join(gone)}")
    return not gone and all(
        verdict is not Verdict.FAILED for of_revision in verdicts.values() for verdict, _ in of_revision.values()
    )


@contextmanager
def served(folder: Path) -> Iterator[list[str]]:
    """Serve a store by the real command over HTTP, and yield the Inspector's arguments that lead there with a key."""
    folder.mkdir()
    create = [COMMAND, "key", "create", "inspector", "--scope", "write", "-n", "*", "--data", str(folder)]
    key = subprocess.check_output(create, text=True).strip()
    with serving("serve", "--http", "127.0.0.1:0", "--data", str(folder)) as url:
        yield ["--server-url", f"{url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {key}"]


def run_inspector(era: str, target: list[str]) -> Iterator[tuple[str, bool, str]]:
    """Yield each call of the Inspector to the real command, whether it succeeded, and its answer.

    Args:
        era: Of the protocol.
        target: Arguments that lead to a server.
    """

    def ask(method: str, *arguments: str) -> dict[str, Any]:
        inspector = [*NPX, INSPECTOR, "--", "mcp-inspector", "--cli", "--protocol-era", era, "--format", "json"]
        command = [*inspector, "--method", method, *arguments, *target]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        answer = json.loads(run.stdout)["result"] if run.stdout.strip() else {}
        refused = answer.get("isError")  # for which the Inspector also ends with a status other than 0
        return answer if run.returncode == 0 or refused else {"failed": run.stderr.strip()[-300:]}

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        return ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))

    def seen(answer: dict[str, Any]) -> str:
        return answer.get("failed") or json.dumps(answer, ensure_ascii=False)

    listed = ask("tools/list", "--strict")  # strict: fails if a tool's schema would trouble some client
    yield "tools/list --strict", "tools" in listed, f"{len(listed.get('tools', ()))} tools {listed.get('failed', '')}"
    stored = call("store_memory", content=CONTENT)
    memory = stored.get("structuredContent", {}).get("fingerprintId")
    yield "tools/call store_memory", memory is not None, memory or seen(stored)
    found = call("search_graph", query="Where is the key to the boathouse?")
    hits = [hit["fingerprintId"] for hit in found.get("structuredContent", {}).get("results", ())]
    yield "tools/call search_graph", memory in hits, ", ".join(hits) or seen(found)
    refused = call("store_memory", content="")
    code = refused.get("structuredContent", {}).get("error", {}).get("code")
    yield "tools/call store_memory, empty", code == -32602, str(code or seen(refused))
    for kind in ("resources", "prompts"):
        listed = ask(f"{kind}/list")
        names = [one["name"] for one in listed.get(kind, ())]
        yield f"{kind}/list", bool(names), ", ".join(names) or seen(listed)


def main() -> None:
    """Run both tools; end with status 1 unless everything that applies has passed."""
    logging.basicConfig(level=logging.ERROR)  # the suite provokes warnings about foreign hosts
    out = Console(highlight=False, soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(prefix="context-graph-") as name:
        folder = Path(name)
        with out.status(f"{SUITE} (npx fetches it the first time)"):
            found = anyio.run(run_suite, folder)
        well = print_results(found, out)
        stdio = ["--", COMMAND, "serve", "--standalone", "--data", str(folder / "inspected"), "--namespace", "default"]
        with served(folder / "served") as http:
            for transport, target in (("stdio", stdio), ("HTTP", http)):
                out.print(f"\n{INSPECTOR}, command line, {transport}")
                for era in ERAS:
                    for what, went_well, seen in run_inspector(era, target):
                        well &= went_well
                        mark = "[green]passed[/]" if went_well else "[bold red]FAILED[/]"
                        out.print(f"  {era:7} {what:30} {mark}  ", end="")
                        out.print(seen, markup=False)
    raise SystemExit(not well)


if __name__ == "__main__":
    main()
