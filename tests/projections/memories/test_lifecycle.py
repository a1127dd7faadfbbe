from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from events.vocabulary import Event
from projections.memories.lifecycle import Lifecycle, StateChange
from projections.projection import MemoryState
from tests.projections.history import folded, history
from tests.projections.sleeps import IDS, OF_A_LIFE, RUNS, erased, forgotten, log_of, merged, pruned, restored, undone

X, Y, S, T, *_ = IDS
FIRST, SECOND, *_ = RUNS


def presence_of(*events: Event) -> Lifecycle:
    return folded(Lifecycle(), history(*events))


def states(presence: Lifecycle, *memories: UUID) -> list[str]:
    return [presence.state(memory).value for memory in memories]


def test_live_is_the_default_and_is_not_stored():
    presence = presence_of(restored(X), undone(FIRST), merged(FIRST, S))
    assert (presence.state(X), presence.root(X), presence.absorbed(X)) == (MemoryState.LIVE, X, ())
    assert presence.digest() == Lifecycle().digest()


def test_only_live_memories_are_pruned_or_absorbed_and_absorbed_ones_are_not_forgotten():
    hidden = (forgotten(X), pruned(FIRST, Y), merged(FIRST, T, S))
    late = (pruned(SECOND, X, S), merged(SECOND, IDS[5], X, Y, S), forgotten(X), forgotten(S))
    presence = presence_of(*hidden, *late)
    assert states(presence, X, Y, S) == ["forgotten", "pruned", "merged"]
    assert presence.digest() == presence_of(*hidden).digest()


def test_forgotten_and_pruned_memories_are_restored_and_merged_ones_are_not():
    presence = presence_of(
        forgotten(X), pruned(FIRST, Y), merged(FIRST, T, S), *map(restored, (X, Y, S)), undone(FIRST, Y)
    )
    assert states(presence, X, Y, S) == ["live", "live", "merged"]
    assert presence.run_of(Y) is None


def test_an_absorbed_memory_resolves_to_its_last_survivor_over_any_number_of_runs():
    presence = presence_of(merged(FIRST, S, X, Y), merged(SECOND, T, S))
    assert [presence.root(memory) for memory in (X, Y, S, T)] == [T] * 4
    assert [presence.survivor(memory) for memory in (X, S, T)] == [S, T, None]
    assert presence.absorbed(T) == (S, X, Y)
    assert presence.absorbed(S) == (X, Y)
    assert [presence.run_of(memory) for memory in (X, S, T)] == [FIRST, SECOND, None]


def test_undoing_the_first_of_two_runs_frees_what_it_merged_and_nothing_else():
    presence = presence_of(merged(FIRST, S, X), merged(SECOND, T, S), undone(FIRST))
    assert states(presence, X, S) == ["live", "merged"]
    assert (presence.root(X), presence.absorbed(T)) == (X, (S,))


def test_a_run_is_undone_for_some_memories_by_their_ids_or_their_survivors():
    run = (merged(FIRST, S, X), merged(FIRST, T, Y), pruned(FIRST, IDS[4], IDS[5]))
    assert states(presence_of(*run, undone(FIRST, S)), X, Y, IDS[4]) == ["live", "merged", "pruned"]
    assert states(presence_of(*run, undone(FIRST, Y, IDS[5])), X, Y, *IDS[4:6]) == ["merged", "live", "pruned", "live"]
    assert states(presence_of(*run, undone(SECOND, S)), X) == ["merged"]


def test_nothing_absorbs_unless_it_is_live_nor_itself():
    assert states(presence_of(forgotten(S), merged(FIRST, S, X)), X) == ["live"]
    assert states(presence_of(erased(S), merged(FIRST, S, X)), X) == ["live"]
    assert presence_of(merged(FIRST, S, S)).digest() == Lifecycle().digest()


def test_a_forgotten_survivor_keeps_what_it_absorbed():
    presence = presence_of(merged(FIRST, S, X), forgotten(S))
    assert (presence.state(X), presence.root(X), presence.state(S)) == (MemoryState.MERGED, S, MemoryState.FORGOTTEN)
    assert presence_of(merged(FIRST, S, X), forgotten(S), restored(S)).absorbed(S) == (X,)


def test_undoing_a_merge_into_a_forgotten_survivor_frees_forgotten_memories():
    chain = (merged(FIRST, S, X, Y), merged(SECOND, T, S), forgotten(T))
    presence = presence_of(*chain, undone(FIRST, X))
    assert states(presence, X, Y, S, T) == ["forgotten", "merged", "merged", "forgotten"]
    assert (presence.root(X), presence.run_of(X)) == (X, None)
    assert states(presence_of(*chain, undone(SECOND)), X, Y, S) == ["merged", "merged", "forgotten"]
    back = (undone(FIRST), restored(X), undone(SECOND), undone(FIRST))
    assert states(presence_of(*chain, *back), X, Y, S, T) == ["live", "forgotten", "forgotten", "forgotten"]
    assert states(presence_of(*chain, restored(T), undone(FIRST)), X, Y) == ["live", "live"]


def test_undoing_a_run_does_not_restore_a_pruned_memory_forgotten_since():
    presence = presence_of(pruned(FIRST, X, Y), forgotten(X), undone(FIRST, X), undone(FIRST))
    assert states(presence, X, Y) == ["forgotten", "live"]
    assert presence.run_of(X) is None
    assert states(presence_of(pruned(FIRST, X), forgotten(X), undone(FIRST), restored(X)), X) == ["live"]


def test_erasing_a_survivor_frees_what_it_absorbed():
    chain = (merged(FIRST, S, X, Y), merged(SECOND, T, S))
    presence = presence_of(*chain, erased(S))
    assert states(presence, X, Y, S, T) == ["live", "live", "erased", "live"]
    assert presence.absorbed(T) == ()
    assert states(presence_of(*chain, erased(X), erased(S)), X, Y) == ["erased", "live"]
    assert states(presence_of(*chain, erased(T)), X, S) == ["merged", "live"]


def test_what_was_erased_stays_erased():
    late = (restored(X), undone(FIRST), undone(FIRST, X), merged(SECOND, X, Y), erased(X))
    assert states(presence_of(merged(FIRST, S, X), erased(X), *late), X, Y) == ["erased", "live"]


def test_every_change_is_returned_once():
    presence = Lifecycle()
    told = [presence.apply(envelope) for envelope in history(merged(FIRST, S, X, X), erased(S), erased(S))]
    assert told == [
        (StateChange(X, MemoryState.LIVE, MemoryState.MERGED, None),),
        (
            StateChange(S, MemoryState.LIVE, MemoryState.ERASED, None),
            StateChange(X, MemoryState.MERGED, MemoryState.LIVE, S),
        ),
        (),
    ]


@settings(max_examples=300)
@given(st.lists(OF_A_LIFE, min_size=8, max_size=24))
def test_pointers_form_a_forest_and_all_changes_are_returned(events: list[Event]):
    presence, known = Lifecycle(), dict.fromkeys(IDS, MemoryState.LIVE)
    for envelope in log_of(*events):
        for change in presence.apply(envelope):
            assert known[change.memory] is change.before is not change.after
            known[change.memory] = change.after
        assert known == {memory: presence.state(memory) for memory in IDS}
        for memory in IDS:
            root = presence.root(memory)
            assert presence.state(root) is not MemoryState.MERGED
            assert (
                (memory in presence.absorbed(root))
                == (root != memory)
                == (presence.state(memory) is MemoryState.MERGED)
            )
            assert presence.state(root) is not MemoryState.ERASED or root == memory
        assert len({*presence.absorbed(T)}) == len(presence.absorbed(T))
