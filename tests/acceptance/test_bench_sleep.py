"""What the benchmark of sleep plants, and how it judges what was seen: nothing sleeps here."""

import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import BadParameter

from events.vocabulary.values import Counts, Modality

sys.path.append(str(Path(__file__).parents[2] / "scripts"))  # what people run is no package

from benchmarks.mind.verdicts import Verdict
from benchmarks.retrieval.corpora import Document
from benchmarks.sleep.asking import Answers, Query, identical, recall
from benchmarks.sleep.corpora import Corpus, normalised, read_corpora
from benchmarks.sleep.crashing import Kill, survived
from benchmarks.sleep.judging import COUNTED, duplicates, honesty, latency, pruning
from benchmarks.sleep.nights import Decided, Night
from benchmarks.sleep.planting import DUPLICATES, Kind, Plan, arguments, plan
from benchmarks.sleep.trivia import MOST, trivia
from benchmarks.sleep.wording import HEADING, SYNONYMS, one_word_changed, paraphrased, respaced

TODAY = datetime(2026, 11, 21, tzinfo=UTC)
NAMES = "Ana Bo Cleo Dan Eva Finn Gus Hana Ivo Jun Kai Lea Max Nora Otto Pia Ruth Sam Tess Uma".split()
DOINGS = "planted painted mended carried measured sketched polished borrowed counted wrapped".split()


