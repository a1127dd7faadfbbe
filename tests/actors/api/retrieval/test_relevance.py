"""Relevance: a search says how likely its results bear on the query, and brings nothing on request if they don't."""

from pathlib import Path
from string import ascii_lowercase
from typing import Any

import msgspec
import pytest

from actors.api.context import Context
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.comparator.search import relevance
from actors.importers.recogniser import recognise
from actors.importers.records import Item, Options
from actors.runtime.faults import InvalidParamsFault
from actors.text.queries.spelling import respellings, respelt
from tests.actors.conftest import Agent, store

pytestmark = pytest.mark.anyio

NOTES = (
    "The pond pump hums since Tuesday; its impeller is full of duckweed.",
    "We moved the billing service to PostgreSQL 16, because MySQL locked the invoices table.",
    "Nadia is allergic to walnuts and brings her own bread.",
    "The heating is serviced by Korhonen every second October.",
    "def retry(call):\n    try:\n        return call()\n    except TimeoutError:\n        return retry(call)",
)
ANSWERED = (
    ("What is wrong with the pump of the pond?", 0),
    ("Why did the billing service leave MySQL?", 1),
    ("Which nuts can't Nadia eat?", 2),
    ("Who services the heating?", 3),
    ("python function that calls again after a timeout", 4),
)
UNRELATED = (
    "How many moons does Jupiter have?",
    "rename the button on the login page",
    "Thanks, that's all for today!",
    "Translate 'good night' into Welsh.",
    "the css grid overflows on narrow screens",
)


async def stored(context: Context) -> None:
    for note in NOTES:
        await store(context, note)


async def ask(context: Context, query: str, **options: Any) -> dict[str, Any]:
    return await search_graph(context, parse({"query": query, **options}, SearchGraph))


async def test_a_search_knows_whether_its_results_bear_on_the_question(context: Context) -> None:
    await stored(context)
    for question, answer in ANSWERED:
        found = await ask(context, question)
        assert found["results"][0]["content"] == NOTES[answer]
        assert found["confidence"] in {"uncertain", "confident"}, question
    answerable = [(await ask(context, question))["relevance"] for question, _ in ANSWERED]
    for prompt in UNRELATED:
        found = await ask(context, prompt)
        assert found["results"], "without a threshold a search still shows its best"
        assert found["confidence"] == "nothing", prompt
        assert 0 <= found["relevance"] < min(answerable)


def test_the_thresholds_of_the_shipped_model_are_probabilities_in_order():
    model = msgspec.json.decode(relevance.FILE.read_bytes(), type=relevance.Model)
    assert 0 < model.uncertain < model.confident < 1


async def test_a_question_about_a_name_that_no_memory_has_is_never_answered_confidently(context: Context) -> None:
    for note in (*NOTES, "Ruben's birthday is on 4 May.", "Nadia's birthday is on 21 January."):
        await store(context, note)
    await store(context, "Chiara's birthday is on 9 July.", namespace="elsewhere")
    known = await ask(context, "When is Nadia's birthday?", namespace="default")
    unknown = await ask(context, "When is Chiara's birthday?", namespace="default")
    elsewhere = await ask(context, "When is Chiara's birthday?")
    assert "birthday" in unknown["results"][0]["content"]
    assert (known["confidence"], elsewhere["confidence"]) == ("confident", "confident")
    assert unknown["confidence"] in {"nothing", "uncertain"}
    assert unknown["relevance"] < min(known["relevance"], elsewhere["relevance"]) - 0.2


async def test_a_question_about_what_no_memory_has_a_word_of_is_never_answered_confidently(context: Context) -> None:
    for note in (
        *NOTES,
        "Piet lost his first tooth.",
        "The plumber, Mr Aalto, mended the tap.",
        "Our doctor is Dr Salo.",
    ):
        await store(context, note)
    for question in ("Who is the dentist?", "What is the name of the dentist?"):
        assert (await ask(context, question))["confidence"] in {"nothing", "uncertain"}
    assert (await ask(context, "Who is the plumber?"))["confidence"] == "confident"


