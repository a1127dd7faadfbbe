"""What `install` and `uninstall` change: all changes are computed before the first file is written."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import TypeAlias

from actors.clients import jsonc, toml
from actors.clients.files import Change, ConfigurationError, apply, backup_of, naming, read
from actors.clients.launch import (
    CAPTURE,
    HookLaunch,
    Launch,
    expanded,
    group,
    is_own,
    parse_launch,
    read_entry,
    read_hook,
)
from actors.clients.table import NAME, Client, Format

Edit: TypeAlias = Callable[[str, Client, Launch | None], str]
"""Returns the text of a configuration with what a launch needs there, or, without a launch, with nothing of ours."""

SKILLS = "skills"
"""The name of the folder that holds a client's skills."""
SKILL_FOLDERS = 3
"""Folders that a skill may need, as `.agents/skills/NAME`."""
PLUGIN_SETTING = "enabledPlugins"
"""Key of Claude Code's settings: plugins by name and marketplace, true where they are enabled."""

HOOKS_OFF = "disableAllHooks"
"""Key of Claude Code's settings: true where no hook runs."""


def install_changes(client: Client, launch: Launch) -> list[Change]:
    """Return the changes that connect a client; none where everything is there already, or a plugin brings it.

    Raises:
        ConfigurationError: A file cannot be read, or does not have the form that the client expects.
    """
    if has_plugin(client):
        return []
    earlier = _launched(client)
    changes = [_installed(file, edit, client, launch, earlier) for file, edit in _edits(client)]
    changes += [
        Change(file, before, text, keeps_backup=True)
        for file, text in _skill_files(client)
        if (before := read(file)) is None or NAME in before
    ]
    return [change for change in changes if change.after != change.before]


def uninstall_changes(client: Client) -> list[Change]:
    """Return the changes that take back what `install_changes` did; errors as there.

    A file that is otherwise as it was gets its former bytes back; from one that was edited since, our entries are
    taken out.
    """
    launch = _launched(client)
    changes = [_uninstalled(file, edit, client, launch) for file, edit in _edits(client)]
    changes += [Change(file, text, None) for file, text in _skill_files(client) if read(file) == text]
    return [change for change in changes if change.after != change.before]


def apply_all(changes: list[Change]) -> None:
    """Apply changes, and remove the folders of skills, and those around them, that are empty then; errors as above."""
    for change in changes:
        apply(change)
        if change.after is None and change.file.parent.parent.name == SKILLS:
            around = change.file.parents[:SKILL_FOLDERS]
            for folder in takewhile(lambda folder: not any(folder.iterdir()), around):
                folder.rmdir()


def configured(client: Client) -> object:
    """Return our entry in a client's configuration; None without one; errors as in `install_changes`."""
    with naming(client.file):
        return _entry(read(client.file) or "", client)


def hook_call(client: Client) -> HookLaunch | None:
    """Return how a hook of ours starts this program; None without one; errors as above."""
    own = next((one for event in client.hook_events for one in _own(_setting(client, "hooks", event))), None)
    if client.hooks is None or own is None:
        return None
    with naming(client.hooks.path()):
        return read_hook(own)


def hooks_off(client: Client) -> bool:
    """Tell whether a client's settings switch all hooks off; errors as in `install_changes`."""
    return _setting(client, HOOKS_OFF) is True


def captures(client: Client) -> bool:
    """Tell whether a client's hooks capture what a session said; errors as in `install_changes`."""
    return any(CAPTURE in repr(one) for one in _own(_setting(client, "hooks", "SessionEnd")))


def former_options(client: Client) -> list[str]:
    """Return the options by which our entry starts the server, or else our hooks start; none without; errors as above.

    References to variables are replaced, since hooks don't know all of them. A hook that can't be read says nothing.
    """
    if (words := read_entry(configured(client))) is not None:
        launch = parse_launch(words)
        options = launch.options if launch else ()
        return [expanded(word) for word in options] if client.expands_variables else [*options]
    with suppress(ConfigurationError):
        return hook.options if (hook := hook_call(client)) else []
    return []


def has_plugin(client: Client) -> bool:
    """Tell whether the client runs this repository's plugin, which brings hooks and skills; errors as above."""
    enabled = _setting(client, PLUGIN_SETTING)
    return isinstance(enabled, dict) and any(
        name.partition("@")[0] == NAME and value is True for name, value in enabled.items()
    )


def _setting(client: Client, *path: str) -> object:
    """Return a value in the file of a client's hooks; None without one."""
    if client.hooks is None:
        return None
    file = client.hooks.path()
    with naming(file):
        text = read(file) or ""
        jsonc.refuse_comments(text)
        return jsonc.find(text, path)


