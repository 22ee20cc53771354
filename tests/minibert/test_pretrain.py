"""Pre-training end to end on a world of few words, and its measures against their definitions."""

import json
import math
import random
from dataclasses import asdict
from itertools import islice

import pytest
import torch
import torch.nn.functional as F
import transformers

from minibert import checkpoint
from minibert.model import IGNORE, Batch
from minibert.objectives import MaskedLanguageModel, Masking, NextToken, measure
from minibert.pretrain import PretrainSettings, fill, pretrain
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.train import Done, Optimization, Preparing, Saved, Step

ANIMALS = {"cat": "meowed", "dog": "barked", "cow": "mooed", "duck": "quacked"}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The animal decides its sound: context to be learned."""
    rng = random.Random(0)
    lines = []
    for _ in range(300):
        for _ in range(rng.randint(2, 5)):
            animal = rng.choice(list(ANIMALS))
            lines.append(f"the {rng.choice(['old', 'small', 'red'])} {animal} {ANIMALS[animal]} .")
        lines.append("")
    file = tmp_path_factory.mktemp("text") / "animals.txt"
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="module")
def run(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("pretrained") / "model"
    sizes = {"num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2}
    settings = {"vocab_size": 100, "steps": 200, "batch_size": 32, "max_length": 32, "seed": 1, "sizes": sizes}
    recipe = Optimization(learning_rate=3e-3, warmup=0.1, beta2=0.98)
    return list(pretrain(PretrainSettings(**settings, optimization=recipe), [text], out)), out


@pytest.fixture(scope="module")
def learned(run):
    """(the trained model, its tokenizer), for tests that change nothing of it."""
    return checkpoint.load(run[1]), checkpoint.load_tokenizer(run[1])


@pytest.mark.trains
def test_it_learns_what_the_context_decides(run, learned):
    events, _ = run
    steps = [event for event in events if isinstance(event, Step)]
    assert isinstance(events[-1], Saved) and isinstance(events[-2], Done) and isinstance(events[0], Preparing)
    assert steps[-1].parts["mlm_loss"] < 0.5 * steps[0].parts["mlm_loss"]
    for animal, sound in ANIMALS.items():
        ((best, _), *_rest) = fill(*learned, f"the old {animal} [MASK] .")[0]
        assert best == learned[1].encode(sound).tokens[1]


def test_fill_is_the_softmax_at_the_blank(run, learned):
    model, tokenizer = learned
    theirs = transformers.BertForPreTraining.from_pretrained(run[1], dtype=torch.float32).eval()
    ids = torch.tensor([tokenizer.encode("the [MASK] dog [MASK].").ids])
    with torch.no_grad():
        probs = theirs(ids).prediction_logits.softmax(-1)[0]
    blanks = (ids[0] == tokenizer.mask_id).nonzero().flatten()
    answers = fill(model, tokenizer, "the [MASK] dog [MASK].", top=3)
    assert len(answers) == len(blanks) == 2
    for blank, row in zip(blanks, answers, strict=True):
        best = probs[blank].topk(3)
        assert [piece for piece, _ in row] == [tokenizer.vocab[i] for i in best.indices]
        assert [p for _, p in row] == pytest.approx(best.values.tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("objective", "kind", "number"),
    [(MaskedLanguageModel(), "mlm", "masked_tokens"), (NextToken(), "next_token", "tokens")],
)
def test_evaluation_is_the_mean_over_all_questions(learned, text, monkeypatch, objective, kind, number):
    monkeypatch.setattr("minibert.training.precision.has_bfloat16", lambda device: False)
    model, tokenizer = learned
    store = TokenStore.build([block.splitlines() for block in text.read_text().split("\n\n")[:20]], tokenizer)
    rows = PretrainingBatches(store, tokenizer, batch_size=5, max_length=32, seed=0, objective=objective)
    batches = list(islice(rows, 4))
    model.train()
    metrics = measure(objective, model, batches)
    assert model.training
    model.eval()
    losses, right, nsp = [], [], []
    for batch in batches:
        with torch.no_grad():
            output = model(Batch(batch.ids, batch.segments, batch.padding))
        asked = batch.labels != IGNORE
        logits, labels = output.mlm_logits[asked], batch.labels[asked]
        losses += F.cross_entropy(logits, labels, reduction="none").tolist()
        right += (logits.argmax(-1) == labels).tolist()
        if batch.next_labels is not None:
            nsp += (output.nsp_logits.argmax(-1) == batch.next_labels).tolist()
    assert metrics[f"{kind}_loss"] == pytest.approx(sum(losses) / len(losses), rel=1e-4)
    assert metrics[f"{kind}_accuracy"] == pytest.approx(sum(right) / len(right))
    assert metrics[number] == len(losses)
    assert metrics.get("nsp_accuracy") == (pytest.approx(sum(nsp) / len(nsp)) if kind == "mlm" else None)


def test_random_start_begins_at_ln_v(text, tmp_path):
    settings = PretrainSettings(preset="tiny", vocab_size=60, steps=1, batch_size=64, max_length=32, start="random")
    first = next(event for event in pretrain(settings, [text], tmp_path / "m") if isinstance(event, Step))
    assert first.parts["mlm_loss"] == pytest.approx(math.log(60), rel=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "either steps or minutes"),
        ({"steps": 1, "minutes": 1.0}, "either steps or minutes"),
        ({"steps": 1, "start": "zeros"}, "start must be one of random, counts"),
        ({"steps": 1, "max_length": 4}, "at least 5, not 4"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PretrainSettings(**settings)


def test_settings_come_back_from_a_log():
    settings = PretrainSettings(
        steps=3, snapshots=(0.5, 1.0), masking=Masking(split=(0.7, 0.2, 0.1)), optimization=Optimization(beta2=0.9)
    )
    assert PretrainSettings.from_dict(json.loads(json.dumps(asdict(settings)))) == settings


def test_a_checkpoint_goes_on_with_the_dropout_that_is_asked_for(text, run, tmp_path):
    settings = PretrainSettings(steps=1, batch_size=4, max_length=32, dropout=0.3)
    list(pretrain(settings, [text], tmp_path / "m", model=run[1]))
    config = checkpoint.load(tmp_path / "m").config
    assert config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0.3


def test_rows_longer_than_the_model_reads_are_refused_before_anything_else(text, run, tmp_path):
    for model in (None, run[1]):
        events = pretrain(PretrainSettings(steps=1, max_length=600), [text], tmp_path / "m", model=model)
        with pytest.raises(ValueError, match="rows of 600 tokens, but the model has 512 positions"):
            next(events)
