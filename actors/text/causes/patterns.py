"""The patterns of English by which sentences state causes and effects, and those that look alike and state none."""

import re
from typing import Final

from actors.text.causes.words import NAME, any_of

SENTENCE: Final = re.compile(
    r"\S(?:[^.!?\n]|[.!?](?=[^\s\"'”)])|(?<=\d (?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec))\.(?= \d)|"
    r"(?:(?<=\bMr)|(?<=\bMs)|(?<=\bDr)|(?<=\bSt)|(?<=\bMrs)|(?<=\bProf)|(?<=\be\.g)|(?<=\bi\.e)|(?<=\bvs))\.(?= \w))*"
    r"[.!?]*"
)
"""No point ends it within a number or a name, after an abbreviation, or in "3 Jan. 2020"."""
_ROOT_CAUSE: Final = r"\s*(?:the )?root cause (?:for|of|behind) "
_CAUSE_LABEL: Final = r"(?:the )?(?:root |main |real |actual )?(?:cause|reason)"
_CAUSE_BEHIND: Final = rf"[,;–—-] {_CAUSE_LABEL}:"
"""As in "The build is red; reason: a stale cache"."""
LABEL: Final = re.compile(rf"(?!{_ROOT_CAUSE}|[^:\n]{{1,48}}{_CAUSE_BEHIND})[^:.,!?\n]{{1,48}}: ", re.IGNORECASE)
"""A speaker or a title before the text."""
POSSESSIVE: Final = r"(?:my|our|his|her|their|its)"
POSSESSED: Final = re.compile(rf"\s+{POSSESSIVE}\s", re.IGNORECASE)
BE: Final = r"(?:is|are|was|were|be|been|being|'s)"
UNREAL: Final = (
    r"(?:almost|nearly|hardly|barely|scarcely|rarely|seldom|probably|possibly|perhaps|maybe|presumably|allegedly|"
    r"supposedly|reportedly|apparently|seemingly|theoretically|hypothetically|virtually)"
)
"""Adverbs of what did not happen, or is only guessed."""
NO_ADVERB: Final = (
    r"(?:early|supply|family|daily|weekly|monthly|yearly|costly|elderly|friendly|reply|rally|ally|assembly|anomaly|july|"
    r"italy|bully|jelly|belly|lily|fly|lonely|lovely|deadly|only|ugly|silly)"
)
"""Adjectives and nouns in -ly."""
ADVERB: Final = (
    rf"(?:(?!(?:{UNREAL}|{NO_ADVERB})\b)\w+ly |also |then |soon |again |at last |in turn |in part |mostly )?"
)
IRREGULAR: Final = (
    r"came|went|took|got|made|fell|broke|ran|left|lost|found|began|became|grew|kept|met|paid|rose|said|sat|saw|sent|"
    r"sold|spent|stood|stuck|told|thought|won|wrote|blew|drew|drove|flew|froze|gave|knew|rang|sank|spoke|stole|swam|"
    r"threw|wore|bought|brought|built|woke|ate|drank|sang|rode|shook|tore|bit|dug|hid|wept|swept|struck|hung|lay|lit|put|"
    r"taught|swore|fled|fed|chose|forgot|slid|shot|spun|caught|felt|fought|heard|held|led|lent|meant|slept|quit|burst|"
    r"withdrew|misled|understood|bled|clung|crept|dealt|flung|knelt|leapt|learnt|overcame|overran|overslept|shone|shrank|"
    r"sought|spilt|sped|sprang|stank|stung|swung|undid|undertook|upheld|withheld|withstood|forbade"
)
"""Irregular verbs in the past, which look like no other form."""
FINITE: Final = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|can|could|will|would|may|might|must|should|wo|ca|"
    rf"ai|\w+(?:n't|'s|'re|'ve|'d|'ll)|[a-z]{{2,}}ed|[a-z]{{3,}}s|{IRREGULAR}|read|set|shut|cut|hit|hurt|let|spread|split|cost|"
    r"burnt|laid|need|want|know|think|like|love|feel|live|work|get|go|take|make)\b",
    re.IGNORECASE,
)
"""Forms that are mostly finite verbs: a clause has one."""
_AFTER_THIS: Final = (
    rf"(?:(?:i|we|you|he|she|they|it|this|these|the|an?|nobody|everybody|everyone|people|{POSSESSIVE})\b|"
    rf"{NAME}\s(?:\w+\s)?{FINITE.pattern})"
)
"""Begins a clause after "because of this", which stands for a sentence there, and describes no noun."""
_BECAUSE_WORD: Final = (
    r"(?:because|(?<!/)(?<!the )(?<!to )(?<!in )(?<!via )(?<!with )(?<!through )(?<!using )(?-i:bc|b/c)"
    rf"(?= (?:of|i|we|you|s?he|they|it|its|the|an?|this|no|{POSSESSIVE})\b))"
)
"""Also as notes write it. "bc" may be a calculator too, "BC" a province."""
NOMINAL: Final = (
    rf"(?:{_BECAUSE_WORD} of|as a (?:direct |natural )?(?:result|consequence) of)(?! (?:this|that|it) {_AFTER_THIS})|"
    r"due to|owing to|thanks to|on account of|"
    r"in (?:consequence|response) to|in consequence of|in the wake of|by reason of|"
    r"in (?:light|view) of(?! the fact)|what with|through(?= (?:lack|want|neglect|carelessness|inattention)\b)|"
    r"out of(?= (?:sheer |pure )?(?:boredom|curiosity|spite|necessity|desperation|pity|anger|shame|jealousy|"
    r"frustration|fear|concern|caution|loneliness)\b)"
)
CLAUSAL: Final = (
    rf"{_BECAUSE_WORD}|given that|now that|seeing (?:that|as)|in view of the fact that|due to the fact that|"
    r"owing to the fact that|thanks to the fact that|on account of the fact that|for the reason that|inasmuch as"
)
FORWARD_VERB: Final = (
    r"(?:lead|leads|led|leading|contributes?|contributed|contributing) to|culminate[sd]? in|"
    r"(?:paved|paves|paving) the way for|(?:causes|caused|causing)(?! (?:of|by)\b)|(?:results?|resulted|resulting) in|"
    r"(?:brings?|brought|bringing) about|(?:gives?|gave|giving) rise to|"
    r"(?:triggered|triggering|provoked|provoking|prompted|prompting|forced|forcing)(?! by\b)|"
    r"(?:means?|meant|meaning) that|(?:is|was) why(?= )|"
    r"ma(?:de|kes?|king)(?= (?:it|me|him|her|us|them|everyone|everybody|people) )"
    r"(?! it (?:in|into|to|through|out|back|past|up|down|home|here|there|(?:\w+ )?(?:clear|plain|known|explicit))\b)|"
    r"(?:is|was|are|were) (?:the (?:\w+ )?(?:cause of|reason for|reason why|reason that)|(?:responsible|to blame) for|"
    rf"the reason(?= (?:the|{POSSESSIVE}|i|we|he|she|they|it)\b))"
)
BACKWARD_VERB: Final = (
    rf"(?:{BE} )?{ADVERB}(?:caused|triggered|provoked|prompted|brought about|produced|set off) by|"
    rf"{BE} {ADVERB}(?:caused|triggered|prompted|set off) when|"
    r"(?:result|results|resulted|resulting|stem|stems|stemmed|stemming|arise|arises|arose) from|"
    rf"{BE} {ADVERB}(?:due to|owing to|(?:the|a) (?:direct )?(?:result|consequence) of|"
    rf"attributed to|attributable to|blamed on|down to)|{BE} because(?: of)?|"
    r", (?:the|one|another) (?:\w+ )?reason (?:being|is|was)(?: that)?|(?:follows|followed) from"
)
VERBAL: Final = re.compile(BACKWARD_VERB, re.IGNORECASE)
CONSEQUENTLY: Final = (
    r"therefore|consequently|as a (?:direct )?(?:result|consequence)(?! of\b)|in consequence|for (?:this|that) reason|"
    r"(?:because|as a (?:direct )?(?:result|consequence)) of (?:this|that|it)"
    rf"(?=,| {_AFTER_THIS})|"
    r"(?:that|this|which)(?:'s| is| was) (?:why|how)|hence|thus|accordingly|"
    r"with the (?:\w+ )?result that|thereby(?=,? \w+ing\b)|(?:it is |it's )?no wonder(?: that)?|"
    r"(?:that|which) explains(?: why)?|so(?= (?!that\b))"
)


