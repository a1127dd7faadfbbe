"""Corrections that name the former value beside the new one."""

import pytest

from actors.text.statements.corrections import find_correction
from actors.text.statements.exchanges import find_exchange
from actors.text.statements.statement import read_statement

ALIKE = 0.6
"""Similarity in E1 of two statements that share a value and little else."""


@pytest.mark.parametrize(
    ("earlier", "later", "now"),
    [
        ("Invoices are printed on the Brother upstairs.", "We replaced the Brother by a Kyocera.", "Kyocera"),
        ("Our choir rehearses in St Anne's hall.", "We moved from St Anne's to the Corn Exchange.", "Corn Exchange"),
        ("Translations will be paid through Wise.", "Dropped Wise for Revolut on translations.", "Revolut"),
        (
            "Dr Hale put me on cetirizine for the hay fever.",
            "Dr Hale swapped cetirizine for fexofenadine.",
            "fexofenadine",
        ),
        ("We picked Jenkins for the nightly builds.", "Nightly builds went to Buildkite from Jenkins.", "Buildkite"),
        (
            "The tombola money goes to the hospice.",
            "Tombola money goes to the lifeboat rather than the hospice.",
            "lifeboat",
        ),
        ("The parser is written in Perl.", "In March we switched from Perl to Rust.", "Rust"),
    ],
)
def test_a_value_that_the_later_text_names_as_replaced_is_corrected(earlier: str, later: str, now: str) -> None:
    found = find_correction(read_statement(earlier), read_statement(later), ALIKE)
    assert found is not None
    assert found.now is not None
    assert later[slice(*found.now)] == now


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # It has not come about.
        ("Our builds run on Jenkins.", "We might switch from Jenkins to Buildkite."),
        ("Our builds run on Jenkins.", "Priya wants to move us from Jenkins to Buildkite."),
        ("Our builds run on Jenkins.", "We haven't switched from Jenkins to Buildkite."),
        # The former value is the subject of the earlier statement, or belongs to an event.
        ("Jenkins needs a new disk.", "We switched from Jenkins to Buildkite."),
        ("The deploy failed on Jenkins last night.", "We switched from Jenkins to Buildkite."),
        # Somebody else.
        ("Lena lives in Bremen.", "Ben moved from Bremen to Kiel."),
        ("Lena lives in Bremen.", "They moved from Bremen to Kiel."),
        # The earlier statement gives the new value too.
        ("Reports are saved as PDF and SVG.", "Reports: SVG instead of PDF where a plot is alone."),
        # Another value.
        ("The export is a CSV file.", "The import takes Parquet instead of JSON."),
    ],
)
def test_what_is_not_replaced_stays(earlier: str, later: str) -> None:
    assert find_exchange(read_statement(earlier), read_statement(later)) is None
