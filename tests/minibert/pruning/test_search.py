"""One network learns to be its parts; each is cut out and asked; the best that is fast enough learns on."""

from dataclasses import replace

import pytest
import torch

from minibert.config import BertConfig
from minibert.finetune.predictor import Predictor
from minibert.pruning.search import Candidate, Found, SearchSpace, SubNetwork, best_within, search, super_network
from minibert.tasks import TASKS
from minibert.train import Done, Step
from tests.minibert.pruning.quick import SETTINGS, toys

SPACE = SearchSpace((1, 2), (1, 2), (16, 32))


def test_a_space_has_every_part_once_and_there_is_a_best():
    assert len(SearchSpace().parts) == len(set(SearchSpace().parts)) == 36 and SearchSpace().parts[-1] == SubNetwork(
        4, 4, 1024
    )
    keep = SubNetwork(2, 1, 3).keep(BertConfig(57, 32, 3, 4, 48))
    assert keep.layers == (0, 1) and keep.heads == ((0,), (0,)) and keep.neurons == ((0, 1, 2),) * 2
    with pytest.raises(ValueError, match="no part 4-1-3"):
        SubNetwork(4, 1, 3).keep(BertConfig(57, 32, 3, 4, 48))
    with pytest.raises(ValueError, match="at least 1"):
        SearchSpace(layers=())
    # The best is the most accurate that is fast enough.
    measured = {"a": (0.9, 0.3, 5.0), "b": (0.8, 0.4, 2.0), "c": (0.8, 0.3, 2.5)}  # accuracy, loss, milliseconds
    some = [Candidate(name, 1, 1, 1, *one, 1, 0.0) for name, one in measured.items()]
    assert best_within(some, 9).name == "a" and best_within(some, 3).name == "c" and best_within(some, 2).name == "b"
    with pytest.raises(ValueError, match=r"the fastest needs 2\.00 ms"):
        best_within(some, 1.0)


def test_only_the_part_that_is_drawn_learns(small_checkpoint):
    data = toys(16, 8)
    learner, predictor = super_network(small_checkpoint, TASKS["classification"], *data, SETTINGS, SPACE)
    learner.parts = [pair for pair in learner.parts if pair[0] == SubNetwork(1, 1, 16)]
    rows = predictor.features(data[0].examples)
    learner(predictor.task.batch(rows, predictor.tokenizer.pad_id))["loss"].backward()
    first, second = predictor.model.bert.blocks[:2]
    size = predictor.model.config.head_size
    value, expand = first.attn.value.weight.grad, first.mlp.expand.weight.grad
    assert value[:size].abs().sum() > 0 == value[size:].abs().sum()
    assert expand[:16].abs().sum() > 0 == expand[16:].abs().sum()
    assert all(weight.grad is None or not weight.grad.any() for weight in second.parameters())


def test_a_search_ends_in_a_model_that_is_fast_enough(small_checkpoint, tmp_path):
    learning = (replace(SETTINGS, epochs=4), replace(SETTINGS, epochs=2))
    kept = {"budget": 1000.0, "space": SPACE, "out": tmp_path / "out"}
    events = list(search(small_checkpoint, "classification", *toys(64, 24), *learning, **kept))
    candidates = [event for event in events if isinstance(event, Candidate)]
    (found,) = (event for event in events if isinstance(event, Found))
    assert len(candidates) == 8 and found.name == best_within(candidates, 1000.0).name
    progress = [event.progress for event in events if isinstance(event, Step | Candidate)]
    assert progress == sorted(progress) and progress[-1] == 1.0 and isinstance(events[-1], Done)
    saved = Predictor.from_directory(tmp_path / "out")
    sizes = saved.model.config.num_hidden_layers, saved.model.config.heads[0], saved.model.config.neurons[0]
    assert "-".join(map(str, sizes)) == found.name
    assert found.candidate["parameters"] == sum(weight.numel() for weight in saved.model.parameters())
    assert torch.isfinite(torch.tensor([one.loss for one in candidates])).all()


def test_a_budget_that_nothing_keeps_and_another_task_are_refused(small_checkpoint):
    for task, budget, said in (
        ("classification", 0.0, r"no part needs only 0\.00 ms"),
        ("tagging", 9.0, "wants a task of classes"),
    ):
        with pytest.raises(ValueError, match=said):
            list(search(small_checkpoint, task, *toys(16, 8, task), SETTINGS, SETTINGS, budget=budget, space=SPACE))
