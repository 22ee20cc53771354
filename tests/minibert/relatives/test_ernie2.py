"""ERNIE 2.0 as a relative: transformers' ErnieModel with `use_task_id`, both ways; and when which question is asked."""

import itertools
import json

import torch
import transformers

from minibert import checkpoint
from minibert.model import IGNORE, Batch
from minibert.relatives import build, objective_for
from minibert.relatives.ernie2 import ORDER, WORDS, Ernie2Config
from minibert.relatives.parts.continual_tasks import TaskedBatch, TaskedLm
from tests.minibert.relatives.toy_world import TOKENIZER, stream

SIZES = {
    "vocab_size": 61,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 20,
    "initializer_range": 0.3,
}
IDS, SEGMENTS = torch.arange(5, 19).view(2, 7), torch.tensor([[0, 0, 0, 1, 1, 1, 1]] * 2)
PADDING = torch.arange(7) < torch.tensor([[7], [5]])


@torch.no_grad()
def test_every_tasks_vectors_are_transformers_both_ways(tmp_path):
    torch.manual_seed(0)
    config = transformers.ErnieConfig(**SIZES, use_task_id=True, task_type_vocab_size=4)
    theirs = transformers.ErnieForPreTraining(config).eval()
    theirs.save_pretrained(tmp_path / "theirs")
    ours = checkpoint.load(tmp_path / "theirs").eval()
    assert isinstance(ours, TaskedLm) and ours.config == Ernie2Config(**SIZES, task_type_vocab_size=4)
    checkpoint.save(tmp_path / "ours", ours)
    kept = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert (kept["model_type"], kept["use_task_id"], kept["architectures"]) == ("ernie", True, ["ErnieForPreTraining"])
    again, report = transformers.ErnieForPreTraining.from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not any(report.values()), report
    assert type(transformers.AutoModel.from_pretrained(tmp_path / "ours")) is transformers.ErnieModel
    for network, task in itertools.product((theirs, again.eval()), range(4)):
        told, seen = torch.full((2, 7), task), {}
        said = network.ernie(IDS, PADDING.long(), token_type_ids=SEGMENTS, task_type_ids=told)
        batch = TaskedBatch(IDS, SEGMENTS, PADDING, tasks=told[:, 0])
        output = ours(batch, lambda name, x, seen=seen: seen.setdefault(name, x))
        assert torch.allclose(seen["blocks.1.out"][PADDING], said.last_hidden_state[PADDING], rtol=0, atol=1e-5)
        assert torch.allclose(seen["pooler.out"], said.pooler_output, rtol=0, atol=1e-5)
        assert output.nsp_logits.shape == (2, 2)


@torch.no_grad()
def test_who_is_told_of_no_task_is_told_of_the_first():
    torch.manual_seed(0)
    model = build(Ernie2Config(**SIZES), TaskedLm).eval()
    by_task = [model(TaskedBatch(IDS, tasks=torch.full((2,), task))).nsp_logits for task in range(3)]
    torch.testing.assert_close(model(Batch(IDS)).nsp_logits, by_task[0], rtol=0, atol=1e-6)
    assert all((by_task[0] - other).abs().max() > 1e-3 for other in by_task[1:])


def test_words_come_first_and_go_on_beside_the_order():
    config = Ernie2Config(**{**SIZES, "vocab_size": TOKENIZER.vocab_size, "max_position_embeddings": 48})
    objective = objective_for(config, order_from=3)
    batches = list(stream(objective, max_length=48, epochs=4, short_probability=0.0))
    model = build(config, objective.model)
    asked = [int(batch.tasks[0]) for batch in batches]
    assert asked[:3] == [WORDS] * 3 and {*asked[3:]} == {WORDS, ORDER}
    assert 0.25 < asked[3:].count(WORDS) / len(asked[3:]) < 0.75
    for batch, task in zip(batches, asked, strict=True):
        assert (batch.tasks == task).all()
        kinds = objective.target_counts(batch)
        assert set(objective.prediction_stats(model(batch), batch)) == set(kinds)
        if task == ORDER:
            assert kinds == {"sop": len(batch.ids)} and (batch.labels == IGNORE).all()
        else:
            assert set(kinds) == {"mlm"} and batch.next_labels is None
