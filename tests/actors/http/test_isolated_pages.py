"""No address of the server tells a key of one namespace anything of another, nor changes anything there.

The routes come from the server's own router: a new one fails here until it is asked too.
"""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.http.app import build_app
from tests.actors.conftest import store
from tests.actors.http.conftest import Serve, Served
from tests.actors.http.test_isolation import MARKS, THEIRS, Planted, plant

pytestmark = pytest.mark.anyio

SECONDS = 60
"""In which a past moment is replayed and a job has ended."""
ALIKE = {"/static", "/healthz", "/login", "/logout"}
"""Routes that answer all callers alike."""
ELSEWHERE = {"/mcp": "test_isolation.py", "/metrics": "closed to keys of some namespaces, as asserted below"}

READS = {
    "/": [""],
    "/search": [
        "q=vault",
        "q=Zebulon&namespace=theirs",
        "q=crane&namespace=*",
        "q=crane&profile=custom&w_e11_entity=9",
    ],
    "/memory/{id}": [""],
    "/memory/{id}/graph": ["", "depth=3"],
    "/memory/{id}/image": [""],
    "/map": ["", "namespace=theirs"],
    "/map/points": ["", "colour=goal", "colour=salience", "namespace=theirs"],
    "/map/texts": ["map={map}&n=0,1", "map={their_map}&n=0"],
    "/timeline": [
        "",
        "session=their-session",
        "namespace=theirs",
        "day={today}",
        "last={today}",
        "state=forgotten",
        "state=merged",
    ],
    "/goals": ["", "namespace=theirs"],
    "/sleep": [""],
    "/sleep/{id}": [""],
    "/past": ["", "time={today}", "at=1", "at={head}"],
    "/audit": ["", "memory_id={their_memory}", "run_id={their_run}", "since=1", "until=9", "kind=gone", "by=ui"],
    "/audit/export": ["", "kind=stored", "memory_id={their_memory}", "run_id={their_run}"],
    "/jobs/{id}": [""],
}
"""Queries of each address that shows something."""
MOMENTS = ("", "&as_of=7", "&as_of={head}")
"""At which each of them is asked; the first is now."""

CHANGES: dict[str, list[dict[str, str]]] = {
    "/memory/{id}/forget": [{"reason": "curious"}],
    "/memory/{id}/restore": [{}],
    "/memory/{id}/erase": [{"confirm": "yes"}],
    "/memory/{id}/tags": [{"tags": "seen"}],
    "/memory/{id}/supersede": [{"content": "It never happened."}],
    "/goals/discover": [{"namespace": "theirs"}, {}],
    "/sleep/start": [{"mode": "light", "dry_run": "yes"}, {"mode": "deep", "dry_run": "no"}],
    "/sleep/schedule": [{"light": "off"}],
    "/sleep/{id}/undo": [{}, {"memory": "{their_memory}"}],
    "/past/changes": [{"at": "1"}],
    "/audit/{kind}": [{}],
}
"""Forms of each address that changes something."""


class Visit:
    """A key of the namespace `ours` that asks every address, and what it may ask for."""

    def __init__(self, client: httpx2.AsyncClient, planted: Planted, names: dict[str, str]) -> None:
        self.client = client
        self.planted = planted
        self.names = names

    async def get(self, address: str) -> httpx2.Response:
        """Return the answer of an address, after the replay of its moment or the end of its job."""
        with anyio.fail_after(SECONDS):
            while True:
                answer = await self.client.get(address)
                if answer.status_code != 202 and "<progress" not in answer.text:
                    return answer
                await anyio.lowlevel.checkpoint()

    async def read(self) -> dict[str, httpx2.Response]:
        """Return the answer of each address that shows something, in each namespace and at each moment."""
        return {address: await self.get(address) for address in self._addresses()}

    async def change(self, absent: str) -> dict[str, tuple[str, str]]:
        """Send each form for what the other namespace holds, and for what doesn't exist; return both answers."""
        found = {}
        for path, forms in CHANGES.items():
            for form in forms:
                told = []
                for thing in (self._thing(path), absent) if "{id}" in path else ("verify", "replay"):
                    filled = {name: value.format(**self.names) for name, value in form.items()}
                    answer = await self.client.post(re.sub(r"{\w+}", thing, path), data=filled)
                    shown = await self.get(answer.headers["location"]) if answer.status_code == 303 else answer
                    told.append(f"{answer.status_code} {shown.text}".replace(thing, absent))
                found[f"{path} {form}"] = (told[0], told[1])
        return found

    def _addresses(self) -> Iterator[str]:
        """Yield each address, all of one moment together, so that each moment is replayed once."""
        for moment in MOMENTS:
            for path, queries in READS.items():
                for query in queries:
                    for thing in [self._thing(path), self.planted.ours[0]] if "{id}" in path else [""]:
                        yield f"{path}?{query}{moment}".format(**self.names | {"id": thing})

    def _thing(self, path: str) -> str:
        """Return what the other namespace holds of the kind that a path names."""
        kind = path.split("/")[1]
        other = {"sleep": self.names["their_run"], "jobs": self.names["their_job"]}
        return other.get(kind, self.names["their_memory"])