def kept_skills(client: Client) -> list[Path]:
    """Return files of a person's own skills that have the name of one of ours, and are left alone."""
    return [file for file, _ in _skill_files(client) if (text := read(file)) is not None and NAME not in text]


def _launched(client: Client) -> Launch | None:
    """Return the launch that a client's entry was made from; None without one, or if somebody wrote it otherwise."""
    words = read_entry(configured(client))
    launch = parse_launch(words) if words else None
    return launch and launch._replace(captures=captures(client))


def _edits(client: Client) -> Iterator[tuple[Path, Edit]]:
    yield client.file, _edit_entry
    if client.hooks:
        yield client.hooks.path(), _edit_hooks


def _installed(file: Path, edit: Edit, client: Client, launch: Launch, earlier: Launch | None) -> Change:
    """Return the change that adds entries to a file, which may hold those of an earlier launch.

    The backup is of a file without any, or else, where there is none, of entries that a person may have written.
    """
    before = read(file)
    with naming(file):
        after = edit(before or "", client, launch)
        if before is None:
            return Change(file, None, after)
        is_fresh = edit(before, client, None) == before
        is_ours = earlier is not None and edit("", client, earlier) == before
    return Change(file, before, after, keeps_backup=is_fresh or not (is_ours or backup_of(file).exists()))


def _uninstalled(file: Path, edit: Edit, client: Client, launch: Launch | None) -> Change:
    before = read(file)
    if before is None:
        return Change(file, None, None)
    with naming(file):
        taken = edit(before, client, None)
        if taken == before or launch is None:
            return Change(file, before, taken)
        former = read(backup_of(file))
        if former is not None and edit(former, client, None) != former:
            former = taken  # it holds entries that a person wrote: the backup stays
        is_untouched = edit(former or "", client, launch) == before
    return Change(file, before, former if is_untouched else taken)


def _entry(text: str, client: Client) -> object:
    path = (*_servers(text, client), NAME)
    return (toml if client.format is Format.TOML else jsonc).find(text, path)


def _edit_entry(text: str, client: Client, launch: Launch | None) -> str:
    """Set or remove our entry; what else stands in one that is set, such as variables for the server, stays."""
    language = toml if client.format is Format.TOML else jsonc
    servers = _servers(text, client)
    if launch is None:
        return language.remove(text, servers, NAME)
    path, entry = (*servers, NAME), launch.entry(client.shape)
    if read_entry(_entry(text, client)) is None:
        return language.set_member(text, path, entry)
    for name, value in entry.items():
        if name != "enabled":
            text = language.set_member(text, (*path, name), value)
    return text


def _servers(text: str, client: Client) -> tuple[str, ...]:
    """Return the keys that lead to the servers in a text that the client can read; opencode 2 may have one more."""
    if client.format is Format.JSON:
        jsonc.refuse_comments(text)
    if client.title == "opencode":
        servers = jsonc.find(text, (*client.servers, "servers"))
        if isinstance(servers, dict) and "type" not in servers:
            return (*client.servers, "servers")
    return client.servers


def _edit_hooks(text: str, client: Client, launch: Launch | None) -> str:
    jsonc.refuse_comments(text)
    if launch is None:
        return _without_hooks(text, client)
    command, detached = shlex.join(launch.command), client.runs_detached
    capturing = {"SessionEnd": (CAPTURE,)} if launch.captures else {}
    wanted = {
        event: group(event, command, (*launch.options, *capturing.get(event, ())), detached=detached)
        for event in client.hook_events
    }
    if all(_own(jsonc.find(text, ("hooks", event))) == [one] for event, one in wanted.items()):
        return text
    text = _without_hooks(text, client)
    for event, one in wanted.items():
        text = jsonc.append(text, ("hooks", event), one)
    return text


def _without_hooks(text: str, client: Client) -> str:
    given = text
    for event in client.hook_events:
        groups = jsonc.find(text, ("hooks", event))
        if not isinstance(groups, list):
            continue
        if groups and len(_own(groups)) == len(groups):  # `install` added the event
            text = jsonc.remove(text, ("hooks",), event)
            continue
        for index in reversed(range(len(groups))):
            if is_own(groups[index]):
                text = jsonc.remove(text, ("hooks", event), index)
    if text != given and jsonc.find(text, ("hooks",)) == {}:
        return jsonc.remove(text, (), "hooks")
    return text


def _own(groups: object) -> list[object]:
    return [one for one in groups if is_own(one)] if isinstance(groups, list) else []


def _skill_files(client: Client) -> Iterator[tuple[Path, str]]:
    if client.skills is None:
        return
    target = client.skills.path()
    for folder in sorted((resources.files("actors.clients") / "skills").iterdir(), key=lambda one: one.name):
        if folder.is_dir():
            yield target / folder.name / "SKILL.md", (folder / "SKILL.md").read_text(encoding="utf-8")