async def test_a_question_about_a_number_that_no_result_has_is_never_answered_confidently(context: Context) -> None:
    for content in (
        "Bus 14 leaves from the harbour.",
        "Release 2.15 adds a map.",
        "The pier has 18 lamps.",
        "Room B07 is painted green.",
        "Chapter three is about whales.",
        "The sauna costs 1200 euros.",
    ):
        await store(context, content)
    for answered, other in (
        ("Where does bus 14 leave from?", "Where does bus 36 leave from?"),
        ("What does release 2.15 add?", "What does release 2.18 add?"),
        ("What colour is room B07?", "What colour is room B09?"),
    ):
        assert (await ask(context, answered))["confidence"] == "confident"
        assert (await ask(context, other))["confidence"] == "uncertain"
    for question in (
        "Where does bus 14 leave from at 9 am?",
        "Does the sauna cost 900 euros?",
        "Why does the sauna cost 1,200 euros?",
        "What is chapter 3 about?",
    ):
        assert (await ask(context, question))["confidence"] == "confident"


async def test_a_misspelt_question_is_read_with_the_words_that_memories_have(context: Context) -> None:
    for note in (*NOTES, "The washing machine leaks at the hose of the drain.", "Rosa collects calendars of trains."):
        await store(context, note)
    asked = "wasching mashine leeking"
    found = await ask(context, asked, min_confidence="uncertain")
    assert found["results"][0]["content"].startswith("The washing machine leaks")
    assert found["read_as"] == "washing machine leaking"
    assert "read_as" not in await ask(context, "washing machine leaking")
    assert "read_as" not in await ask(context, "How does pgbouncer pool the sesions of Xylander?")


@pytest.mark.parametrize(
    ("told", "question", "read_as"),
    [
        ("Paid time off is thirty days.", "How much PTO do we have?", "How much paid time off do we have?"),
        ("The POC runs on a laptop under Lena's desk.", "where's the proof of concept?", "where's the poc?"),
    ],
)
async def test_an_abbreviation_is_read_as_memories_write_it(
    context: Context, told: str, question: str, read_as: str
) -> None:
    for note in (*NOTES, told):
        await store(context, note)
    found = await ask(context, question, min_confidence="uncertain")
    assert [one["content"] for one in found["results"]][:1] == [told]
    assert found.get("read_as") == read_as
    assert "read_as" not in await ask(context, "Who services the heating?")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("adress", "address"), ("recieve", "receive"), ("calender", "calendar"), ("mashine", "machine")],
)
def test_a_mistake_adds_leaves_out_changes_or_swaps_letters(written: str, meant: str) -> None:
    known = {"address", "receive", "calendar", "machine", "dress", "of"}
    assert respellings(f"The {written} of a.{written} and {written}/x", known) == {written: (meant,)}
    assert respelt(f"The {written.title()}, {written}_x!", {written: meant}) == f"The {meant}, {written}_x!"


def test_only_the_first_unknown_words_of_a_long_text_are_looked_up() -> None:
    known = {f"{letter}omething" for letter in ascii_lowercase}
    pasted = " ".join(f"{letter}omethinq" for letter in ascii_lowercase)
    assert list(respellings(pasted, known)) == [f"{letter}omethinq" for letter in ascii_lowercase[:10]]


async def test_a_speaker_of_another_namespace_makes_no_answer_confident(context: Context) -> None:
    for note in (*NOTES, "Ruben's birthday is on 4 May.", "Nadia's birthday is on 21 January."):
        await store(context, note)
    before = await ask(context, "When is Chiara's birthday?", namespace="default")
    await store(context, "The ferry was late.", namespace="elsewhere", metadata={"speaker": "Chiara"})
    after = await ask(context, "When is Chiara's birthday?", namespace="default")
    assert (after["confidence"], after["relevance"]) == (before["confidence"], before["relevance"])
    await store(context, "The ferry was late.", metadata={"speaker": "Chiara"})
    here = await ask(context, "When is Chiara's birthday?", namespace="default")
    assert here["relevance"] > before["relevance"]


