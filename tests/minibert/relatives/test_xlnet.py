"""XLNet: against transformers in both directions, its masks by hand, and two streams against one of double length."""

import json
from dataclasses import replace

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.corruption import MaskVocabulary
from minibert.inside.relatives.two_streams import double_length, two_streams
from minibert.model import IGNORE, Batch
from minibert.relatives import build, objective_for
from minibert.relatives.parts.permutation import (
    PermutationLanguageModel,
    PermutationLM,
    content_mask,
    draw_order,
    draw_target_spans,
    query_mask,
)
from minibert.relatives.xlnet import XlnetConfig

CONFIG = XlnetConfig(57, 32, 3, 2, 64, max_position_embeddings=64, initializer_range=0.2)
SPECIAL = (torch.arange(12) == 0).expand(3, 12)


@pytest.fixture(scope="module")
def model() -> PermutationLM:
    torch.manual_seed(0)
    made = build(CONFIG, PermutationLM).eval()
    for name, weight in made.named_parameters():
        if "bias" in name:
            torch.nn.init.normal_(weight, std=0.3)  # zeros would hide which bias goes where
    return made


def rows(**changes) -> Batch:
    rng = torch.Generator().manual_seed(3)
    ids = torch.randint(5, 57, (3, 12), generator=rng)
    real = torch.arange(12) < torch.tensor([[12], [9], [5]])
    return replace(Batch(ids, (torch.arange(12) > 6).long().expand(3, 12), real), **changes)


def asked_rows(asked: int = 3) -> Batch:
    batch = rows()
    order = draw_order(batch.padding, torch.Generator().manual_seed(4))
    last = (order > batch.padding.sum(1, keepdim=True) - asked) & batch.padding
    return replace(batch, labels=batch.ids.masked_fill(~last, IGNORE), order=order)


@torch.no_grad()
@pytest.mark.parametrize("asked", [1, 3])
def test_logits_equal_transformers(model, tmp_path, asked):
    checkpoint.save(tmp_path / "ours", model)
    theirs = transformers.XLNetLMHeadModel.from_pretrained(tmp_path / "ours").eval()
    plain, batch = rows(), asked_rows(asked)
    read = {"attention_mask": plain.padding.float(), "token_type_ids": plain.segments}
    assert (model(plain).mlm_logits - theirs(plain.ids, **read).logits)[plain.padding].abs().max() < 1e-5

    targets = torch.zeros(3, asked, 12)
    for row, places in enumerate(batch.labels != IGNORE):
        targets[row, torch.arange(asked), places.nonzero()[:, 0]] = 1
    two = theirs(batch.ids, **read, perm_mask=(~query_mask(batch.order)).float(), target_mapping=targets).logits
    assert (model(batch).mlm_logits - two.flatten(0, 1)).abs().max() < 1e-5

    theirs.save_pretrained(tmp_path / "theirs")
    again = checkpoint.load(tmp_path / "theirs")
    assert again.config == CONFIG and torch.equal(again(batch).mlm_logits, model(batch).mlm_logits)
    encoder = transformers.XLNetModel.from_pretrained(tmp_path / "ours").eval()
    hidden = encoder(plain.ids, **read).last_hidden_state
    assert (model.bert(plain)[0] - hidden)[plain.padding].abs().max() < 1e-5
    encoder.save_pretrained(tmp_path / "encoder")
    assert torch.equal(checkpoint.load(tmp_path / "encoder")(plain)[0], model.bert(plain)[0])


