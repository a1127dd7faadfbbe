"""Values of settings that people choose, without heavy imports: the command line shows its help from them."""

import errno
import os
from enum import StrEnum
from pathlib import Path
from typing import Final


class LogLevel(StrEnum):
    """What `serve` and `hub` log."""

    DEBUG = "debug"
    """Also each message between actors, without content: receiver, type, correlation id, duration."""
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class ModelProfile(StrEnum):
    """Which models fill the thirteen spaces."""

    EMBEDDED = "embedded"
    """Those that come with the installation; works offline."""
    FULL = "full"
    """Larger ones, from the Hugging Face hub or from local folders."""


class SearchProfile(StrEnum):
    """The subject of a query, which determines the weights of the spaces."""

    AUTO = "auto"
    """The weights follow from what is measured among the candidates."""
    SEMANTIC_SEARCH = "semantic_search"
    CAUSAL_REASONING = "causal_reasoning"
    CODE_SEARCH = "code_search"
    TEMPORAL_NAVIGATION = "temporal_navigation"
    FACT_CHECKING = "fact_checking"
    BALANCED = "balanced"


class Confidence(StrEnum):
    """How sure a search is that what it found bears on the query; ascending."""

    NOTHING = "nothing"
    UNCERTAIN = "uncertain"
    CONFIDENT = "confident"


class Strategy(StrEnum):
    """How thirteen scores become one. μ and σ are the mean and standard deviation of the scores s of one pair.

    Every strategy gives 1 for identical memories, and all but Euclidean a value between the lowest and highest score.
    """

    GRADED = "graded"
    """Σ wᵢ sᵢ with weights learned from pairs that people graded by content, so time has no weight
    (`calibration.json`); μ with models for which no pairs were graded."""
    COSINE = "cosine"
    """μ: all spaces have equal weight."""
    EUCLIDEAN = "euclidean"
    """1 / (1 + √mean((1 − s)²)): one low score costs more than many small losses; .5 if all scores are 0."""
    SYNERGY_WEIGHTED = "synergy_weighted"
    """Σ wᵢ sᵢ / Σ wᵢ with wᵢ = Σ_{j≠i} Sᵢⱼ, S the synergy matrix: spaces in synergy with many others weigh more."""
    GROUP_HIERARCHICAL = "group_hierarchical"
    """The mean of the means of the groups of spaces: the three temporal spaces together count as much as E6 alone."""
    CROSS_CORRELATION_DOMINANT = "cross_correlation_dominant"
    """Σ_{i<j} √(sᵢ sⱼ) Sᵢⱼ / Σ_{i<j} Sᵢⱼ: weighs pairs of spaces; a pair is high only if both are."""
    TUCKER_COMPRESSED = "tucker_compressed"
    """Σ wᵢ sᵢ / Σ wᵢ with wᵢ = max(.1, 1 − min(|sᵢ − μ| / 2σ, 1)): outliers weigh less; μ where σ = 0."""
    ADAPTIVE = "adaptive"
    """By σ / μ: below .4 Cosine, below .45 SynergyWeighted, else TuckerCompressed; 0 if all scores are 0."""


class PathKind(StrEnum):
    """Which edges a path may follow."""

    CAUSAL = "causal"
    """Only from causes to effects."""
    SEMANTIC = "semantic"
    """Links drawn by agents and links within a goal, in either direction."""
    ANY = "any"
    """Causes, links drawn by agents and the turns of a session, in either direction: each of its steps is told, while
    members of a goal are only alike."""


class SleepMode(StrEnum):
    """How deep a sleep is."""

    LIGHT = "light"
    """Merges duplicates and prunes memories of low salience."""
    DEEP = "deep"
    """Also merges near duplicates and links related memories."""
    REM = "rem"
    """Also looks for patterns and drift."""


class MoveKind(StrEnum):
    """What is moved between namespaces."""

    RENAME = "rename"
    """All of a namespace, to one that is empty; its goals and clusters follow."""
    MERGE = "merge"
    """All of a namespace, to one that has memories."""
    MOVE = "move"
    """Chosen memories, or one session of a namespace."""


class ToolSet(StrEnum):
    """Which tools a client is shown; it can call all of them by name."""

    CORE = "core"
    """The ten that an agent needs."""
    ALL = "all"


_UNREADABLE = "the file that CONTEXT_GRAPH_PASSPHRASE_FILE names can't be read: {}"


def passphrase() -> str | None:
    """Return the passphrase of the store's keys from the environment, or from the file that it names (`OSError`)."""
    if text := os.environ.get("CONTEXT_GRAPH_PASSPHRASE"):
        return text
    if file := os.environ.get("CONTEXT_GRAPH_PASSPHRASE_FILE"):
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise OSError(errno.EILSEQ, _UNREADABLE.format("no text in UTF-8"), file) from error
        except OSError as error:
            raise OSError(error.errno, _UNREADABLE.format(error.strerror), file) from error
    return None


TOOL_TAG: Final = "capture"
"""Tag of the records of tool use that a hook stores."""
