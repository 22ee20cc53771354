"""Which tokens make a word: the groups for attention between words (`accuracy.between_words`)."""

from __future__ import annotations

from collections.abc import Sequence

from minibert.text.characters import is_cjk
from minibert.text.store import continued
from minibert.tokenizer import Encoding


def whole_words(encoding: Encoding, texts: Sequence[str]) -> list[list[int]]:
    """The positions of each word's tokens, in order. texts: one for each segment.

    The pieces of a word (un ##wr ##app ##ed) are one group; so are Chinese characters, each a token, that `jieba`
    reads as one word. [CLS], [SEP] and [MASK] stand alone: every token is in exactly one group.
    """
    goes_on = [False] * len(encoding)
    for segment, text in enumerate(texts):
        places = [at for at, word in enumerate(encoding.words) if word is not None and encoding.segments[at] == segment]
        starts = [encoding.offsets[at][0] for at in places]
        chinese = [is_cjk(text[start]) for start in starts]
        inside = continued([encoding.offsets[at] for at in places], text) if any(chinese) else [False] * len(places)
        for n in range(1, len(places)):
            before, at = places[n - 1], places[n]
            piece = encoding.words[at] == encoding.words[before]
            goes_on[at] = piece or (inside[n] and chinese[n - 1] and chinese[n])
    words: list[list[int]] = []
    for at, continues in enumerate(goes_on):
        if continues:
            words[-1].append(at)
        else:
            words.append([at])
    return words


def may_join(encoding: Encoding) -> bool:
    """Whether a word may have several tokens; without asking `jieba`, whose dictionary takes a second to load."""
    numbered = [pair for pair in zip(encoding.segments, encoding.words, strict=True) if pair[1] is not None]
    return len(set(numbered)) < len(numbered) or any(is_cjk(token[0]) for token in encoding.tokens)
