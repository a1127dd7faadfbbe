"""Statements that look like corrections but for their subject, beside true corrections of the same kind."""

import pytest

from actors.text.statements.corrections import find_correction
from actors.text.statements.statement import read_statement

ALIKE = 0.85

OTHER_SUBJECTS = [
    ("My bike has 21 gears.", "My daughter's bike has 7 gears now."),
    ("My hamster is called Bo.", "Actually my cousin's hamster is called Rex."),
    ("His locker number is 214.", "Her locker number is now 377."),
    ("The heating in the workshop is set to 17 degrees.", "The heating in the chapel is now set to 21 degrees."),
    ("We use Ruby 3.1 in the ticket service.", "We now use Ruby 3.3 in the map service."),
    ("The licence for the drawing program costs 90 euros.", "The licence for the video editor now costs 240 euros."),
    ("Choir practice starts at six on Tuesdays.", "Choir practice now starts at eight on Thursdays."),
    ("The gate is locked at ten every Friday.", "The gate is now locked at midnight every Saturday."),
    ("The invoice template uses Arial.", "The letter template now uses Garamond."),
    ("Nora keeps 12 hens at the upper farm.", "Nora now keeps 20 hens at the lower farm."),
    ("Entry code of gate 2: 8814", "Entry code of gate 5: 3071"),
    ("Opening hours of the pottery studio: 9 to 5", "Opening hours of the print studio: 11 to 7"),
    ("The wifi password is tulip42.", "The guest wifi password is rose77."),
    ("Upload timeout is 120 seconds.", "Login upload timeout is 30 seconds."),
    ("The hive has 8 brood frames.", "The hive has 12 honey frames."),
    ("The team has six backend developers.", "The team now has two frontend developers."),
    ("The library is open on Sundays.", "The library café is closed on Sundays."),
    ("The library café is open on Sundays.", "The library is now closed on Sundays."),
    ("The museum is open until 6.", "The museum shop is open until 5."),
    ("The ferry costs 12 euros a day.", "The ferry parking costs 8 euros a day."),
    ("Nora's birthday is 12 May.", "Thursday quiz night with Nora is now every three weeks."),
    ("`max_jobs` defaults to 4 in the scheduler.", "`max_wait` defaults to 6 in the scheduler."),
    ("I take 2 tablets of iron with lunch.", "The nurse raised my zinc to 3 tablets."),
    ("Half-life of K11F at 70 degrees: 34 minutes.", "Double mutant K11F/D2A: half-life at 70 degrees 58 minutes."),
    (
        "Run K-11 of the fermenter started at 28 degrees.",
        "K-12 started at 26 degrees instead of 28, to slow the decay.",
    ),
    ("I bill Ada 85 euros an hour, Bo is fixed price.", "Invoice 2026-042 to Bo, 4,833 euros, sent today."),
    ("Nils is afraid of spiders.", "Nils is not afraid of heights."),
    ("We deploy with Ansible.", "Others deploy with Terraform instead of Ansible."),
    ("The server runs Debian.", "The staging server runs Ubuntu instead of Debian."),
    ("Lena drinks coffee.", "Her brother drinks tea instead of coffee."),
    ("The dog sleeps in the basket.", "At Anna's house the dog sleeps on the sofa instead of in the basket."),
    ("The box is blue.", "The lid of the box is red instead of blue."),
    ("Sam has toast for breakfast.", "In hotels Sam has eggs rather than toast."),
    ("The gym is at 5 Oak Dr. Towels are free.", "The gym is at 5 Oak Dr. Lockers are free."),
    ("We live on Main St. Cats are allowed in the house.", "We live on Main St. Dogs are allowed in the house."),
]
CORRECTIONS = [
    ("My bike has 21 gears.", "Actually my bike has 7 gears."),
    ("Petra's office is on the second floor.", "Petra's office is now on the fourth floor."),
    ("My allotment is in Ealing.", "My allotment is now in Barnet."),
    ("The spare key is at my aunt's flat.", "The spare key is now at my cousin's flat."),
    ("We use Ruby 3.1 in the ticket service.", "We now use Ruby 3.3 in the ticket service."),
    ("The licence for the drawing program costs 90 euros.", "The licence for the drawing program now costs 240 euros."),
    ("Choir practice starts at six on Tuesdays.", "Choir practice now starts at eight on Tuesdays."),
    ("Book club meets on Mondays.", "Book club now meets on Thursdays."),
    ("Mum's knee surgery is on Friday at eleven.", "Mum's knee surgery has been moved to Monday at two."),
    ("Our tax adviser is Ms Brandt.", "My tax adviser is Mr Yilmaz now."),
    ("The wifi password is tulip42.", "The new wifi password is rose77."),
    ("The rehearsal is at nine.", "The choir rehearsal has moved to ten."),
    ("The hive has 8 brood frames.", "The hive has 10 brood frames."),
    ("The team has six developers.", "The team now has eight backend developers."),
    ("The wall is one metre high.", "The wall is 1.40 metres high."),
    ("The library is open on Sundays.", "The library is closed on Sundays."),
    ("The sauna ticket costs 30 euros.", "The sauna ticket price is 35 euros."),
    ("The choir rehearsal is on Monday at 3.", "The choir rehearsal time is Monday at 4."),
    ("The greenhouse is at 19 degrees.", "The greenhouse usually is at 24 degrees."),
    ("I take 2 tablets of iron with lunch.", "The nurse raised my iron to 3 tablets."),
    ("`max_jobs` defaults to 4 in the scheduler.", "`max_jobs` defaults to 6 in the scheduler."),
    ("My back aches when I sit.", "My back is fine again when I sit now."),
    ("Mara lives in Oslo.", "Mara Lind lives in Bergen now."),
    ("H264 is the default codec.", "H265 is the default codec now."),
    ("PR-12 is blocked.", "PR12 is no longer blocked."),
    ("Our CI runs on Jenkins.", "After the migration our CI runs on Buildkite instead of Jenkins."),
    ("The garden is watered by Tim.", "Lotte waters the garden instead of Tim."),
    ("The hedge is cut in October.", "The gardener cuts the hedge in March instead of October."),
    ("The newsletter goes out every week.", "Marketing sends the newsletter every month instead of every week."),
    ("Coach of the under-12s: Marek", "The under-12s have a new coach: Selma instead of Marek."),
    ("The wedding is in June.", "My parents moved the wedding to July instead of June."),
    ("The team meeting is on Mondays at 9:30 in room 214.", "The team meeting moves to Tuesdays at 10:00."),
    (
        "The key of the shed is with Mr Adler on the top floor.",
        "The key is no longer with Mr Adler, who moved out. It's now with the Novaks on the first floor.",
    ),
]


def is_correction(earlier: str, later: str) -> bool:
    return find_correction(read_statement(earlier), read_statement(later), ALIKE) is not None


@pytest.mark.parametrize(("earlier", "later"), OTHER_SUBJECTS)
def test_a_statement_of_another_owner_place_or_day_corrects_nothing(earlier: str, later: str) -> None:
    assert not is_correction(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), CORRECTIONS)
def test_a_new_value_of_the_same_subject_is_a_correction(earlier: str, later: str) -> None:
    assert is_correction(earlier, later)
