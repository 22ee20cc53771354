"""Which names of a text a WKLM judges replaced, and which candidates it finds most plausible in a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from minibert.masking.units import Tokens, Unit, word_units
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.relatives.parts.replaced_names import NamesBatch, NamesLm, names_of, others_of
from minibert.text.word_lists import names_in
from minibert.tokenizer import Encoding, Tokenizer

ROWS = 256  # per batch


def names_in_text(encoding: Encoding, tokenizer: Tokenizer) -> list[Unit]:
    """The names of a text that a WKLM can judge: those with other names of their kind."""
    goes_on = [
        one == other and one is not None
        for one, other in zip(encoding.words, [None, *encoding.words[:-1]], strict=True)
    ]
    return names_of(encoding.ids, word_units(goes_on, encoding.special), others_of(names_in(tokenizer)))


@torch.no_grad()
def replaced_probabilities(model: NamesLm, ids: Sequence[int], names: Sequence[Unit]) -> list[float]:
    """P(replaced) of each name of a row, all in one pass, as in pre-training."""
    if not names:
        return []
    row = torch.tensor([list(ids)])
    asked, behind = torch.full_like(row, IGNORE), torch.zeros_like(row)
    for start, end in names:
        asked[0, start], behind[0, start] = 0, end
    batch = NamesBatch(row, replaced=asked, behind=behind).to(next(model.parameters()).device)
    return model(batch).name_logits.float().sigmoid().tolist()


@torch.no_grad()
def name_surprisal(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    ids: Sequence[int],
    names: Sequence[Unit],
    others: Mapping[Tokens, Sequence[Tokens]],
) -> list[float]:
    """The same judgement by a masked LM: −ln P(name) among the names of its kind, each name masked alone."""
    if not names:
        return []
    rows = torch.tensor(list(ids)).repeat(len(names), 1)
    for row, (start, end) in zip(rows, names, strict=True):
        row[start:end] = tokenizer.mask_id
    logits = (
        model(Batch(rows.to(next(model.parameters()).device))).mlm_logits.float().log_softmax(-1).cpu()
    )  # (N, T, V)
    found = []
    for of_row, (start, end) in zip(logits, names, strict=True):
        own = tuple(ids[start:end])
        kind = torch.tensor([own, *others[own]])  # (C, tokens of each)
        found.append(-of_row[start:end].gather(1, kind.T).sum(0).log_softmax(0)[0].item())
    return found


@torch.no_grad()
def original_probabilities(model: NamesLm, ids: Sequence[int], name: Unit, candidates: Sequence[Tokens]) -> Tensor:
    """P(original) of each candidate in place of `name`; all have as many tokens as `name`. (candidates,)"""
    device = next(model.parameters()).device
    rows = torch.tensor(list(ids)).repeat(len(candidates), 1)
    rows[:, name[0] : name[1]] = torch.tensor(candidates)
    asked, behind = torch.full_like(rows, IGNORE), torch.zeros_like(rows)
    asked[:, name[0]], behind[:, name[0]] = 0, name[1]
    parts = NamesBatch(rows, replaced=asked, behind=behind).split(-(-len(rows) // ROWS))
    return torch.cat([torch.sigmoid(-model(part.to(device)).name_logits.float()).cpu() for part in parts])
