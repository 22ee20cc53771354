"""SimBERT: what is read sees nothing of what is written, the two losses by hand, and a run that finds and writes."""

import math
from itertools import islice

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.inside.vectors import unit
from minibert.inside.writing import expected
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.sentence_vectors.simbert import (
    Pairs,
    SimBertSettings,
    alike,
    cls_vectors,
    found_share,
    grouped,
    nats,
    retrieval_loss,
    unilm_of,
    written,
)
from minibert.sentence_vectors.simbert_run import train_simbert
from minibert.tokenizer import Tokenizer
from minibert.train import Eval, Optimization, Sample, Step

GROUPS = [[f"{a} {b} {a}", f"{b} {a}", f"{b} {b} {a} {a}"] for a in "abcd" for b in "wxyz"]


def settings(**changes) -> SimBertSettings:
    few = {"steps": 20, "batch_size": 8, "evaluate_every": 10, "optimization": Optimization(learning_rate=3e-3)}
    return SimBertSettings(**{**few, **changes})


def test_the_partner_s_share_by_hand():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6, 5))
    logits = 20 * cosine_similarity(x)
    wanted = 0.0
    for i in range(6):
        others = [logits[i, j] for j in range(6) if j != i]
        partner = i + 1 if i % 2 == 0 else i - 1
        wanted -= (logits[i, partner] - math.log(sum(map(math.exp, others)))) / 6
    assert retrieval_loss(torch.tensor(x), 20.0).item() == pytest.approx(wanted, rel=1e-5)


def test_a_unilm_of_a_bert_reads_as_it_did(loaded):
    model, tokenizer = loaded
    ids = torch.tensor([tokenizer.encode("a b c").ids])
    segments = torch.tensor([[0] * 3 + [1] * (ids.size(1) - 3)])
    made = unilm_of(model).eval()
    with torch.no_grad():
        before, after = (one(Batch(ids, segments)) for one in (model.eval(), made))
    assert made.config.model_type == "unilm" and torch.allclose(before.mlm_logits, after.mlm_logits, atol=1e-6)


def test_cls_sees_nothing_of_what_is_written(loaded):
    model, tokenizer = unilm_of(loaded[0]).eval(), loaded[1]
    stream = iter(Pairs(GROUPS, tokenizer, settings()))
    batch = next(stream)
    with torch.no_grad():
        cls = model.bert(batch)[0][:, 0].numpy()
    rows = zip(batch.ids, batch.segments, strict=True)
    texts = [tokenizer.decode(ids[segments == 4].tolist(), skip_special=True) for ids, segments in rows]
    assert np.allclose(unit(cls), cls_vectors(model.bert, tokenizer, texts), atol=1e-5)


def test_a_batch_has_one_pair_of_a_group_both_ways_round(loaded):
    _, tokenizer = loaded
    whole = Pairs(GROUPS, tokenizer, settings(rate=0.0))  # one token of each row is hidden
    again = Pairs(GROUPS, tokenizer, settings(rate=0.0))
    for batch, same in islice(zip(whole, again, strict=True), 5):
        assert torch.equal(batch.ids, same.ids) and len(batch.ids) == 16
        ids = torch.where(batch.labels == IGNORE, batch.ids, batch.labels)
        read, told = (
            [[i for i, s in zip(row, kind, strict=True) if s == segment and i not in tokenizer.special_ids]
             for row, kind in zip(ids.tolist(), batch.segments.tolist(), strict=True)]
            for segment in (4, 5)
        )  # fmt: skip
        assert read[::2] == told[1::2] and read[1::2] == told[::2]
        letters = [frozenset(row) for row in read[::2]]
        assert len(set(letters)) == len(letters)


