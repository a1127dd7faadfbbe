"""Names connect the memories of a namespace, and are forgotten with the last memory that mentions them."""

import numpy as np
import pytest

from events.vocabulary import MemoryErased
from projections.graph.mentions import RARE
from projections.memories.sessions import Sessions
from tests.events.samples import stored
from tests.projections.history import history, memory_id


def sessions_of(*events: object) -> Sessions:
    sessions = Sessions()
    for envelope in history(*events):
        sessions.apply(envelope)
    return sessions


def test_a_rare_name_connects_and_a_common_one_does_not():
    about = [stored(f"{number}", names=("albatross",)) for number in range(RARE + 1)]
    mentions = sessions_of(*about[:2]).mentions
    near = mentions.near("default", ["albatross", "bergen"])
    assert [weight for _, weight in near] == pytest.approx([0.5, 0.5])
    for (vector, _), memory in zip(near, about[:2], strict=True):
        assert np.allclose(vector, memory.fingerprint["e1_semantic"].array, atol=1e-6)
    assert sessions_of(*about).mentions.near("default", ["albatross"]) == []
    assert mentions.near("another", ["albatross"]) == []


def test_a_part_of_a_name_stands_for_the_whole_where_no_other_name_has_it():
    mentions = sessions_of(stored("a", names=("mara lind",)), stored("b", names=("ivo",))).mentions
    assert mentions.other_names("default", ["mara"]) == mentions.other_names("default", ["lind"]) == {"mara lind"}
    assert mentions.other_names("default", ["ivo"]) == mentions.other_names("another", ["mara"]) == set()
    both = sessions_of(*(stored(name, names=(name,)) for name in ("mara lind", "mara holm", "lind"))).mentions
    assert both.other_names("default", ["mara"]) == set(), "it might be either"
    assert both.other_names("default", ["mara lind"]) == {"lind"}


def test_an_erased_memory_takes_its_names_along():
    sessions = sessions_of(
        stored("a", names=("mara lind", "bergen")), stored("b", names=("bergen",)), MemoryErased(memory=memory_id(1))
    )
    assert sessions.mentions.other_names("default", ["mara"]) == set()
    assert [weight for _, weight in sessions.mentions.near("default", ["bergen"])] == [1.0]
    assert "mara" not in str(vars(sessions.mentions))
    assert sessions.digest() == sessions_of(stored("x"), stored("b", names=("bergen",))).digest()


def test_memories_of_the_same_names_may_reach_the_log_in_another_order_than_they_were_embedded_in():
    memories = [stored(f"{number}", names=("bergen",)) for number in range(3)]
    sessions = Sessions()
    for memory in memories:
        sessions.mentions.advance("default", ("bergen",), memory.fingerprint["e1_semantic"].array)
    for envelope in history(*reversed(memories)):
        sessions.apply(envelope)
    assert [weight for _, weight in sessions.mentions.near("default", ["bergen"])] == pytest.approx([1 / 3] * 3)
