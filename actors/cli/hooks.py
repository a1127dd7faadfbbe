"""Hooks of Claude Code: a brief at session start, recall for a prompt, capture of tool use; at session end a nap.

On request the session's end also captures what was said in it (`actors.capture`).

A hook must never disturb a session: every error ends with status 0, nothing on standard output and one line on standard
error. Claude Code treats status 2, which typer uses for bad options, as a rejection of the prompt. A person waits for
a hook at each prompt, and typer would double its time. Therefore getopt reads the options.

The hook uses the process that serves the store, and opens the store itself only if there is none.
"""

import getopt
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from time import monotonic, sleep

import msgspec

from actors.cli.hook_context import WAITING, brief_lines, captured_sentence, recalled_lines, sharing_line
from actors.cli.store_access import RETRY_INTERVAL, StoreLocation, open_store
from actors.proxy.claims import absence
from actors.proxy.namespaces import SHARED
from actors.proxy.project import find_root_project, other_owner
from actors.proxy.serve_command import DATA, EMBEDDER, MODELS, NAMESPACE, data_folder
from actors.runtime.settings import TOOL_TAG, ModelProfile
from actors.runtime.types import JsonObject
from events.wording import with_folder

SERVER_TIMEOUT = 1.5
"""Seconds that a session start waits for the server that starts with it: only one process can open a store."""
NAP_SECONDS = 55.0
"""Seconds of consolidation at a session end: the hook has 60."""
USAGE = "context-graph hook EVENT [--data FOLDER] [--namespace NAME] [--embedder MODEL] [--models FOLDER] [--capture]"
CAPTURE_IMPORTANCE = 0.2
"""Importance of a captured record."""


class Payload(msgspec.Struct, frozen=True):
    """Fields of the payload on standard input that hooks use."""

    session_id: str | None = None
    cwd: str = ""
    source: str = ""
    """Why a session starts."""
    prompt: str = ""
    transcript_path: str | None = None
    """Codex gives null for a session that it doesn't keep."""
    tool_name: str = ""
    tool_input: JsonObject = {}


class HookCall(msgspec.Struct, frozen=True):
    """Input of a hook."""

    payload: Payload
    location: StoreLocation
    namespace: str
    captures: bool
    """Whether a person asked for capture."""


