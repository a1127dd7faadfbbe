"""Tables: which column is the text, what the others become, and which rows can't be read."""

from pathlib import Path

import pytest

from actors.importers.recogniser import recognise
from actors.importers.records import FormatError, Ignored, Options
from tests.actors.importers.test_sources import read

BOOKS = """Title,Note,Date,Tags,Rating
Dune,"Read it again, slowly.
Take notes.",2026-03-01,books; sf,5
Emma,"She said ""no"".",5 March 2024,,4
,Lent to Ole,05/02/2026,,
Too long,one,2026-01-01,a,5,extra
,,,,
Ulysses,,2026-01-01,a,3
Short,Given away
"""


def written(file: Path, content: str, encoding: str = "utf-8") -> Path:
    file.write_bytes(content.encode(encoding))
    return file


def test_a_row_is_a_memory_of_its_text_title_date_tags_and_of_what_the_other_columns_say(tmp_path: Path) -> None:
    file = written(tmp_path / "books.csv", BOOKS)
    name, items, broken, skipped = read(file)
    assert name == "a table"
    assert [item["content"] for item in items] == [
        "Dune\n\nRead it again, slowly.\nTake notes.\n\nRating: 5",
        'Emma\n\nShe said "no".\n\nRating: 4',
        "Lent to Ole\n\nDate: 05/02/2026",
        "Short\n\nGiven away",
    ]
    assert [item.get("created_at") for item in items] == ["2026-03-01T00:00:00", "2024-03-05", None, None]
    assert (items[0]["tags"], items[0]["metadata"]) == (
        ["books", "sf"],
        {"source": "table", "title": "Dune", "Rating": "5"},
    )
    assert [(one.line, one.reason) for one in broken] == [(6, "6 values, and the table has 5 columns")]
    assert skipped == {"rows without text": 1}
    records = recognise(file, Options()).read()
    (ignored,) = (one for one in records if isinstance(one, Ignored))
    assert (ignored.line, ignored.reason) == (5, "Date '05/02/2026' names no day: it stays in the text")


def test_a_row_keeps_its_id_wherever_it_stands_and_a_changed_one_is_another_memory(tmp_path: Path) -> None:
    rows = ["text,stars", "a,1", "b,2"]
    before = [item["id"] for item in read(written(tmp_path / "one.csv", "\n".join(rows)))[1]]
    moved = [item["id"] for item in read(written(tmp_path / "two.csv", "\n".join([rows[0], rows[2], "a,9"])))[1]]
    assert moved[0] == before[1]
    assert moved[1] not in before


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("datum;Text\r\n2026-01-02;Küche\r\n", ["Küche\n\ndatum: 2026-01-02"]),
        ("\ufefftext\tsize\nhello, world\t3\n", ["hello, world\n\nsize: 3"]),
        ('text\nhello, world\n"quoted, too"\n', ["hello, world", "quoted, too"]),
        ("text|size|a, b\nhello, world|3|\n", ["hello, world\n\nsize: 3"]),
        ("sep=;\r\ntext;a,b,c\r\nhello;3\r\n", ["hello\n\na,b,c: 3"]),
        ("SEP=;\ntext;a,b,c\nhello;3\n", ["hello\n\na,b,c: 3"]),
        ('\ufeff"sep=;"\r\ntext;a,b,c\r\nhello;3\r\n', ["hello\n\na,b,c: 3"]),
        ("a,body,content\n1,2,3\n", ["3\n\na: 1\nbody: 2"]),
    ],
)
def test_the_separator_is_the_most_frequent_one_of_the_first_row(
    tmp_path: Path, content: str, texts: list[str]
) -> None:
    assert [item["content"] for item in read(written(tmp_path / "t.csv", content))[1]] == texts


