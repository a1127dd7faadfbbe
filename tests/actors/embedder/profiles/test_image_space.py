"""Images in a real store, by a tiny CLIP of random weights that was fitted to tell colours apart, and real files."""

import base64
import io
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from PIL import Image
from typer.testing import CliRunner

from actors.api.caller import Caller, Scope
from actors.api.context import Context
from actors.api.operations.administration.export import StoreExport, store_export
from actors.api.operations.administration.maintenance import StoreBackUp, StoreVerify, store_back_up, store_verify
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.operations.lifecycle.memories import memory_delete, store_memory
from actors.api.operations.lifecycle.retrieval import memory_retrieve
from actors.api.operations.lifecycle.scan import StoreScan, store_scan
from actors.api.operations.mind.sleep import ConsolidateMemories, consolidate_memories
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import MemoryDelete, MemoryRetrieve, StoreMemory
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.cli.commands import program
from actors.embedder.models.images import MAX_PIXELS, decode
from actors.hub.composition import open_hub
from actors.runtime.faults import Fault, InvalidParamsFault, StorageFault
from events.crypto.images import IMAGES, ImageFiles
from events.recovery.backup import restore
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogFullError
from events.verify.verification import verify
from tests.actors.conftest import reembedded, search, store
from tests.actors.embedder.tiny_clip import COLOURS

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("offline")]

TEXTS = (
    "The harbour master keeps the keys of the crane.",
    "Payments were down for forty minutes on Saturday.",
    "Ana waters the tomatoes on Tuesdays.",
)
Open = Callable[[str], AbstractContextManager[Context]]


@pytest.fixture
def opened(clip: Path, tmp_path: Path) -> Open:
    """Open a store by its name, with the tiny CLIP."""

    @contextmanager
    def by_name(name: str) -> Iterator[Context]:
        with open_hub(tmp_path / name, str(clip)) as hub:
            yield Context(hub)

    return by_name


