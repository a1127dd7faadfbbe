"""What a person may set, apart from what reads it: the command line shows its help without loading anything else."""

from enum import StrEnum


class ModelProfile(StrEnum):
    """Which models fill the thirteen spaces."""

    EMBEDDED = "embedded"
    """Those that come with the installation: offline from the first minute."""
    FULL = "full"
    """Those that the seeds name, from the hub or from local folders."""


class SearchProfile(StrEnum):
    """What a question is about, and so how the spaces are weighed."""

    AUTO = "auto"
    """Read off the wording of the question."""
    SEMANTIC_SEARCH = "semantic_search"
    CAUSAL_REASONING = "causal_reasoning"
    CODE_SEARCH = "code_search"
    TEMPORAL_NAVIGATION = "temporal_navigation"
    FACT_CHECKING = "fact_checking"
    BALANCED = "balanced"
