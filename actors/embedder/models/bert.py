"""The forward pass of a BERT encoder (Devlin et al. 2019) as an OpenVINO graph, built from the checkpoint's tensors.

Rows of different lengths are not padded in the linear layers, which take all tokens of a batch as one matrix. Only
attention pads, to the longest row of its pass: rows of very different lengths run in passes of their own. The states of
a row do not depend on the other rows of its batch. The GIL is released for a whole pass.
"""

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from actors.embedder.models.graph_cache import load_or_build, machine, release_pages
from actors.embedder.spaces.vectors import TokenIds
from actors.embedder.weights import StoredRows
from events.quantization import Float32

# OpenVINO imports its conversion tools along, which report every import to a server of their maker and take 0.12 s.
# They are optional: OpenVINO goes on without them if they can't be imported.
_TOOLS: Final = "openvino.tools.ovc"
_blocked = _TOOLS not in sys.modules
if _blocked:
    sys.modules[_TOOLS] = None  # pyright: ignore[reportArgumentType] -- the import system's mark of a blocked module
import openvino as ov  # noqa: E402 -- see above
from openvino import opset15 as op  # noqa: E402

if _blocked:
    del sys.modules[_TOOLS]

TYPES: Final = {"float32": "f32", "bfloat16": "bf16"}
"""OpenVINO's name of each precision."""

GRAPH: Final = "1"
"""Version of `_graph`: a change of it needs a new one, since compiled graphs are kept."""

SEGMENT: Final = "embeddings.token_type_embeddings.weight"
MASKED: Final = np.float32(-1e9)
"""Added to the attention scores of padding."""

MAX_WASTE: Final = 18_000
"""Squared lengths of padding that a pass may hold: attention over more costs more than another pass, 1.2 ms."""

FEW: Final = 56
"""Tokens up to which sizes are multiples of 8: to the next multiple of 16 it can be a quarter of a pass more."""

TYPICAL: Final = 28
"""Tokens of the first pass, a short memory's. It rearranges the weights, for a single token in a way of its own."""

Node = Any
"""A node of the graph; OpenVINO's operations are created at run time and have no types."""


def supported_precisions() -> list[str]:
    """Return the precisions in which this processor computes."""
    capabilities = ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return ["float32", *(["bfloat16"] if "BF16" in capabilities else [])]


class Bert:
    """An encoder with the weights of a BERT checkpoint (`ValueError`: the processor can't compute in this precision).

    Args:
        weights: The checkpoint's tensors in float32 by their names in `transformers`.
        pieces: Its input embeddings, one row for each token id.
        precision: `float32` or `bfloat16`, the number format of products.
        threads: Threads of one pass.
    """

    def __init__(
        self,
        weights: Mapping[str, Float32],
        pieces: StoredRows,
        sha256: str,
        heads: int,
        precision: str,
        threads: int,
    ) -> None:
        if precision not in supported_precisions():
            raise ValueError(f"this processor has no {precision}; use float32 or auto")
        # All text is in the first of BERT's two segments: add the segment embedding to the positions once.
        self._positions = weights["embeddings.position_embeddings.weight"] + weights[SEGMENT][0]
        self._pieces = pieces
        self.longest = len(self._positions)
        self.precision = precision
        settings = {
            "INFERENCE_PRECISION_HINT": TYPES[precision],
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,  # several processes of one machine would choose the same core
        }
        core = ov.Core()

        def compile_graph() -> bytes:
            return core.compile_model(_graph(weights, heads), "CPU", settings).export_model().getvalue()

        def import_graph(blob: memoryview) -> tuple[memoryview, ov.CompiledModel]:
            tensor = ov.Tensor(np.frombuffer(blob, np.uint8), shared_memory=True)
            return blob, core.import_model(tensor, "CPU", settings)

        identity = f"{sha256}, graph {GRAPH}, {settings}, {machine()}"
        blob, compiled = load_or_build(f"encoder-{precision}.blob", identity, compile_graph, import_graph)
        self._request = compiled.create_infer_request()
        self._turn = threading.Lock()  # the next pass overwrites the output of this one, also that of another thread
        self._blob = blob  # its weights are read whenever a pass of a new size arranges them anew
        self([[0] * TYPICAL])
        release_pages(blob)

    def embeddings(self, ids: TokenIds) -> Float32:
        """Return the input embeddings of token ids, shape (tokens, hidden)."""
        return self._pieces.take(ids)

    def __call__(self, rows: Sequence[Sequence[int] | TokenIds]) -> list[Float32]:
        """Return the last layer's states of each row of token ids, shape (tokens, hidden)."""
        states: list[Float32] = [np.empty(0, np.float32)] * len(rows)
        for group in _passes([len(row) for row in rows]):
            for place, own in zip(group, self._run([rows[place] for place in group]), strict=True):
                states[place] = own
        return states

    def _run(self, rows: Sequence[Sequence[int] | TokenIds]) -> list[Float32]:
        lengths = np.array([len(row) for row in rows])
        # A pass of another size than the one before takes longer, .3 to .7 ms for some 20 words, and the first of each
        # size keeps .2 MB. This size decides how sums of attention are rounded.
        steps = np.arange(_padded(int(lengths.max()), 8))
        real = steps < lengths[:, np.newaxis]  # shape (rows, longest), false for padding
        ends = np.cumsum(lengths)
        tokens = int(ends[-1])
        # Each number of rows keeps .6 MB in the linear layers. Of many, a multiple of 16 takes no longer than fewer.
        size = _padded(tokens, 8 if tokens <= FEW else 16)
        inputs = np.zeros((size, self._positions.shape[1]), np.float32)
        np.add(
            self._pieces.take(np.concatenate(rows)),
            self._positions[np.broadcast_to(steps, real.shape)[real]],
            out=inputs[:tokens],
        )
        places = np.zeros(len(inputs), np.int64)
        places[:tokens] = np.flatnonzero(real)
        sources = np.where(real, (ends - lengths)[:, np.newaxis] + steps, 0)
        mask = np.where(real, np.float32(0), MASKED)[:, np.newaxis, np.newaxis]
        with self._turn:
            self._request.infer([inputs, sources, mask, places], share_inputs=True)
            states = self._request.get_output_tensor(0).data[:tokens].copy()
        return np.split(states, ends[:-1])


