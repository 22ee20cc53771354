"""The most telling head for a word: the one that attends most to words not explained by their place alone.

Many heads look at a neighbour, at the token itself or at a separator whatever the sentence says (Clark et al. 2019).
What remains are content words: neither neighbours nor function words, and before the word if there are any there, since
a pronoun mostly follows its antecedent.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

_FUNCTION = (
    "a an the this that these those of to in on at by for with from into after before and or but not no so as if then "
    "than because is are was were be been am has have had do does did will would can could may might must "
    "的 了 在 是 和 与 也 就 都"
)
_PRONOUNS = "it he she they him her them his its their itself himself herself 它 他 她"
FUNCTION_WORDS, PRONOUNS = frozenset(_FUNCTION.split()), frozenset(_PRONOUNS.split())


def content_words(tokens: Sequence[str], at: int) -> list[int]:
    """Places of the content words that the word at `at` might refer to; empty if there are none."""
    words = [
        place
        for place, token in enumerate(tokens)
        if abs(place - at) > 1 and token[:1].isalpha() and token.lower() not in FUNCTION_WORDS | PRONOUNS
    ]
    return [place for place in words if place < at] or words


def telling_head(probs: Tensor, tokens: Sequence[str], at: int) -> tuple[int, int, float] | None:
    """(layer, head, share): the head whose row `at` gives most to `content_words`. probs: (L, A, T, T)."""
    words = content_words(tokens, at)
    if not words:
        return None
    shares = probs[:, :, at, words].sum(-1)  # (L, A)
    best = int(shares.argmax())
    return *divmod(best, shares.size(1)), shares.flatten()[best].item()


def word_that_asks(tokens: Sequence[str], words: Sequence[int]) -> int:
    """The word to show first: the last pronoun with a content word before it, else the last content word.

    words: places of the words; 0 where there are none."""
    asking = [at for at in words if tokens[at].lower() in PRONOUNS and any(p < at for p in content_words(tokens, at))]
    content = [at for at in words if tokens[at][:1].isalpha() and tokens[at].lower() not in FUNCTION_WORDS]
    return (asking or content or list(words) or [0])[-1]
