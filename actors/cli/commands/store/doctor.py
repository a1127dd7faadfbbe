"""The command that finds out why something does not work, and packs what a bug report needs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Annotated

import typer

from actors.cli.options import given_path
from actors.cli.program import Panel, folder_command
from actors.runtime.types import JsonObject

STYLES = {"ok": "green", "warning": "yellow", "failed": "red"}


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for check in answer["checks"]:
        OUT.print(f"{check['verdict']:>7}  {check['name']}: {check['found']}", style=STYLES[check["verdict"]])
        if check["advice"]:
            OUT.print(f"         → {check['advice']}")
    if "bundle" in answer:
        OUT.print(f"{answer['bundle']} is for the bug report; read it before you send it")


@folder_command(Panel.MAINTAIN, _printed, succeeded=lambda answer: answer["works"])
def doctor(
    folder: Path,
    bundle: Annotated[
        Path | None,
        typer.Option(parser=given_path, help="Write a zip file for a bug report: no memories, no names of namespaces."),
    ] = None,
) -> JsonObject:
    """Check installation, store, hub, clients and hooks, and say what to do. Status 1: something does not work."""
    import msgspec

    from actors.cli.checks import Verdict
    from actors.cli.diagnosis import diagnose

    folder = folder.absolute()
    checks = [*diagnose(folder)]
    works = all(check.verdict is not Verdict.FAILED for check in checks)
    answer: JsonObject = {"works": works, "folder": str(folder), "checks": msgspec.to_builtins(checks)}
    if bundle is not None:
        _write_bundle(bundle, folder, answer)
        answer["bundle"] = str(bundle)
    return answer


def _write_bundle(bundle: Path, folder: Path, answer: JsonObject) -> None:
    """Write the checks, versions, latencies and errors. The home folder, which names a person, is written as `~`."""
    from actors.cli.diagnosis import installed_versions, logged_errors

    parts = {
        "checks.json": json.dumps(answer, indent=2),
        "versions.json": json.dumps(installed_versions(), indent=2),
        "errors.txt": "\n".join(logged_errors(folder)),
        **{
            name: file.read_text(encoding="utf-8")
            for name in ("latencies.json", "hub.json")
            if (file := folder / name).exists()
        },
    }
    home = str(Path.home())
    with zipfile.ZipFile(bundle, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text.replace(home, "~") if len(home) > 1 else text)
