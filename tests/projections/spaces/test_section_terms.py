"""The terms of numbered headings, and of the sections that a question names."""

import pytest

from projections.spaces.section_terms import asked_sections, heading_terms, without_sections


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Harbour rules › Berths › § 6 Night moorings\n\nb) boats without a light", ["§section 6"]),
        ("# Harbour rules\n\n### § 4a Rest\n\nAs § 9 says.", ["§section 4a"]),
        ("## [2.1.0] - 2024-05-03\n- Faster", ["§ 2.1.0"]),
        ("14.0.1 (2023-11-28)\n===================\nA patch", ["§ 14.0.1"]),
        ("## 4.2. Setup\n\n## 4.3) Use", ["§ 4.2", "§ 4.3"]),
        ("# ADR-0007: Use a queue", ["§adr 7"]),
        ("## §7 Rest\n\n## §\xa08 Noise\n\n## Art.9 Fees", ["§section 7", "§section 8", "§section 9"]),
        ("man-db 2.11.2 (8 January 2023)\n===\n\n## log4j v2.17.1", ["§ 2.11.2", "§ 2.17.1"]),
        ("## Sprint 12", ["§sprint 12"]),
        ("## Appendix B: tables\n### Part IV", ["§appendix b", "§part iv"]),
        ("## A gentle start\n## Notes", []),
        ("See section 4.2 and § 9.", []),
    ],
)
def test_numbered_headings_have_a_term_and_references_have_none(text: str, terms: list[str]) -> None:
    assert list(heading_terms(text)) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What does section 4.2 say?", ("§ 4.2",)),
        ("§ 4a", ("§section 4a", "§ 4a")),
        ("What do §7 and §\xa08 say?", ("§section 7", "§ 7", "§section 8", "§ 8")),
        ("Art.9", ("§section 9", "§ 9")),
        ("What changed in 2.1.0?", ("§ 2.1.0",)),
        ("ADR-0007", ("§adr 7", "§ 7")),
        ("Kapitel 3", ("§chapter 3", "§ 3")),
        ("sprint 12", ("§sprint 12",)),
        ("What is in Appendix B?", ("§appendix b", "§ b")),
        ("the part I like", ()),
        ("Ready for Phase 2. What is the first step?", ()),
        ("at 10:30", ()),
    ],
)
def test_a_question_names_a_section_by_a_word_and_its_number_or_by_a_number_of_parts(
    query: str, terms: tuple[str, ...]
) -> None:
    assert asked_sections(query) == terms


def test_what_else_a_question_says_is_left() -> None:
    assert without_sections("What does section 4.2 of the lease say?").split() == "What does of the lease say?".split()
