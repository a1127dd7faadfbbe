"""What `--help` shows: commands in groups, each with its whole sentence, and placeholders for values."""

from typing import Any

from typer.core import TyperGroup

PLACEHOLDERS = {
    **dict.fromkeys(("<str>", "<list[str]>"), "TEXT"),
    **dict.fromkeys(("<int>", "<int range>", "<float>"), "NUMBER"),
    **dict.fromkeys(("<Path>", "<path>"), "PATH"),
}
"""What `--help` shows of an option's value, instead of its type in Python."""


class Group(TyperGroup):
    """Commands, in the groups of `Panel`, each with its whole sentence."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command whose help names no type of Python; the name of an argument says what it is."""
        command: Any = super().get_command(ctx, cmd_name)
        for one in getattr(command, "params", ()):
            typed = one.display_type(ctx)
            is_named = one.param_type_name == "argument" and "|" not in typed
            shown = "" if is_named else PLACEHOLDERS.get(typed, typed)
            one.display_type = lambda _context, shown=shown: shown
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups of commands into `--help`."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                sentence = " ".join((command.help or "").partition("\n\n")[0].split())
                panels.setdefault(command.rich_help_panel, []).append((name, sentence))
        for panel, commands in panels.items():
            with formatter.section(panel):
                formatter.write_dl(commands)
