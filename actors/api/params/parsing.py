"""Parse the arguments of operations into immutable structs; errors name the parameter and its limit."""

import json
import re
import unicodedata
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import ClassVar, TypeVar, get_args

import msgspec

from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of one operation. The docstring of a subclass is the description of its tool."""

    aliases: ClassVar[dict[str, str]] = {}
    """Other names of parameters, in snake_case, from published schemas and our own answers."""
    not_blank: ClassVar[tuple[str, ...]] = ()
    """Texts that must contain more than `is_blank` finds."""
    times: ClassVar[tuple[str, ...]] = ()
    """Texts that must be ISO 8601 times."""

    def check(self) -> None:
        """Check constraints beyond the types (`InvalidParamsFault`)."""
        for name in self.not_blank:
            value = getattr(self, name)
            if isinstance(value, str) and is_blank(value):
                raise InvalidParamsFault(empty(name), parameter=name)
        for name in self.times:
            value = getattr(self, name)
            if value is not None:
                moment(value, name)


P = TypeVar("P", bound=Params)

_TOO_LONG = re.compile(r"Expected `(str|array)` of length <= (\d+)")
_NUMBER = re.compile(r"\d{9}")
DATED = re.compile(r"\d{4}-?\d\d-?\d\d(?!\d)", re.ASCII)
"""Begins a time that is written in ISO 8601, though no calendar may have it."""
NO_TIME = (
    "not an ISO 8601 time, such as 2026-05-02T14:30; words such as yesterday, which mean another day when a request is"
    " sent again, are read by since, until and as_of alone"
)
_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp"}
"""Unicode categories of characters that show nothing."""
FULL_ID = "not a full id: give all of its 36 characters, as they stand in answers"

fields = cache(msgspec.structs.fields)
"""Cached, since reading annotations takes longer than all other parsing."""


def parse(arguments: JsonObject, kind: type[P]) -> P:
    """Parse arguments, each named in snake_case, in camelCase or by an alias; errors name it and its limit."""
    named: JsonObject = {}
    for name, value in arguments.items():
        field = _field(name, kind)
        if field in named:
            raise InvalidParamsFault(f"'{name}' is given twice, by two of its names", parameter=field)
        named[field] = value
    for field in fields(kind):
        if field.required and field.name not in named:
            unknown = next((f"; '{name}' is no parameter" for name in named if name not in kind.__struct_fields__), "")
            raise InvalidParamsFault(f"Missing '{field.name}' parameter{unknown}", parameter=field.name)
    for name, value in named.items():
        _check_json(value, name)
    try:
        params = msgspec.convert(named, kind)
    except msgspec.ValidationError as error:
        raise _translated(error, kind) from None
    params.check()
    return params


def empty(parameter: str) -> str:
    """Return the sentence on a text that is blank."""
    return f"{parameter.replace('_', ' ').capitalize()} cannot be empty"


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: it is empty, or white space, control and format characters alone."""
    return all(unicodedata.category(character) in _UNSEEN for character in text)


def moment(value: str, parameter: str) -> datetime:
    """Parse an ISO 8601 time as `as_written`; one without a zone is in that of this machine."""
    parsed = as_written(value, parameter)
    try:
        return parsed if parsed.tzinfo else parsed.astimezone()
    except (OSError, OverflowError, ValueError):  # at the ends of the calendar no offset is known
        return parsed.replace(tzinfo=UTC)


def as_written(value: str, parameter: str) -> datetime:
    """Parse an ISO 8601 time in its zone (`InvalidParamsFault` for none, or one outside the years 1 to 9999 in UTC).

    More than eight digits in a row are none, though Python reads 1612120112345, an epoch, as the year 1612.
    """
    if _NUMBER.match(value):
        raise invalid(parameter, NO_TIME)
    try:
        parsed = datetime.fromisoformat(value)
        if parsed.tzinfo:
            parsed.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        is_written_right = DATED.match(value) and not str(error).startswith("Invalid isoformat")
        raise invalid(parameter, f"no such time, {error}" if is_written_right else NO_TIME) from None
    return parsed


def invalid(parameter: str, problem: str, **data: object) -> InvalidParamsFault:
    """Return the fault that names a parameter and its problem."""
    return InvalidParamsFault(f"Invalid '{parameter}': {problem}", parameter=parameter, **data)


def check_size(value: JsonObject, parameter: str, limit: int) -> None:
    """Refuse a JSON object of more than `limit` bytes in MessagePack, or with integers beyond 64 bits."""
    try:
        size = len(msgspec.msgpack.encode(value))
    except OverflowError as error:
        raise invalid(parameter, str(error)) from None
    if size > limit:
        raise invalid(parameter, f"{size} bytes, at most {limit}")


def _check_json(value: object, parameter: str) -> None:
    """Refuse values that Python's JSON parser accepts although they are not JSON."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise invalid(parameter, "a lone surrogate is not text") from None
    except ValueError:
        raise invalid(parameter, "not a number, or an infinite one") from None
    except RecursionError:
        raise invalid(parameter, "nested too deep") from None


def _field(name: str, kind: type[Params]) -> str:
    """Return the field that an argument names; an unknown name is returned unchanged."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    field = kind.aliases.get(snake, snake)
    return field if field in kind.__struct_fields__ else name


def _translated(error: msgspec.ValidationError, kind: type[Params]) -> InvalidParamsFault:
    """Turn "Expected `float`, got `str` - at `$.importance`" into a sentence about the parameter."""
    problem, at, path = str(error).rpartition(" - at `$.")
    if not at:
        unknown = path.partition("unknown field `")[2].rstrip("`")
        if not unknown:
            return InvalidParamsFault(path)
        known = ", ".join(kind.__struct_fields__)
        return InvalidParamsFault(f"Unknown parameter '{unknown}'; known are {known}", parameter=unknown)
    parameter = path.rstrip("`")
    if limit := _TOO_LONG.fullmatch(problem):
        most = f"{int(limit[2]):,}"
        return invalid(parameter, f"longer than {most} characters" if limit[1] == "str" else f"more than {most} items")
    if problem == "Invalid UUID":
        return invalid(parameter, FULL_ID)
    allowed = _choices(next((field.type for field in fields(kind) if field.name == parameter), None))
    choices = f"; one of {', '.join(allowed)}" if allowed else ""
    return invalid(parameter, f"{problem[0].lower()}{problem[1:]}{choices}")


def _choices(kind: object) -> list[str]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return [choice for part in get_args(kind) for choice in _choices(part)]
