"""What an option does to one example is what training sees."""

import statistics
from dataclasses import replace

import pytest
import torch

from minibert.finetune.option_effects import (
    FreshLearner,
    answers_on_the_way,
    dropout_losses,
    loss_terms,
    means_of,
    step_shares,
    unrest,
)
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import Example
from minibert.train import Optimization
from tests.minibert.tasks.toys import toy

DATA = toy("classification", 16, 0)
ONE = DATA.examples[0]


def bench(start, **changes) -> FreshLearner:
    return FreshLearner.of(start, "classification", DATA, FinetuneSettings(max_length=24, **changes))


def test_dropout_losses_scatter_and_their_means_less(small_checkpoint):
    losses = dropout_losses(bench(small_checkpoint, dropout=0.5), ONE, 640)
    assert len(losses) == 640 and losses == dropout_losses(bench(small_checkpoint, dropout=0.5), ONE, 640)
    ratio = statistics.stdev(losses) / statistics.stdev(means_of(losses, 16))
    assert ratio == pytest.approx(4.0, rel=0.35)
    still = bench(small_checkpoint, dropout=0.0)
    assert set(dropout_losses(still, ONE, 5)) == {dropout_losses(still, ONE, 1)[0]}
    with torch.no_grad():
        assert dropout_losses(still, ONE, 1)[0] == pytest.approx(still.learner.model(still.batch(ONE)).loss.item())


def test_means_leave_out_a_rest():
    assert means_of([1.0, 3.0, 5.0, 7.0, 9.0], 2) == [2.0, 6.0]


def test_loss_terms_add_up(small_checkpoint):
    made = bench(small_checkpoint, mlm_weight=0.3)
    found = loss_terms(made, ONE, seed=3)
    assert found.loss == pytest.approx(found.task + 0.3 * found.mlm)
    with torch.no_grad():
        assert found.task == pytest.approx(made.learner.model.eval()(made.batch(ONE)).loss.item())
    original = [made.tokenizer.vocab[i] for i in made.batch(ONE).ids[0].tolist()]
    assert found.asked and all(original[at] == token for at, token in found.asked.items())
    with pytest.raises(ValueError, match="mlm_weight"):
        loss_terms(bench(small_checkpoint), ONE)


def test_what_each_step_counts_in_the_mean():
    assert step_shares(1.0, 5) == pytest.approx([0.2] * 5)
    assert step_shares(0.5, 4) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    late = step_shares(0.1, 100)
    assert sum(late) == pytest.approx(1) and late == sorted(late) and sum(late[-25:]) > 0.9


def test_the_answers_on_the_way_end_where_finetuning_does(small_checkpoint, tmp_path):
    options = {"epochs": 2, "batch_size": 4, "dropout": 0.1, "optimization": Optimization(learning_rate=5e-3)}
    settings = FinetuneSettings(max_length=24, **options)
    found = answers_on_the_way(bench(small_checkpoint, **options), DATA, ONE, settings, [1.0, 0.5])
    assert {share: len(answers) for share, answers in found.items()} == {0: 8, 1: 8, 0.5: 8}
    for averaging, ours in found.items():
        out, settings = tmp_path / str(averaging), replace(settings, averaging=averaging)
        list(finetune(small_checkpoint, "classification", DATA, DATA, settings, out=out))
        (answer,) = Predictor.from_directory(out).predict([ONE.text])
        assert answer["probabilities"][ONE.label] == pytest.approx(ours[-1], abs=1e-4)


def test_unrest_is_the_mean_of_the_moves():
    assert unrest([0.5, 0.7, 0.6]) == pytest.approx(0.15) and unrest([0.5]) == 0


def test_metadata_is_in_the_batch_as_asked(small_checkpoint):
    data = type(DATA)([Example("a b", "x", {"kind": "one"}), Example("c d", "y", {"kind": "two"})])
    settings = {"max_length": 24, "metadata": ("kind",)}
    token = FreshLearner.of(small_checkpoint, "classification", data, FinetuneSettings(**settings, metadata_as="token"))
    vector = FreshLearner.of(small_checkpoint, "classification", data, FinetuneSettings(**settings))
    assert token.tokenizer.vocab[token.batch(data.examples[1]).ids[0, 1]] == "[KIND=TWO]"
    assert vector.batch(data.examples[1]).metadata.tolist() == [[2]]
    assert vector.batch(Example("c", "y", {"kind": "new"})).metadata.tolist() == [[0]]