OTHER_LANGUAGES = (
    (
        (
            ("De garage vervangt zaterdag de remmen van de auto.", "Wanneer worden de remmen vervangen?"),
            ("Oom Henk heeft de boot aan meneer Visser verkocht.", "Aan wie is de boot verkocht?"),
            ("De wasmachine lekt bij de afvoerslang.", "Waar lekt de wasmachine?"),
            ("De reservesleutels liggen onder de pot met rozemarijn.", "Waar liggen de reservesleutels?"),
            ("De cursus pottenbakken kost tachtig euro per maand.", "Wat kost de cursus pottenbakken?"),
            ("Sanne is allergisch voor aardbeien.", "Waar is Sanne allergisch voor?"),
            ("De ketel is in november nagekeken door monteur Jansen.", "Wie heeft de ketel nagekeken?"),
            ("Opa heeft een kersenboom achter het huis geplant.", "Wat heeft opa geplant?"),
            ("Het wachtwoord van de printer staat in het groene schrift.", "Waar staat het wachtwoord van de printer?"),
            ("De trein naar Groningen vertrekt van spoor vier.", "Van welk spoor gaat de trein naar Groningen?"),
        ),
        (
            "Hoe heet de kat van de buren?",
            "Wanneer komt de nieuwe bank?",
            "Waarom is de vergadering verplaatst?",
            "Waar hebben we gisteren geparkeerd?",
            "Welke wijn vindt Marta lekker?",
            "Wie brengt de taart mee?",
            "Hoeveel schapen heeft de herder?",
            "Wat zei de advocaat?",
            "Waar koop je vers brood?",
            "Wanneer verloopt het paspoort?",
        ),
    ),
    (
        (
            ("정비사가 토요일 아침에 자동차 브레이크를 교체합니다.", "브레이크는 언제 교체하나요?"),
            ("삼촌이 배를 박 선생님에게 팔았다.", "배를 누구에게 팔았나요?"),
            ("세탁기 배수 호스에서 물이 샌다.", "세탁기는 어디서 물이 새나요?"),
            ("여분의 열쇠는 로즈마리 화분 밑에 있다.", "여분의 열쇠는 어디에 있나요?"),
            ("도자기 수업은 한 달에 팔만 원이다.", "도자기 수업은 얼마인가요?"),
            ("지우는 딸기 알레르기가 있다.", "지우는 무슨 알레르기가 있나요?"),
            ("보일러는 십일월에 김 기사님이 점검했다.", "보일러는 누가 점검했나요?"),
            ("할아버지가 집 뒤에 벚나무를 심었다.", "할아버지는 무엇을 심었나요?"),
            ("프린터 비밀번호는 초록색 공책에 적혀 있다.", "프린터 비밀번호는 어디에 있나요?"),
            ("부산행 기차는 사 번 승강장에서 출발한다.", "부산행 기차는 어느 승강장에서 출발하나요?"),
        ),
        (
            "이웃집 고양이 이름이 뭐예요?",
            "새 소파는 언제 오나요?",
            "회의는 왜 미뤄졌나요?",
            "어제 어디에 주차했나요?",
            "마르타는 어떤 와인을 좋아하나요?",
            "케이크는 누가 가져오나요?",
            "양치기의 양은 몇 마리예요?",
            "변호사가 뭐라고 했나요?",
            "신선한 빵은 어디서 사나요?",
            "여권은 언제 만료되나요?",
        ),
    ),
)
"""Two languages to which nothing was fitted: memories with questions for them, and other questions."""


@pytest.mark.numeric
@pytest.mark.parametrize(("known", "unknown"), OTHER_LANGUAGES, ids=["Dutch", "Korean"])
async def test_a_question_in_another_language_is_not_answered_by_whatever_is_in_that_language(
    context: Context, known: tuple[tuple[str, str], ...], unknown: tuple[str, ...]
) -> None:
    for memory, _ in known:
        await store(context, memory)
    kept = [await ask(context, question, min_confidence="uncertain") for _, question in known]
    assert sum(bool(found["results"]) for found in kept) >= 8
    refused = [await ask(context, question, min_confidence="uncertain") for question in unknown]
    assert sum(not found["results"] for found in refused) >= 7, "all but one were confident"


