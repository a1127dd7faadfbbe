"""Projections as bytes: nothing of that is left to the garbage collector."""

import gc

from projections.registry import PROJECTION_SETS
from projections.storage.snapshot import pack


def test_no_view_on_a_buffer_is_part_of_a_cycle_of_which_python_would_die() -> None:
    for kind in PROJECTION_SETS:
        folds = kind()
        pack(folds)
        gc.collect()
        pack(folds)
        assert gc.collect() == 0, kind.__name__
