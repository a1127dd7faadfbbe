"""Regular expressions of the parts of English time expressions."""

import re
from typing import Final

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, on the northern hemisphere."""
NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        "a/an/one two/couple three/few four/several five six seven eight nine ten eleven twelve/dozen "
        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(),
        1,
    )
    for word in words.split("/")
}
_TENS: Final = {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}

MONTH_NAME: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
MONTH: Final = rf"(?P<month>{MONTH_NAME})\b\.?"
YEAR: Final = r"(?<![\w.,$€£#])(?P<year>1\d{3}|20\d\d)(?![\d%]|[.,]\d)"
_NUMBERED: Final = "pep rfc iso http port issue ticket error page room line number".split()
_MONTH_BEFORE: Final = r"(?<=(?:jan|feb|mar|apr|may|jun|une|jul|uly|aug|sep|ept|oct|nov|dec)-)|(?<=\bFY-)"
_IDENTIFIER: Final = rf"(?:{_MONTH_BEFORE}|(?<!(?-i:[A-Z])-))(?<!(?-i:[A-Z])-\d{{4}}-)"
NOT_A_NUMBER: Final = rf"(?=[12]\d{{3}})(?<!\d{{3}} )(?<!\b\d{{3}}-)(?<!\w\()(?<!= ){_IDENTIFIER}" + "".join(
    rf"(?<!\b{name} )" for name in _NUMBERED
)
"""Before a year on its own: rejects digits of telephone numbers, calls, assignments and identifiers ("CVE-2022-1471"),
and numbers of things."""
NOT_A_VERSION: Final = r"(?<![\w./$€£-])" + "".join(
    rf"(?<!\b{name} )" for name in "version release build firmware section chapter part serial sku model".split()
)
"""Before a date in numbers: rejects longer numbers, amounts and numbers of things."""
NOT_BEFORE_UNIT: Final = (
    r"(?! ?(?:dollars|euros|pounds|people|times|words|lines|bytes|bits|km|kg|miles|met(?:er|re)s|tokens)\b)"
)
"""After a year on its own: rejects quantities."""
DAY_OF_MONTH: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_NUMBER: Final = rf"\d{{1,3}}|(?:(?:{'|'.join(_TENS)})[ -])?(?:{'|'.join(NUMBERS)})|{'|'.join(_TENS)}"
_BEFORE_COUNT: Final = (
    r"(?<!\d[.,])(?<!\w-)(?<!\bhalf )(?<!\bhalf a )"
    r"(?<!\bhundred )(?<!\bhundred and )(?<!\bthousand )(?<!\bthousand and )\b(?:a )?"
)
"""Not within a larger number, or before half of one."""
COUNT: Final = rf"(?:{_BEFORE_COUNT}(?P<count>{_NUMBER})(?: of)? )"
UNIT: Final = r"(?P<unit>day|night|week|weekend|month|quarter(?! (?:century|mile|hour|of)\b)|year|decade)s?\b"
_SHORT: Final = {"sec": "second", "min": "minute", "hr": "hour", "wk": "week", "yr": "year"}
_SPAN: Final = "minute|min|hour|hr|day|night|week|wk|weekend|fortnight|month|quarter|year|yr|decade"
SPAN: Final = rf"(?P<unit>{_SPAN})s?\b"
"""A unit, or a length of time that the calendar doesn't divide."""
AGO: Final = (
    rf"(?:\bhalf an? |{_BEFORE_COUNT}(?P<count>\d{{1,3}}\.\d{{1,2}}|{_NUMBER})(?: of)? (?:and a half )?)"
    rf"(?P<unit>second|sec|{_SPAN})s?\b(?: and a half)? ago\b"
)
WITHIN_DAY: Final = r"\b(?:second|sec|minute|min|hour|hr)s?\b"
QUARTER: Final = r"(?:\bQ(?P<quarter>[1-4])\b(?!:)|\b(?P<named>first|second|third|fourth) quarter\b)"
SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
WEEKDAY: Final = (
    r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day\b(?! (?:mornings|afternoons|evenings|nights)\b)"
)
NOT_A_VERB: Final = r"(?!(?:this|and) (?-i:may)\b|(?:to|and) (?-i:march)\b)"
BEFORE_MONTH: Final = (
    rf"(?:\b{NOT_A_VERB}(?:in|of|this|since|until|till|by|during|between|from|to|early|mid|late|before|after|every|and)"
    r"[ -])"
)
"""Required before a month without day and year, since "may" and "march" are verbs too; so are "and may", "to march"."""
NOT_OF: Final = r"(?! of\b|,? (?:last|this|next) year\b)"
"""What names the whole, or another year, follows in neither case."""
BEFORE_WEEKEND: Final = r"\b(?:at|on|over|for|by|during|until|since|before|after) the "
BEFORE_SEASON: Final = r"\b(?:in|of|over|during|since|until|by|before|after) the "
BEFORE_BARE_SEASON: Final = r"\b(?:in|over|during|since|until|before|after) "
TO: Final = r"(?: ?[–—-] ?| (?:to|until|till|through) )"
AROUND: Final = r"(?:\b(?P<around>week|weekend) of (?:the )?)?"
"""Before a day, it means the week or weekend that contains the day."""
_LAST_DAY: Final = r"(?:the )?(?P<until>\d{1,2})(?:st|nd|rd|th)?\b"
UNTIL: Final = rf"(?:{TO}{_LAST_DAY})?"
BETWEEN: Final = r"(?:(?<=\bbetween )|(?<=\bbetween the ))"
AND: Final = rf" and {_LAST_DAY}"
A_PART: Final = (
    r"(?:\b(?P<part>early|beginning of|start of|first half of|mid|middle of|late|end of|second half of)[ -])"
)
PART: Final = f"{A_PART}?"
DEICTIC_DAY: Final = r"yesterday|last night|today|tonight|this (?:morning|afternoon|evening)|tomorrow"
WHICH: Final = r"(?:\b(?P<which>last|past|this|next|previous|coming) )"


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a case-insensitive pattern in ASCII, where "ı" doesn't equal "i", nor "ſ" equal "s"."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


def count_of(word: str | None) -> int:
    """Return the number that a count names; 1 without one."""
    word = (word or "one").casefold()
    return int(word) if word.isdigit() else sum((_TENS | NUMBERS)[part] for part in re.split("[ -]", word))


def unit_of(word: str) -> str:
    """Return the unit that a word in the singular names, also a short one such as "hr"."""
    return _SHORT.get(word.casefold(), word.casefold())


def ago(match: re.Match[str]) -> tuple[float, str]:
    """Return the count and the unit of a match of `AGO`."""
    count = match["count"] or "0"
    whole = float(count) if "." in count else count_of(count)
    return whole + ("half" in match.group().casefold()) / 2, unit_of(match["unit"])


def index_of(name: str, names: tuple[str, ...]) -> int:
    """Return the index of a month or a weekday by its first three letters."""
    return names.index(name[:3].casefold())
