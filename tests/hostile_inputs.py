"""Hostile inputs without end, drawn from a seed: texts, numbers, JSON, and files that were good before.

Each function takes what draws (`random.Random`); the same seed always gives the same input.
"""

from __future__ import annotations

import json
import random
from typing import Any

from tests.hostile import HOSTILE

MARKUP = "<img src=x onerror=alert(1)>"  # would run in a browser that is shown it as markup
NUMBERS = (
    "0", "-1", "1", "2", "7", "63", "64", "65", "1e999", "-1e999", "nan", "inf", "-0", "0.5", "1e-320", "1_0", "٣", "",
    "0x10", "2147483648", "18446744073709551616", "9" * 400, "9" * 5000, " 3", "3 ", "½", "1,5", "--1",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 0.5, -0.5, 1e308, 10**9, 10**12, 2**63, 10**400, float("nan"), float("inf"), "",
    "x", "cls", "last", "gelu", MARKUP, "\x00", "\ufeff", [], {}, [None], [[]], [1], ["a"], [-1], {"0": "a"}, {"a": {}},
    {"0": []}, {"content": 5}, [10**9], ["a"] * 300, "x" * 10_000,
)  # fmt: skip
PUT_IN = (
    b"\n", b"\r", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\t\t\t\t", b'"', b'""', b",,,,", b";", b"]", b"{" * 3,
    b"\xe2\x80\xa8", b"\xed\xa0\x80", b"[" * 100_000, b"-DOCSTART-", b"## intent:", b"- [a](b", b"A: ", b" " * 5000,
    b"9" * 5000, b"Mr. " * 5000, b"a" * 200_000, MARKUP.encode(),
)  # fmt: skip


def drawing(seed: int, surface: str, number: int) -> random.Random:
    """What draws the input of this number: it can be made again without those before it."""
    return random.Random(f"{seed} {surface} {number}")


def a_text(rng: random.Random, longest: int = 30_000) -> str:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(list(HOSTILE.values()))[:longest]
    if kind == 1:
        return "".join(
            chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))))
            for _ in range(rng.randrange(60))
        )
    if kind == 2:
        return " ".join(rng.choice(list(HOSTILE.values()))[: rng.randrange(40)] for _ in range(rng.randrange(1, 6)))
    if kind == 3:
        return rng.choice(NUMBERS)
    if kind == 4:
        return (rng.choice("([{<\"'`$\\*_#|.,;: \t\n]>)}") * rng.randrange(1, 3000))[:longest]
    return rng.choice(("a z", "[MASK] a", "a\tz", "z\ta z b", '{"text": "a"}', "../../etc/passwd", "%s%n", MARKUP))


def a_value(rng: random.Random, depth: int = 3) -> Any:
    """One that JSON can hold."""
    kind = rng.randrange(8)
    if kind == 0 and depth:
        return [a_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 1 and depth:
        return {a_text(rng, 50): a_value(rng, depth - 1) for _ in range(rng.randrange(4))}
    if kind == 2:
        return a_text(rng, 2000)
    return rng.choice(VALUES)


def mutated(rng: random.Random, content: bytes) -> bytes:
    """A file that was good: cut, doubled, shuffled, with bytes changed and worse put in."""
    for _ in range(rng.randrange(1, 4)):
        at, to = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
        match rng.randrange(8):
            case 0:
                content = content[:at]
            case 1:
                content = content[:at] + content[to:]
            case 2:
                content = content[:at] + content[at : at + 2000] * 2 + content[at:]
            case 3:
                changed = bytearray(content)
                for _ in range(min(len(content), rng.randrange(1, 20))):
                    changed[rng.randrange(len(content))] = rng.randrange(256)
                content = bytes(changed)
            case 4:
                lines = content.split(b"\n")
                rng.shuffle(lines)
                content = b"\n".join(lines)
            case 5:
                separator = rng.choice((b"\t", b",", b" ", b'"', b"\n"))
                content = content.replace(
                    separator, rng.choice((b"", b"\t", b",", b"\x00", b"\n\n")), rng.randrange(1, 9)
                )
            case _:
                content = content[:at] + rng.choice((*PUT_IN, a_text(rng).encode())) + content[at:]
    return content


def mutated_json(rng: random.Random, content: bytes) -> bytes:
    """A JSON object with a value of another kind in it, anywhere; now and then no JSON any more."""
    try:
        root = json.loads(content)
    except ValueError:  # it was damaged before
        root = None
    if root is None or rng.random() < 0.2:
        return mutated(rng, content)
    for _ in range(rng.randrange(1, 3)):
        place = root
        while isinstance(place, dict | list) and place:
            key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
            if rng.random() < 0.5 or not isinstance(place[key], dict | list):
                if rng.random() < 0.1:
                    del place[key]
                else:
                    place[key] = a_value(rng)
                break
            place = place[key]
    return json.dumps(root, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
