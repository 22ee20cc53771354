"""Names in toy stories that the rest of the story determines: which of all names a model prefers in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from torch import nn

from minibert.inside.relatives.name_probe import original_probabilities
from minibert.model import BertForPreTraining
from minibert.relatives.parts.replaced_names import NamesLm
from minibert.tokenizer import Tokenizer
from minibert.toy import lexicon

NAMES = (*lexicon.GIRLS, *lexicon.BOYS)
MOST = 80  # questions, at most
Question = tuple[list[int], int, str]  # as in minibert.toy.pretrain


def name_questions(asked: Sequence[Question], tokenizer: Tokenizer, most: int = MOST) -> list[Question]:
    """Questions whose word is a person's name, at most `most` of them, evenly spread."""
    names = {tokenizer.ids[name] for name in NAMES}
    found = [one for one in asked if one[0][one[1]] in names]
    return found[:: max(1, len(found) // most)][:most]


def frequency_baseline(questions: Sequence[Question], tokenizer: Tokenizer) -> float:
    """Accuracy of guessing the name that is most frequent in the rest of the row, the first if several are."""
    names, right = {tokenizer.ids[name] for name in NAMES}, 0
    for ids, place, _ in questions:
        others = Counter(token for at, token in enumerate(ids) if token in names and at != place)
        right += bool(others) and others.most_common(1)[0][0] == ids[place]
    return right / max(1, len(questions))


def name_accuracy(
    model: nn.Module, questions: Sequence[Question], tokenizer: Tokenizer, by_blank: Callable[..., dict[str, float]]
) -> dict[str, float]:
    """`names`: the share of names that a masked LM prefers to all others where they are masked · `names_believed`: the
    share for which a WKLM's P(original) is highest when each name is put there in turn. by_blank:
    `minibert.toy.pretrain.choice_accuracy`."""
    names = [tokenizer.ids[name] for name in NAMES]
    kinds = {kind: names for _, _, kind in questions}
    found: dict[str, float] = {}
    training = model.training
    model.eval()
    if isinstance(model, BertForPreTraining):
        found["names"] = by_blank(model, questions, kinds, tokenizer.mask_id, tokenizer.pad_id)["chosen"]
    if isinstance(model, NamesLm):
        right = [
            names[int(original_probabilities(model, ids, (place, place + 1), [(name,) for name in names]).argmax())]
            == ids[place]
            for ids, place, _ in questions
        ]
        found["names_believed"] = sum(right) / len(right)
    model.train(training)
    return found
