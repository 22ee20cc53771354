"""Data sent to the picture: the numbers of one forward pass, rounded, as JSON.

An attention weight takes two characters, its thousandths in base 36: three models with all heads then take about
140 kB. Pure functions, without any drawing.
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

DRAWN = 6  # components drawn of each vector
LONGEST = 24  # characters of a piece
TOP = 5  # predictions for the blank
LITTLE = 0.01
LISTS = ("parts", "lengths", "states", "adds")
_DIGITS = string.digits + string.ascii_lowercase
_CODES = [_DIGITS[n // 36] + _DIGITS[n % 36] for n in range(1001)]


def frame(
    name: str,
    title: str,
    about: str,
    outline,
    encoding: "Encoding",
    texts: Sequence[str],
    word: str,
    rows: Sequence[int],
) -> dict:
    """What is known without the weights: the rows of the picture and the shape of the model. texts: both input texts,
    the first with its [MASK] · word: the masked word · rows: the positions drawn."""
    config, written = outline.config, letters(encoding, texts)
    return {
        "name": name,
        "title": title,
        "about": about,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "vocab": config.vocab_size,
        "count": len(encoding),
        "rows": [row + 1 for row in rows],
        "tokens": [shorten(encoding.tokens[row], LONGEST) for row in rows],
        "ids": [encoding.ids[row] for row in rows],
        "letters": [written[row] for row in rows],
        "segments": [encoding.segments[row] for row in rows],
        "added": [encoding.words[row] is None for row in rows],
        "word": shorten(word, LONGEST),
    }


def letters(encoding: "Encoding", texts: Sequence[str]) -> list[str]:
    """The characters of the text behind each token; "" for added special tokens."""
    return [
        "" if word is None else shorten(texts[segment][start:end], LONGEST)
        for (start, end), segment, word in zip(encoding.offsets, encoding.segments, encoding.words, strict=True)
    ]


def numbers(one_pass: "OnePass", tokenizer: "Tokenizer", word: str) -> dict:
    """The results of the forward pass. parts, states: first DRAWN components of each vector, in hundredths · lengths,
    adds: in hundredths · weights, mean: attention of each head, and its mean over heads, as `packed`."""
    from minibert.inside.one_pass import PARTS

    right = tokenizer.encode(word, add_special=False).ids
    guesses = one_pass.guesses(tokenizer.vocab, TOP)
    known = len(right) == 1 and right[0] not in tokenizer.special_ids
    hidden = tokenizer.vocab[right[0]] if known else None
    return {
        "blank": one_pass.blank if one_pass.rows is None else one_pass.rows.index(one_pass.blank),
        "parts": [hundredths(one_pass.parts[name][:, :DRAWN]) for name in PARTS],
        "lengths": [hundredths(lengths(one_pass.parts[name])) for name in PARTS],
        "states": [hundredths(state[:, :DRAWN]) for state in one_pass.states],
        "adds": hundredths(one_pass.added),
        "weights": packed(one_pass.attention),
        "mean": packed(one_pass.attention.mean(1)),
        "guesses": [
            [visible(piece, spaces=False), share_text(share), round(share, 4), piece == hidden]
            for piece, share in guesses
        ],
        "place": [one_pass.place_of(right[0]), share_text(float(one_pass.expected[right[0]]))] if known else None,
        "follows": None if one_pass.follows is None else [round(one_pass.follows, 4), share_text(one_pass.follows)],
    }


def compact(model: dict) -> dict:
    """The dict with its lists of numbers as JSON text: Streamlit's JSON has a space after each comma."""
    return model | {name: json.dumps(model[name], separators=(",", ":")) for name in LISTS if name in model}


def lengths(vectors: "np.ndarray") -> "np.ndarray":
    """Euclidean norms: (T, H) → (T,)."""
    import numpy as np

    return np.linalg.norm(vectors.astype(np.float64), axis=-1)


def hundredths(values: "np.ndarray") -> list:
    """100 × values, rounded, as nested lists of ints."""
    import numpy as np

    return np.rint(np.asarray(values, dtype=np.float64) * 100).astype(int).tolist()


def packed(weights: "np.ndarray") -> str:
    """Values in [0, 1], in C order, as two base-36 characters each: their thousandths."""
    import numpy as np

    thousandths = np.rint(np.clip(weights.astype(np.float64), 0, 1) * 1000).astype(int)
    return "".join(np.array(_CODES)[thousandths.ravel()].tolist())


def share_text(share: float) -> str:
    """A share as percent, without decimals unless it is below LITTLE, to be legible from afar."""
    from plots.masking import percent

    return percent(share) if share < LITTLE else f"{100 * share:.0f}\u00a0%"
