"""A finished task is found only where the verb and the object agree with what was open."""

import pytest

from actors.text.statements.labels import find_correction_in

ALIKE = 0.8


def is_done(earlier: str, later: str) -> bool:
    return find_correction_in(earlier, later, None, ALIKE) is not None


@pytest.mark.parametrize(
    ("open_task", "report"),
    [
        ("TODO: paint the fence of the kindergarten", "The fence of the kindergarten is painted."),
        ("TODO: paint the fence of the kindergarten", "Petra has painted the kindergarten fence."),
        ("TODO: paint the fence of the kindergarten", "We painted the fence of the kindergarten on Friday."),
        ("Open: export of the member list", "The export of the member list is implemented and documented."),
        ("Next: write a parser for the bank statements", "The parser for the bank statements is finished."),
        ("Open: export of the member list", "Done: export of the member list."),
        ("Blocked: the roof waits for the scaffold from Holzer.", "The scaffold from Holzer has arrived."),
        ("We are still waiting for the quote from the plumber.", "The plumber sent the quote yesterday."),
        ("The permit for the street fair is not there yet.", "The permit for the street fair came this morning."),
        ("The lease of the garage is not signed yet.", "The lease of the garage is signed."),
        ("The hall is booked; the band is not confirmed yet.", "The band is confirmed."),
        ("The passport of Bo has to be renewed; it is still missing.", "Bo's passport is renewed and here."),
        ("We still need to return the drill to Omar.", "The drill has been returned to Omar."),
    ],
)
def test_a_finished_task_is_found(open_task: str, report: str) -> None:
    assert is_done(open_task, report)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("TODO: paint the fence of the kindergarten", "The fence of the school is painted."),
        ("TODO: paint the fence of the kindergarten", "The gate of the kindergarten is painted."),
        ("TODO: paint the fence of the kindergarten", "The fence of the kindergarten is half painted."),
        ("TODO: paint the fence of the kindergarten", "The fence of the kindergarten will be painted."),
        ("TODO: paint the fence of the kindergarten", "Once the fence of the kindergarten is painted, we celebrate."),
        ("TODO: paint the fence of the kindergarten", "Is the fence of the kindergarten painted?"),
        ("TODO: paint the fence of the kindergarten", "TODO: the fence of the kindergarten is painted badly."),
        ("We still need to sign the lease.", "The lease needs to be signed."),
        ("Pending: signature of the lease", "The lease is ready for signature."),
        ("The hall is booked; the band is not confirmed yet.", "The hall is confirmed."),
        ("The hall is booked, the band is not confirmed yet.", "The hall is confirmed."),
        ("TODO: document the billing importer", "The billing importer is finished."),
        ("TODO: fix bug 311 in the parser", "Bug 312 in the parser is fixed."),
        ("Open: export of the member list", "The import of the member list is implemented."),
        ("TODO: book the hall; order the cake", "The hall is booked."),
        ("TODO: book the hall and the band", "The hall is booked."),
        ("Blocked: the roof waits for the scaffold from Holzer.", "The roof tiles from Holzer have arrived."),
        ("We are still waiting for the quote from the plumber.", "The plumber sent the invoice yesterday."),
        ("The bus waits for the last train.", "The last train has arrived."),
        ("The fence of the kindergarten is green.", "The fence of the kindergarten is painted."),
    ],
)
def test_another_task_stays_open(earlier: str, later: str) -> None:
    assert not is_done(earlier, later)


def test_the_evidence_is_the_label_and_the_verb() -> None:
    earlier, later = "Open: export of the member list", "The export of the member list is implemented."
    found = find_correction_in(earlier, later, None, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert (found.rule, earlier[slice(*found.was)], later[slice(*found.now)]) == ("state", "Open: ", "implemented")
