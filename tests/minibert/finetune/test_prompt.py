"""P-tuning moves the vectors of the prompt; with the model frozen, nothing else at all."""

import pytest
import torch

from minibert import checkpoint
from minibert.finetune.predictor import Predictor
from minibert.finetune.prompt import Prompt, nearest_words
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.train import Eval, Optimization, Step
from tests.minibert.tasks.toys import toy

WORDS = {"with": ["y"], "without": ["n"]}
PATTERN = "{text} [unused1] [unused2] [MASK] [unused3]"


def learned(start, out, **changes) -> list:
    settings = FinetuneSettings(
        **{
            "pattern": PATTERN,
            "words": WORDS,
            "max_length": 24,
            "dropout": 0.0,
            "epochs": 2,
            "batch_size": 8,
            "optimization": Optimization(learning_rate=5e-2),
            "evaluations_per_epoch": 1,
            **changes,
        }
    )
    return list(finetune(start, "cloze", toy("classification", 32, 0), toy("classification", 16, 1), settings, out=out))


@pytest.mark.parametrize("through", ["direct", "lstm"])
def test_alone_only_its_rows_change_and_the_last_answer(small_checkpoint, letters, tmp_path, through):
    events = learned(small_checkpoint, tmp_path / "m", prompt=through, freeze="all")
    predictor = Predictor.from_directory(tmp_path / "m")
    size = letters.vocab_size
    assert predictor.tokenizer.vocab[size:] == ["[unused1]", "[unused2]", "[unused3]"]
    before = checkpoint.load(small_checkpoint).state_dict()
    for name, value in predictor.model.state_dict().items():
        assert torch.equal(value[: len(before[name])], before[name]), name
    assert len({event.loss for event in events if isinstance(event, Step)}) > 1
    fresh = predictor.model.bert.embeddings.token.weight[size:]
    assert fresh.norm(dim=1).min() > 0.2  # a row that was never trained has a norm of about 0.1
    last = [event for event in events if isinstance(event, Eval)][-1]
    _, loss = predictor.answers(toy("classification", 16, 1).examples)
    assert loss == pytest.approx(last.metrics["loss"], abs=1e-5)


def test_with_everything_the_model_moves_too_and_nothing_to_learn_is_refused(small_checkpoint, tmp_path):
    learned(small_checkpoint, tmp_path / "m", prompt="direct", epochs=1)
    before, after = (checkpoint.load(folder).bert.blocks[0].attn.query for folder in (small_checkpoint, tmp_path / "m"))
    assert not torch.equal(before.weight, after.weight)
    for changes in ({"prompt": "direct", "pattern": "{text} [MASK]"}, {"freeze": "all"}, {"prompt": "soft"}):
        with pytest.raises(ValueError, match=r"unused1|nothing to learn|one of"):
            learned(small_checkpoint, tmp_path / "m", **changes)


@pytest.mark.parametrize("through", ["direct", "lstm"])
def test_a_prompt_begins_as_its_rows_and_stands_in_their_places(through):
    table = torch.nn.Embedding(10, 8)
    prompt = Prompt(table, [3, 7], through)
    torch.testing.assert_close(prompt(), table.weight[[3, 7]])
    ids = torch.tensor([[1, 3, 7], [7, 2, 2]])
    with torch.no_grad():
        prompt.vectors += 1
        found, expected = prompt.tap(ids, "embeddings.token", table(ids)), table(ids).clone()
        vectors = prompt()
        expected[0, 1], expected[0, 2], expected[1, 0] = vectors[0], vectors[1], vectors[1]
    torch.testing.assert_close(found, expected)
    prompt.write(table)
    torch.testing.assert_close(table.weight[[3, 7]], vectors)


def test_nearest_words_are_the_largest_cosines():
    table = torch.tensor([[1.0, 0], [0.9, 0.1], [0, 1], [-1, 0], [2, 0.0]])
    assert [i for i, _ in nearest_words(table, [4], [0, 1, 2, 3])[0]] == [0, 1, 2, 3]
    (((first, cosine),),) = nearest_words(table, [4], [2, 1], most=1)
    assert first == 1 and cosine == pytest.approx(torch.cosine_similarity(table[4], table[1], dim=0).item())
