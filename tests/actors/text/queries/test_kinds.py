"""Which queries ask for all statements of a kind."""

import pytest

from actors.text.queries.kinds import asked_kind


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("Which decisions did we make?", "agreed"),
        ("What have we decided so far?", "agreed"),
        ("list all open tasks", "todo"),
        ("Can you show me the todos?", "todo"),
        ("user preferences", "likes"),
        ("What does the user prefer?", "likes"),
        ("Do we have any rules?", "convention"),
        ("known bugs", "fails"),
        ("lessons learned", "pitfall"),
        ("What did they decide?", "agreed"),
        ("all my tasks", "todo"),
        ("What's left to do?", "todo"),
        ("what still needs to be done", "todo"),
        ("Show me the to-do list", "todo"),
        ("anything decided so far?", "agreed"),
    ],
)
def test_a_kind_of_statement_is_asked_for(query: str, word: str) -> None:
    kind = asked_kind(query)
    assert kind is not None
    assert word in kind.words


@pytest.mark.parametrize(
    "query",
    [
        "Which decisions concern the greenhouse?",
        "tasks for Tom",
        "The bugs are gone",
        "fix the bugs",
        "run the tasks",
        "remember my preferences",
        "When was this decided?",
        "rules must never be broken",
        "What are the rules of chess?",
        "Which bugs and tasks are known?",
        "What would you prefer?",
        "What do we have to decide?",
        "Which decisions are open?",
        "Any rules I should know?",
        "What bugs me is the noise",
        "Can you find the bugs?",
        "any lessons left",
        "I still have to do the dishes",
        "What's left to do in Porto?",
        "How much is left to do?",
        "What has the cache still to do with it?",
        "known bugs " * 20,
    ],
)
def test_other_queries_ask_for_no_kind(query: str) -> None:
    assert asked_kind(query) is None