def talk(count: int) -> Corpus:
    """Sessions of ten turns, each of which can be said in other words, and a query for each."""
    documents = [
        Document(
            id=str(number),
            text=f"{NAMES[number % 20]}: I don't like it, but we {DOINGS[number // 20 % 10]} "
            f"{number} huge boxes because the children wanted them quickly.",
            metadata={"session": str(number // 10), "order": number % 10},
        )
        for number in range(count)
    ]
    queries = [Document(id=f"q{number}", text=f"What about {number}?") for number in range(count)]
    return Corpus("talk", documents, queries, {f"q{number}": {str(number): 1.0} for number in range(count)})


def code(count: int) -> Corpus:
    documents = [
        Document(id=str(number), text=f"def huge_{number}(a):\n    '''Return the children.'''\n    return a + {number}")
        for number in range(count)
    ]
    for document in documents:
        document.metadata = {"modality": "code"}
    return Corpus("code", documents, [], {})


@pytest.fixture(scope="module")
def planned() -> Plan:
    return plan([talk(400), code(60)], 400, TODAY)


def by_kind(planned: Plan) -> Counter[Kind]:
    return Counter(item.kind for item in planned.items)


# ── planting ────────────────────────────────────────────────────────────────────────────────────────


def test_as_many_are_planted_as_were_asked_for(planned: Plan) -> None:
    counts = by_kind(planned)
    assert len(planned.items) == 400
    assert counts[Kind.TRIVIAL] == 20
    assert {counts[kind] for kind in DUPLICATES} == {5}
    assert {counts[kind] for kind in (Kind.YOUNG, Kind.IMPORTANT, Kind.LINKED)} == {1}


def test_the_same_corpora_are_planted_the_same_way_again(planned: Plan) -> None:
    assert plan([talk(400), code(60)], 400, TODAY) == planned


def test_every_corpus_gives_alike_as_long_as_it_has_any(planned: Plan) -> None:
    taken = Counter(item.modality for item in planned.items if item.kind is Kind.ORDINARY)
    assert taken[Modality.CODE] == 60


def test_a_duplicate_differs_from_what_it_repeats_only_as_its_kind_says(planned: Plan) -> None:
    for item in planned.items:
        if item.repeats is None:
            continue
        original = planned.items[item.repeats]
        assert original.kind is Kind.ORDINARY
        said, again = original.text.split(), item.text.split()
        match item.kind:
            case Kind.EXACT:
                assert item.text == original.text
            case Kind.RESPACED:
                assert item.text != original.text
                assert again == said
            case Kind.ONE_WORD:
                assert sum(one != other for one, other in zip(said, again, strict=True)) == 1
            case _:
                assert again != said
                assert set(re.findall(r"\d+", item.text)) == set(re.findall(r"\d+", original.text))


def test_nothing_is_repeated_twice_and_all_else_differs(planned: Plan) -> None:
    repeated = [item.repeats for item in planned.items if item.repeats is not None]
    others = [normalised(item.text) for item in planned.items if item.repeats is None]
    assert len(set(repeated)) == len(repeated)
    assert len(set(others)) == len(others)


def test_every_other_duplicate_of_a_kind_is_told_in_another_session(planned: Plan) -> None:
    for kind in DUPLICATES:
        sessions = [planned.items[place].session for place in planned.places(kind)]
        assert [session is not None for session in sessions] == [False, True, False, True, False]


def test_what_is_trivial_is_old_and_what_only_looks_so_is_protected(planned: Plan) -> None:
    def old(item_at: str | None) -> bool:
        return item_at is not None and datetime.fromisoformat(item_at) < TODAY - timedelta(days=365)

    linked = Counter(place for item in planned.items for place in item.linked)
    for place, item in enumerate(planned.items):
        match item.kind:
            case Kind.TRIVIAL:
                assert item.importance <= 0.2
                assert old(item.created_at)
                assert not linked[place]
            case Kind.YOUNG:
                assert item.importance <= 0.2
                assert item.created_at is None
            case Kind.IMPORTANT:
                assert item.importance > 0.6
                assert old(item.created_at)
            case Kind.LINKED:
                assert item.importance <= 0.2
                assert old(item.created_at)
                assert linked[place] == 3
            case _:
                assert not linked[place]
                assert item.created_at
                assert datetime.fromisoformat(item.created_at) <= TODAY - timedelta(days=2)


def test_what_is_linked_to_stands_before_what_links_to_it(planned: Plan) -> None:
    assert all(linked < place for place, item in enumerate(planned.items) for linked in item.linked)


def test_a_query_is_asked_if_all_that_answers_it_is_stored(planned: Plan) -> None:
    assert planned.asked
    for asked in planned.asked:
        (place,) = asked.relevant
        assert f" {asked.text.removeprefix('What about ').removesuffix('?')} huge" in planned.items[place].text


def test_natural_duplicates_and_texts_of_unusual_length_are_left_out_and_counted() -> None:
    corpus = talk(200)
    corpus.documents.append(Document(id="again", text=corpus.documents[0].text.upper()))
    corpus.documents.append(Document(id="short", text="Hm."))
    assert plan([corpus], 100, TODAY).left_out == {"shorter or longer": 1, "natural duplicates": 1}


def test_corpora_that_are_too_small_are_refused() -> None:
    with pytest.raises(BadParameter, match="fewer than the"):
        plan([talk(50)], 100, TODAY)
    with pytest.raises(BadParameter, match="make a duplicate that is paraphrased"):
        plan([code(100)], 100, TODAY)
    with pytest.raises(BadParameter, match="too few or too many"):
        plan([talk(100)], 40, TODAY)


def test_a_folder_without_any_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="no set in the BEIR layout"):
        read_corpora(tmp_path)


def test_the_kind_of_a_memory_is_told_in_its_metadata_alone(planned: Plan) -> None:
    place = planned.places(Kind.EXACT)[0]
    item = planned.items[place]
    given_ = arguments(item, {}, "default")
    assert given_["metadata"] == {"planted": "exact copy"}
    assert {"content", "importance", "modality", "namespace", "link_to", "created_at"} <= given_.keys()
    assert "exact copy" not in str({**given_, "metadata": {}})


# ── wording ─────────────────────────────────────────────────────────────────────────────────────────

PROSE = st.lists(
    st.sampled_from([*sorted(SYNONYMS), *NAMES, "not", "never", "12", "the", "a"]), min_size=1, max_size=20
)


@given(PROSE.map(" ".join), st.randoms(use_true_random=False))
def test_other_blanks_leave_every_word_where_it_was(text: str, chance: Random) -> None:
    again = respaced(text, chance, code=False)
    assert again != text
    assert again.split() == text.split()


@given(st.lists(st.sampled_from(("def f():", "    return 1", "", "\tx = 2")), min_size=1).map("\n".join), st.randoms())
def test_code_keeps_its_indentation(text: str, chance: Random) -> None:
    again = respaced(text, chance, code=True)
    assert again != text
    assert [line.rstrip() for line in again.rstrip().split("\n")] == [
        line.rstrip() for line in text.rstrip().split("\n")
    ]


@given(PROSE.map(" ".join), st.randoms(use_true_random=False))
def test_one_word_changes_and_never_a_name_a_number_or_a_negation(text: str, chance: Random) -> None:
    again = one_word_changed(text, chance)
    if again is None:
        assert not set(text.split()) & SYNONYMS.keys()
        return
    ((word, other),) = [pair for pair in zip(text.split(), again.split(), strict=True) if pair[0] != pair[1]]
    assert SYNONYMS[word] == other


@pytest.mark.parametrize(
    ("text", "again"),
    [
        (
            "Ana: When the rain stops, we'll plant a lot of huge trees.",
            "Ana: We'll plant plenty of enormous trees when the rain stops.",
        ),
        (
            "I don't eat there because the soup is expensive.",
            "Because the soup is costly, I do not eat there.",
        ),
        ("The church was designed by a famous monk.", "A renowned monk designed the church."),
        ("It rained.", None),
        ("The huge dog slept.", None),
    ],
)
def test_a_paraphrase_takes_two_rules_at_least(text: str, again: str | None) -> None:
    assert paraphrased(text) == again


def test_who_speaks_is_no_part_of_what_is_said() -> None:
    assert HEADING.match("Ana: hello.")
    assert one_word_changed("a huge friend: hello", Random(1)) is None


def test_trivia_of_one_template_share_nothing_else() -> None:
    texts = list(trivia(Random(1)))
    assert len(set(texts)) == len(texts) == MOST


# ── judging ─────────────────────────────────────────────────────────────────────────────────────────


def ids(planned: Plan) -> dict[int, str]:
    return {place: f"memory {place}" for place in range(len(planned.items))}


def heirs(planned: Plan, *kinds: Kind) -> dict[str, str]:
    """Every other duplicate of these kinds survives what it repeats, the rest are absorbed by it."""
    pairs = [(f"memory {place}", f"memory {planned.items[place].repeats}") for place in planned.places(*kinds)]
    return dict(pair if number % 2 else pair[::-1] for number, pair in enumerate(pairs))


def named(verdicts: list[Verdict]) -> dict[str, Verdict]:
    return {verdict.what: verdict for verdict in verdicts}


def test_finding_what_was_promised_holds_whichever_of_a_pair_survives(planned: Plan) -> None:
    light = named(duplicates(planned, ids(planned), heirs(planned, Kind.EXACT, Kind.RESPACED), "light"))
    assert light["exact copy: all are found"].holds
    assert light["re-spaced: all are found"].holds
    assert light["nothing is merged that isn't planted"].holds
    assert light["one word changed: how many are found"].figures == {"planted": 5, "found": 0, "recall": 0.0}
    assert light["exact copy: all are found"].figures["precision"] == 1.0


def test_a_missing_duplicate_and_a_wrong_pair_fail(planned: Plan) -> None:
    merged = heirs(planned, Kind.EXACT, Kind.RESPACED, Kind.ONE_WORD)
    merged.pop(next(iter(heirs(planned, Kind.ONE_WORD))))
    deep = named(duplicates(planned, ids(planned), merged, "deep"))
    assert deep["one word changed: at least 0.95 are found"].holds is False
    survivor = next(iter(merged.values()))
    stranger = f"memory {planned.places(Kind.TRIVIAL)[0]}"
    wrong = named(duplicates(planned, ids(planned), {**merged, stranger: survivor}, "light"))
    figures = wrong["nothing is merged that isn't planted"].figures
    assert wrong["nothing is merged that isn't planted"].holds is False
    assert figures["not planted"] == 1
    assert wrong["exact copy: all are found"].figures["precision"] == pytest.approx(5 / 6)


def test_pruning_what_is_protected_fails_and_so_does_keeping_what_is_trivial(planned: Plan) -> None:
    gone = {f"memory {place}" for place in planned.places(Kind.TRIVIAL)}
    right = named(pruning(planned, ids(planned), done(pruned=gone)))
    assert [verdict.holds for verdict in right.values()] == [True, True, None]
    young = f"memory {planned.places(Kind.YOUNG)[0]}"
    wrong = named(pruning(planned, ids(planned), done(pruned={young})))
    assert wrong["what is trivial is pruned"].holds is False
    assert wrong["nothing that is protected is pruned"].holds is False


def done(merged: dict[str, str] | None = None, pruned: set[str] | None = None, *, finished: bool = True) -> Decided:
    there = Counts(merged=len(merged or ()), pruned=len(pruned or ()))
    counts = msgspec.structs.replace(there, looked_at=10) if finished else Counts()
    return Decided(finished=finished, heirs=merged or {}, pruned=frozenset(pruned or ()), there=there, counts=counts)


def slept(**changed: object) -> Night:
    answer = dict.fromkeys(COUNTED, 0) | {"new_patterns": []}
    answer |= {"memories_looked_at": 10, "merged_count": 1, "pruned_count": 1}
    found = Answers(((("a", 0.5), ("b", 0.4)),), (1.0,))
    seen = {
        "mode": "light",
        "dry": answer,
        "dry_events": ("ConsolidationStarted", "ConsolidationFinished"),
        "done": answer,
        "decided": done({"b": "a"}, {"c"}),
        "shown": 2,
        "undone": {},
        "before": found,
        "asleep": Answers(((("a", 0.5),),), (1.0,)),
        "after": found,
    }
    return Night(**{**seen, **changed})


def test_a_night_in_which_all_agrees_is_honest() -> None:
    verdicts = honesty(slept())
    assert [verdict.holds for verdict in verdicts] == [True] * 4
    assert verdicts[-1].figures == {"identical": "1 of 1", "identical before undo": 0}


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"dry": slept().dry | {"merged_count": 2}}, 0),
        ({"dry_events": ("ConsolidationStarted", "MemoriesPruned", "ConsolidationFinished")}, 1),
        ({"decided": done({"b": "a"})}, 2),
        ({"shown": 1}, 2),
        ({"after": Answers(((("a", 0.5), ("b", 0.4001)),), (1.0,))}, 3),
    ],
)
def test_a_night_in_which_something_disagrees_fails_just_there(changed: dict[str, object], fails: int) -> None:
    assert [verdict.holds for verdict in honesty(slept(**changed))] == [place != fails for place in range(4)]