def test_nats_are_those_of_writing_token_after_token(loaded):
    model, tokenizer = unilm_of(loaded[0]).eval(), loaded[1]
    pairs = [("a b", "b a a"), ("c", "x y z w")]
    logs = []
    for a, b in pairs:
        source, target = tokenizer.encode(a).ids, tokenizer.encode(b).ids[1:]
        for place, token in enumerate(target):
            logs.append(float(expected(model, source, target[:place], tokenizer.mask_id)[token]))
    assert nats(model, tokenizer, pairs) == pytest.approx(-sum(logs) / len(logs), rel=1e-5)


def test_what_is_written_is_new_and_in_order(loaded):
    model, tokenizer = unilm_of(loaded[0]).eval(), loaded[1]
    found = alike(model, tokenizer, "a b c", draws=6, keep=4)
    texts, cosines = zip(*found, strict=True)
    assert 1 <= len(found) <= 4 and len(set(texts)) == len(texts) and "a b c" not in texts
    assert list(cosines) == sorted(cosines, reverse=True)
    *those, this = cls_vectors(model.bert, tokenizer, [*texts, "a b c"])
    assert np.allclose(cosines, those @ this, atol=1e-6)
    assert found == alike(model, tokenizer, "a b c", draws=6, keep=4)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("How do I  reset it ?", "how do i reset it?"), ("怎么 重设 PIN 密码？", "怎么重设pin密码？"), ("", "")],
)
def test_spelled_as_one_writes(text, spelled):
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer([*signs, *"怎么重设密码？?", "how", "do", "i", "reset", "it", "pin"])
    assert written(tokenizer.encode(text).ids, tokenizer) == spelled


@pytest.mark.trains
def test_a_run_finds_writes_and_answers(small_checkpoint, tmp_path):
    questions = [(text, str(n)) for n, group in enumerate(GROUPS) for text in group]
    events = list(
        train_simbert(
            settings(steps=40), small_checkpoint, grouped(questions), held_out=questions[::3],
            desk=questions[1::3], pairs=[("a w a", "w a")], learned=[("a w a", "w a")],
            watch=["a w <b>"], out=tmp_path / "simbert",
        )
    )  # fmt: skip
    steps = [event for event in events if isinstance(event, Step)]
    assert {"finding", "writing"} <= set(steps[-1].parts)
    evals = [event.metrics for event in events if isinstance(event, Eval)]
    assert steps[-1].parts["finding"] < steps[0].parts["finding"] - 0.2
    assert evals[-1]["nats"] < evals[0]["nats"] - 0.5
    assert all(one["nats_learned"] == one["nats"] for one in evals)
    answer = next(event for event in reversed(events) if isinstance(event, Sample)).answers[0]
    assert len(answer["nearest"]) == 3 and all(len(one) == 2 for one in answer["written"])
    opened = checkpoint.load(tmp_path / "simbert")
    assert isinstance(opened, BertForPreTraining) and opened.config.model_type == "unilm"
    tokenizer = checkpoint.load_tokenizer(tmp_path / "simbert")
    share = found_share(opened.bert, tokenizer, questions[::3], questions[1::3])
    assert share == pytest.approx(evals[-1]["found"], abs=0.07)


def test_a_run_may_learn_to_find_alone(small_checkpoint):
    run = train_simbert(settings(steps=3, writes=False), small_checkpoint, GROUPS)
    steps = [event for event in run if isinstance(event, Step)]
    assert {"finding", "writing"} & set(steps[-1].parts) == {"finding"}


def test_what_cannot_be_learned_from_is_refused(small_checkpoint, tmp_path, loaded):
    checkpoint.save(tmp_path / "unilm", unilm_of(loaded[0]), loaded[1])
    for attempt in (
        lambda: list(train_simbert(settings(), small_checkpoint, [["a", "b"], ["c", "c"]])),
        lambda: settings(finds=False, writes=False),
        lambda: settings(batch_size=1),
        lambda: list(train_simbert(settings(), tmp_path / "unilm", GROUPS)),  # begins with no BERT
    ):
        with pytest.raises(ValueError, match=r"fewer|nothing is learned|at least 2|BERT"):
            attempt()