async def visit(served: Served, client: httpx2.AsyncClient, planted: Planted) -> Visit:
    """Return a visit of a key that knows every name of what the other namespace holds, as a thief of a list might."""
    async with served.client(served.key("owner")) as owner:
        job = (await owner.post("/audit/verify")).headers["location"].rpartition("/")[2]
        maps = [await one.get("/map/points") for one in (owner, client)]
    names = {
        "their_memory": planted.theirs[0],
        "their_run": planted.runs[0],
        "their_job": job,
        "their_map": maps[0].headers["x-map"].split('"')[3],
        "map": maps[1].headers["x-map"].split('"')[3],
        "today": served.context.now().date().isoformat(),
        "head": str(served.context.hub.log.head.seq),
    }
    return Visit(client, planted, names)


def said(address: str, answer: httpx2.Response, planted: Planted) -> list[str]:
    """Return what an answer tells of the other namespace, and its address didn't."""
    text = (answer.text + answer.headers.get("x-map", "")).lower()
    secrets = [*MARKS, *planted.theirs, planted.runs[0], ">theirs<", '"theirs"', "in theirs"]
    return [one for one in secrets if one in text and one.strip('<>"') not in address.lower()]


async def test_every_address_is_one_that_these_tests_ask(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps: list[Starlette] = []

    def build(*arguments: Any, **more: Any) -> Starlette:
        apps.append(build_app(*arguments, **more))
        return apps[-1]

    monkeypatch.setattr("actors.http.app.build_app", build)
    async with serve(context):
        routes = {route.path for route in apps[0].routes if isinstance(route, Route | Mount)}
    assert routes == {*READS, *CHANGES, *ALIKE, *ELSEWHERE}


async def test_no_address_tells_a_key_anything_of_another_namespace(context: Context, served: Served) -> None:
    planted = await plant(context)
    async with served.client(served.key("ours", Scope.ADMIN, ("ours",))) as client:
        ours = await visit(served, client, planted)
        assert (await client.get("/metrics")).status_code == 403
        answers = await ours.read()
        assert {address: told for address, one in answers.items() if (told := said(address, one, planted))} == {}
        shown = sum(one.status_code == 200 for one in answers.values())
        assert shown > len(answers) / 2, "most addresses show what the key does see"
        absent = str(uuid4())
        for address, answer in answers.items():
            for name in ("their_memory", "their_run", "their_job"):
                thing = ours.names[name]
                if re.match(rf"/\w+/{thing}", address):
                    none = await ours.get(address.replace(thing, absent))
                    assert none.status_code == answer.status_code == 404, address
                    assert none.text == answer.text.replace(thing, absent), address


async def test_nothing_that_happens_in_another_namespace_changes_what_a_key_sees(
    context: Context, served: Served
) -> None:
    async def do(method: str, **arguments: Any) -> dict[str, Any]:
        return await call(context.for_request(context.progress), BY_METHOD[method], arguments)

    planted = await plant(context)
    async with served.client(served.key("ours", Scope.ADMIN, ("ours",))) as client:
        ours = await visit(served, client, planted)
        before = await ours.read()
        for number in range(12):
            await store(context, f"{THEIRS[number % 2]} Vault {number}.", namespace="theirs", session=f"s{number % 3}")
        await do("memory/delete", id=planted.theirs[1], soft=False)
        await do("memory/delete", id=planted.theirs[2])
        await do("goal/discover", namespace="theirs", min_confidence=0.0)
        await do("memory/consolidate", mode="deep", namespace="theirs")
        after = await ours.read()
    assert {address for address, one in before.items() if shape(one) != shape(after[address])} == set()


async def test_no_form_reaches_another_namespace(context: Context, served: Served) -> None:
    planted = await plant(context)

    async def held() -> list[dict[str, Any]]:
        """Return all that another namespace holds, as its owner sees it."""
        theirs = context.for_request(context.progress)
        states = ("live", "forgotten", "pruned", "merged")
        asked = [("memory/list", {"namespace": "theirs", "state": state}) for state in states]
        asked += [("goal/list", {"namespace": "theirs"}), ("memory/consolidations", {"run_id": planted.runs[0]})]
        asked += [("audit/trail", {"memory_id": memory}) for memory in planted.theirs]
        return [await call(theirs, BY_METHOD[method], arguments) for method, arguments in asked]

    async with served.client(served.key("ours", Scope.ADMIN, ("ours",))) as client:
        ours = await visit(served, client, planted)
        before = await held()
        # Each form is sent twice: the first run would find causes that the second one finds no more.
        await call(context, BY_METHOD["memory/consolidate"], {"mode": "deep", "namespace": "ours"})
        answers = await ours.change(str(uuid4()))
        assert {form for form, (theirs, none) in answers.items() if masked(theirs) != masked(none)} == set()
        assert not [form for form, told in answers.items() if any(mark in told[0].lower() for mark in MARKS)]
        assert await held() == before


def shape(answer: httpx2.Response) -> tuple[int, str]:
    """Return an answer without what differs each time."""
    return answer.status_code, masked(answer.text + answer.headers.get("x-map", ""))


def masked(text: str) -> str:
    """Return a text without scores, which the rarity of words in the whole store moves, durations, ids and times."""
    return re.sub(r"[\d.]+ ms|\d*\.\d+|[0-9a-f]{8,}[0-9a-f-]*|\d\d:\d\d", "…", text)
