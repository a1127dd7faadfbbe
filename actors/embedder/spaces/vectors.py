"""What is done to the vectors of many texts at once."""

from collections.abc import Sequence

import numpy as np

from events.fingerprint import Float32


def means(matrices: Sequence[Float32]) -> Float32:
    """Return the mean of the rows of each matrix, shape (matrices, columns); none may be empty."""
    counts = np.array(list(map(len, matrices)), np.float32)
    sums: Float32 = np.stack(list(map(np.add.reduce, matrices)))
    return sums / counts[:, np.newaxis]


def unit(vectors: Float32) -> Float32:
    """Return the same directions, shape (..., dimension), at length 1."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