async def test_an_english_title_makes_no_english_question(context: Context) -> None:
    known, _ = OTHER_LANGUAGES[0]
    for memory, _ in known:
        await store(context, memory)
    found = await ask(context, "Welke hoofdstukken van The Hobbit heeft Peter gelezen?")
    assert found["confidence"] == "nothing"


async def test_a_fact_in_several_wordings_of_another_language_answers_a_question_for_it(context: Context) -> None:
    for wording in (
        "De reservesleutel van het huis ligt onder de plantenbak.",
        "Onder de plantenbak ligt de reservesleutel.",
        "De extra huissleutel ligt onder de plantenbak bij de deur.",
        "Reservesleutel: onder de plantenbak.",
        "We bewaren de reservesleutel van het huis onder de plantenbak.",
    ):
        await store(context, wording)
    assert (await ask(context, "Waar vind ik de reservesleutel van het huis?"))["confidence"] != "nothing"
    assert (await ask(context, "Wanneer is de verjaardag van oma?"))["confidence"] == "nothing"


async def test_a_rare_name_alone_makes_no_answer(context: Context) -> None:
    for note in ("Wojciech Szczęsny repairs the Vaillant ecoTEC boiler.", *NOTES):
        await store(context, note)
    assert (await ask(context, "Who repairs the boiler?"))["confidence"] == "confident"
    assert (await ask(context, "What's Szczęsny's favourite pierogi?"))["confidence"] != "confident"


TECHNICAL = (
    "Terraform state is kept in an encrypted bucket.",
    "Prefers Tailwind to hand-written stylesheets in frontends.",
    "Kotlin coroutines are cancelled when the activity is destroyed.",
    "def turned(image, angle): return cv2.warpAffine(image, cv2.getRotationMatrix2D(middle, angle, 1), image.shape)",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which bucket has tfstate?", 0),
        ("what does the sysadmin use for styling a Svelte frontend?", 1),
        ("what happens to coroutines in onDestroy?", 2),
        ("opencv rotate picture degrees", 3),
    ],
)
async def test_technical_terms_make_no_other_language_of_an_english_question(
    context: Context, question: str, answer: int
) -> None:
    for note in (*NOTES, *TECHNICAL):
        await store(context, note)
    found = await ask(context, question, min_confidence="uncertain")
    assert found["results"][0]["content"] == TECHNICAL[answer]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Anything on the impeller?", 0),
        ("What do we know about duckweed?", 0),
        ("What happened after the move to PostgreSQL?", 1),
        ("Remind me about the invoices table", 1),
        ("what's the deal with Korhonen?", 3),
        ("How is PostgreSQL different from MySQL?", 1),
        ("Is there a difference between PostgreSQL and MySQL?", 1),
        ("duckweed", 0),
        ("invoices table", 1),
        ("TimeoutError", 4),
        ("why not MySQL?", 1),
        ("Why don't we use MySQL?", 1),
        ("which invoices are there?", 1),
        ("duckweed in the impeller of the pump", 0),
    ],
)
async def test_a_question_of_everyday_wording_is_judged_by_the_words_that_name_its_subject(
    context: Context, question: str, answer: int
) -> None:
    await stored(context)
    found = await ask(context, question, min_confidence="uncertain")
    assert found["results"][0]["content"] == NOTES[answer]


@pytest.mark.parametrize(
    "prompt", ["Can you lock it again?", "What should I return?", "What is this?", "Move it", "why not now?"]
)
async def test_a_prompt_that_shares_a_word_with_a_memory_but_names_nothing_brings_nothing(
    context: Context, prompt: str
) -> None:
    await stored(context)
    assert (await ask(context, prompt, min_confidence="uncertain"))["results"] == []


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, looks good",
        "yes do it",
        "Sounds good!",
        "cool, nice work",
        "ok, go ahead",
        "Good morning!",
        "that's all for today",
    ],
)
async def test_thanks_and_consent_bring_none_of_those_that_people_gave_each_other(
    context: Context, prompt: str
) -> None:
    chat = (
        "Thanks for the photo, looks good!",
        "Yes!",
        "still, do it",
        "yeah that sounds good!",
        "Cool. Nice work, Ben!",
        "Good morning, Ben! That's all for today.",
    )
    for message in chat:
        await store(context, message)
    assert (await ask(context, prompt, min_confidence="uncertain"))["results"] == []
    assert (await ask(context, prompt))["results"], "they are found where nothing is asked of them"


