"""Packing of projections leaves no work for the garbage collector."""

import gc

from projections.registry import PROJECTION_SETS
from projections.storage.snapshot import pack


def test_packing_leaves_no_reference_cycle() -> None:
    for kind in PROJECTION_SETS:
        folds = kind()
        pack(folds)
        gc.collect()
        pack(folds)
        assert gc.collect() == 0, kind.__name__
