"""What the picture is sent: the numbers of one pass through a model, rounded once, as JSON.

An attention weight is two characters, its thousandths in base 36: three models, with all their heads, are then about
140 kB. Pure functions; nothing here knows a screen.
"""

import json
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ui.text import shorten, visible

if TYPE_CHECKING:
    import numpy as np

    from minibert.inside.one_pass import OnePass
    from minibert.tokenizer import Encoding, Tokenizer

DRAWN = 6  # numbers of a vector that are drawn
LONGEST = 24  # characters of a piece
TOP = 5  # guesses
LITTLE = 0.01
LISTS = ("parts", "lengths", "states", "adds")
_DIGITS = string.digits + string.ascii_lowercase
_CODES = [_DIGITS[n // 36] + _DIGITS[n % 36] for n in range(1001)]


def frame(name: str, title: str, about: str, outline, encoding: "Encoding", texts: Sequence[str], word: str) -> dict:
    """What is known without the weights: the rows of the picture and the shape of the model. texts: both, as read;
    word: what is hidden at the blank."""
    config = outline.config
    return {
        "name": name,
        "title": title,
        "about": about,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "vocab": config.vocab_size,
        "tokens": [shorten(token, LONGEST) for token in encoding.tokens],
        "ids": list(encoding.ids),
        "letters": letters(encoding, texts),
        "segments": list(encoding.segments),
        "added": [place is None for place in encoding.words],
        "word": shorten(word, LONGEST),
    }


def letters(encoding: "Encoding", texts: Sequence[str]) -> list[str]:
    """What stood in the text where each token stands now; "" for an added one."""
    return [
        "" if word is None else shorten(texts[segment][start:end], LONGEST)
        for (start, end), segment, word in zip(encoding.offsets, encoding.segments, encoding.words, strict=True)
    ]


def numbers(seen: "OnePass", tokenizer: "Tokenizer", word: str) -> dict:
    """What the model computed. parts, states: hundredths, of the first DRAWN numbers of each vector · lengths, added:
    hundredths, too · weights, mean: thousandths as `packed`; one head after the other, and the mean of the heads."""
    from minibert.inside.one_pass import PARTS

    right = tokenizer.encode(word, add_special=False).ids
    guesses = seen.guesses(tokenizer.vocab, TOP)
    known = len(right) == 1 and right[0] not in tokenizer.special_ids
    hidden = tokenizer.vocab[right[0]] if known else None
    return {
        "blank": seen.blank,
        "parts": [hundredths(seen.parts[name][:, :DRAWN]) for name in PARTS],
        "lengths": [hundredths(lengths(seen.parts[name])) for name in PARTS],
        "states": [hundredths(state[:, :DRAWN]) for state in seen.states],
        "adds": hundredths(seen.added),
        "weights": packed(seen.attention),
        "mean": packed(seen.attention.mean(1)),
        "guesses": [
            [visible(piece, spaces=False), share_text(share), round(share, 4), piece == hidden]
            for piece, share in guesses
        ],
        "place": [seen.place_of(right[0]), share_text(float(seen.expected[right[0]]))] if known else None,
        "follows": None if seen.follows is None else [round(seen.follows, 4), share_text(seen.follows)],
    }


def compact(model: dict) -> dict:
    """The same with its lists of numbers as text: Streamlit writes JSON with a space after each comma."""
    return model | {name: json.dumps(model[name], separators=(",", ":")) for name in LISTS if name in model}


def lengths(vectors: "np.ndarray") -> "np.ndarray":
    """(T, H) → (T,)."""
    import numpy as np

    return np.linalg.norm(vectors.astype(np.float64), axis=-1)


def hundredths(values: "np.ndarray") -> list:
    """Nested lists of whole numbers."""
    import numpy as np

    return np.rint(np.asarray(values, dtype=np.float64) * 100).astype(int).tolist()


def packed(weights: "np.ndarray") -> str:
    """Shares from 0 to 1, in reading order, as two characters each."""
    import numpy as np

    thousandths = np.rint(np.clip(weights.astype(np.float64), 0, 1) * 1000).astype(int)
    return "".join(np.array(_CODES)[thousandths.ravel()].tolist())


def share_text(share: float) -> str:
    """For the back row: no digits but those that tell a small share from none."""
    from plots.masking import percent

    return percent(share) if share < LITTLE else f"{100 * share:.0f}\u00a0%"