async def test_an_answer_below_the_least_confidence_is_empty_and_no_recall(context: Context, agent: Agent) -> None:
    await stored(context)
    for tool in ("search_graph", "memory_search"):
        empty = await agent.call(tool, query=UNRELATED[0], min_confidence="uncertain")
        assert (empty["results"], empty["confidence"]) == ([], "nothing")
        assert "next_cursor" not in empty
        full = await agent.call(tool, query=ANSWERED[0][0], min_confidence="uncertain", top_k=1)
        assert [one["content"] for one in full["results"]] == [NOTES[0]]
    ids = {one["content"]: one["fingerprintId"] for one in (await agent.call("search_graph", query="x"))["results"]}
    kinds = [event["kind"] for event in (await agent.call("audit_trail", memory_id=ids[NOTES[2]]))["events"]]
    assert "memory_recalled" not in kinds[1:], "what was not shown was not recalled"


async def test_rankings_of_all_memories_have_a_relevance_too(context: Context, agent: Agent) -> None:
    await stored(context)
    related, unrelated = ANSWERED[1][0], UNRELATED[0]
    ways: dict[str, dict[str, Any]] = {
        "search_multi": {"min_similarity": 0},
        "search_single_space": {"space_index": 0},
        "memory_search_multi_perspective": {},
    }
    for tool, options in ways.items():
        found = await agent.call(tool, query=related, min_confidence="uncertain", **options)
        assert found["results"]
        assert found["confidence"] != "nothing"
        found = await agent.call(tool, query=unrelated, **options)
        assert found["confidence"] == "nothing"
        assert found["results"]
        assert not (await agent.call(tool, query=unrelated, min_confidence="uncertain", **options))["results"]


async def test_all_pages_of_an_answer_have_one_relevance(context: Context) -> None:
    await stored(context)
    question = ANSWERED[0][0]
    first = await ask(context, question, top_k=2)
    second = await ask(context, question, top_k=2, cursor=first["next_cursor"])
    assert second["results"]
    assert (second["relevance"], second["confidence"]) == (first["relevance"], first["confidence"])


async def test_an_empty_store_has_nothing(context: Context) -> None:
    found = await ask(context, ANSWERED[0][0])
    assert (found["results"], found["confidence"], found["relevance"]) == ([], "nothing", 0)


async def test_a_query_of_vectors_has_no_relevance_to_ask_for(context: Context, agent: Agent) -> None:
    await stored(context)
    memory = (await agent.call("search_graph", query=NOTES[0]))["results"][0]["fingerprintId"]
    vectors = (await agent.call("memory_retrieve", id=memory, include_embeddings=True))["vectors"]
    asked = {"space_index": 0, "query_embedding": vectors["e1_semantic"]}
    assert "confidence" not in await agent.call("search_single_space", **asked)
    refused = await agent.client.call_tool("search_single_space", {**asked, "min_confidence": "uncertain"})
    assert refused.is_error
    assert refused.structured_content
    assert refused.structured_content["error"]["code"] == InvalidParamsFault.code
    assert "min_confidence" in refused.structured_content["error"]["message"]


async def test_a_question_in_other_words_is_answered_from_a_few_memories(context: Context) -> None:
    limits = Path(__file__).parents[3] / "fixtures/limits.md"  # docs/limits.md as it once was: the document goes on
    sections = [one.value for one in recognise(limits, Options()).read() if isinstance(one, Item)]
    for section in sections:
        await store(context, section["content"])
    for question in (
        "Is it fine to put the files on a network drive?",
        "what happens to passwords that I paste in by accident?",
    ):
        assert (await ask(context, question))["confidence"] != "nothing"
    for unrelated in ("How long do I boil eggs?", "Who won the cup final in 1998?", "my knee hurts after running"):
        assert (await ask(context, unrelated))["confidence"] == "nothing"