def test_the_masks_follow_the_order():
    """Figure 4 of the paper: the order 3 → 2 → 4 → 1."""
    order = torch.tensor([[4, 2, 1, 3]])
    content = [[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]]
    query = [[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
    assert content_mask(order)[0].int().tolist() == content
    assert query_mask(order)[0].int().tolist() == query
    seen_by_all = query_mask(torch.tensor([[0, 2, 0, 1]]))[0].int().tolist()
    assert seen_by_all == [[1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 1, 0], [1, 0, 1, 0]]


def test_an_order_is_a_permutation_with_padding_last():
    real = rows().padding
    order = draw_order(real, torch.Generator().manual_seed(0))
    assert all(sorted(row) == list(range(1, 13)) for row in order.tolist())
    for row, there in zip(order, real, strict=True):
        assert sorted(row[there].tolist()) == list(range(1, int(there.sum()) + 1))


@torch.no_grad()
def test_nobody_learns_what_comes_later_in_the_order(model):
    """A guess changes with what is read before it, and with nothing else: not with the word itself."""
    batch = replace(asked_rows(), padding=None)
    base = model(batch).mlm_logits
    places = [(row, place) for row in range(3) for place in (batch.labels[row] != IGNORE).nonzero()[:, 0].tolist()]
    for row, place in places:
        changed = batch.ids.clone()
        changed[row, place] = (changed[row, place] + 7) % 50 + 5
        moved = (model(replace(batch, ids=changed)).mlm_logits - base).abs().amax(-1) > 1e-6
        assert moved.tolist() == [r == row and bool(batch.order[r, p] > batch.order[row, place]) for r, p in places]


@torch.no_grad()
def test_two_streams_are_one_of_double_length_under_a_mask(model):
    batch = rows(order=draw_order(rows().padding, torch.Generator().manual_seed(4)))
    content, query = two_streams(model.bert, batch)
    both, real = double_length(model.bert, batch), batch.padding
    assert (both - torch.cat([content, query], 1))[real.repeat(1, 2)].abs().max() < 1e-5
    some = replace(batch, labels=batch.ids)
    assert (model(some).mlm_logits - model.mlm(query).flatten(0, 1)).view(3, 12, -1)[real].abs().max() < 1e-4


@torch.no_grad()
def test_without_an_order_blanks_are_asked_at_once_of_all_the_rest(model):
    ids = rows().ids
    labels = torch.full_like(ids, IGNORE)
    labels[:, [2, 4]] = ids[:, [2, 4]]
    base = model(rows(labels=labels)).mlm_logits
    ids[:, 4] = 9
    assert torch.allclose(model(rows(ids=ids, labels=labels)).mlm_logits, base)  # nobody reads a blank
    ids[:, 3] = 9
    assert not torch.allclose(model(rows(ids=ids, labels=labels)).mlm_logits, base)


def test_the_last_sixth_of_the_order_is_asked(letters):
    batch, special = rows(), SPECIAL | ~rows().padding
    vocabulary, rng = MaskVocabulary.of(letters), torch.Generator().manual_seed(0)
    objective = objective_for(CONFIG)
    assert objective.name == "plm" and isinstance(build(CONFIG, objective.model), PermutationLM)
    given = objective.corrupt(batch, special, special, vocabulary, rng)
    assert torch.equal(given.ids, batch.ids)  # nothing is hidden
    asked = given.labels != IGNORE
    assert asked.sum(1).tolist() == [2, 1, 1] and not (asked & special).any()
    for row in range(3):
        words = given.order[row][~special[row]]
        assert set(given.order[row][asked[row]].tolist()) == set(sorted(words.tolist())[-int(asked[row].sum()) :])
    code = PermutationLanguageModel(context="all").corrupt(batch, special, special, vocabulary, rng)
    assert ((code.order == 0) == (code.labels == IGNORE)).all()


def test_rows_longer_than_any_seen_are_read(model):
    ids = torch.randint(5, 57, (1, 200))
    assert model(Batch(ids)).mlm_logits.isfinite().all()


def test_what_is_another_network_is_refused(model, tmp_path):
    checkpoint.save(tmp_path, model)
    config = tmp_path / "config.json"
    values = json.loads(config.read_text())
    for name, value in {"attn_type": "uni", "bi_data": True, "clamp_len": 40}.items():
        config.write_text(json.dumps({**values, name: value}))
        with pytest.raises(checkpoint.CheckpointError, match=name):
            checkpoint.load(tmp_path)


def test_spans_are_those_of_transformers_collator():
    class Letters:
        mask_token, mask_token_id, pad_token, pad_token_id = "m", 1, "p", 0

        def get_special_tokens_mask(self, ids, already_has_special_tokens):
            return [0] * len(ids)

    collator = transformers.DataCollatorForPermutationLanguageModeling(Letters(), plm_probability=1 / 6)
    shares = []
    for seed in range(30):
        torch.manual_seed(seed)
        *_others, labels = collator.torch_mask_tokens(torch.full((1, 40), 9))
        ours = draw_target_spans(torch.ones(1, 40, dtype=torch.bool), 1 / 6, torch.Generator().manual_seed(seed))
        assert torch.equal(ours, labels != IGNORE)
        shares.append(ours.double().mean().item())
    assert 0.13 < sum(shares) / len(shares) < 0.2


@pytest.mark.parametrize("context", ["order", "all"])
def test_spans_come_last_in_the_order(context):
    batch = rows()
    special = SPECIAL | ~batch.padding
    asks = PermutationLanguageModel(share=0.3, spans=True, context=context)
    for seed in range(8):
        made = asks.corrupt(batch, special, None, None, torch.Generator().manual_seed(seed))
        asked = made.labels != IGNORE
        assert asked.any(1).all() and not (asked & special).any()
        for order, guessed, real in zip(made.order, asked, batch.padding, strict=True):
            count, known = int(guessed.sum()), real & ~guessed
            if context == "order":
                assert sorted(order[real].tolist()) == list(range(1, int(real.sum()) + 1))
            assert order[guessed].min() > (order[known].max() if known.any() else 0)
            assert len(set(order[guessed].tolist())) == count


def test_a_row_of_one_word_is_asked_for_it():
    words = torch.tensor([[False, True, False], [False, False, False]])
    asked = draw_target_spans(words, 1 / 6, torch.Generator().manual_seed(0))
    assert asked.tolist() == [[False, True, False], [False, False, False]]
