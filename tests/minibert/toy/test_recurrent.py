"""The recurrent readers: two directions that do not meet, one state between two LSTMs, and what is saved of them."""

import json
import random

import pytest
import torch
from torch import nn

from minibert.checkpoint import CheckpointError
from minibert.model import Batch
from minibert.text.batches import padded_batch
from minibert.toy.recurrent import BiLm, BiLmSettings, RecurrentPair, train_bilm
from minibert.toy.seq2seq import Seq2SeqSettings, Trained, train_seq2seq
from minibert.train import Step
from tests.server import ROOT

SHIPPED = ROOT / "checkpoints" / "recurrent-toy"
SMALL = BiLmSettings(embedding_size=12, hidden_size=16, stories=40, steps=60, batch_size=16)


@pytest.fixture
def lm() -> BiLm:
    torch.manual_seed(0)
    return BiLm(30, 8, 10).eval()


def test_it_is_two_of_torchs_lstms(lm):
    ids = torch.randint(30, (3, 6))
    theirs = nn.LSTM(8, 10, batch_first=True, bidirectional=True)
    for side, suffix in ((lm.forwards, "l0"), (lm.backwards, "l0_reverse")):
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(theirs, f"{part}_{suffix}").data.copy_(getattr(side, f"{part}_l0").data)
    with torch.no_grad():
        expected = theirs(lm.token(ids))[0]
        torch.testing.assert_close(torch.cat(lm.states(Batch(ids)), dim=-1), expected, atol=1e-6, rtol=0)


def test_padding_changes_nothing(lm):
    rows = [[2, 7, 8, 9, 3], [2, 11, 3]]
    together = lm.states(padded_batch(rows, 0))
    for n, row in enumerate(rows):
        alone = lm.states(Batch(torch.tensor([row])))
        for here, there in zip(together, alone, strict=True):
            torch.testing.assert_close(here[n, : len(row)], there[0], atol=1e-6, rtol=0)
    losses = [lm(Batch(torch.tensor([row]))).loss * (len(row) - 1) for row in rows]
    torch.testing.assert_close(lm(padded_batch(rows, 0)).loss, sum(losses) / 6, atol=1e-5, rtol=0)


def test_neither_side_sees_the_word_it_expects(lm):
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    before = lm.expected(Batch(ids))
    for place in (1, 2, 3):
        changed = ids.clone()
        changed[0, place] = 20
        left, right = lm.expected(Batch(changed))
        assert torch.equal(left[0, 1 : place + 1], before[0][0, 1 : place + 1])
        assert torch.equal(right[0, place:-1], before[1][0, place:-1])
        assert not torch.equal(left[0, place + 1 :], before[0][0, place + 1 :])
        assert not torch.equal(right[0, :place], before[1][0, :place])


def test_it_learns_and_is_the_same_again(tmp_path):
    events, again = list(train_bilm(SMALL, tmp_path / "lm")), list(train_bilm(SMALL))
    losses = [event.loss for event in events if isinstance(event, Step)]
    assert losses[-1] < losses[0]
    first, other = (run[-1].metrics for run in (events, again))
    assert first == other and first["forwards"] < 415
    loaded = BiLm.load(tmp_path / "lm")
    assert loaded.sizes == {"vocab_size": loaded.token.num_embeddings, "embedding_size": 12, "hidden_size": 16}
    with pytest.raises(CheckpointError):
        BiLm.load(tmp_path)
    huge = json.dumps(loaded.sizes | {"hidden_size": 2**24})  # which would take gigabytes to build
    for content, why in ((huge, "holds other weights"), ("{}", "no recurrent network")):
        (tmp_path / "lm" / "recurrent.json").write_text(content)
        with pytest.raises(CheckpointError, match=why):
            BiLm.load(tmp_path / "lm")


def test_a_pair_of_lstms_is_trained_and_asked_as_the_transformer_is(tmp_path):
    settings = Seq2SeqSettings(task="copy", longest=3, hidden_size=16, steps=20, batch_size=8, held_out=10)
    probe_inputs = ["the boat", "!"]
    events = list(
        train_seq2seq(
            settings, network=RecurrentPair, vocabulary=["quark"], probe_inputs=probe_inputs, out=tmp_path / "a"
        )
    )
    assert "quark" in events[0].details["words"]
    trained = Trained.load(tmp_path / "a", RecurrentPair)
    assert trained.answer(["the", "boat"]).target == ["the", "boat"]
    with pytest.raises(CheckpointError):
        Trained.load(tmp_path / "a")


def test_all_that_comes_over_is_one_state_however_long_the_sentence():
    trained = Trained.load(SHIPPED / "copy-lstm", RecurrentPair)
    batch = trained.words.batch([["the"], ["the", "boat", "and", "a", "lamp"]])
    h, c = trained.model.encode(batch)
    assert h.shape == c.shape == (1, 2, trained.model.config.hidden_size)
    alone = trained.model.encode(trained.words.batch([["the"]]))
    torch.testing.assert_close(h[:, :1], alone[0], atol=1e-6, rtol=0)


def test_what_ships_is_small_and_copies_short_sentences_and_looking_back_copies_long_ones():
    share = {}
    for name, kind in (("copy-lstm", {"network": RecurrentPair}), ("copy-transformer", {})):
        trained = Trained.load(SHIPPED / name, **kind)
        for length in (1, 9):
            rng = random.Random(length)
            sources = [rng.choices(trained.words.entries[4:], k=length) for _try in range(60)]
            said = trained.say(sources)
            share[name, length] = sum(a == b for a, b in zip(sources, said, strict=True)) / 60
    assert share["copy-lstm", 1] > 0.95 and share["copy-transformer", 1] > 0.95
    assert share["copy-transformer", 9] > 0.9 and share["copy-lstm", 9] < 0.5
    files = list(SHIPPED.rglob("*.safetensors"))
    assert len(files) == 4 and all(file.stat().st_size < 1e6 for file in files)


def test_without_a_word_to_predict_the_loss_is_zero():
    model = BiLm(20, 4, 6)
    loss = model(Batch(torch.tensor([[3]]))).loss
    loss.backward()
    assert loss.item() == 0.0
