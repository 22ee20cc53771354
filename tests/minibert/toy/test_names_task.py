"""A BERT that goes on as WKLM: which names are replaced, what is said of them by blank and by head, and what stays."""

import math
import random

import pytest
import torch
from sklearn.metrics import roc_auc_score

from minibert import checkpoint
from minibert.folders import ROOT
from minibert.inside.relatives.name_probe import name_surprisal, names_in_text
from minibert.model import Batch
from minibert.relatives.parts.replaced_names import NamesLm, others_of
from minibert.text.word_lists import names_in
from minibert.toy.names_task import GOES_ON, NamesSettings, corrupt_names, doubt_sample, start_from, train_names
from minibert.train import Done, Eval, Sample, Saved
from minibert.training.statistics import area

START = ROOT / "checkpoints" / "recurrent-toy" / "bert"
TOKENIZER = checkpoint.load_tokenizer(START)
OTHERS = others_of(names_in(TOKENIZER))
TEXT = "anna and ben were good friends. later anna gave the ball to ben."


def test_the_area_is_scikit_learns_and_settings_that_cannot_be_are_refused():
    rng = random.Random(0)
    scores = [rng.choice((0.1, 0.2, 0.5, 0.9)) for _ in range(80)]
    positive = [rng.random() < 0.3 for _ in scores]
    assert area(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    assert area([1, 2], [False, True]) == 1.0 and math.isnan(area([1, 2], [True, True]))
    with pytest.raises(ValueError, match="goes on as one of bert, wklm, names_too, not '<b>'"):
        NamesSettings("<b>")
    with pytest.raises(ValueError, match="steps must be at least 1"):
        NamesSettings(steps=0)


@torch.no_grad()
def test_the_unlikelihood_of_a_name_by_hand():
    model, encoding = checkpoint.load(START).eval(), TOKENIZER.encode(TEXT)
    names = names_in_text(encoding, TOKENIZER)
    said = name_surprisal(model, TOKENIZER, encoding.ids, names, OTHERS)
    for (start, end), nats in zip(names, said, strict=True):
        row = list(encoding.ids)
        own = row[start]
        assert end == start + 1
        row[start] = TOKENIZER.mask_id
        logits = model(Batch(torch.tensor([row]))).mlm_logits[0, start].double()
        powers = {other: math.exp(logits[other].item()) for other in (own, *(one[0] for one in OTHERS[(own,)]))}
        assert nats == pytest.approx(-math.log(powers[own] / sum(powers.values())), abs=1e-4)
    assert name_surprisal(model, TOKENIZER, encoding.ids, [], OTHERS) == []


def test_names_give_way_to_their_kind_the_same_ones_whenever_asked():
    ids = TOKENIZER.encode(TEXT).ids
    rows = corrupt_names([ids, TOKENIZER.encode("soon it was a good day.").ids] * 20, TOKENIZER, OTHERS, 0.5)
    assert len(rows) == 20 and rows == corrupt_names([ids] * 20, TOKENIZER, OTHERS, 0.5)
    assert 0.2 < sum(sum(row.replaced) for row in rows) / sum(len(row.names) for row in rows) < 0.5
    for row in rows:
        changed = {at for at, (one, other) in enumerate(zip(ids, row.ids, strict=True)) if one != other}
        assert changed == {start for (start, _), wrong in zip(row.names, row.replaced, strict=True) if wrong}


@pytest.mark.parametrize("goes_on", GOES_ON)
def test_it_begins_as_the_bert_and_says_how_doubtful_names_are(goes_on, tmp_path):
    settings = NamesSettings(goes_on, steps=2, batch_size=4, stories=12, held_out=6, evaluate_every=1)
    learner, start = start_from(START, settings.objective), checkpoint.load(START)
    assert isinstance(learner, NamesLm) == (goes_on != "bert")
    for name, weight in learner.state_dict().items():
        assert name.startswith("names.") or torch.equal(weight, start.state_dict()[name])
    events = list(train_names(settings, START, probe_inputs=[TEXT, "<b> 猫"], out=tmp_path / "model"))
    evals = [event for event in events if isinstance(event, Eval)]
    assert [event.step for event in evals] == [0, 1, 2] and isinstance(events[-1], Done)
    assert ("names_believed" in evals[0].metrics) == (goes_on != "bert")
    known, strange = [event for event in events if isinstance(event, Sample)][-1].answers
    assert [known["tokens"][a] for a, _ in known["names"]] == ["anna", "ben", "anna", "ben"]
    assert all(0 <= doubt <= 1 for doubt in known["doubts"]) and strange["names"] == []
    assert any(isinstance(event, Saved) for event in events)
    again = checkpoint.load(tmp_path / "model").eval()
    assert again.config.model_type == ("bert" if goes_on == "bert" else "wklm")
    assert doubt_sample(again, TOKENIZER, OTHERS, TEXT)["doubts"] == pytest.approx(known["doubts"], abs=2e-3)
