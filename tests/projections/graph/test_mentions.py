"""Names are known with their other forms in a namespace, and are forgotten with the last memory that mentions them."""

from events.vocabulary import MemoryErased
from projections.memories.sessions import Sessions
from tests.events.samples import stored
from tests.projections.history import folded, history, memory_id


def sessions_of(*events: object) -> Sessions:
    return folded(Sessions(), history(*events))


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
    assert "mara" not in str(vars(sessions.mentions))
    assert sessions.digest() == sessions_of(stored("x"), stored("b", names=("bergen",))).digest()


def test_names_of_a_memory_that_is_not_stored_yet_are_known_and_no_part_of_the_digest():
    memories = [stored(f"{number}", names=("mara lind",)) for number in range(2)]
    sessions = Sessions()
    for memory in memories:
        sessions.mentions.advance("default", memory.names)
    assert sessions.mentions.other_names("default", ["mara"]) == {"mara lind"}
    for envelope in history(*reversed(memories)):
        sessions.apply(envelope)
    assert sessions.digest() == sessions_of(*reversed(memories)).digest()
