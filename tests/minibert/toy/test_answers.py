"""Questions about little stories: each has one answer, BERT and UniLM are given the same, and learn to write it."""

import random

import pytest
import torch

from minibert import checkpoint
from minibert.inside.predictions.writing import READS
from minibert.model import IGNORE, BertForPreTraining
from minibert.relatives import build, relative_named
from minibert.tokenizer import Tokenizer
from minibert.toy import answers
from minibert.toy.answers import LONGEST, QUESTION_WORDS, AnswerSettings, batch_of, examples, extend_vocabulary
from minibert.toy.world import vocabulary
from minibert.train import Eval, Sample


def toy_model(name: str) -> BertForPreTraining:
    torch.manual_seed(0)
    sizes = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "max_position_embeddings": 64}
    config = relative_named(name).config(len(vocabulary()), 16, 1, 2, 32, **sizes)
    return build(config, BertForPreTraining).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer([*vocabulary(), *QUESTION_WORDS])


def test_the_text_holds_the_answer(tokenizer):
    for one in examples(300, seed=1):
        *facts, question = one.text.replace("?", ".").split(". ")
        words, told = one.answer.rstrip(".").split(), " ".join(facts)
        known = [word for word in words if word not in ("was", "at", "the")]
        assert all(word in told for word in known), one
        assert tokenizer.unk_id not in tokenizer.encode(f"{one.text} {one.answer}").ids
        assert len(tokenizer.encode(one.answer).ids) <= LONGEST
        assert question.split()[0] in ("who", "what", "where")
    ids = tokenizer.encode("who bought the ball? anna.").ids
    assert answers.spelled(ids, tokenizer) == "who bought the ball? anna."
    rng = random.Random(3)
    assert answers.draw_example(rng) != answers.draw_example(rng) and examples(3, 5) == examples(3, 5)


@pytest.mark.parametrize(("mask", "first", "second"), [(READS, 4, 5), ("both_ways", 0, 1)])
def test_only_the_answer_is_hidden(tokenizer, mask, first, second):
    some = examples(40, seed=2)
    batch = batch_of(some, tokenizer, mask, torch.Generator().manual_seed(0))
    asked_for = batch.labels != IGNORE
    assert asked_for.any(1).all() and (batch.ids[asked_for] == tokenizer.mask_id).all()
    assert (batch.segments[asked_for] == second).all() and set(batch.segments.unique().tolist()) == {first, second}
    assert (batch.labels == tokenizer.sep_id).any(), "when to end is asked too"
    whole = torch.where(asked_for, batch.labels, batch.ids)
    for row, one in zip(whole, some, strict=True):
        ids = [*tokenizer.encode(one.text).ids, *tokenizer.encode(one.answer).ids[1:]]
        assert row[: len(ids)].tolist() == ids and set(row[len(ids) :].tolist()) <= {tokenizer.pad_id}


def test_a_wider_vocabulary_changes_no_other_word():
    model, old = toy_model("unilm"), Tokenizer(vocabulary())
    before = model.bert.embeddings.token.weight.detach().clone()
    new = extend_vocabulary(model, old, QUESTION_WORDS)
    assert new.vocab_size == model.config.vocab_size == len(old.vocab) + len(QUESTION_WORDS)
    assert torch.equal(model.bert.embeddings.token.weight[: len(before)], before)
    assert model.mlm.decoder.weight is model.bert.embeddings.token.weight
    assert len(model.mlm.decoder.bias) == new.vocab_size
    assert extend_vocabulary(model, new, QUESTION_WORDS).vocab_size == new.vocab_size


@pytest.mark.parametrize("name", ["unilm", "bert"])
def test_it_learns_to_answer_and_comes_back(name, tmp_path):
    checkpoint.save(tmp_path / "start", toy_model(name), Tokenizer(vocabulary()))
    settings = AnswerSettings(steps=4, batch_size=4, held_out=3, evaluate_every=2)
    text = "anna bought the red ball. who bought the ball?"
    events = list(answers.train_answers(settings, tmp_path / "start", out=tmp_path / "out", probe_inputs=[text]))
    assert all(0 <= event.metrics["answers"] <= 1 for event in events if isinstance(event, Eval))
    said = [event.answers[0] for event in events if isinstance(event, Sample)][-1]
    model, tokenizer = checkpoint.load(tmp_path / "out"), checkpoint.load_tokenizer(tmp_path / "out")
    assert answers.mask_for(model) == (READS if name == "unilm" else "both_ways")
    assert answers.answer_sample(model, tokenizer, text)["answer"] == said["answer"]
    assert len(said["words"]) == len(said["shares"]) <= LONGEST