def saved(picture: Image.Image, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def file_of(colour: str, form: str = "PNG", side: int = 48) -> bytes:
    return saved(Image.new("RGB", (side, side // 2), COLOURS[colour]), form)


def uri(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


async def show(context: Context, colour: str, caption: str = "a picture", **more: Any) -> str:
    return await store(context, caption, modality="image", image=uri(file_of(colour)), **more)


async def retrieve(context: Context, memory: str) -> dict[str, Any]:
    return await memory_retrieve(context, parse({"id": memory, "include_image": True}, MemoryRetrieve))


async def test_an_image_is_found_by_what_it_shows_beside_texts_that_say_nothing_of_it(
    opened: Open, tmp_path: Path
) -> None:
    with opened("store") as context:
        for text in TEXTS:
            await store(context, text)
        shown = {colour: await show(context, colour, "a picture") for colour in COLOURS}
        (tmp_path / "photo.jpg").write_bytes(file_of("blue", "JPEG"))
        photo = await store(context, "a photo", modality="image", image=str(tmp_path / "photo.jpg"))
        for colour in ("red", "green", "yellow"):
            among_images = await search(context, f"something {colour} that we painted", modality="image")
            assert among_images[0]["fingerprintId"] == shown[colour]
            everywhere = [hit["fingerprintId"] for hit in await search(context, f"the {colour} one", top_k=10)]
            assert next(one for one in everywhere if one in shown.values()) == shown[colour]
        asked = {"query": "the red one", "modality": "image"}
        told = await search_graph(context, parse(asked, SearchGraph))
        assert "relevance" not in told, "the caption says nothing of it"
        with pytest.raises(InvalidParamsFault, match=r"'min_confidence'.*images"):
            await search_graph(context, parse(asked | {"min_confidence": "uncertain"}, SearchGraph))
        blue = await search(context, "a blue square", modality="image")
        assert {hit["fingerprintId"] for hit in blue[:2]} == {shown["blue"], photo}
        hits = await search(context, TEXTS[1])
        assert hits[0]["content"] == TEXTS[1]
        found = await retrieve(context, photo)
        assert found["image"]["media_type"] == "image/jpeg"
        assert (found["image"]["width"], found["image"]["height"]) == (48, 24)
    with opened("store") as context:
        again = await retrieve(context, shown["red"])
        assert again["image"]["data"] == uri(file_of("red")), "after a restart, to the byte"


async def test_the_file_is_sealed_and_an_erasure_leaves_neither_file_nor_key(opened: Open, tmp_path: Path) -> None:
    content = file_of("green")
    with opened("store") as context:
        kept, erased = await show(context, "red"), await show(context, "green")
        sealed = tmp_path / "store" / IMAGES / erased
        assert content[:64] not in sealed.read_bytes()
        assert sealed.stat().st_mode & 0o077 == 0
        await memory_delete(context, parse({"id": erased, "soft": False}, MemoryDelete))
        assert not sealed.exists()
        with pytest.raises(Fault, match="erased"):
            await retrieve(context, erased)
        assert (await store_verify(context, StoreVerify()))["sound"]
    assert verify(tmp_path / "store").problems == ()
    path = tmp_path / "store" / IMAGES / kept
    left_by_a_crash = path.with_name(str(uuid4()))
    left_by_a_crash.write_bytes(b"of a memory that was never stored")
    with opened("store") as context:
        assert (await retrieve(context, kept))["image"]["data"] == uri(file_of("red"))
        assert not left_by_a_crash.exists()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    (changed,) = verify(tmp_path / "store").problems
    assert (changed.file, changed.lost) == (f"{IMAGES}/{kept}", f"the image of memory {kept}")
    path.unlink()
    (missing,) = verify(tmp_path / "store").problems
    assert "missing" in missing.what
    with opened("store") as context, pytest.raises(Fault, match="missing"):
        await retrieve(context, kept)


async def test_backup_export_and_re_embedding_carry_images(opened: Open, clip: Path, tmp_path: Path) -> None:
    with opened("store") as context:
        memory = await show(context, "yellow", "the roof")
        await show(context, "black", "the cellar")
        await store_back_up(context, StoreBackUp(target=str(tmp_path / "backup")))
        lines = (await store_export(context, StoreExport()))["lines"]
    restore(tmp_path / "backup", tmp_path / "restored")
    with opened("other") as context:
        answer = await memory_import(context, MemoryImport(items=tuple(lines)))
        assert (answer["stored"], answer["failed"]) == (2, 0)
        assert (await memory_import(context, MemoryImport(items=tuple(lines))))["stored_before"] == 2
    with open_hub(tmp_path / "new", str(clip)) as hub:
        assert (await reembedded(tmp_path / "store", hub)).memories == 2
    for name in ("restored", "other", "new"):
        assert verify(tmp_path / name).problems == ()
        with opened(name) as context:
            hits = await search(context, "something yellow that we painted", modality="image")
            assert hits[0]["fingerprintId"] == memory
            assert (await retrieve(context, memory))["image"]["data"] == uri(file_of("yellow"))
    (tmp_path / "backup" / IMAGES / memory).unlink()
    with pytest.raises(Exception, match=memory):
        restore(tmp_path / "backup", tmp_path / "again")


async def test_images_under_one_caption_are_neither_copies_nor_merged(opened: Open) -> None:
    with opened("store") as context:
        answers = []
        for colour in ("red", "blue", "red"):
            given = {"content": "screenshot of the page", "modality": "image", "image": uri(file_of(colour))}
            answers.append(await store_memory(context, parse(given, StoreMemory)))
        assert ["duplicate_of" in answer for answer in answers] == [False, False, True]
        run = await consolidate_memories(context, parse({"mode": "deep"}, ConsolidateMemories))
        assert run["merged_count"] == 1, run
        assert len(await search(context, "screenshot of the page")) == 2
        keyed = context.for_request(context.progress, uuid4())
        await show(keyed, "green")
        with pytest.raises(Fault, match="key"):
            await show(keyed, "white")
        files = context.hub.log.images
        assert files is not None
        assert len(files.files()) == 4


def bomb() -> bytes:
    """Return a PNG of a few bytes that states 60,000 x 60,000 pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1_000))), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


async def test_what_is_no_image_is_refused_by_name_and_leaves_nothing(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "notes.png").write_text("not an image")
    (tmp_path / "large.png").write_bytes(file_of("red") + bytes(11 << 20))
    os.mkfifo(tmp_path / "pipe.png")
    wide = Image.new("1", (MAX_PIXELS // 1_000, 1_001))
    cases = {
        str(tmp_path / "notes.png"): "not an image of a known type",
        str(tmp_path / "large.png"): "more than 10,485,760 bytes",
        str(tmp_path / "pipe.png"): "not a regular file",
        str(tmp_path / "none.png"): "can't be read",
        str(tmp_path): r"can't be read|not a regular file",
        "photo.png": "neither a data URI nor an absolute path",
        "https://example.org/photo.png": "neither a data URI nor an absolute path",
        "data:image/png,abc": "must be in base64",
        "data:image/png;base64,a": "no base64",
        "data:image/png;base64,Ünïcode": "no base64",
        "data:image/png;base64": "must be in base64",
        uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"): "not an image of a known type",
        uri(file_of("red", "BMP")): "not an image of a known type",
        uri(file_of("red", side=400)[:-200]): "damaged",
        uri(bomb()): "pixels",
        uri(saved(wide, "PNG")): "pixels",
    }
    with opened("store") as context:
        for source, why in cases.items():
            with pytest.raises(InvalidParamsFault, match=why) as refused:
                await store(context, "a picture", modality="image", image=source)
            assert refused.value.data["parameter"] == "image"
        remote = context.for_caller(Caller(name="far", scope=Scope.WRITE, namespaces=None))
        with pytest.raises(InvalidParamsFault, match="over HTTP"):
            await store(remote, "a picture", modality="image", image=str(tmp_path / "notes.png"))
        with pytest.raises(InvalidParamsFault, match="'content' is its caption"):
            await store(context, str(tmp_path / "notes.png"), modality="image")
        with pytest.raises(InvalidParamsFault, match="only with modality image"):
            await store(context, "a text", image=uri(file_of("red")))
        assert not (tmp_path / "store" / IMAGES).exists()
        assert await search(context, "a picture") == []


def test_what_cameras_scanners_and_designers_write_is_seen_as_a_person_sees_it() -> None:
    red = Image.new("RGB", (40, 20), COLOURS["red"])
    photo, shown = decode(saved(red, "MPO", save_all=True, append_images=[red]))
    assert (shown.media_type, photo.size) == ("image/jpeg", (40, 20)), "a JPEG with a second picture"
    scan, _ = decode(saved(Image.new("I;16", (40, 20), 100 << 8), "PNG"))
    assert scan.getpixel((0, 0)) == (100, 100, 100)
    for mode, clear in (("RGBA", (0, 0, 0, 0)), ("LA", (0, 0))):
        logo, _ = decode(saved(Image.new(mode, (40, 20), clear), "PNG"))
        assert (logo.mode, logo.getpixel((0, 0))) == ("RGB", (255, 255, 255))
    palette = Image.new("P", (40, 20), 0)
    palette.putpalette([220, 20, 20])
    logo, _ = decode(saved(palette, "PNG", transparency=0))
    assert logo.getpixel((0, 0)) == (255, 255, 255)


def open_files() -> list[Path]:
    return [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks for open files in /proc")
async def test_a_folder_that_is_named_as_an_image_is_closed_again(opened: Open, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    with opened("store") as context:
        with pytest.raises(InvalidParamsFault, match="not a regular file"):
            await store(context, "a picture", modality="image", image=str(folder))
        assert folder not in open_files()


async def test_a_memory_that_is_not_stored_leaves_no_image(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_log: DuckDBLog, _drafts: object) -> None:
        raise LogFullError("no room")

    def unjudged(*_: object) -> None:
        raise StorageFault("not judged")

    with opened("store") as context:
        files = context.hub.log.images
        assert files is not None
        kept = await show(context, "red")
        with monkeypatch.context() as patched:
            patched.setattr(DuckDBLog, "append", full)
            with pytest.raises(StorageFault, match="disk is full"):
                await show(context, "green")
        with monkeypatch.context() as patched:
            patched.setattr("actors.workspace.actor.judge", unjudged)
            with pytest.raises(StorageFault, match="not judged"):
                await show(context, "green")
        assert [path.name for path in files.files()] == [kept]


async def test_an_image_that_cannot_be_erased_now_is_logged_and_the_next_start_erases_it(
    opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    threads: list[threading.Thread] = []

    def stuck(_files: ImageFiles, _memories: object) -> None:
        threads.append(threading.current_thread())
        raise PermissionError("the folder is read-only")

    with opened("store") as context:
        keyed = context.for_request(context.progress, uuid4())
        kept = await show(keyed, "green")
        with monkeypatch.context() as patched:
            patched.setattr(ImageFiles, "erase", stuck)
            with pytest.raises(InvalidParamsFault, match="key"):
                await show(keyed, "white")
        files = context.hub.log.images
        assert files is not None
        assert len(files.files()) == 2
        assert "the folder is read-only" in caplog.text
        assert threads
        assert threading.main_thread() not in threads, "the event loop answers others meanwhile"
    with opened("store") as context:
        await retrieve(context, kept)
        assert [path.name for path in files.files()] == [kept]


async def test_a_request_that_is_sent_again_with_another_image_is_a_conflict(opened: Open) -> None:
    with opened("store") as context:
        key = uuid4()
        stored = await show(context.for_request(context.progress, key), "green")
        again = context.for_request(context.progress, key, resent=True)
        assert await show(again, "green") == stored
        for image in (uri(file_of("white")), None):
            with pytest.raises(InvalidParamsFault, match="key"):
                await store(again, "a picture", modality="image", image=image)


async def test_a_caption_with_a_secret_is_redacted_and_keeps_its_image(opened: Open) -> None:
    with opened("store") as context:
        memory = await show(context, "blue", "The database password is Tr4ctor!Blue9 until May.")
        (found,) = (await store_scan(context, StoreScan(redact=True)))["found"]
        successor = await retrieve(context, found["successor"])
        assert "Tr4ctor" not in successor["content"]
        assert successor["image"]["data"] == uri(file_of("blue"))
        with pytest.raises(Fault, match="erased"):
            await retrieve(context, memory)
        files = context.hub.log.images
        assert files is not None
        assert [path.name for path in files.files()] == [found["successor"]]


async def test_a_store_whose_models_read_text_says_what_would_read_images(tmp_path: Path) -> None:
    with open_hub(tmp_path) as hub:
        with pytest.raises(Fault, match=r"--embedder .*reembed.*text") as refused:
            await show(Context(hub), "red")
        assert refused.value.code == -32005
        assert not (tmp_path / IMAGES).exists()


def test_the_command_line_stores_a_file_by_its_relative_path(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wall.png").write_bytes(file_of("white"))
    options = ("--data", "store", "--embedder", str(clip), "--json")
    arguments = ("store", "the wall", "--modality", "image", "--image", "wall.png", *options)
    done = CliRunner().invoke(program, arguments)
    assert done.exit_code == 0, done.output
    assert len([*(tmp_path / "store" / IMAGES).iterdir()]) == 1
