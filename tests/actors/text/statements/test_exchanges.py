"""Corrections that name the former value beside the new one."""

import pytest

from actors.text.statements.corrections import find_correction
from actors.text.statements.exchanges import find_exchange
from actors.text.statements.statement import read_statement

ALIKE = 0.6
"""Similarity in E1 of two statements that share a value and little else."""
JENKINS = "Our builds run on Jenkins."


@pytest.mark.parametrize(
    ("earlier", "later", "now"),
    [
        (JENKINS, "A month ago we switched from Jenkins to Buildkite.", "Buildkite"),
        (JENKINS, "Last month we migrated over the weekend from Jenkins to Buildkite.", None),
        (JENKINS, "The builds moved over from Jenkins to Buildkite.", "Buildkite"),
        ("Invoices are printed on the Brother upstairs.", "We replaced the Brother by a Kyocera.", "Kyocera"),
        ("Our choir rehearses in St Anne's hall.", "We moved from St Anne's to the Corn Exchange.", "Corn Exchange"),
        ("Translations will be paid through Wise.", "Dropped Wise in favour of Revolut.", "Revolut"),
        ("Dr Hale put me on cetirizine.", "Dr Hale swapped cetirizine for fexofenadine.", "fexofenadine"),
        ("We picked Jenkins for the nightly builds.", "I ditched Jenkins for Buildkite.", "Buildkite"),
        ("The service is written in Node.js.", "We've switched from Node.js to Deno.", "Deno"),
        ("Backups go to S3.", "We dropped S3 for Wasabi.", "Wasabi"),
        ("The retro is on Tuesday.", "We moved the retro from Tuesday to Thursday.", "Thursday"),
    ],
)
def test_a_value_that_the_later_text_names_as_replaced_is_corrected(earlier: str, later: str, now: str | None) -> None:
    found = find_correction(read_statement(earlier), read_statement(later), ALIKE)
    said = found and found.now and later[slice(*found.now)]
    assert said == now


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # It has not come about, or not for good.
        (JENKINS, "We might have switched from Jenkins to Buildkite."),
        (JENKINS, "Priya wants to move us from Jenkins to Buildkite."),
        (JENKINS, "We haven't switched from Jenkins to Buildkite."),
        (JENKINS, "We decided against moving from Jenkins to Buildkite."),
        (JENKINS, "Idea: switch from Jenkins to Buildkite."),
        (JENKINS, "We almost switched from Jenkins to Buildkite."),
        (JENKINS, "We switched from Jenkins to Buildkite and back again."),
        # Somebody or something else, or a part.
        ("I work at Siemens.", "Ravi dropped Siemens for Bosch."),
        ("Lena lives in Bremen.", "They moved from Bremen to Kiel."),
        ("The data arrives as CSV.", "A job changed the copies from CSV to Parquet."),
        ("The hot path is written in Go.", "We moved one test from Go to Rust."),
        # The former value is the subject of the earlier statement, or belongs to an event.
        ("Jenkins needs a new disk.", "We switched from Jenkins to Buildkite."),
        ("The deploy failed on Jenkins last night.", "We switched from Jenkins to Buildkite."),
        # No new value, or one that the earlier statement gives too.
        ("I take vitamin D.", "I dropped vitamin D for two months."),
        ("We deploy with Helm.", "We dropped Helm for staging."),
        ("Reports are saved as PDF and SVG.", "We dropped PDF for SVG."),
        # Another subject.
        ("My dog eats Purina.", "My sister's dog dropped Purina for Acana."),
        ("We drink tea.", "We swapped tea for ale at the fair."),
    ],
)
def test_what_is_not_replaced_stays(earlier: str, later: str) -> None:
    assert find_exchange(read_statement(earlier), read_statement(later)) is None
