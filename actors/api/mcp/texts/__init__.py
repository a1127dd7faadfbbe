"""Texts for agents, as they are sent: the server's instructions, and a prompt in each other file."""

from importlib.resources import files


def read(name: str) -> str:
    """Return a text by its name."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


INSTRUCTIONS = read("instructions")
