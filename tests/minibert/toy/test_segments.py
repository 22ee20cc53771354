"""Stories in two rows: where it is told what stands in the second, and what forgetting the first costs."""

import pytest

from minibert import checkpoint
from minibert.experiments.events import Finished
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS, REQUIRED, MemoryScale
from minibert.experiments.relatives import run_relative
from minibert.experiments.results import read_records
from minibert.folders import ROOT
from minibert.relatives.parts.permutation import PermutationLM
from minibert.toy import world
from minibert.toy.segments import CONTEXTS, LENGTH, SegmentSettings, accuracy_and_loss, questions, train_on_segments
from minibert.train import Done, Eval, Saved

SHIPPED = ROOT / "checkpoints" / "xlnet-toy"
SMALL = SegmentSettings(steps=2, batch_size=2, stories=6, held_out=6, evaluate_every=1)


@pytest.fixture(scope="module")
def tokenizer():
    return checkpoint.load_tokenizer(SHIPPED / "xlnet")


def test_where_it_is_told(tokenizer):
    stories = world.stories(20, 5, "small")
    asked = questions(stories, tokenizer)
    assert {one.context for one in asked} == set(CONTEXTS)
    texts = [" ".join(word.text for word in story.words) for story in stories]
    for one in asked:
        assert len(one.first) == len(one.second) == LENGTH > one.place
        both = " ".join(tokenizer.vocab[i] for i in one.first + one.second)
        assert any(both in text for text in texts)


def test_the_shipped_xlnet_reads_on_though_nobody_taught_it(tokenizer):
    model = checkpoint.load(SHIPPED / "xlnet").eval()
    asked = questions(world.stories(40, 77, "small"), tokenizer)
    (with_memory, loss), (alone, other) = (accuracy_and_loss(model, asked, memory) for memory in (True, False))
    assert with_memory["before"] > alone["before"] + 0.3 and loss < other - 0.5
    assert abs(with_memory["here"] - alone["here"]) < 0.1


def test_it_is_trained_and_kept_and_what_cannot_be_is_refused(tmp_path):
    *events, saved, done = train_on_segments(SMALL, SHIPPED / "xlnet", out=tmp_path / "m")
    assert [event.step for event in events if isinstance(event, Eval)] == [0, 1, 2]
    assert isinstance(saved, Saved) and isinstance(done, Done)
    assert isinstance(checkpoint.load(tmp_path / "m"), PermutationLM)
    for wrong in ({"steps": 0}, {"held_out": 0}, {"share": 0.0}):
        with pytest.raises(ValueError, match="must be"):
            SegmentSettings(**wrong).objective  # noqa: B018
    with pytest.raises(ValueError, match="only XLNet has a memory"):
        next(train_on_segments(SMALL, SHIPPED / "bert"))


def test_it_is_recorded(tmp_path):
    scale = MemoryScale(steps=2, batch_size=2, stories=6, test=6)
    events = list(run_relative(RELATIVE_EXPERIMENTS["xlnet_memory"], tmp_path / "m.jsonl", seeds=1, scale=scale))
    assert sum(isinstance(event, Finished) for event in events) == 2
    alone, memory = read_records(tmp_path / "m.jsonl", REQUIRED)
    assert "before_forgotten" in memory["metrics"] and "before_forgotten" not in alone["metrics"]
    assert memory["curve"][0][1]["before"] > alone["curve"][0][1]["before"]
