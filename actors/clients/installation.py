"""What `install` and `uninstall` change: all changes are computed before the first file is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

from actors.clients import jsonc, toml
from actors.clients.files import Change, ConfigurationError, apply, backup_of, read
from actors.clients.launch import (
    CAPTURE,
    HookCall,
    Launch,
    group,
    is_own,
    parse_launch,
    read_entry,
    read_hook,
    shell_command,
)
from actors.clients.table import NAME, Client, Format

T = TypeVar("T")

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
    changes = [_installed(client.file, ENTRY, client, launch)]
    if client.hooks:
        changes.append(_installed(client.hooks.path(), HOOKS, client, launch))
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
    changes = [_uninstalled(client.file, ENTRY, client, launch)]
    if client.hooks:
        changes.append(_uninstalled(client.hooks.path(), HOOKS, client, launch))
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
    return _edited(client.file, _entry, read(client.file) or "", client)


def hook_call(client: Client) -> HookCall | None:
    """Return how a hook of ours starts this program; None without one; errors as above."""
    own = next((one for event in client.hook_events for one in _own(_setting(client, "hooks", event))), None)
    return _edited(client.hooks.path(), read_hook, own) if client.hooks and own else None


def hooks_off(client: Client) -> bool:
    """Tell whether a client's settings switch all hooks off; errors as in `install_changes`."""
    return _setting(client, HOOKS_OFF) is True


def captures(client: Client) -> bool:
    """Tell whether a client's hooks capture what a session said; errors as in `install_changes`."""
    return any(CAPTURE in repr(one) for one in _own(_setting(client, "hooks", "SessionEnd")))


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
    return _edited(file, partial(jsonc.find, comments=False), read(file) or "", path)


def kept_skills(client: Client) -> list[Path]:
    """Return files of a person's own skills that have the name of one of ours, and are left alone."""
    return [file for file, _ in _skill_files(client) if (text := read(file)) is not None and NAME not in text]


def _launched(client: Client) -> Launch | None:
    """Return the launch that a client's entry was made from; None without one, or if somebody wrote it otherwise."""
    words = read_entry(configured(client))
    launch = parse_launch(words) if words else None
    return launch and launch._replace(captures=captures(client))


def _installed(file: Path, edit: Edit, client: Client, launch: Launch) -> Change:
    """Return the change that adds entries to a file.

    The backup is of a file without any, or else, where there is none, of entries that a person may have written.
    """
    before = read(file)
    after = _edited(file, edit.put, before or "", client, launch)
    if before is None:
        return Change(file, before, after)
    earlier = _launched(client)
    is_fresh = _edited(file, edit.take, before, client) == before
    is_ours = earlier is not None and _edited(file, edit.put, "", client, earlier) == before
    return Change(file, before, after, keeps_backup=is_fresh or not (is_ours or backup_of(file).exists()))


def _uninstalled(file: Path, edit: Edit, client: Client, launch: Launch | None) -> Change:
    before = read(file)
    if before is None:
        return Change(file, None, None)
    taken = _edited(file, edit.take, before, client)
    if taken == before or launch is None:
        return Change(file, before, taken)
    former = read(backup_of(file))
    if former is not None and _edited(file, edit.take, former, client) != former:
        former = taken  # it holds entries that a person wrote: the backup stays
    is_untouched = _edited(file, edit.put, former or "", client, launch) == before
    return Change(file, before, former if is_untouched else taken)


def _edited(file: Path, edit: Callable[..., T], *arguments: object) -> T:
    try:
        return edit(*arguments)
    except ConfigurationError as error:
        raise error.of(file) from None


def _entry(text: str, client: Client) -> object:
    path = (*_servers(client, text), NAME)
    if client.format is Format.TOML:
        return toml.find(text, path)
    return jsonc.find(text, path, comments=client.format is Format.JSONC)


def _with_entry(text: str, client: Client, launch: Launch) -> str:
    """Set our entry; what else stands in one that is there, such as variables for the server, stays."""
    path = (*_servers(client, text), NAME)
    entry = launch.entry(client.shape)
    changes: list[tuple[tuple[str, ...], object]] = [(path, entry)]
    if read_entry(_entry(text, client)) is not None:
        changes = [((*path, name), value) for name, value in entry.items() if name != "enabled"]
    for place, value in changes:
        if client.format is Format.TOML:
            text = toml.set_member(text, place, value)
        else:
            text = jsonc.set_member(text, place, value, comments=client.format is Format.JSONC)
    return text


def _without_entry(text: str, client: Client) -> str:
    path = _servers(client, text)
    if client.format is Format.TOML:
        return toml.remove(text, path, NAME)
    return jsonc.remove(text, path, NAME, comments=client.format is Format.JSONC)


def _servers(client: Client, text: str) -> tuple[str, ...]:
    """Return the keys that lead to the servers; opencode 2 may have one more than version 1."""
    if client.title == "opencode":
        servers = jsonc.find(text, (*client.servers, "servers"))
        if isinstance(servers, dict) and "type" not in servers:
            return (*client.servers, "servers")
    return client.servers


def _with_hooks(text: str, client: Client, launch: Launch) -> str:
    """Replace our hooks; they stay as they are if they are current."""
    command, detached = shell_command(launch.command), client.runs_detached
    capturing = {"SessionEnd": (CAPTURE,)} if launch.captures else {}
    wanted = {
        event: group(event, command, (*launch.options, *capturing.get(event, ())), detached=detached)
        for event in client.hook_events
    }
    if all(_own(jsonc.find(text, ("hooks", event), comments=False)) == [one] for event, one in wanted.items()):
        return text
    text = _without_hooks(text, client)
    for event, one in wanted.items():
        text = jsonc.append(text, ("hooks", event), one, comments=False)
    return text


def _without_hooks(text: str, client: Client) -> str:
    given = text
    for event in client.hook_events:
        groups = jsonc.find(text, ("hooks", event), comments=False)
        if not isinstance(groups, list):
            continue
        if groups and len(_own(groups)) == len(groups):  # `install` added the event
            text = jsonc.remove(text, ("hooks",), event, comments=False)
            continue
        for index in reversed(range(len(groups))):
            if is_own(groups[index]):
                text = jsonc.remove(text, ("hooks", event), index, comments=False)
    if text != given and jsonc.find(text, ("hooks",), comments=False) == {}:
        return jsonc.remove(text, (), "hooks", comments=False)
    return text


def _own(groups: object) -> list[object]:
    return [one for one in groups if is_own(one)] if isinstance(groups, list) else []


class Edit(NamedTuple):
    """The two directions of a change to a configuration's text."""

    put: Callable[[str, Client, Launch], str]
    take: Callable[[str, Client], str]


ENTRY = Edit(_with_entry, _without_entry)
HOOKS = Edit(_with_hooks, _without_hooks)


def _skill_files(client: Client) -> Iterator[tuple[Path, str]]:
    """Yield the place and text of each skill."""
    if client.skills is None:
        return
    target = client.skills.path()
    for folder in sorted((resources.files("actors.clients") / "skills").iterdir(), key=lambda one: one.name):
        if folder.is_dir():
            yield target / folder.name / "SKILL.md", (folder / "SKILL.md").read_text(encoding="utf-8")
