"""The toy world as a run: what it measures is what it says, and it goes on where it was stopped."""

from dataclasses import replace

import pytest
import torch

from minibert.checkpoint import load
from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.pretrain import PretrainSettings, pretrain
from minibert.text.position_vectors import sinusoids
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.toy.pretrain import TOY, determined_accuracy, pretrain_toy, questions
from minibert.train import Eval, Sample, Saved, Step
from minibert.training import resume

TINY = replace(TOY, steps=12, minutes=None, report_every=4, measure_every=4, save_every=4, snapshots=(0.0, 0.5))


def stopped_after(events, step: int) -> list:
    """What a run tells until it is stopped, once that step is saved."""
    seen = []
    for event in events:
        seen.append(event)
        if isinstance(event, Saved) and event.step >= step:
            break
    events.close()
    return seen


def test_a_question_is_a_determined_word_of_a_story_that_fits_and_accuracy_the_share_of_right_answers():
    tokenizer, stories = Tokenizer(toy_world.vocabulary()), toy_world.stories(30, 7)
    asked = questions(stories, tokenizer, 64)
    fitting = [word for story in stories if len(story.words) + 2 <= 64 for word in story.words]
    expected = [(word.text, word.kind) for word in fitting if word.kind]
    assert [(tokenizer.vocab[ids[place]], kind) for ids, place, kind in asked] == expected and len(expected) > 100
    assert all(ids[0] == tokenizer.cls_id and ids[-1] == tokenizer.sep_id for ids, _, _ in asked)

    model = BertForPreTraining(BertConfig.preset("tiny", vocab_size=tokenizer.vocab_size)).eval()
    asked = questions(toy_world.stories(8, 7), tokenizer, 128)
    # A model that says the same everywhere is right exactly where that word stands.
    shown = [ids[place] for ids, place, _ in asked]
    favourite = max(set(shown), key=shown.count)
    with torch.no_grad():
        model.mlm.decoder.bias[favourite] = 100.0
    metrics = determined_accuracy(model, asked, tokenizer.mask_id, tokenizer.pad_id)
    right = [(ids[place] == favourite, kind) for ids, place, kind in asked]
    assert metrics["determined"] == sum(ok for ok, _ in right) / len(right) > 0
    for kind in {kind for _, kind in right}:
        of_kind = [ok for ok, other in right if other == kind]
        assert metrics[f"determined.{kind}"] == sum(of_kind) / len(of_kind)


@pytest.mark.release
@pytest.mark.trains
def test_a_run_measures_answers_and_goes_on(tmp_path):
    seen = stopped_after(pretrain_toy(TINY, tmp_path / "a", stories=60, probe_inputs=["anna was a brave [MASK] ."]), 4)
    evals = [event for event in seen if isinstance(event, Eval)]
    assert [event.step for event in evals] == [0, 4]
    assert evals[0].metrics["guessable"] <= evals[0].metrics["guessable_from_neighbours"] < 1
    sample = next(event for event in seen if isinstance(event, Sample))
    assert len(sample.answers[0]["blanks"][0]) == 5
    resumed = list(pretrain_toy(TINY, tmp_path / "b", stories=60, resume_from=tmp_path / "a"))
    assert [event.step for event in resumed if isinstance(event, Step)] == [8, 12]
    assert len(list((tmp_path / "b" / "steps").iterdir())) == 2


def test_a_toy_run_does_not_begin_over_another_that_was_cut_off(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join("\n".join(lines) for lines in toy_world.documents(20, seed=0)))
    settings = PretrainSettings(preset="tiny", vocab_size=120, steps=4, batch_size=4, max_length=48)
    stopped_after(pretrain(settings, [text], tmp_path / "model"), 0)
    with pytest.raises(ValueError, match="holds another run that was cut off"):
        list(pretrain_toy(replace(TOY, steps=1, minutes=None), tmp_path / "model", stories=20))
    assert resume.latest(tmp_path / "model") is not None


@pytest.mark.release
@pytest.mark.trains
@pytest.mark.parametrize("start", ["counts", "sinusoids"])
def test_positions_begin_as_the_start_says(tmp_path, start):
    """And with "sinusoids" they stay: also in a run that is cut off and goes on."""
    settings = replace(TINY, steps=4, start=start, batch_size=8, snapshots=(), save_every=2, report_every=1)
    stopped_after(pretrain_toy(settings, tmp_path / "model", stories=40), 2)
    list(pretrain_toy(settings, tmp_path / "model", stories=40, resuming=True))
    table = load(tmp_path / "model").bert.embeddings.position.weight.detach()
    waves = sinusoids(*table.shape)
    if start == "sinusoids":
        scaled = waves * table.size(1) ** -0.5 / waves.square().mean().sqrt()
        assert torch.allclose(table, scaled, atol=1e-3)  # saved in float16
    else:
        like = torch.cosine_similarity(table.flatten(), waves.flatten(), dim=0).item()
        assert 0.9 < like < 0.9999  # learned since
