"""XLNet's memory of the row before: transformers' `mems`, what a gradient may not do, and one long row under a mask."""

from dataclasses import replace

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.model import IGNORE, Batch
from minibert.relatives import build
from minibert.relatives.parts.permutation import PermutationLM, draw_order
from minibert.relatives.parts.segment_memory import guess_on, read_on, whole
from minibert.relatives.xlnet import XlnetConfig

CONFIG = XlnetConfig(57, 32, 3, 2, 64, max_position_embeddings=64, initializer_range=0.2)


@pytest.fixture(scope="module")
def model() -> PermutationLM:
    torch.manual_seed(0)
    made = build(CONFIG, PermutationLM).eval()
    for name, weight in made.named_parameters():
        if "bias" in name:
            torch.nn.init.normal_(weight, std=0.3)
    return made


def ids(count: int, seed: int, rows: int = 3) -> torch.Tensor:
    return torch.randint(5, 57, (rows, count), generator=torch.Generator().manual_seed(seed))


def asked(count: int, seed: int, last: int = 3) -> Batch:
    row = ids(count, seed)
    order = draw_order(torch.ones_like(row, dtype=torch.bool), torch.Generator().manual_seed(seed))
    return Batch(row, labels=row.masked_fill(order <= count - last, IGNORE), order=order)


@pytest.fixture
def saved(model, tmp_path):
    return checkpoint.save(tmp_path / "ours", model)


@torch.no_grad()
@pytest.mark.parametrize("segments", [False, True])
def test_memory_is_transformers_mems(model, saved, segments):
    theirs = transformers.XLNetModel.from_pretrained(saved, mem_len=64).eval()
    batches = [Batch(ids(count, count)) for count in (7, 9, 5)]
    if segments:
        batches = [replace(one, segments=(torch.arange(one.ids.size(1)) > 3).long().expand(3, -1)) for one in batches]
    memory = mems = None
    for batch in batches:
        said = theirs(batch.ids, token_type_ids=batch.segments, mems=mems, use_mems=True)
        x, read = read_on(model.bert, batch, memory)
        torch.testing.assert_close(x, said.last_hidden_state, atol=2e-5, rtol=1e-4)
        memory = read if memory is None else [torch.cat(pair, 1) for pair in zip(memory, read, strict=True)]
        mems = said.mems
        torch.testing.assert_close(memory, [other.transpose(0, 1) for other in mems], atol=2e-5, rtol=1e-4)


@torch.no_grad()
def test_guesses_behind_a_memory_are_transformers(model, saved):
    theirs = transformers.XLNetLMHeadModel.from_pretrained(saved, mem_len=64).eval()
    first, second = ids(7, 1), asked(8, 2)
    mems = theirs.transformer(first, use_mems=True).mems
    blind = (second.order[:, None, :] >= second.order[:, :, None]).float()  # 1: may not look
    target = torch.stack([torch.eye(8)[mask] for mask in second.labels != IGNORE])
    said = theirs(second.ids, mems=mems, perm_mask=blind, target_mapping=target, use_mems=True).logits  # (3, 3, V)
    ours, _read = guess_on(model, second, read_on(model.bert, Batch(first))[1])
    torch.testing.assert_close(ours.mlm_logits, said.flatten(0, 1), atol=3e-5, rtol=1e-4)


@torch.no_grad()
def test_without_a_memory_it_is_the_model_itself(model):
    batch = asked(9, 4)
    torch.testing.assert_close(guess_on(model, batch)[0].mlm_logits, model(batch).mlm_logits)
    x, read = read_on(model.bert, whole(batch))
    torch.testing.assert_close(x, model.bert(whole(batch))[0])
    assert len(read) == 3 and all(layer.shape == (3, 9, 32) for layer in read)


@torch.no_grad()
def test_one_row_whose_first_half_does_not_see_the_second(model):
    """What a memory saves is work: both rows as one, where the first may not look into the second, say the same."""
    first, second = ids(6, 5), ids(8, 6)
    mask = torch.ones(14, 14, dtype=torch.bool)
    mask[:6, 6:] = False
    together = model.bert(Batch(torch.cat([first, second], 1)), mask=mask[None, None])[0]
    apart = read_on(model.bert, Batch(second), read_on(model.bert, Batch(first))[1])[0]
    torch.testing.assert_close(apart, together[:, 6:], atol=2e-5, rtol=1e-4)


def test_no_gradient_goes_back_into_the_memory(model):
    _output, read = guess_on(model, asked(6, 7))
    assert not any(layer.requires_grad for layer in read)
    output, _read = guess_on(model, asked(6, 8), read)
    output.mlm_loss.backward()
    assert model.bert.embeddings.query.weight.grad.abs().sum() > 0
    model.zero_grad()
