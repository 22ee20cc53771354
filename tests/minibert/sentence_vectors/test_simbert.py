"""SimBERT: what is read sees nothing of what is written, the two losses by hand, and a run that finds and writes."""

from itertools import islice

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.inside.geometry.vectors import unit
from minibert.inside.predictions.writing import expected
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.sentence_vectors import simbert
from minibert.sentence_vectors.simbert import ParaphraseBatches, SimBertSettings, cls_vectors, to_unilm
from minibert.sentence_vectors.simbert_run import train_simbert
from minibert.tokenizer import Tokenizer
from minibert.train import Eval, Optimization, Sample, Step

GROUPS = [[f"{a} {b} {a}", f"{b} {a}", f"{b} {b} {a} {a}"] for a in "abcd" for b in "wxyz"]


def settings(**changes) -> SimBertSettings:
    few = {"steps": 20, "batch_size": 8, "evaluate_every": 10, "optimization": Optimization(learning_rate=3e-3)}
    return SimBertSettings(**{**few, **changes})


def test_the_partner_s_share_by_hand():
    x = np.random.default_rng(3).normal(size=(6, 5))
    logits = 20 * cosine_similarity(x)
    np.fill_diagonal(logits, -np.inf)  # nobody is a partner of himself
    wanted = -np.mean([log_softmax(row)[i ^ 1] for i, row in enumerate(logits)])
    assert simbert.retrieval_loss(torch.tensor(x), 20.0).item() == pytest.approx(wanted, rel=1e-5)


@pytest.fixture
def made(loaded):
    """A SimBERT at its beginning: the small model as a UniLM."""
    return to_unilm(loaded[0]).eval()


def test_a_unilm_of_a_bert_reads_as_it_did(loaded, made):
    model, tokenizer = loaded
    ids = torch.tensor([tokenizer.encode("a b c").ids])
    segments = torch.tensor([[0] * 3 + [1] * (ids.size(1) - 3)])
    with torch.no_grad():
        before, after = (one(Batch(ids, segments)) for one in (model.eval(), made))
    assert made.config.model_type == "unilm" and torch.allclose(before.mlm_logits, after.mlm_logits, atol=1e-6)


def test_cls_sees_nothing_of_what_is_written(made, letters):
    batch = next(iter(ParaphraseBatches(GROUPS, letters, settings())))
    with torch.no_grad():
        cls = made.bert(batch)[0][:, 0].numpy()
    rows = zip(batch.ids, batch.segments, strict=True)
    texts = [letters.decode(ids[segments == 4].tolist(), skip_special=True) for ids, segments in rows]
    assert np.allclose(unit(cls), cls_vectors(made.bert, letters, texts), atol=1e-5)


def test_a_batch_has_one_pair_of_a_group_both_ways_round(letters):
    # One token of each row is hidden.
    whole, again = (ParaphraseBatches(GROUPS, letters, settings(rate=0.0)) for _ in range(2))
    for batch, same in islice(zip(whole, again, strict=True), 5):
        assert torch.equal(batch.ids, same.ids) and len(batch.ids) == 16
        ids = torch.where(batch.labels == IGNORE, batch.ids, batch.labels)
        pieces = list(zip(ids.tolist(), batch.segments.tolist(), strict=True))
        read, told = (
            [[i for i, s in zip(*row, strict=True) if s == segment and i not in letters.special_ids] for row in pieces]
            for segment in (4, 5)
        )
        assert read[::2] == told[1::2] and read[1::2] == told[::2]
        groups = [frozenset(row) for row in read[::2]]
        assert len(set(groups)) == len(groups)


def test_nats_are_those_of_writing_token_after_token(made, letters):
    for pairs in ([("a b", "b a a"), ("c", "x y z w")], [("a b", "")]):
        logs = []
        for a, b in pairs:
            source, target = letters.encode(a).ids, letters.encode(b).ids[1:]
            for place, token in enumerate(target):
                logs.append(float(expected(made, source, target[:place], letters.mask_id)[token]))
        assert simbert.nats_per_token(made, letters, pairs) == pytest.approx(-sum(logs) / len(logs), rel=1e-5)


def test_what_is_written_is_new_and_in_order(made, letters):
    found = simbert.paraphrases(made, letters, "a b c", draws=6, keep=4)
    texts, cosines = zip(*found, strict=True)
    assert 1 <= len(found) <= 4 and len(set(texts)) == len(texts) and "a b c" not in texts
    assert list(cosines) == sorted(cosines, reverse=True)
    *those, this = cls_vectors(made.bert, letters, [*texts, "a b c"])
    assert np.allclose(cosines, those @ this, atol=1e-6)
    assert found == simbert.paraphrases(made, letters, "a b c", draws=6, keep=4)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("How do I  reset it ?", "how do i reset it?"), ("怎么 重设 PIN 密码？", "怎么重设pin密码？"), ("", "")],
)
def test_spelled_as_one_writes(text, spelled):
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer([*signs, *"怎么重设密码？?", "how", "do", "i", "reset", "it", "pin"])
    assert simbert.detokenized(tokenizer.encode(text).ids, tokenizer) == spelled


@pytest.mark.trains
def test_a_run_finds_writes_and_answers(small_checkpoint, tmp_path):
    questions = [(text, str(n)) for n, group in enumerate(GROUPS) for text in group]
    held_out, desk = questions[::3], questions[1::3]
    beside = {"pairs": [("a w a", "w a")], "learned": [("a w a", "w a")], "probe_inputs": ["a w <b>"], "out": tmp_path}
    run = train_simbert(
        settings(steps=40), small_checkpoint, simbert.group_questions(questions), held_out=held_out, desk=desk, **beside
    )
    events = list(run)
    steps = [event for event in events if isinstance(event, Step)]
    assert {"finding", "writing"} <= set(steps[-1].parts)
    evals = [event.metrics for event in events if isinstance(event, Eval)]
    assert steps[-1].parts["finding"] < steps[0].parts["finding"] - 0.2
    assert evals[-1]["nats"] < evals[0]["nats"] - 0.5
    assert all(one["nats_learned"] == one["nats"] for one in evals)
    answer = next(event for event in reversed(events) if isinstance(event, Sample)).answers[0]
    assert len(answer["nearest"]) == 3 and all(len(one) == 2 for one in answer["written"])
    opened = checkpoint.load(tmp_path)
    assert isinstance(opened, BertForPreTraining) and opened.config.model_type == "unilm"
    share = simbert.retrieval_accuracy(opened.bert, checkpoint.load_tokenizer(tmp_path), held_out, desk)
    assert share == pytest.approx(evals[-1]["found"], abs=0.07)


def test_a_run_may_learn_to_find_alone(small_checkpoint):
    run = train_simbert(settings(steps=3, writes=False), small_checkpoint, GROUPS)
    steps = [event for event in run if isinstance(event, Step)]
    assert {"finding", "writing"} & set(steps[-1].parts) == {"finding"}


def test_what_cannot_be_learned_from_is_refused(small_checkpoint, tmp_path, made, letters):
    checkpoint.save(tmp_path / "unilm", made, letters)
    for attempt in (
        lambda: list(train_simbert(settings(), small_checkpoint, [["a", "b"], ["c", "c"]])),
        lambda: settings(finds=False, writes=False),
        lambda: settings(batch_size=1),
        lambda: list(train_simbert(settings(), tmp_path / "unilm", GROUPS)),  # begins with no BERT
    ):
        with pytest.raises(ValueError, match=r"fewer|nothing is learned|at least 2|BERT"):
            attempt()