def connective(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a connective inside a sentence, which begins and ends with whole words."""
    return re.compile(rf"(?:(?<![\w'-])|(?=[,;:–—]))(?:{pattern})(?![\w'-])", re.IGNORECASE)


OPENING: Final = re.compile(
    rf"(?:{NOMINAL}|{CLAUSAL}|since|for (?:lack|want|fear) of|"
    rf"given(?= (?:the|{POSSESSIVE}|such)\b(?! (?:choice|chance|option|opportunity|time)\b)))(?![\w'-])",
    re.IGNORECASE,
)
"""At the start of a sentence: cause, comma, effect."""
FORWARD: Final = connective(
    rf"(?:, |, and |and )?(?:(?:which|that|this|(?:is|was|are|were) what) )?{ADVERB}(?:{FORWARD_VERB})"
)
"""Cause, verb, effect."""
JOINING: Final = connective(
    rf"(?:[,;:–—-]+ ?(?:and )?|and )(?:{CONSEQUENTLY}),?|"
    r"so(?= (?:i|he|she|it|they|we|you|i'm|we're)\b(?! (?:can|could|may|might)\b))|"
    r", so that(?! [^,;.]{0,60}\b(?:can|could(?! not\b| no\b)|may|might|will|would|should)\b)"
    rf"(?= [^,;.]{{1,60}} (?:had to|was|were|could|couldn't|did not|didn't|\w{{2,}}ed|{IRREGULAR})\b)"
)
"""Cause, adverb, effect, in one sentence."""
REFERRING: Final = re.compile(
    rf"\s*(?:and )?(?:(?:{CONSEQUENTLY})(?![\w'-]),?|(?:the )?(?:\w+ )?(?:result|outcome|consequence|upshot|effect): |"
    r"the (?:\w+ )?(?:result|outcome|consequence|upshot) (?:is|was)(?: that)? (?!\w+ed\b|in\b|not\b))",
    re.IGNORECASE,
)
"""At the start of a sentence: the cause is the sentence before."""
REFERENCE: Final = re.compile(
    r"(?:(?:in|on|at|by|during|within|over) [^,]{1,40}, )?(?:it|this|that|all (?:of )?this)", re.IGNORECASE
)
"""A subject that is the sentence before."""

_UNTOLD: Final = (
    r"(?:(?:not|never|under|in|on|at)\b|"
    r"(?:unknown|unclear|uncertain|unlikely|understood|found|\w{3,}ed)\b"
    rf"(?! (?!(?:{any_of('prepositions')}|\w+ly)\b)\w))"
)
"""What a cause is that is not named: "not clear", "discussed in court", but not "expired certificates"."""
_REASON: Final = re.compile(
    r"\s*(?:from [^,;]{1,40}, )?"
    rf"the (?:\w+ )?(?:(?:reason|cause|culprit)s? (?:for|of|behind|that|why)|"
    rf"reason(?= (?:the|{POSSESSIVE}|i|we|he|she|they|it)\b))"
    rf" (?P<effect>[^,;]+?) {BE} (?!(?:\w+ly )?{_UNTOLD})"
    r"(?:that |because (?:of )?|due to |caused by )?(?P<cause>[^,;.]+)",
    re.IGNORECASE,
)
"""As in "The reason for the delay was a strike"; not "… was not clear"."""
_CONSEQUENCE: Final = re.compile(
    r"\s*the (?:\w+ )?(?:upshot|consequence|aftermath|(?:end|net|direct|immediate) (?:result|effect)) of "
    rf"(?P<cause>[^,;]+?) (?:was|were) (?!{_UNTOLD})(?P<effect>[^,;.]+)",
    re.IGNORECASE,
)
"""As in "The upshot of the delay was a fine"."""
_BECAUSE: Final = re.compile(
    r"\s*it (?:is|was) (?:because(?: of)?|due to|owing to|thanks to) (?P<cause>[^,;]+?) that "
    rf"(?=[^,;.]*?{FINITE.pattern})(?P<effect>[^;.]+)",
    re.IGNORECASE,
)
"""As in "It was because of the rain that we left"."""
_TOLD: Final = (
    rf"(?!(?:\w+ly |still |being |yet )*{_UNTOLD}|(?:\w+ly|still|simple|anyone|anybody|unknown|tbd|tba|see|https?|none|"
    r"n/a|pending|could|may|might|maybe|perhaps)\b)"
)
"""Before a cause: it is named."""
ROOT_CAUSE: Final = re.compile(rf"{_ROOT_CAUSE}(?P<effect>[^,;:]{{3,100}}): {_TOLD}", re.IGNORECASE)
"""As in "Root cause of the outage: the disk was full", where the cause follows."""
BACKWARD: Final = connective(rf"{BACKWARD_VERB}|(?:, )?(?:{NOMINAL}|{CLAUSAL}|since)|{_CAUSE_BEHIND}(?= {_TOLD})")
"""Effect, connective, cause."""
EXPLAINING: Final = re.compile(
    rf"\s*(?:{_CAUSE_LABEL}(?:: | was (?:that )?){_TOLD}|"
    r"(?:that|this)(?:'s| is| was) because (?!of ))",
    re.IGNORECASE,
)
"""At the start of a sentence: the effect is the sentence before."""
NAMING: Final = (("the reason", _REASON), ("the consequence", _CONSEQUENCE), ("it is because", _BECAUSE))
"""Sentences that name a cause as such: the cause of the effect was the cause."""
CONDITION: Final = re.compile(
    r"\s*(?:and |but |so )?(?:if|whether|unless|suppose|imagine|let (?:us|me)|let['’]s)\b", re.IGNORECASE
)
"""Begins a sentence that supposes or proposes something."""
IS_SO: Final = re.compile(r"\bso\W*$", re.IGNORECASE)

DENIED: Final = re.compile(
    rf"(?:\b(?:not|never|just|if|whether|unless|even|{UNREAL})|n't)(?: (?:only|simply|merely|just))?\s+$", re.IGNORECASE
)
"""Before a connective: the relation is denied, doubted or played down."""
PASSIVE: Final = re.compile(rf"\b(?:{BE}|gets?|got|getting)(?: \w+ly)?$", re.IGNORECASE)
"""Before a participle: its subject is what was affected."""
PASSIVE_FORMS: Final = ("caused", "triggered", "provoked", "prompted", "forced", "led to", "brought about")
HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|whether|unless|might|(?<!\bin )(?<!\bof )(?<!\blast )may|could|would|should|can|to|"
    r"will|won't|doesn't|don't|didn't|not|never|cannot|can't|"
    rf"{UNREAL})$",
    re.IGNORECASE,
)
"""Before a verb: it states no fact."""
CLAIM: Final = re.compile(
    r"\b(?:(?:rumou?r|claim|allegation|accusation|myth|legend|lie|belief|notion|theory|hypothesis|idea|suspicion|assumption|"
    r"impression|fear|hope|worry|doubt|possibility|probability|chance|risk|danger|threat)s?|"
    r"den(?:y|ies|ied)|doubt(?:s|ed)|disprove[sd]?|refute[sd]?|dream(?:s|t|ed)?|pretend(?:s|ed)?|hope[sd]|fear(?:s|ed)|"
    r"false|untrue|wrong|unlikely|unclear|possible|impossible|doubtful|"
    r"not (?:true|certain|sure|clear|the case))\s+that\b",
    re.IGNORECASE,
)
"""Begins a clause that is believed or denied."""
TIME: Final = re.compile(
    r"\s+(?:\d|then\b|when\b|(?:\w+ ){1,2}last\b|we (?:met|spoke|talked|chatted)\b|"
    r"the (?:\d|early|late|mid|beginning|start|end|age|day|time|last|first)|"
    r"(?:late|early|mid|last|next|childhood|birth|school|college|university|before|after|about|around|at least|"
    r"my|his|her|their|our|its|\w+ (?:ago|years?|months?|weeks?|days?))\b|"
    r"jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|yesterday|spring|summer|autumn|fall\b|"
    r"winter|\w+ing\b)",
    re.IGNORECASE,
)
"""After "since": a time."""
PERFECT: Final = re.compile(
    rf"\b(?:have|has|had|haven't|hasn't|hadn't)\b(?! (?:to|no|any|an?|the|{POSSESSIVE}|nothing|little|too|only)\b)|"
    r"'ve\b|\b(?:been|ever)\b",
    re.IGNORECASE,
)
"""In the main clause of "since": it tells how long something has lasted."""
HAPPENED: Final = re.compile(
    r"\b(?:was|were|had|did|could|no longer|cannot|\w+n't)\b|"
    r"\b(?:has|have|\w+'(?:s|ve))\s(?:not |just |\w+ly )?(?:been|gone|done|lost|left|become|come|run|grown|made|"
    r"\w{3,}ed|(?:tak|brok|stol|fall|froz|ris|driv|giv|writt|eat|forgott|tor|wor|chos|shak|hidd)e?n)\b|"
    r"\b(?:am|is|are|\w+'(?:s|re|m))\s(?:\w+ly )?(?:\w{2,}ing|not|out|down|over|gone|broken|dead|empty|full|late)\b|"
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bthe )(?<!\ban )(?<!\ba )(?<!^)\b(?:"
    r"(?!(?:need|bed|red|seed|feed|weed|speed|breed|indeed|hundred|naked|sacred|shed|\w+ shed)\b)[a-z]{2,}ed|"
    rf"{IRREGULAR})\b",
    re.IGNORECASE,
)
"""A finite verb in the past or the perfect, a progressive or a denial: a sentence with one tells no habit or trait."""
NO_CLAUSE: Final = re.compile(
    r"\s*(?:that|far|much|many|few|little|long|often|soon|on|forth|to|as|be|is|was|does|has|am|are|were|do|did|good|"
    r"bad|cool|happy|excited|glad|proud|sorry|nice|great|sweet|cute|pretty|beautiful|amazing|inspiring|hard|easy|well|"
    r"true|always|sometimes|perhaps|besides|yes|called|"
    r"\w+ (?:can|could|may|might|would|will)\b(?! not|n't|not\b)|\w+'ll\b)\b",
    re.IGNORECASE,
)
"""After "so": a degree, a purpose or a filler, and no effect."""
LEADING: Final = re.compile(
    r"(?:\s|[,;:\"'“”(–—-]|(?:and|but|or|so|then|well|yes|yeah|oh|that|which|who|however|also|now(?! that\b)|later|"
    r"finally|today|yesterday|in the end|of course|when|after|while|where)\b(?=\s|,))+",
    re.IGNORECASE,
)
"""Marks and words before a clause that don't belong to it."""
CLAUSE_END: Final = re.compile(
    r"\s*(?:[;–—]|\.{2,}|, (?:and|but|so|which|who|where|although|though|while|then|or)\b|"
    r"\b(?:but|(?:even )?though|although|whereas)\b)",
    re.IGNORECASE,
)
"""After a connective: where its clause ends."""
LAST_CLAUSE: Final = re.compile(
    r"(?:[;–—]|\.{2,}|, (?:and|but|so|then|while)\b|\b(?:but|although|though|whereas)\b)", re.IGNORECASE
)
"""Before a connective: what begins its clause."""
NO_PROSE: Final = re.compile(r"[\[\]{}<>|=*#:]|https?://")
FIRST_PERSON: Final = re.compile(r"\b(?:i|we|my|our|me|us|mine|ours)\b", re.IGNORECASE)
WORD: Final = re.compile(r"[^\W_](?:[\w'’-]*[^\W_])?")