def _padded(size: int, least: int) -> int:
    """Return a multiple of `least` with four significant bits, at least `size`: few sizes, since each keeps memory."""
    step = max(least, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step


def _passes(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the rows of each pass, so that none holds more than `MAX_WASTE`."""
    group: list[int] = []
    waste = 0
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        waste += lengths[group[0]] ** 2 - lengths[row] ** 2 if group else 0
        if waste > MAX_WASTE:
            yield group
            group, waste = [], 0
        group.append(row)
    if group:
        yield group


def _graph(weights: Mapping[str, Float32], heads: int) -> ov.Model:
    """Return the encoder's graph.

    Its inputs are the summed input embeddings, shape (tokens, hidden); for each place of the padded rows the token in
    it, shape (rows, longest); the mask of the scores, shape (rows, 1, 1, longest); and the place of each token.
    """
    hidden = weights["embeddings.LayerNorm.weight"].size
    states, sources = op.parameter([-1, hidden], np.float32), op.parameter([-1, -1], np.int64)
    mask, places = op.parameter([-1, 1, 1, -1], np.float32), op.parameter([-1], np.int64)
    axis = _integers(0)

    def normed(x: Node, name: str) -> Node:
        x = op.mvn(x, _integers([-1]), normalize_variance=True, eps=1e-12, eps_mode="inside_sqrt")
        return op.add(op.multiply(x, _constant(weights[f"{name}.weight"])), _constant(weights[f"{name}.bias"]))

    def linear(x: Node, *names: str) -> Node:
        weight = np.concatenate([weights[f"{name}.weight"] for name in names])
        bias = np.concatenate([weights[f"{name}.bias"] for name in names])
        product = op.matmul(x, _constant(weight), transpose_a=False, transpose_b=True)
        return op.add(product, _constant(bias))

    def attention(projected: Node) -> Node:
        """Apply attention within each row; `projected` is query, key and value, shape (tokens, 3 * hidden)."""
        rows = op.gather(projected, sources, axis)
        split = op.reshape(rows, _integers([0, 0, 3, heads, hidden // heads]), special_zero=True)
        split = op.transpose(split, _integers([2, 0, 3, 1, 4]))
        query, key, value = (op.gather(split, _integers(index), axis) for index in range(3))
        mixed = op.transpose(op.scaled_dot_product_attention(query, key, value, mask), _integers([0, 2, 1, 3]))
        return op.gather(op.reshape(mixed, _integers([-1, hidden]), special_zero=False), places, axis)

    x = normed(states, "embeddings.LayerNorm")
    depth = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    for layer in (f"encoder.layer.{index}" for index in range(depth)):
        own = attention(linear(x, *(f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))))
        x = normed(op.add(x, linear(own, f"{layer}.attention.output.dense")), f"{layer}.attention.output.LayerNorm")
        wide = op.gelu(linear(x, f"{layer}.intermediate.dense"), "erf")
        x = normed(op.add(x, linear(wide, f"{layer}.output.dense")), f"{layer}.output.LayerNorm")
    inputs = [states, sources, mask, places]
    return ov.Model([op.result(x)], inputs, "bert")  # pyright: ignore[reportGeneralTypeIssues] -- wrong in its stubs


def _constant(values: npt.NDArray[np.float32]) -> Node:
    return op.constant(np.atleast_2d(values), shared_memory=True)


def _integers(values: int | list[int]) -> Node:
    return op.constant(np.array(values, np.int64))
