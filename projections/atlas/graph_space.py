"""E8 of the atlas: what each memory is connected with, computed again for those that a later event connects."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from events import vocabulary as ev
from events.quantization import Levels, directions, levels
from events.spaces import E1, E8
from events.storage.log import Envelope
from events.vocabulary.values import Step
from projections.atlas.facets import Facets
from projections.graph.clusters import Clusters
from projections.graph.connections import DECAY, REACH, Arc, Connections, MergedRows, Strength
from projections.graph.relations import drawn_links
from projections.memories.lifecycle import Lifecycle, StateChange
from projections.projection import MemoryState
from projections.spaces.dense import DenseSpace
from projections.spaces.windowed import WindowedSpace
from projections.storage.arrays import Rows

_CHUNK: Final = 512
HUB_SHARE: Final = np.float32(0.25)
"""Weight of the hub of a cluster in E8 of a member with centrality 1, where all else weighs 1."""


class E8Inputs(NamedTuple):
    """What E8 is computed from, and where it is put."""

    ids: Sequence[UUID]
    rows: dict[UUID, int]
    facets: Facets
    semantic: WindowedSpace
    clusters: Clusters
    lifecycle: Lifecycle
    space: DenseSpace

    @property
    def merged(self) -> MergedRows:
        """The merge sets by row."""
        return MergedRows(self.ids, self.rows, self.lifecycle)


def follows_connections(declared: ev.SpacesDeclared) -> bool:
    """Tell whether E8 of a store is made of other memories' E1; in profile `full` it is a text's own, by its model."""
    models = {model.key: model for model in declared.spaces}
    e8 = models[E8]
    return e8.dimension == models[E1].dimension and not e8.model.endswith("linked/1")


class ConnectedContext:
    """Follows the connections of rows; their E8 is computed when it is read, or a memory is erased.

    E8 is the direction of the sum of E1 of these, as weighted by `Connections`; a quarter of it at most is the hub of
    the memory's cluster. The memory's own E1 is no part of it. Merged memories have one E8, of what any of them is
    connected with; to others they are their survivor.
    """

    def __init__(self) -> None:
        self._connections = Connections()

    def before(self, envelope: Envelope, inputs: E8Inputs) -> None:
        """Note which turns an event is about to separate from others."""
        match envelope.event:
            case ev.MemoryErased(memory=memory):
                self._touch_turns(inputs, [inputs.rows[memory]])
            case ev.MemoriesMoved(memories=memories):
                self._touch_turns(inputs, [inputs.rows[memory] for memory in memories])
            case _:
                pass

    def after(
        self, envelope: Envelope, inputs: E8Inputs, clustered: Sequence[UUID], changes: Sequence[StateChange]
    ) -> None:
        """Fold an event that the rest of the atlas has applied."""
        connections, rows, merged = self._connections, inputs.rows, inputs.merged
        connections.stale.update(rows[memory] for memory in clustered)
        self._regroup(inputs, [change for change in changes if MemoryState.MERGED in {change.before, change.after}])
        match envelope.event:
            case ev.MemoryStored() as stored:
                inputs.space.clear(rows[envelope.id])  # earlier versions stored what a memory was connected with then
                connections.mention(rows[envelope.id], stored.namespace, stored.names, merged)
                if stored.session is not None:
                    self._touch_turns(inputs, [rows[envelope.id]])
            case ev.LinksStrengthened(links=links, run=run):
                for link in links:
                    if arc := _arc(inputs, link.step):
                        connections.strengthen(arc, Strength(link.weight, link.confidence), run, merged)
            case ev.ConsolidationUndone(run=run, memories=()):
                connections.undo(run, merged)
            case ev.MemoriesMoved(memories=memories, target=target):
                for memory in memories:
                    connections.move(rows[memory], target, merged)
                self._touch_turns(inputs, [rows[memory] for memory in memories])
            case ev.MemoryErased(memory=memory):
                connections.erase(rows[memory], merged)
                self.refresh(inputs)  # no vector may hold what was erased
            case event:
                for link, run in drawn_links(event):
                    if arc := _arc(inputs, link.step):
                        connections.link(arc, link.weight, run, merged)

    def refresh(self, inputs: E8Inputs) -> None:
        """Compute E8 of the rows that changed, and of those that are merged with them."""
        if not self._connections.stale:
            return
        stale = np.array(sorted(inputs.merged.expanded(self._connections.stale)), np.int64)
        self._connections.stale.clear()
        stale = stale[~inputs.facets.is_erased(stale)]
        for start in range(0, len(stale), _CHUNK):
            rows = stale[start : start + _CHUNK]
            inputs.space.replace(rows, self._vectors(inputs, rows))

    def digest(self) -> bytes:
        """Return the SHA-256 of the connections."""
        return self._connections.digest()

    def _regroup(self, inputs: E8Inputs, changes: Sequence[StateChange]) -> None:
        """Note what is connected with memories that were merged, or are no longer."""
        for change in changes:
            for memory in filter(None, (change.memory, change.previous_survivor)):
                self._connections.touch(inputs.rows[memory], inputs.merged, len(changes))
                self._touch_turns(inputs, [inputs.rows[memory]])

    def _touch_turns(self, inputs: E8Inputs, rows: list[int]) -> None:
        """Note rows, those merged with them, and the turns around all of these."""
        grouped = sorted(inputs.merged.expanded(rows))
        around, _ = inputs.facets.around(np.array(grouped, np.int64), REACH)
        self._connections.stale.update(grouped, around[around >= 0].tolist())

    def _vectors(self, inputs: E8Inputs, rows: Rows) -> Levels:
        """Return E8 of these rows, shape (rows, dimension); zeros for one without connections."""
        owners, others, weights = self._contributions(inputs, rows)
        total = np.zeros((len(rows), inputs.space.dimension), np.float64)
        if len(owners):
            order = np.lexsort((others, owners))  # the same sum, in whatever order the connections came
            vectors = directions(inputs.semantic.wholes(others[order])) * weights[order, None].astype(np.float32)
            present, starts = np.unique(owners[order], return_index=True)
            total[present] = np.add.reduceat(vectors, starts, axis=0, dtype=np.float64)
            total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-6)
        if hubs := _hubs(inputs, rows.tolist()):
            members, middles, centralities = map(np.array, zip(*hubs, strict=True))
            total[members] += HUB_SHARE * centralities[:, None] * directions(inputs.semantic.wholes(middles))
        return levels(total)

    def _contributions(self, inputs: E8Inputs, rows: Rows) -> tuple[Rows, Rows, npt.NDArray[np.float64]]:
        """Return which of these rows is connected with which row, and the weights, each of shape (connections,)."""
        merged = inputs.merged
        found = [(owner, other, weight, True) for (owner, other), weight in _beside(inputs, rows).items()]
        for owner, row in enumerate(rows.tolist()):
            found += ((owner, one.row, one.weight, one.anywhere) for one in self._connections.weights(row, merged))
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        owner, other, weight, anywhere = map(np.array, zip(*found, strict=True))
        here, there = (inputs.facets.codes("namespace", one)[0] for one in (rows[owner], other))
        kept = ~inputs.facets.is_erased(other) & (anywhere | (there == here))
        return owner[kept], other[kept], weight[kept]


def _beside(inputs: E8Inputs, rows: Rows) -> dict[tuple[int, int], float]:
    """Return the weights of turns around these rows, by the place in `rows` and the turn's row."""
    merged = inputs.merged
    members = [(place, member) for place, row in enumerate(rows.tolist()) for member in merged.members(row)]
    turns, distances = inputs.facets.around(np.array([member for _, member in members], np.int64), REACH)
    found: dict[tuple[int, int], float] = {}
    for number, column in np.argwhere(turns >= 0).tolist():
        place, member = members[number]
        other, weight = merged.root(turns.item(number, column)), DECAY ** distances.item(number, column)
        if other != merged.root(member):
            found[place, other] = max(weight, found.get((place, other), 0.0))
    return found


def _arc(inputs: E8Inputs, step: Step) -> Arc | None:
    """Return an edge by rows; None if an import named memories that were never stored here."""
    both = step.source in inputs.rows and step.target in inputs.rows
    return (inputs.rows[step.source], inputs.rows[step.target], step.relation) if both else None


class _Hub(NamedTuple):
    """The hub of a cluster, for one of its members."""

    member: int
    """Place of the member's row."""
    row: int
    centrality: float
    """Of the member."""


def _hubs(inputs: E8Inputs, rows: list[int]) -> list[_Hub]:
    """Return the hubs of the clusters of these rows.

    A hub that is merged with the member counts as the member itself.
    """
    merged = inputs.merged
    spokes = ((place, inputs.clusters.spoke(inputs.ids[row])) for place, row in enumerate(rows))
    found = [_Hub(place, inputs.rows[spoke.target], spoke.centrality) for place, spoke in spokes if spoke is not None]
    gone = inputs.facets.is_erased(np.array([hub.row for hub in found], np.int64))
    return [
        hub
        for hub, erased in zip(found, gone, strict=True)
        if not erased and merged.root(hub.row) != merged.root(rows[hub.member])
    ]
