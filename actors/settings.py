"""What a person may set, apart from what reads it: the command line shows its help without loading anything else."""

from enum import StrEnum


class ProfileName(StrEnum):
    """Which models fill the thirteen spaces."""

    EMBEDDED = "embedded"
    FULL = "full"