def test_an_absorbed_memory_is_found_through_whoever_answers_to_its_id() -> None:
    queries = [Query("talk", {}, ("a", "b")), Query("talk", {}, ("x",))]
    found = Answers(((("c", 1.0),), (("x", 1.0),)), (1.0, 1.0))
    assert recall(found, queries, {}) == {"talk": 0.5}
    assert recall(found, queries, {"a": "b", "b": "c"}) == {"talk": 1.0}
    assert identical(found, found) == 2


def test_a_search_beside_a_run_may_take_twice_as_long() -> None:
    assert latency([1.0, 2.0, 3.0], [4.0, 4.0]).holds
    assert latency([1.0, 2.0, 3.0], [4.0, 4.1]).holds is False


def killed(decided: Decided | None, live: int, *, ended: bool = False) -> bool | None:
    return survived(10, [Kill(moment=0.1, ended=ended, decided=decided, live=live)]).holds


def test_a_killed_run_may_have_left_all_or_nothing() -> None:
    assert killed(None, 10)
    assert killed(done(finished=False), 10)
    assert killed(done({"a": "b"}, {"c"}), 8)
    assert killed(done({"a": "b"}, {"c"}), 8, ended=True)


def test_a_killed_run_that_left_a_part_or_lost_what_it_answered_fails() -> None:
    a_part = msgspec.structs.replace(done({"a": "b"}), counts=done({"a": "b"}, {"c"}).counts)
    assert killed(a_part, 9) is False
    assert killed(done({"a": "b"}, finished=False), 9) is False
    assert killed(done({"a": "b"}), 10) is False
    assert killed(done(finished=False), 10, ended=True) is False
    assert killed(None, 9) is False