def run_hook(arguments: Sequence[str]) -> None:
    """Handle an event of Claude Code, whose payload is on standard input; `USAGE` shows the arguments."""
    if sys.platform == "win32":
        sys.exit("context-graph: hooks need Linux or macOS: Windows has neither timers as signals nor fork")
    if "--help" in arguments:
        sys.stdout.write(f"Usage: {USAGE}\nClaude Code and Codex call it, with a payload on standard input.\n")
        return
    event, *rest = arguments or ("hook",)
    if event not in HOOKS:
        _print_error(event, f"unknown event; known are {', '.join(HOOKS)}")
        return
    signal.signal(signal.SIGALRM, lambda _signal, _frame: _time_out(event))
    try:
        from actors.api.params.fields import DEFAULT_NAMESPACE

        seconds, handle = HOOKS[event]
        signal.setitimer(signal.ITIMER_REAL, seconds)
        options = parse_options(rest)
        payload = msgspec.json.decode(sys.stdin.buffer.read(), type=Payload)
        folder = data_folder(Path(options["data"]) if options["data"] else None)
        project = None if options["namespace"] else _project(payload, folder)
        location = StoreLocation(
            folder=folder,
            profile=options["embedder"] or ModelProfile.EMBEDDED,
            models=Path(options["models"]) if options["models"] else None,
            deadline=monotonic() + seconds,
            lock_timeout=inf,
            project=project,
            upgrades=event not in READING,
        )
        captures = "capture" in options or os.environ.get("CONTEXT_GRAPH_CAPTURE") == "1"
        handle(HookCall(payload, location, options["namespace"] or project or DEFAULT_NAMESPACE, captures))
    except getopt.GetoptError as error:
        _print_error(event, str(error))
    except Exception as error:  # no error may disturb the session
        _print_error(event, f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
    os._exit(0)  # with models loaded, a regular exit of the interpreter takes .3 s


def parse_options(words: Sequence[str]) -> dict[str, str]:
    """Return options by name, those with a value also from the environment, or empty (`GetoptError` for others)."""
    taken = (DATA, NAMESPACE, EMBEDDER, MODELS)
    values = {option.name: os.environ.get(option.variable, "") for option in taken}
    given, others = getopt.gnu_getopt([*words], "n:", [*(f"{option.name}=" for option in taken), "capture"])
    if others:
        raise getopt.GetoptError(f"unexpected argument {others[0]}")
    return values | {NAMESPACE.name if name == "-n" else name.lstrip("-"): value for name, value in given}


def _time_out(event: str) -> None:
    """Exit at once. Actors may be active in other threads; the log survives an abrupt end."""
    _print_error(event, "out of time")
    os._exit(0)


def _print_error(event: str, message: str) -> None:
    sys.stderr.write(f"context-graph: {event}: {message}\n")
    sys.stderr.flush()


def _print_context(event: str, lines: Iterable[str], notice: str = "") -> None:
    """Print context for Claude and a sentence for the person, if there are any, before the store closes slowly."""
    output: JsonObject = {"systemMessage": f"Context Graph: {notice}"} if notice else {}
    if told := "\n".join(lines):
        output["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": told}
    if output:
        sys.stdout.write(json.dumps(output) + "\n")
        sys.stdout.flush()


def _project(payload: Payload, store: Path) -> str | None:
    folder = _folder(payload)
    return find_root_project(folder, store) if folder else None


def _folder(payload: Payload) -> Path | None:
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or payload.cwd
    return Path(folder) if folder else None


def brief(call: HookCall) -> None:
    """Print a brief of the session's project, and for the person why nothing can be stored, or what is to do.

    It needs no models: opening the store until they are loaded would block the session's own server. A resumed session
    has its brief in the transcript.
    """
    is_resumed = call.payload.source == "resume"
    if is_resumed and not (call.location.folder / WAITING).exists():
        return
    with open_store(call.location, server_timeout=SERVER_TIMEOUT) as store:
        status = store.call("store/status")
        # Opened here, a sound store of an earlier format is read-only too.
        damage = status["read_only"] if store.served else None
        waiting = None if damage else captured_sentence(store, call.location.folder)
        new = None if status["namespaces"].get(call.namespace) else absence(call.namespace, call.location.folder)
        shared = SHARED[0] if call.location.project and call.namespace != SHARED[0] else None
        about = brief_lines(store, status["namespaces"], call.namespace, shared)
        lines = () if is_resumed else [*_sharing(call), *about]
        notice = damage or waiting or (new if call.location.project else None) or ""
        if call.location.folder != data_folder(None):
            notice = with_folder(notice, call.location.folder)
        _print_context("SessionStart", lines, notice)
        if waiting:
            (call.location.folder / WAITING).unlink(missing_ok=True)


def _sharing(call: HookCall) -> Iterator[str]:
    folder = _folder(call.payload)
    if folder and call.location.project and (owner := other_owner(call.namespace, folder, call.location.folder)):
        yield sharing_line(call.namespace, owner)


def recall(call: HookCall) -> None:
    """Print the memories that bear on the prompt, if there are any."""
    if not (prompt := call.payload.prompt.strip()):
        return
    # In a project found by its folder, also what every project shares; in a namespace that was chosen, nothing else.
    scope = {} if call.location.project else {"namespace": call.namespace}
    with open_store(call.location) as store:
        _print_context("UserPromptSubmit", recalled_lines(store, prompt, **scope))


def record_tool(call: HookCall) -> None:
    """Store a short record of a tool's use, without secrets, if that is requested."""
    from actors.capture.tool_use import describe

    record = describe(call.payload.tool_name, call.payload.tool_input, call.payload.cwd)
    if not call.captures or record is None:
        return
    with open_store(call.location, creates=True) as store:
        store.call(
            "memory/store",
            content=record,
            namespace=call.namespace,
            session=call.payload.session_id,
            importance=CAPTURE_IMPORTANCE,
            tags=[TOOL_TAG],
            redact=True,
        )


def nap(call: HookCall) -> None:
    """Capture what the session said, if that is requested, and run a light consolidation, in a process of its own.

    Claude Code gives all hooks of a plugin 1.5 s at a session end, whatever their timeout, and meanwhile closes our
    server. Therefore the hook does not wait.
    """
    if not call.captures:
        call.location.check_exists()
    if os.fork():
        return
    os.setsid()
    with Path(os.devnull).open("r+b") as null:
        for stream in (0, 1, 2):
            os.dup2(null.fileno(), stream)
    signal.setitimer(signal.ITIMER_REAL, NAP_SECONDS)
    location = msgspec.structs.replace(call.location, deadline=monotonic() + NAP_SECONDS)
    transcript = Path(call.payload.transcript_path or "")
    if call.captures and transcript.is_file():
        from actors.capture.selection import candidates

        items = candidates(transcript, call.namespace)
        if items and _call_until_done(location, "memory/capture", creates=True, items=items)["captured"]:
            (location.folder / WAITING).touch(mode=0o600)
    _call_until_done(
        location,
        "memory/merge_copies",
        namespace=call.namespace,
        max_seconds=max(1, round(location.seconds_left - 1)),
        rationale="SessionEnd hook of Claude Code",
    )


def _call_until_done(location: StoreLocation, method: str, *, creates: bool = False, **arguments: object) -> JsonObject:
    """Call an operation, again if the server ends meanwhile: what was cut off may be repeated."""
    while True:
        try:
            with open_store(location, creates=creates) as store:
                return store.call(method, **arguments)
        except ConnectionResetError:
            sleep(RETRY_INTERVAL)


READING = frozenset({"session-start", "user-prompt-submit"})
"""Events whose hooks leave a store of an earlier format as it is."""

HOOKS: dict[str, tuple[float, Callable[[HookCall], None]]] = {
    "session-start": (4.5, brief),
    "user-prompt-submit": (1.6, recall),
    "post-tool-use": (4.5, record_tool),
    "session-end": (1.0, nap),
}
"""Time limit in seconds, that of Claude Code less the start of Python, and handler of each event."""
