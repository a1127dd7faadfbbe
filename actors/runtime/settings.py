"""What a person may set, apart from what reads it: the command line shows its help without loading anything else."""

import errno
import os
from enum import StrEnum
from pathlib import Path


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


class Strategy(StrEnum):
    """How thirteen scores become one. In the formulas, μ and σ are the mean and deviation of the scores s of one pair.

    Every strategy gives 1 for identical memories, and all but Euclidean a value between the lowest and highest score.
    """

    GRADED = "graded"
    """Σ wᵢ sᵢ with weights learned from pairs that people graded by what they say, so that time weighs nothing
    (`calibration.json`); μ where other models fill the spaces than those that were graded."""
    COSINE = "cosine"
    """μ: every space counts the same."""
    EUCLIDEAN = "euclidean"
    """1 / (1 + √mean((1 − s)²)): one bad space costs more than many small losses; .5 if all scores are 0."""
    SYNERGY_WEIGHTED = "synergy_weighted"
    """Σ wᵢ sᵢ / Σ wᵢ with wᵢ = Σ_{j≠i} Sᵢⱼ, S the synergy matrix: spaces that many others support count more."""
    GROUP_HIERARCHICAL = "group_hierarchical"
    """The mean of the means of the groups of spaces: the three temporal spaces together count as much as E6 alone."""
    CROSS_CORRELATION_DOMINANT = "cross_correlation_dominant"
    """Σ_{i<j} √(sᵢ sⱼ) Sᵢⱼ / Σ_{i<j} Sᵢⱼ: pairs of spaces count, and a pair is high only if both of its spaces are."""
    TUCKER_COMPRESSED = "tucker_compressed"
    """Σ wᵢ sᵢ / Σ wᵢ with wᵢ = max(.1, 1 − min(|sᵢ − μ| / 2σ, 1)): outliers count less; μ where σ = 0."""
    ADAPTIVE = "adaptive"
    """By σ / μ: below .1 Cosine, below .3 SynergyWeighted, else TuckerCompressed; 0 if all scores are 0."""


class PathKind(StrEnum):
    """Along which edges a path may lead."""

    CAUSAL = "causal"
    """From causes to their effects alone."""
    SEMANTIC = "semantic"
    """Along links that agents drew and those within a goal, either way."""
    ANY = "any"
    """Along all of these and the turns of a session, either way."""


class SleepMode(StrEnum):
    """How deep a sleep is (seed 003)."""

    LIGHT = "light"
    """Merges duplicates, and prunes what matters too little."""
    DEEP = "deep"
    """Merges near duplicates too, and links what belongs together."""
    REM = "rem"
    """Looks for patterns and drift besides."""


def passphrase() -> str | None:
    """Return what opens the keys of the store, as the environment says: itself, or the file that it stands in.

    Raises:
        OSError: that file can't be read.
    """
    if spoken := os.environ.get("CONTEXT_GRAPH_PASSPHRASE"):
        return spoken
    if file := os.environ.get("CONTEXT_GRAPH_PASSPHRASE_FILE"):
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise OSError(errno.EILSEQ, "no text in UTF-8", file) from error
    return None
