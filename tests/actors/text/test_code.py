import pytest

from actors.text.code import code_words, count_syntax
from projections.atlas.code_detection import looks_like_code
from tests.actors.text.code_samples import CPP, GO, JAVASCRIPT, PYTHON, RENAMED, RUST

LITERAL = """&http.Server{
	Addr:        ":8080",
	Handler:     mux,
	ReadTimeout: 5 * time.Second,
	TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12,
	},
}"""
OBJECT = """Options {
  retries: 3,
  host: "example.org",
  headers: { accept: "text/html" },
  backoff: 2.5,
}"""


@pytest.mark.parametrize(
    "content", [PYTHON, RENAMED, JAVASCRIPT, GO, RUST, CPP, LITERAL, OBJECT, "x = f(5)", "SELECT a FROM t;"]
)
def test_code_looks_like_code(content: str):
    assert looks_like_code(content)


@pytest.mark.parametrize(
    "content",
    [
        "Caroline: Hey Mel! I went to the group yesterday; it was great.",
        "We decided on DuckDB for the log. It is fast.\nThe next step: benchmarks (see the notes).",
        "Shopping list:\n- milk\n- eggs\n- bread (two loaves)",
        "The cast {\nAna: I am late.\nBen: So am I.\nAna: Shall we go in?\nBen: Yes, let us.",
        "Meeting notes {\n  Ana: will call the bank\n  Bob: will write the letter\n  Cem: is away\n}",
        '{\n  "name": "Ana",\n  "age": 41,\n  "town": "Ulm"\n}',
        "The function read_config() returns a dict.",
        "Where is the user's name parsed?",
        "?!",
    ],
)
def test_prose_does_not_look_like_code(content: str):
    assert not looks_like_code(content)


def test_words_of_code_are_its_names_and_comments_without_punctuation():
    assert code_words("def getUserName(user_id):  # Finds Bob's name") == "def get user name user id Finds Bob s name"
    assert code_words("{};") == "{};"


@pytest.mark.parametrize("unit", ["-,", "!*&", "\\\n", 'r#"'], ids=repr)
def test_a_text_that_a_parser_takes_minutes_for_has_hardly_a_shape_and_everywhere_the_same(unit: str) -> None:
    """Without a bound one of them takes hours, others 12 s or more, and the embedder does nothing else meanwhile."""
    text = unit * (65_536 // len(unit))
    counted = count_syntax(text)
    assert counted == count_syntax(text)
    assert counted.total() <= 3


def test_the_densest_code_as_long_as_a_memory_keeps_its_shapes() -> None:
    line = "for(let i=0;i<n;i++){a[i]=b[i]*(c-d)+f(i,n);}"
    counts = count_syntax(line * (65_536 // len(line)))
    assert sum(count for shape, count in counts.items() if shape.startswith("for_statement(")) == 65_536 // len(line)
