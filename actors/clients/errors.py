"""The error of a configuration that cannot be read or changed."""


class ConfigurationError(Exception):
    """A configuration file cannot be read or changed; nothing was."""

    def __init__(self, problem: str, line: int | None = None, file: str = "") -> None:
        self.problem, self.line, self.file = problem, line, file
        where = f", line {line}" if line is not None else ""
        super().__init__(f"{file}{where}: {problem}" if file else problem)

    def of(self, file: object) -> "ConfigurationError":
        """Return the same error of a file."""
        return ConfigurationError(self.problem, self.line, str(file))


def line_of(text: str, position: int) -> int:
    """Return the line of a position, from 1."""
    return text.count("\n", 0, position) + 1
