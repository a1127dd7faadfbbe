"""Causal clauses: what sentences state, and what only looks like it."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.causes.clauses import (
    MAX_CLAUSES,
    MAX_READINGS,
    causal_clauses,
    is_statement,
    sentence_around,
    tells_event,
)
from tests.sampling import sampled


def stated(text: str) -> list[tuple[str, str, str]]:
    return [(one.connective, text[slice(*one.cause)], text[slice(*one.effect)]) for one in causal_clauses(text)]


@pytest.mark.parametrize(
    ("text", "connective", "cause", "effect"),
    [
        ("Because the pump failed, the cellar filled up.", "because", "the pump failed", "the cellar filled up"),
        ("The cellar filled up because the pump failed.", "because", "the pump failed", "The cellar filled up"),
        ("Since the key was lost, we changed the lock.", "since", "the key was lost", "we changed the lock"),
        ("We changed the lock since the key was lost.", "since", "the key was lost", "We changed the lock"),
        ("The dog couldn’t swim, so the boat’s back.", "so", "The dog couldn’t swim", "the boat’s back"),
        ("The lid was loose, so the milk turned sour.", "so", "The lid was loose", "the milk turned sour"),
        ("The heat wave led to dry wells.", "led to", "The heat wave", "dry wells"),
        ("Due to ice, the pass was shut.", "due to", "ice", "the pass was shut"),
        ("The delay was due to ice on the pass.", "was due to", "ice on the pass", "The delay"),
        ("A mouse caused the short circuit.", "caused", "A mouse", "the short circuit"),
        ("The fire was caused by a candle.", "was caused by", "a candle", "The fire"),
        ("The goat ate the map; therefore they got lost.", "therefore", "The goat ate the map", "they got lost"),
        ("The goat ate the map, which is why they got lost.", "which is why", "The goat ate the map", "they got lost"),
        ("The goat ate the map. As a result, they got lost.", "as a result", "The goat ate the map", "they got lost"),
        ("Thanks to the tailwind, the crew arrived early.", "thanks to", "the tailwind", "the crew arrived early"),
        ("The crew slept in as a result of the party.", "as a result of", "the party", "The crew slept in"),
        ("The frost in April resulted in a poor harvest.", "resulted in", "The frost in April", "a poor harvest"),
        ("The reason for the smell was a dead mouse.", "the reason", "a dead mouse", "the smell"),
        ("Ana: Well, the dog barked, so the baby woke up.", "so", "the dog barked", "the baby woke up"),
        ("The park closed in May, so the fair moved away.", "so", "The park closed in May", "the fair moved away"),
        ("The water supply caused the rash.", "caused", "The water supply", "the rash"),
        ("Leaving early meant that we sat down.", "meant that", "Leaving early", "we sat down"),
        ("Since the mill was shut, she had no wage.", "since", "the mill was shut", "she had no wage"),
        ("The reason the kiosk closed was a leak.", "the reason", "a leak", "the kiosk closed"),
        ("We walked home bc the tram was full.", "bc", "the tram was full", "We walked home"),
        ("picnic moved to Sunday b/c of the storm", "b/c of", "the storm", "picnic moved to Sunday"),
        ("The kiln stayed cold; reason: an empty tank", "reason", "an empty tank", "The kiln stayed cold"),
        ("Upload stalled - root cause: a full disk", "root cause", "a full disk", "Upload stalled"),
        ("A leak was the reason why the kiosk closed.", "was the reason why", "A leak", "the kiosk closed"),
        ("Due to a leak the kiosk stayed shut.", "due to", "a leak", "the kiosk stayed shut"),
        ("Dust contributed to the outage.", "contributed to", "Dust", "the outage"),
        ("The fire was blamed on a heater.", "was blamed on", "a heater", "The fire"),
        ("Given the low tide, the boats lay dry.", "given", "the low tide", "the boats lay dry"),
        ("The tap dripped. This led to a damp wall.", "led to", "The tap dripped", "a damp wall"),
        ("The tap dripped. On Monday, this caused a leak.", "this caused", "The tap dripped", "a leak"),
        ("The lift stopped. It was due to a worn rope.", "was due to", "a worn rope", "The lift stopped"),
        ("The alarm was triggered when a fuse blew.", "was triggered when", "a fuse blew", "The alarm"),
        ("From what Eva says, the cause of the smell was a mouse.", "the reason", "a mouse", "the smell"),
        ("We lost power on 3 Feb. 2024 due to ice.", "due to", "ice", "We lost power on 3 Feb. 2024"),
        ("The fuse was caused to blow; rust caused the leak.", "caused", "rust", "the leak"),
        ("The pump broke and because of that Ana left.", "because of that", "The pump broke", "Ana left"),
        ("The pump broke. Because of that Ana left.", "because of that", "The pump broke", "Ana left"),
        ("It froze over, because of that Oslo's tram stood.", "because of that", "It froze over", "Oslo's tram stood"),
        ("The well dried up; because of this nobody came.", "because of this", "The well dried up", "nobody came"),
        ("The well dried up. Because of this people left.", "because of this", "The well dried up", "people left"),
        ("The keg leaked; as a result of this Bo is grumpy.", "as a result of this", "The keg leaked", "Bo is grumpy"),
        ("The farm closed because of this drought.", "because of", "this drought", "The farm closed"),
        ("The cause of the riot was unemployment.", "the reason", "unemployment", "the riot"),
        ("The reason for the strike was unpaid overtime.", "the reason", "unpaid overtime", "the strike"),
        ("The root cause of the leak was cracked seals.", "the reason", "cracked seals", "the leak"),
        ("The cause of the row was unclear rules.", "the reason", "unclear rules", "the row"),
        ("The reason we met was Una.", "the reason", "Una", "we met"),
        ("The consequence of the ban was unpaid bills.", "the consequence", "the ban", "unpaid bills"),
        ("It was due to the frost that the figs died.", "it is because", "the frost", "the figs died"),
        ("The closure of the road led to the school.", "led to", "The closure of the road", "the school"),
        ("The road led to the post office closing.", "led to", "The road", "the post office closing"),
        ("The bridge led to the town's growth.", "led to", "The bridge", "the town's growth"),
        ("Because the ferry was late we slept on the pier.", "because", "the ferry was late", "we slept on the pier"),
        ("Because it hailed the regatta was called off.", "because", "it hailed", "the regatta was called off"),
        ("Because Ida missed the tram Olaf drove her.", "because", "Ida missed the tram", "Olaf drove her"),
        (
            "Since the winch jammed last night they lost a net.",
            "since",
            "the winch jammed last night",
            "they lost a net",
        ),
        ("Since the token had expired the job was skipped.", "since", "the token had expired", "the job was skipped"),
        ("Root cause of the blackout: two fuses were swapped.", "the reason", "two fuses were swapped", "the blackout"),
        ("The culprit behind the hum was a loose screw.", "the reason", "a loose screw", "the hum"),
        ("The bread was flat. Cause: stale yeast.", "cause", "stale yeast", "The bread was flat"),
        ("The bread was flat. The reason was stale yeast.", "the reason was", "stale yeast", "The bread was flat"),
        (
            "The bread was flat. That's because the yeast was old.",
            "that's because",
            "the yeast was old",
            "The bread was flat",
        ),
    ],
)
def test_a_connective_joins_a_cause_and_an_effect(text: str, connective: str, cause: str, effect: str) -> None:
    assert stated(text) == [(connective, cause, effect)]


@pytest.mark.parametrize(
    "text",
    [
        "Since 2019 the shop has sold tea.",
        "He has lived in Oslo since the spring of 1990.",
        "They have been friends since they met at school.",
        "A lot has happened since we last spoke.",
        "She spoke slowly so that everybody could follow.",
        "So far the roof holds.",
        "So we decided that the ferry stays in the harbour.",
        "So I told Noor that the bakery was closed.",
        "So it was clear that the boat needed a new keel.",
        "So there was a rule that forbids skateboards.",
        "So far the tests that failed were flaky.",
        "So Emre found a leak that soaks the wall.",
        "So many guests said that the soup was cold.",
        "The management approved the holiday.",
        "The strike started a week ago.",
        "The leak started the night before the fair.",
        "The pain started three hours later.",
        "The rain started falling.",
        "The strike started slowly.",
        "The queue moved this morning.",
        "The congregation built a chapel.",
        "Given the choice, Olaf takes the tram.",
        "I am so happy for you, so cool!",
        "Ben packed early, so he could sleep longer.",
        "What is the cause of this?",
        "Did the roof leak because of the storm?",
        "If the dam breaks, the valley floods because of it.",
        "She fights for a good cause.",
        "They moved to Kamloops, BC the year after.",
        "We piped the totals through bc the whole day.",
        "Copy the drafts to a/b/c the next time.",
        "The kiln stayed cold; reason: unknown",
        "He led the choir to the stage.",
        "Smoking can lead to cancer.",
        "The price did not lead to protests.",
        "He served in the Air Force in 1944.",
        "Thanks to everyone!",
        "The cause of the fire was unknown.",
        "The cause of the fire was never explained by the police.",
        "The cause of the fire was discussed in court.",
        "The cause of the fire was fixed quickly.",
        "The cause of the fire was understood.",
        "It was due to start at nine that day.",
        "He took the road, which led to the mill.",
        "",
        "…",
        "Don’t make me remember.",
        "Let us keep this kiosk limited to ice cream.",
        "Because she moved the old boxes.",
        "Because he broke the newly painted door.",
        "Since Monday the queue has been empty.",
        "Since it opened the café has had no guests.",
        "Because the key broke the door stayed shut.",
        "Because the knowledge that supports its claims is stored.",
        "Since I joined the team the builds are green.",
        "Since he moved here we meet every week.",
        "The bread was flat. The reason is not known.",
        "Root cause of the blackout: unknown.",
        "Root cause of the blackout: under investigation.",
        "Root cause of the blackout: could be a fuse.",
        "Reason for visit: chest pain",
        "The pump failed. Likely cause: a worn seal.",
        "The pump failed. The reason was probably rust.",
        "She raised 300 euros. The cause is the local hospice.",
        "Is the road wet? That's because it rained.",
        "Because we heard the road was blocked.",
        "Because she is the boss the team has.",
        "Since I moved to Ulm I gained five kilos.",
        "Since Ben left we lost two games.",
    ],
)
def test_what_only_looks_like_a_cause_is_none(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("text", "connective", "cause", "effect"),
    [
        ("The sleet brought the tram to a halt.", "brought", "The sleet", "brought the tram to a halt"),
        ("A worn belt has torn the jacket.", "torn", "A worn belt", "torn the jacket"),
        ("Hunger kept the puppy awake.", "kept", "Hunger", "kept the puppy awake"),
        ("Dropping the urn cost Livia her deposit.", "cost", "Dropping the urn", "cost Livia her deposit"),
        ("The overtime means Olaf can't pick up the twins.", "means", "The overtime", "Olaf can't pick up the twins"),
        ("The tide went out, which left the kayak stranded.", "left", "The tide went out", "left the kayak stranded"),
        ("A typo took down the booking site.", "took", "A typo", "took down the booking site"),
        ("A fuse blew, taking the shop offline.", "taking", "A fuse blew", "taking the shop offline"),
        ("The upgrade brought down search on all nodes.", "brought", "The upgrade", "brought down search on all nodes"),
        ("The river rose, flooding the campsite.", "flooding", "The river rose", "flooding the campsite"),
        ("The till froze, leaving it in a locked state.", "leaving", "The till froze", "leaving it in a locked state"),
        ("The site went down when a disk filled up.", "when", "a disk filled up", "The site went down"),
        ("The jam slipped. This made the cat curious.", "made", "The jam slipped", "the cat curious"),
        ("With the bakery gone, Asa learned to knead.", "with", "the bakery gone", "Asa learned to knead"),
        ("With no yeast the loaf stayed flat.", "with", "no yeast", "the loaf stayed flat"),
        ("Without a torch Emre couldn't read the dial.", "without", "Without a torch", "Emre couldn't read the dial"),
        ("The lecture was moved as the hall was damp.", "as", "the hall was damp", "The lecture was moved"),
        ("As nobody had a key, the cabin stayed dark.", "as", "nobody had a key", "the cabin stayed dark"),
        ("The pumps failed after the lightning strike.", "after", "the lightning strike", "The pumps failed"),
        ("After the recall the sales dropped by half.", "after", "the recall", "the sales dropped by half"),
        ("The gravy was so thick that the spoon stood.", "so … that", "The gravy was so thick", "the spoon stood"),
        ("Gustav was too hoarse to announce it.", "too … to", "Gustav was too hoarse", "to announce it"),
        ("Stung by a wasp, Noor dropped the tray.", "stung", "Stung by a wasp", "Noor dropped the tray"),
        ("The kiln being cold, the vase stayed wet.", "being", "The kiln being cold", "the vase stayed wet"),
        ("The net tore and the team therefore stopped.", "therefore", "The net tore", "the team therefore stopped"),
        ("The race was stopped for lack of wind.", "for", "lack of wind", "The race was stopped"),
        ("Now that the lift is out, we climb nine floors.", "now that", "the lift is out", "we climb nine floors"),
        ("The storm completely wrecked the jetty.", "wrecked", "The storm", "wrecked the jetty"),
        ("The water heater flooded the den.", "flooded", "The water heater", "flooded the den"),
        ("A hangover ruined the picnic.", "ruined", "A hangover", "ruined the picnic"),
        ("The elevators made tenants angry.", "made", "The elevators", "tenants angry"),
        ("Losing so many bees drove Una to sell up.", "drove", "Losing so many bees", "drove Una to sell up"),
        ("It was so wet and cold we could not rest.", "so … that", "It was so wet and cold", "we could not rest"),
        ("After the new dam the creek dried up.", "after", "the new dam", "the creek dried up"),
        ("The ferry was delayed by fog.", "by", "fog", "The ferry was delayed"),
        ("As the tide fell, the boats ran late.", "as", "the tide fell", "the boats ran late"),
        ("Following the leak, the museum closed.", "following", "the leak", "the museum closed"),
        ("The drought made imported hay scarce.", "made", "The drought", "imported hay scarce"),
        ("The recall created a backlog.", "created", "The recall", "a backlog"),
        ("The rumour started a run on sugar.", "started", "The rumour", "a run on sugar"),
        ("The spark started a fire.", "started", "The spark", "a fire"),
        ("The collapse left dozens of miners jobless.", "left", "The collapse", "left dozens of miners jobless"),
        ("The shortage meant longer queues.", "meant", "The shortage", "longer queues"),
        ("The failure shut down the mill.", "shut", "The failure", "shut down the mill"),
        ("The noise put strain on the ears.", "put", "The noise", "put strain on the ears"),
        ("The defeat emboldened the rebels.", "emboldened", "The defeat", "emboldened the rebels"),
        ("The closure of the pass rerouted cars.", "rerouted", "The closure of the pass", "rerouted cars"),
        ("The cancelled merger stranded staff.", "stranded", "The cancelled merger", "stranded staff"),
        ("Gluing the oar saved us a fine.", "saved", "Gluing the oar", "saved us a fine"),
        ("My fixing the oar upset Una.", "upset", "My fixing the oar", "upset Una"),
        ("Not seeing Una upset Emre.", "upset", "Not seeing Una", "upset Emre"),
        ("The cracked dial misled Emre.", "misled", "The cracked dial", "misled Emre"),
        ("The strike held the parcels up.", "held", "The strike", "held the parcels up"),
        ("The duel was cut short by hail.", "by", "hail", "The duel was cut short"),
        ("The prize earned her a trip to Oslo.", "earned", "The prize", "earned her a trip to Oslo"),
        ("The lease meant selling the kiln.", "meant", "The lease", "selling the kiln"),
        ("It was the fog that delayed the ferry.", "delayed", "the fog", "delayed the ferry"),
        ("The pump ran all night and emptied the pond.", "emptied", "The pump ran all night", "emptied the pond"),
        ("The till was off, meaning Una paid cash.", "meaning", "The till was off", "Una paid cash"),
        ("Fearing hail, Asa covered the vines.", "fearing", "Fearing hail", "Asa covered the vines"),
        ("The thaw was what made the pond unsafe.", "made", "The thaw", "the pond unsafe"),
        ("The glue rendered the pump useless.", "rendered", "The glue", "the pump useless"),
        ("The lane was made impassable by mud.", "by", "mud", "The lane was made impassable"),
        ("The mast broke. The result was a week in port.", "the result was", "The mast broke", "a week in port"),
        ("The rain helped the seedlings recover.", "helped", "The rain", "helped the seedlings recover"),
        ("Waking too late, Bo missed the tide.", "waking", "Waking too late", "Bo missed the tide"),
        ("When the hinge broke the gate fell off.", "when", "the hinge broke", "the gate fell off"),
        ("With Una as coach, they won the cup.", "with", "Una as coach", "they won the cup"),
        ("Without glue, Asa nailed the frame.", "without", "Without glue", "Asa nailed the frame"),
        ("Because it hailed we moved the fair.", "because", "it hailed", "we moved the fair"),
        ("It was due to hail that the fair moved.", "it is because", "hail", "the fair moved"),
        ("Out of boredom, Bo oiled the bell.", "out of", "boredom", "Bo oiled the bell"),
        ("Thinking that Bo slept, Una left.", "thinking", "Thinking that Bo slept", "Una left"),
        ("The keg leaked. The cellar reeked as a result.", "as a result", "The keg leaked", "The cellar reeked"),
        ("The keg leaked. Result: beer on the floor.", "result", "The keg leaked", "beer on the floor"),
        ("The keg leaked; no wonder Bo is grumpy.", "no wonder", "The keg leaked", "Bo is grumpy"),
        ("The consequence of the leak was a dry party.", "the consequence", "the leak", "a dry party"),
        ("The keg is warm, the reason being a dead fridge.", "the reason being", "a dead fridge", "The keg is warm"),
        ("Mrs. Osei fell ill, so Dr. Brandt came.", "so", "Mrs. Osei fell ill", "Dr. Brandt came"),
        ("The wet floor made Mr. Lindqvist fall.", "made", "The wet floor", "Mr. Lindqvist fall"),
        ("A wet fuse, so no music in the barn.", "so", "A wet fuse", "no music in the barn"),
    ],
)
def test_causes_are_read_in_ordinary_wording(text: str, connective: str, cause: str, effect: str) -> None:
    assert stated(text) == [(connective, cause, effect)]


@pytest.mark.parametrize(
    "text",
    [
        "Hanne closed the shutters.",
        "She broke two plates at the wedding.",
        "The committee delayed the vote.",
        "My grandfather kept his stamps in a tin.",
        "The loop makes forty loaves.",
        "The kettle broke.",
        "With a sigh he folded the map.",
        "Nadia crossed the yard, breaking a twig.",
        "He got up early, taking the bins out.",
        "The new index could speed up the search, reducing the load.",
        "We experienced reduced traffic in June.",
        "The alarm was triggered during a drill.",
        "The parcel made it through customs.",
        "The vendor made it clear that the pump is not for winter.",
        "The board have made it very plain that the pool closes.",
        "On Friday, this resulted in a delay.",
        "The bakery closed when we moved to Gouda.",
        "With his eyes closed, Bo hummed.",
        "With her cousin, Ida rowed to the island.",
        "Without a word he left the room.",
        "As a boy, Lars sang in a choir.",
        "As the guests walked in, the band played.",
        "The score is known as the first of its kind.",
        "He is as tall as his father was.",
        "After dinner the lights were dimmed.",
        "After the parade we ate waffles.",
        "We are so glad that the vet had time.",
        "The recipe was so that anyone could follow it.",
        "It is never too late to learn.",
        "Carved by monks, the door still opens.",
        "If the frost ruins the figs, we buy jam.",
        "The storm might delay the ferry.",
        "Thanks for being so patient with the twins.",
        "Your letter means a lot.",
        "Please check that the lower hinge works.",
        "The storm almost destroyed the barn.",
        "The dog nearly broke the vase.",
        "The heat hardly warped the rails.",
        "The heat probably warped the rails.",
        "No frost ruined the seedlings.",
        "Neither rain nor snow stopped the train.",
        "The rumour that the frost killed the roses is false.",
        "Left in the fridge, the dough rises slowly.",
        "Lost in 1945, the painting was found in 2001.",
        "Stuck to the door, a note says hello.",
        "Low in fat, the yoghurt is popular.",
        "After the bakery the road became narrow.",
        "Once upon a time a king lost his crown.",
        "Following the river, we had to cross a bridge.",
        "I told her so and they can come.",
        "My cat broke the vase.",
        "The horse kept us waiting.",
        "The seller raised the price.",
        "The airline delayed the flight.",
        "The startup raised the money.",
        "Last year made the firm rich.",
        "The storm very nearly destroyed the barn.",
        "The delay was possibly caused by ice.",
        "The ice allegedly led to a delay.",
        "It is false that the drought emptied the reservoir.",
        "The claim that smoking led to the fire was withdrawn.",
        "None of the storms damaged the dyke.",
        "Maybe the frost killed the figs.",
        "The puppies broke the lamp.",
        "A sculptor split the stone.",
        "The brewery closed the pub.",
        "The 1990s changed the town.",
        "Flooded in May 1953, the village was rebuilt.",
        "He got lost following the coast.",
        "The vote was delayed by two years.",
        "The paper was stained by a painter.",
        "The botanist named the rose after her mother.",
        "The pool-keeper wears a white suit.",
        "As the guests sat down, the choir sang.",
        "The discussion covered the budget.",
        "The department emboldened the rebels.",
        "No defeat emboldened the rebels.",
        "The discovery might embolden the rebels.",
        "The bank lowered its fees so that more people would join.",
        "The server returned the page.",
        "The bus picked up the twins.",
        "Return ignored lines.",
        "The path leads to the old mill.",
        "Go to settings → privacy.",
        "Open the settings page → choose the privacy tab.",
        "old name → new name",
        "Jan Kowalski → new team lead.",
        "src/main.py → build folder then",
        "Bo was sued for two million euros.",
        "Bo was arrested for the third time.",
        "Bo was suspended for the rest of the season.",
        "He collapsed from his chair.",
        "Bo is blind from the left eye.",
        "The fence shook from the left.",
        "The dog was left alone by the road.",
        "Thinking back, it was a good year.",
        "The software lets users in.",
        "When the bell rings, the pupils line up.",
        "Knowing Tom, he is late again.",
        "Feeling the sun is lovely, but it is early.",
        "Keep being kind, you are a gem.",
        "During her shift, Una dozed and damaged a pier.",
        "Things calm down a bit in June.",
        "A stretch every two hours is fine.",
        "The crates were brought right to the door.",
        "With Ida as my guide I toured the town.",
        "Not far from the inn, we met Asa.",
        "He went home and closed the shutters.",
        "Bo was banned for three years.",
        "Bo died on the way back from fishing.",
        "The cause of the poem's fame is discussed in chapter three.",
        "Smoke drifted past, and reduced prices were on show.",
        "The paper explains why glass is brittle.",
        "It was in May that we met.",
    ],
)
def test_acts_manners_times_and_comparisons_are_no_causes(text: str) -> None:
    assert stated(text) == []


def test_a_text_full_of_ordinary_wording_yields_a_few_clauses() -> None:
    text = " ".join(f"The flood ruined barn {number}." for number in range(40))
    assert len(causal_clauses(text)) == MAX_READINGS


def test_a_chain_in_one_sentence_has_a_clause_for_each_link() -> None:
    assert stated("Because the dyke broke, the fields flooded, so the cows were moved.") == [
        ("because", "the dyke broke", "the fields flooded"),
        ("so", "the fields flooded", "the cows were moved"),
    ]


@given(st.text(max_size=300))
def test_spans_lie_within_any_text(text: str) -> None:
    found = causal_clauses(text)
    assert len(found) <= MAX_CLAUSES
    for one in found:
        for start, end in (one.cause, one.effect):
            assert 0 <= start < end <= len(text)
            assert text[start:end] in sentence_around(text, (start, end))


@sampled(
    "parts",
    [
        ("because ", "a, "),
        (", so it was ", "x"),
        ("since ", "the "),
        ("the reason for ", "x is "),
        ("a b, ", "which "),
        ("", "cost the x, so a a a. "),
        ("", "without a such a a with the. "),
        ("", "as the after the being ruined. "),
        ("", "the rumour that a a almost ruined the x. "),
        ("after the ", "last a bakery 19 "),
        ("", "so many a that was delayed by a. "),
        ("so ", "many a "),
        ("", "the loss ruffled the "),
        ("", "was delayed by the x was "),
        ("", "the x made a b c of the half of the "),
        ("", "a was hoarse from a, to the a of "),
        ("", "it was the a that a ruined. "),
        ("a b → ", "c d → "),
        ("", "It was due to a that "),
        ("", "because of that A b "),
        ("", "the cause of a was unknown b. "),
        ("", "my a the being was held by. "),
        ("a", ", so that a b c "),
    ],
)
def test_long_texts_take_time_in_proportion_to_their_length(parts: tuple[str, str]) -> None:
    """Four times the length takes sixteen times as long with a pattern that backtracks from each of its beginnings."""

    def seconds(count: int) -> float:
        text = parts[0] + parts[1] * count
        began = process_time()
        assert len(causal_clauses(text)) <= MAX_CLAUSES
        return process_time() - began

    shorter, longer = (min(seconds(count) for _ in range(3)) for count in (500, 2_000))
    assert longer < 10 * max(shorter, 0.005)


def test_a_sentence_full_of_arrows_takes_no_longer_than_one_of_words() -> None:
    def seconds(word: str) -> float:
        text = (f"A {word} b " * 90 + ".\n") * 10
        began = process_time()
        causal_clauses(text)
        return process_time() - began

    words, arrows = (min(seconds(word) for _ in range(3)) for word in ("x", "→"))
    assert arrows < 5 * max(words, 0.005)


def test_what_is_too_long_for_a_sentence_is_no_cause_of_the_next_one() -> None:
    chain = "The rain " + " ".join(f"led to flood{number}" for number in range(3_000))
    assert causal_clauses(f"{chain}. Therefore the road closed early.") == ()


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("The lake froze over.", True),
        ("The lake has frozen over.", True),
        ("The lake is rising.", True),
        ("The key is not in the drawer.", True),
        ("Lakes are deep.", False),
        ("The lake has ten islands.", False),
        ("Apricots are picked in July.", False),
        ("The bed stands in the shed.", False),
        ("The lake doesn’t freeze any more.", True),
    ],
)
def test_an_event_is_told_in_the_past_or_going_on(text: str, *, event: bool) -> None:
    assert tells_event(text) is event


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Tom wanted to borrow a ladder.", True),
        ("Did Tom borrow a ladder?", False),
        ("[image: a photo of a ladder]", False),
        ("A ladder", False),
        ("Tom borrowed a ladder. He returned it on Monday.", False),
    ],
)
def test_a_statement_is_one_plain_sentence(text: str, *, plain: bool) -> None:
    assert is_statement(text) is plain