def test_a_column_may_be_chosen_by_name(tmp_path: Path) -> None:
    file = written(tmp_path / "t.tsv", "question\tAnswer\nWhy?\tBecause.\n")
    assert [item["content"] for item in read(file, column="answer")[1]] == ["Because.\n\nquestion: Why?"]
    for column in (None, "reply", ""):
        with pytest.raises(FormatError, match=r"line 1: no column .* by --column, of these: 'question', 'Answer'"):
            read(file, column=column)


def test_a_column_of_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Kept.", "utf-8")
    for path in (tmp_path, tmp_path / "note.md"):
        with pytest.raises(FormatError, match="--column is for tables"):
            recognise(path, Options(column="text"))


def test_a_column_without_a_name_is_left_out_and_counted(tmp_path: Path) -> None:
    _, (item,), _, skipped = read(written(tmp_path / "t.csv", ",text,who\n17,Dune,Ole\n"))
    assert item["content"] == "Dune\n\nwho: Ole"
    assert item["metadata"] == {"source": "table", "who": "Ole"}
    assert skipped == {"columns without a name": 1}


def test_a_long_cell_is_cut_into_memories_and_its_neighbours_are_read(tmp_path: Path) -> None:
    words = "word " * 40_000
    _, items, broken, _ = read(written(tmp_path / "t.csv", f'text,n\nfirst,1\n"{words}\nmore",2\nlast,3\n'))
    assert [item["content"] for item in (items[0], items[-1])] == ["first\n\nn: 1", "last\n\nn: 3"]
    assert [item["metadata"].get("part") for item in items] == [None, 1, 2, 3, 4, None]
    assert broken == []


def test_metadata_holds_the_short_cells_and_the_text_holds_all(tmp_path: Path) -> None:
    long = "ü" * 10_000
    _, (item,), _, _ = read(written(tmp_path / "t.csv", f"text,title,biography,year\nDune,{long},{long},1965\n"))
    assert item["metadata"] == {"source": "table", "year": "1965"}
    assert item["content"] == f"{long}\n\nDune\n\nbiography: {long}\nyear: 1965"


def test_a_column_named_source_stands_beside_what_the_importer_says(tmp_path: Path) -> None:
    _, (item,), _, _ = read(written(tmp_path / "t.csv", "text,source,Source\nDune,Ole,a shelf\n"))
    assert item["metadata"] == {"source": "table", "stated_source": "Ole", "Source": "a shelf"}
    assert item["content"] == "Dune\n\nsource: Ole\nSource: a shelf"


@pytest.mark.parametrize("number", ["1612120112345", "1612120112", "20260301123045"])
def test_a_number_of_more_than_eight_digits_is_no_date(tmp_path: Path, number: str) -> None:
    file = written(tmp_path / "t.csv", f"text,created\na,{number}\nb,20260301T123045\n")
    _, items, _, _ = read(file)
    assert [item.get("created_at") for item in items] == [None, "2026-03-01T12:30:45"]
    assert items[0]["content"] == f"a\n\ncreated: {number}"


def test_a_quotation_that_is_wrong_is_named_with_its_line_and_the_other_rows_are_read(tmp_path: Path) -> None:
    _, items, broken, _ = read(written(tmp_path / "t.csv", 'text,n\na,1\n"b"c,2\nd,3\n"e,4\nf,5\n'))
    assert [item["content"] for item in items] == ["a\n\nn: 1", "d\n\nn: 3"]
    assert [(one.line, one.reason.partition(":")[0]) for one in broken] == [(3, "not a row"), (5, "not a row")]


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        ("text\na\nKüche\n", "latin-1", "line 3: not UTF-8"),
        ('"text\n', "utf-8", "line 1: no names of columns"),
        ("text,who,who\na,Ole,Ann\n", "utf-8", "line 1: 2 columns are named 'who'; give each a name of its own"),
        ("\n\n", "utf-8", "line 1: no column is named content, text"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_by_file_and_line(
    tmp_path: Path, content: str, encoding: str, words: str
) -> None:
    file = written(tmp_path / "t.csv", content, encoding)
    with pytest.raises(FormatError, match=words) as refused:
        read(file)
    assert str(file) in str(refused.value)
