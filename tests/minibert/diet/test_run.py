"""The network and its runs: losses by hand, padding that changes nothing, saved and loaded, the command line."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from starlette.testclient import TestClient

from minibert.checkpoint import CheckpointError
from minibert.diet.model import Diet, DietConfig, LearnedDistances, sampled_softmax_loss
from minibert.diet.predictor import DESCRIPTION, WEIGHTS, DietPredictor, is_diet, load_predictor, ranked_intents
from minibert.diet.rows import diet_batch, diet_rows
from minibert.diet.run import DietSettings, adam_optimization, train_diet
from minibert.diet.sparse import SparseFeatures
from minibert.relatives.nezha import NezhaConfig, RelativeAttention
from minibert.service.server import application
from minibert.tasks import TASKS, TaskData
from minibert.tasks.intents import IntentExample
from minibert.train import Done, Eval, Sample, Saved, Step
from tests.hostile import HOSTILE
from tests.minibert.commands import call

ROOT = Path(__file__).resolve().parents[3]
SIZES = {"width": 32, "sparse_size": 16, "heads": 2}
TEXT = """## intent:wake
- wake me at [seven](time)
- get me up at [nine](time) on [Monday](day)
- ring the bell at [eight](time)
- wake us at [ten](time)
## intent:play
- play some [jazz](kind)
- put on [rock](kind) music
- I want to hear [jazz](kind)
- music please
"""


def found_in(answer) -> list[tuple[str, str]]:
    return [(entity["text"], entity["type"]) for entity in answer["entities"]]


@pytest.fixture(scope="module")
def data():
    return TASKS["intent"].parse(TEXT.encode(), "train.md")


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("diet") / "out"
    settings = DietSettings(
        features="sparse",
        epochs=100,
        batch_first=4,
        batch_last=4,
        sizes=SIZES,
        optimization=replace(adam_optimization(), learning_rate=5e-3),
    )
    return out, list(train_diet(settings, None, data, data, probe_inputs=["wake me at nine"], out=out))


@pytest.mark.trains
def test_it_learns_what_it_is_shown(trained):
    out, events = trained
    evals = [event for event in events if isinstance(event, Eval)]
    assert evals[-1].metrics["intent_accuracy"] == 1.0 and evals[-1].metrics["entity_f1"] > 0.8
    assert evals[-1].metrics["loss"] < evals[0].metrics["loss"]
    assert {"intent", "entities", "mask"} <= [event for event in events if isinstance(event, Step)][-1].parts.keys()
    answer = [event for event in events if isinstance(event, Sample)][-1].answers[0]
    assert (answer["intent"], found_in(answer)) == ("wake", [("nine", "time")])
    assert isinstance(events[-2], Saved) and isinstance(events[-1], Done)
    assert not list(out.glob("*.pt")) and is_diet(out)


def test_loaded_is_what_was_saved(trained):
    out, _events = trained
    loaded = load_predictor(out)
    assert isinstance(loaded, DietPredictor)
    answer, again = loaded.predict(["wake me at nine", "music"])
    alone = loaded.predict(["wake me at nine"])[0]
    assert answer["intent"] == alone["intent"] and again["intent"] == "play"
    assert answer["probabilities"]["wake"] == pytest.approx(alone["probabilities"]["wake"], abs=1e-5)  # padding
    assert answer["tag_probabilities"] == pytest.approx(alone["tag_probabilities"], abs=1e-5)
    assert sum(p for _, p in ranked_intents(answer)) == pytest.approx(1) and ranked_intents(answer)[0][0] == "wake"
    for said in loaded.predict([*HOSTILE.values(), "…", "a " * 300]):
        assert len(said["tags"]) == len(said["words"]) and math.isfinite(max(said["probabilities"].values()))
    assert loaded.predict(["wake " * 300])[0]["tag_probabilities"][256:] == [0.0] * 44  # not read


@pytest.mark.parametrize("broken", ["weights", "words", "field", "encoder"])
def test_what_is_no_diet_is_refused(trained, tmp_path, broken):
    out, _ = trained
    said = json.loads((out / DESCRIPTION).read_text())
    match broken:
        case "words":
            said["words"].pop()
        case "field":
            del said["tags"]
        case "encoder":
            said["config"] |= {"features": "both", "dense_size": 0}
    (tmp_path / WEIGHTS).write_bytes(b"pickle" if broken == "weights" else (out / WEIGHTS).read_bytes())
    (tmp_path / DESCRIPTION).write_text(json.dumps(said))
    with pytest.raises(CheckpointError, match="holds no DIET"):
        DietPredictor.from_directory(tmp_path)


def test_a_right_one_is_told_from_others_by_hand():
    similarities, own = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]), torch.tensor([0, 1])
    right = F.one_hot(own, 3).bool()
    wanted = F.cross_entropy(similarities, own).item()
    assert float(sampled_softmax_loss(similarities, own, right, 20)) == pytest.approx(wanted)
    torch.manual_seed(0)
    one = {round(float(sampled_softmax_loss(similarities[:1], own[:1], right[:1], 1)), 4) for _ in range(30)}
    assert one == {round(math.log(1 + math.exp(-gap)), 4) for gap in (1, 2)}  # one wrong one, drawn
    same = torch.tensor([[True, True, False]])  # place 1 holds the same word: no wrong one
    assert float(sampled_softmax_loss(similarities[:1], own[:1], same, 20)) == pytest.approx(math.log(1 + math.exp(-2)))


def test_learned_distances_begin_as_a_table_and_are_nezhas_otherwise():
    config = NezhaConfig(1, 8, 1, 2, 8, max_relative_position=3)
    learned, fixed = LearnedDistances(config).eval(), RelativeAttention(config).eval()
    assert "sinusoids" in dict(learned.named_parameters()) and learned.sinusoids.shape == (7, 4)
    learned.load_state_dict({**fixed.state_dict(), "sinusoids": fixed.sinusoids})
    x = torch.randn(2, 6, 8)
    assert torch.allclose(learned(x), fixed(x), atol=1e-6)


def test_frozen_features_learn_nothing_and_go_along(data, tmp_path):
    small = ROOT / "checkpoints" / "mini-en"
    settings = DietSettings(features="both", epochs=1, batch_first=8, batch_last=8, sizes=SIZES, mask_loss=False)
    events = train_diet(settings, small, data, None, out=tmp_path / "out", linked=str(small))
    assert not [event for event in events if isinstance(event, Eval) and event.metrics]
    loaded = DietPredictor.from_directory(tmp_path / "out")
    assert loaded.dense is not None and not any("bert" in name for name in loaded.model.state_dict())
    assert loaded.predict(["wake"])[0]["words"] == ["wake"]


def test_hidden_words_become_mask_another_or_stay():
    torch.manual_seed(0)
    model = Diet(DietConfig(features="sparse", **SIZES), 5, 2, 1)
    x = torch.arange(4000.0).reshape(1, 4000, 1).expand(1, 4000, 32).contiguous()
    hidden = torch.ones(1, 4000, dtype=torch.bool)
    changed = model.mask_words(x, hidden, hidden[:, 1:])[0]
    for same, share in ((changed == model.hidden_word, 0.7), (changed == x[0], 0.2)):
        assert float(same.all(1).float().mean()) == pytest.approx(share, abs=0.03)
    assert torch.equal(model.mask_words(x, ~hidden, hidden[:, 1:]), x)


def test_data_that_cannot_be_learned(data):
    with pytest.raises(ValueError, match="tell apart"):
        next(train_diet(DietSettings(features="sparse"), None, TaskData(data.examples[:3], name="one.md")))
    with pytest.raises(ValueError, match="need an encoder"):
        next(train_diet(DietSettings(), None, data))
    with pytest.raises(ValueError, match="epochs"):
        DietSettings(epochs=0)
    for name, value in (("features", "all"), ("features", "both"), ("width", 30), ("layers", 0)):
        with pytest.raises(ValueError, match=value if name == "features" else name):
            DietConfig(**{"features": "sparse", name: value})


def test_a_request_without_a_word_is_read():
    sparse, names = SparseFeatures.fit([["a"]]), {"intents": ["x", "y"], "tags": ["O"]}
    model = Diet(DietConfig(features="sparse", **SIZES), len(sparse), 2, 1)
    rows = diet_rows([IntentExample("", "x"), IntentExample("…", "y")], names, sparse, None)
    model.train()(diet_batch(rows)).losses["loss"].backward()
    for some in (rows, rows[:1]):
        assert torch.isfinite(model(diet_batch(some)).losses["loss"])


def test_on_the_command_line_and_served(trained, tmp_path):
    out, _ = trained
    file, new = tmp_path / "d.md", tmp_path / "new"
    file.write_text(TEXT)
    assert call("predict", "--model", out, "wake me at ten", plain=True)[1].startswith("wake  [ten](time)")
    assert "intent_accuracy 1.0000" in call("evaluate", "--model", out, "--data", file, plain=True)[1]
    code, *_ = call("train-diet", "--train", file, "--out", new, "--features", "sparse", "--epochs", 1, "--width", 32)
    assert code == 0 and is_diet(new)
    with TestClient(application(load_predictor(trained[0]))) as client:
        (answer,) = client.post("/predict", json={"inputs": ["wake me at nine"]}).json()["answers"]
        assert answer["intent"] == "wake" and answer["entities"][0]["text"] == "nine"
        assert client.get("/schema").status_code == 200


def test_the_shipped_one_answers():
    shipped = DietPredictor.from_directory(ROOT / "checkpoints" / "diet-intents")
    (answer,) = shipped.predict(["wake me at seven on Monday"])
    assert answer["intent"] == "set_alarm"
    assert found_in(answer) == [("seven", "time"), ("Monday", "day")]
