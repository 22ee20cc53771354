"""What an option does to one example is what training sees."""

import statistics

import pytest
import torch

from minibert.finetune import option_effects
from minibert.finetune.option_effects import FreshLearner, averaging_weights, dropout_losses, group_means, loss_terms
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import Example, TaskData
from tests.minibert.finetune.runs import FAST, run
from tests.minibert.tasks.toys import toy

DATA = toy("classification", 16, 0)
ONE = DATA.examples[0]


def bench(start, data=DATA, **changes) -> FreshLearner:
    return FreshLearner.of(start, "classification", data, FinetuneSettings(max_length=24, **changes))


def test_dropout_losses_scatter_and_their_means_less(small_checkpoint):
    losses = dropout_losses(bench(small_checkpoint, dropout=0.5), ONE, 640)
    assert len(losses) == 640 and losses == dropout_losses(bench(small_checkpoint, dropout=0.5), ONE, 640)
    ratio = statistics.stdev(losses) / statistics.stdev(group_means(losses, 16))
    assert ratio == pytest.approx(4.0, rel=0.35)
    still = bench(small_checkpoint, dropout=0.0)
    assert set(dropout_losses(still, ONE, 5)) == {dropout_losses(still, ONE, 1)[0]}
    with torch.no_grad():
        assert dropout_losses(still, ONE, 1)[0] == pytest.approx(still.learner.model(still.batch(ONE)).loss.item())


def test_loss_terms_add_up(small_checkpoint):
    made = bench(small_checkpoint, mlm_weight=0.3)
    found = loss_terms(made, ONE, seed=3)
    assert found.loss == pytest.approx(found.task + 0.3 * found.mlm)
    with torch.no_grad():
        assert found.task == pytest.approx(made.learner.model.eval()(made.batch(ONE)).loss.item())
    original = [made.tokenizer.vocab[i] for i in made.batch(ONE).ids[0].tolist()]
    assert found.targets and all(original[at] == token for at, token in found.targets.items())
    with pytest.raises(ValueError, match="mlm_weight"):
        loss_terms(bench(small_checkpoint), ONE)


def test_means_of_losses_steps_and_moves_by_hand():
    assert group_means([1.0, 3.0, 5.0, 7.0, 9.0], 2) == [2.0, 6.0]  # a rest is left out
    assert option_effects.mean_change([0.5, 0.7, 0.6]) == pytest.approx(0.15) and option_effects.mean_change([0.5]) == 0
    assert averaging_weights(1.0, 5) == pytest.approx([0.2] * 5)
    assert averaging_weights(0.5, 4) == pytest.approx([0.1, 0.2, 0.3, 0.4])
    late = averaging_weights(0.1, 100)
    assert sum(late) == pytest.approx(1) and late == sorted(late) and sum(late[-25:]) > 0.9


def test_the_answers_on_the_way_end_where_finetuning_does(small_checkpoint, tmp_path):
    options = {"epochs": 2, "batch_size": 4, "dropout": 0.1, "optimization": FAST}
    settings = FinetuneSettings(max_length=24, **options)
    learner = bench(small_checkpoint, **options)
    found = option_effects.probabilities_while_training(learner, DATA, ONE, settings, [1.0, 0.5])
    assert {share: len(answers) for share, answers in found.items()} == {0: 8, 1: 8, 0.5: 8}
    for averaging, ours in found.items():
        run(small_checkpoint, data=(DATA, DATA), out=tmp_path / str(averaging), averaging=averaging, **options)
        (answer,) = Predictor.from_directory(tmp_path / str(averaging)).predict([ONE.text])
        assert answer["probabilities"][ONE.label] == pytest.approx(ours[-1], abs=1e-4)


def test_metadata_is_in_the_batch_as_asked(small_checkpoint):
    data = TaskData([Example("a b", "x", {"kind": "one"}), Example("c d", "y", {"kind": "two"})])
    vector, token = (
        bench(small_checkpoint, data, metadata=("kind",), metadata_as=way) for way in ("embedding", "token")
    )
    assert token.tokenizer.vocab[token.batch(data.examples[1]).ids[0, 1]] == "[KIND=TWO]"
    assert vector.batch(data.examples[1]).metadata.tolist() == [[2]]
    assert vector.batch(Example("c", "y", {"kind": "new"})).metadata.tolist() == [[0]]
