"""BART on the toy world: what is asked, what is written, and that it learns to write back."""

import random

import pytest
import torch

from minibert.masking.noises import NOISES, NoisyToken
from minibert.model import IGNORE, Batch
from minibert.seq2seq.bart import BartForConditionalGeneration
from minibert.seq2seq.decoder import greedy
from minibert.tokenizer import Tokenizer
from minibert.toy import denoising
from minibert.toy.denoising import (
    DenoisingSettings,
    batch_of,
    denoise,
    removed_tokens,
    restoration_sample,
    source_ids,
    tokens_of,
    verdicts,
)
from minibert.toy.world import vocabulary
from minibert.train import Done, Eval, Sample, Step

TEXT = "anna found the red ball. tom went to the zoo."
SMALL = DenoisingSettings(steps=2, batch_size=2, stories=4, held_out=2, evaluate_every=1, layers=1, hidden_size=16)


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(vocabulary())


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    model = BartForConditionalGeneration(SMALL.config(tokenizer)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn(weight.shape))
    return model


def test_the_decoder_is_asked_for_the_whole_text_one_token_on(tokenizer):
    whole = [tokens_of(TEXT, tokenizer), tokens_of("anna danced.", tokenizer)]
    parts = [NOISES["deletion"](row, random.Random(1)) for row in whole]
    batch = batch_of(whole, parts, tokenizer)
    for row, (tokens, left) in enumerate(zip(whole, parts, strict=True)):
        labels = [tokenizer.vocab[i] for i in batch.labels[row].tolist() if i != IGNORE]
        assert labels == ["[CLS]", *tokens, "[SEP]"]
        assert batch.target[row, : len(labels)].tolist() == [tokenizer.sep_id, *batch.labels[row, : len(labels) - 1]]
        read = batch.ids[row][batch.ids[row] != tokenizer.pad_id].tolist()
        assert read == source_ids(left, tokenizer) and len(read) == len(left) + 2
    assert batch.padding[1].sum() == len(parts[1]) + 2


def test_what_is_lost_and_how_each_token_came_out():
    tokens = list("abcd")
    assert removed_tokens(tokens, [NoisyToken("c", (2,)), NoisyToken("[MASK]", (0, 1)), NoisyToken("[MASK]", ())]) == [
        True,
        True,
        False,
        True,
    ]
    assert not any(removed_tokens(tokens, NOISES["rotation"](tokens, random.Random(2))))
    whole, gone = list("abcde"), [False, True, True, False, False]
    assert verdicts(list("abxde"), whole, gone) == ["kept", "found", "wrong", "kept", "kept"]
    assert verdicts(list("ade"), whole, gone) == ["kept", "kept", "kept"]
    assert verdicts([], whole, gone) == [] and verdicts(["x"], [], []) == ["wrong"]


def test_a_beam_of_one_is_greedy_and_a_wide_one_no_worse(model, tokenizer):
    parts = NOISES["infilling"](tokens_of(TEXT, tokenizer), random.Random(3))
    one = denoise(model, tokenizer, parts)[0]
    bare = [i for i in tokenizer.special_ids if i != tokenizer.sep_id]
    with torch.no_grad():  # by hand: the likeliest that may be written, from [SEP] [CLS] on
        source = Batch(torch.tensor([source_ids(parts, tokenizer)]))
        target = torch.tensor([[tokenizer.sep_id, tokenizer.cls_id]])
        for token, p in zip(one.ids, one.log_probs, strict=True):
            logits = model.decode(target, model.encode(source), source)[0, -1].double().log_softmax(-1)
            assert p == pytest.approx(float(logits[token]), abs=1e-5)
            logits[bare] = float("-inf")
            assert token == int(logits.argmax())
            target = torch.cat([target, torch.tensor([[token]])], dim=1)
    assert len(one.ids) <= denoising.LONGEST
    found = denoise(model, tokenizer, parts, 4)
    assert len(found) == 4 and found[0].score >= (one.score if one.ended else float("-inf"))


def test_whole_counts_texts_right_in_every_token_and_any_text_is_read(model, tokenizer):
    rows = [tokens_of(text, tokenizer) for text in denoising.texts(3, 2, 1)]
    questions = [(row, NOISES["masking"](row, random.Random(4))) for row in rows]
    batch = batch_of(rows, [parts for _, parts in questions], tokenizer)
    said = greedy(model, batch, tokenizer.sep_id, tokenizer.sep_id, 60)
    right = sum([tokenizer.vocab[i] for i in a[1:]] == row for a, row in zip(said, rows, strict=True))
    found = denoising.evaluate(model, questions, tokenizer)
    assert found["whole"] == right / len(rows) and 0 <= found["lost"] <= 1 and 0 <= found["tokens"] <= 1
    assert restoration_sample(model, tokenizer, "word " * 500, "both", 0)["whole"] == tokens_of(
        "word " * 500, tokenizer
    )
    assert restoration_sample(model, tokenizer, "今天 😀 <b>", "both", 0)["said"] is not None


def test_events_and_what_is_saved(tmp_path):
    messages = iter([[[["anna danced.", 7]]]])
    probe_inputs, mailbox = [(TEXT, 1), ("", 2)], lambda: next(messages, [])
    events = list(denoising.train_bart(SMALL, out=tmp_path, probe_inputs=probe_inputs, mailbox=mailbox))
    samples = [event for event in events if isinstance(event, Sample)]
    assert [one["text"] for one in samples[0].answers] == [TEXT]
    assert samples[-1].answers[0]["text"] == "anna danced."
    assert {"tokens", "lost", "whole"} == set(events[-1].metrics)
    assert isinstance(events[-1], Done) and not (tmp_path / "config.json").exists()
    again = restoration_sample(*denoising.load(tmp_path / denoising.BART), "anna danced.", "both", 7)
    assert again["whole"] == samples[-1].answers[0]["whole"] == ["anna", "danced", "."]
    assert again["said"] and all(len(one) == 3 for one in again["said"])
    with pytest.raises(ValueError, match="the noise is one of"):
        DenoisingSettings(noise="<b>")


@pytest.mark.release
@pytest.mark.trains
def test_it_learns_to_write_a_text_back():
    settings = DenoisingSettings("masking", steps=120, evaluate_every=120)
    events = list(denoising.train_bart(settings))
    first, *_, last = (event.metrics for event in events if isinstance(event, Eval))
    assert first["tokens"] < 0.1 and last["tokens"] > 0.85
    assert [event for event in events if isinstance(event, Step)][-1].loss < 0.7
