"""Random secrets of 30 kinds, in the lines of code, configuration and prose that hold them."""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "-_"
BASE64 = ALNUM + "+/"
LETTERS = {
    "hex": "0123456789abcdef",
    "alnum": ALNUM,
    "url": URL,
    "upper": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base64": BASE64,
    "digit": "123456789",
}
WORDS = "winter Falcon green tractor Harbor violet Summit ember cobalt maple Orchid thunder".split()
LEET = {"a": "a4", "e": "e3", "i": "i1", "o": "o0", "s": "s5"}


def pick(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


def card(chance: random.Random) -> str:
    """Return a card number that passes the Luhn check, with or without separators."""
    prefix, length = chance.choice([("4", 16), ("51", 16), ("55", 16), ("34", 15), ("37", 15), ("6011", 16)])
    digits = prefix + pick(chance, string.digits, length - 1 - len(prefix))
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits))]
    digits += str(-sum(sum(divmod(one, 10)) for one in doubled) % 10)
    mark = chance.choice(["", " ", "-"])
    starts = [0, 4, 8, 12, 16] if length == 16 else [0, 4, 10, 15]
    return mark.join(digits[start:end] for start, end in pairwise(starts))


def web_token(chance: random.Random) -> str:
    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": pick(chance, string.digits, 8), "name": "Ada"}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{pick(chance, URL, 43)}"


def password(chance: random.Random) -> str:
    """Return a password as people or generators make them."""
    one, other = chance.choice(WORDS), chance.choice(WORDS)
    match chance.randrange(5):
        case 0:
            return one + pick(chance, string.digits, chance.randint(3, 4)) + chance.choice("!$%&?#")
        case 1:
            return pick(chance, ALNUM, chance.randint(10, 16)) + chance.choice(string.digits)
        case 2:
            return pick(chance, ALNUM + "!$%&*+?", chance.randint(10, 20)) + chance.choice(string.digits)
        case 3:
            return (
                one.capitalize() + chance.choice("-_.") + other + chance.choice("!#*") + pick(chance, string.digits, 2)
            )
        case _:
            leet = "".join(chance.choice(LEET.get(letter, letter)) for letter in one + other)
            return leet + pick(chance, string.digits, 2) + chance.choice("!@")


def private_key(chance: random.Random) -> str:
    body = "\n".join(pick(chance, BASE64, 64) for _ in range(12))
    kind = chance.choice(["RSA ", "EC ", "OPENSSH ", ""])
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n{pick(chance, BASE64, 30)}==\n-----END {kind}PRIVATE KEY-----"


def connection(chance: random.Random) -> str:
    scheme = chance.choice(["postgresql", "mysql", "mongodb+srv", "redis", "amqp"])
    word = pick(chance, ALNUM, chance.randint(8, 16)) + chance.choice(string.digits)
    return f"{scheme}://app:{word}@db.internal:5432/main"


def bot_token(chance: random.Random) -> str:
    account = base64.b64encode(pick(chance, LETTERS["digit"], 18).encode()).decode()
    return f"{account}.{pick(chance, URL, 6)}.{pick(chance, URL, 27)}"


KINDS: dict[str, tuple[str | Callable[[random.Random], str], ...]] = {
    "aws-access-key": ("AKIA<base32 16>", "ASIA<base32 16>"),
    "aws-secret-key": ("<base64 40>",),
    "github": ("ghp_<alnum 36>", "gho_<alnum 36>", "ghs_<alnum 36>"),
    "github-fine-grained": ("github_pat_<alnum 22>_<alnum 59>",),
    "gitlab": ("glpat-<url 20>",),
    "slack": ("xoxb-<digit 12>-<digit 12>-<alnum 24>",),
    "slack-webhook": ("https://hooks.slack.com/services/T<upper 8>/B<upper 10>/<alnum 24>",),
    "stripe": ("sk_live_<alnum 24>", "rk_live_<alnum 24>", "sk_test_<alnum 24>"),
    "openai": ("sk-proj-<url 74>", "sk-<alnum 48>"),
    "anthropic": ("sk-ant-api03-<url 93>AA",),
    "google": ("AIza<url 35>",),
    "hugging-face": ("hf_<alnum 34>",),
    "npm": ("npm_<alnum 36>",),
    "python-index": ("pypi-AgEIcHlwaS5vcmc<url 120>",),
    "web-token": (web_token,),
    "mapbox": ("pk.eyJ<url 60>.<url 22>", "sk.eyJ<url 60>.<url 22>"),
    "sendgrid": ("SG.<url 22>.<url 43>",),
    "twilio": ("SK<hex 32>",),
    "telegram": ("<digit 9>:AA<url 33>",),
    "discord": (bot_token,),
    "digitalocean": ("dop_v1_<hex 64>",),
    "shopify": ("shpat_<hex 32>",),
    "mailgun": ("key-<hex 32>",),
    "azure-storage": ("DefaultEndpointsProtocol=https;AccountName=one;AccountKey=<base64 86>==;EndpointSuffix=net",),
    "private-key": (private_key,),
    "connection-string": (connection,),
    "password": (password,),
    "api-key": ("<hex 32><digit 1>", "<alnum 32><digit 1>", "<url 32><digit 1>"),
    "bearer": ("<url 40>7",),
    "card": (card,),
}
"""Templates and makers by kind: `<alnum 36>` is 36 of these letters."""

PLAIN = (
    "{}",
    "Use {} for the staging account.",
    "export VALUE={}",
    '{{"value": "{}"}}',
    "value: {}",
    'client = Client("{}")',
    "I pasted `{}` into the console",
    "The old one was {}, it no longer works.",
)
CONTEXTS = {
    "aws-secret-key": (
        "AWS_SECRET_ACCESS_KEY={}",
        'aws_secret_access_key = "{}"',
        '"SecretAccessKey": "{}"',
        "The AWS secret key is {}",
    ),
    "password": (
        "password: {}",
        "DB_PASSWORD={}",
        'password = "{}"',
        "The password is {}",
        "the password for the router is {}",
        '"passwd": "{}"',
        "ADMIN_PWD='{}'",
        "passphrase: {}",
        "login with user bob and password {}",
    ),
    "api-key": (
        "API_KEY={}",
        'api_key = "{}"',
        '"apiKey": "{}"',
        "access_token: {}",
        "The API key is {}",
        "--token={}",
        "X-Api-Key: {}",
    ),
    "bearer": (
        "Authorization: Bearer {}",
        'curl -H "Authorization: Bearer {}" host',
        "headers = {{'Authorization': 'Bearer {}'}}",
        "Authorization: token {}",
    ),
}
"""Lines that say what a value is, for those that nothing else tells."""


def planted(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield kind, value and line of `count` secrets of each kind."""
    chance = random.Random(seed)
    for kind, makers in KINDS.items():
        for _ in range(count):
            maker = chance.choice(makers)
            value = maker(chance) if callable(maker) else _filled(chance, maker)
            yield kind, value, chance.choice(CONTEXTS.get(kind, PLAIN)).format(value)


def _filled(chance: random.Random, template: str) -> str:
    return re.sub(r"<(\w+) (\d+)>", lambda part: pick(chance, LETTERS[part[1]], int(part[2])), template)
