"""A student learns from its teacher, with any of the losses, also one with another vocabulary."""

from dataclasses import replace

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.distillation.activations import TokenAlignment, uniform_layers, word_indices
from minibert.distillation.learner import Distiller, taught_by
from minibert.distillation.run import Taught, TeacherSample, Teaching, distil, label_with_teacher
from minibert.distillation.teacher_cache import MOST
from minibert.finetune.batches import training_batch
from minibert.finetune.distillation import Distillation
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.model import BertForPreTraining
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from minibert.train import Done, Sample, Started, Step
from tests.minibert.pruning.quick import SETTINGS, toys
from tests.minibert.tasks.toys import toy

OTHER_VOCABULARY = [*SPECIAL_TOKENS, *"zabcdefghijklmnopqrstuvwxy", *(f"##{c}" for c in "abcdezyx"), "ab", "cd"]


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """Wider, deeper, with more heads and another vocabulary than `small_checkpoint`."""
    torch.manual_seed(1)
    tokenizer = Tokenizer(OTHER_VOCABULARY)
    config = BertConfig(tokenizer.vocab_size, 48, 3, 4, 96, 64, initializer_range=0.1)
    return checkpoint.save(tmp_path_factory.mktemp("larger"), BertForPreTraining(config), tokenizer)


@pytest.fixture(scope="module")
def teacher(larger, tmp_path_factory):
    out = tmp_path_factory.mktemp("taught") / "teacher"
    *_, done = finetune(larger, "classification", *toys(128, 40), replace(SETTINGS, epochs=10), out=out)
    assert done.metrics["accuracy"] > 0.9
    return out


@pytest.mark.parametrize("task", ["classification", "pair", "similarity", "multilabel"])
def test_a_student_learns_from_a_teacher_it_saw_learn(task, larger, small_checkpoint, tmp_path):
    more = {"unlabelled": toy(task, 16, 2).examples, "out": tmp_path / "out"}
    learning = (replace(SETTINGS, epochs=2), SETTINGS)
    events = list(distil(small_checkpoint, larger, task, *toys(32, 12, task), *learning, **more))
    kinds = [type(event) for event in events]
    assert kinds.index(Teaching) < kinds.index(Taught) < kinds.index(Started) and isinstance(events[-1], Done)
    progress = [event.progress for event in events if isinstance(event, Teaching | Step)]
    assert progress == sorted(progress) and progress[-1] == 1.0
    sizes = events[kinds.index(Started)].details
    assert sizes["train"] + sizes["set_aside"] == 48 and bool(sizes["set_aside"]) == (task == "multilabel")
    assert Predictor.from_directory(tmp_path / "out").task.name == task


def test_a_teacher_is_kept_for_the_next_student(larger, small_checkpoint, tmp_path):
    def taught(out: str, cache, **changes) -> list:
        learning, where = (SETTINGS, replace(SETTINGS, **changes)), {"out": tmp_path / out, "cache": cache}
        return list(distil(small_checkpoint, larger, "classification", *toys(32, 12), *learning, **where))

    def learned(events: list) -> bool:
        return any(isinstance(event, Teaching) for event in events)

    cache = tmp_path / "cache"
    first, second = taught("first", cache), taught("second", cache)
    assert learned(first) and not learned(second)
    one, other = (next(event for event in events if isinstance(event, Taught)) for events in (first, second))
    assert one.metrics == other.metrics and one.parameters == other.parameters
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "second"))
    assert one == other
    progress = [event.progress for event in second if isinstance(event, Step)]
    assert progress == sorted(progress) and progress[0] < 0.5 and progress[-1] == 1.0
    for seed in range(1, MOST + 1):
        assert learned(taught(f"other-{seed}", cache, seed=seed))
    assert len(list(cache.iterdir())) == MOST and learned(taught("again", cache))  # the first one made room
    (tmp_path / "no-folder").touch()
    assert learned(taught("nothing-kept", tmp_path / "no-folder"))


@pytest.mark.trains
@pytest.mark.parametrize("name", [name for name in vars(Distillation()) if name not in ("temperature", "soft")])
def test_every_loss_falls(name, teacher, small_checkpoint):
    learning = replace(SETTINGS, epochs=6, distillation=Distillation(soft=0.0, **{name: 1.0}))
    events = finetune(small_checkpoint, "classification", *toys(64, 12), learning, wrap=taught_by(teacher))
    steps = [event for event in events if isinstance(event, Step)]
    assert steps[0].parts.keys() == {f"{name}_loss", "gradient_norm"}
    assert sum(step.loss for step in steps[-8:]) < sum(step.loss for step in steps[:8])


def test_soft_labels_alone_teach_the_task_and_are_found_by_name(teacher, small_checkpoint):
    """The labels are wrong, and nothing but the teacher says so; the student has them in another order."""
    data, dev = toys(128, 40)
    wrong = {"with": "without", "without": "with"}
    examples = [replace(example, label=wrong[example.label]) for example in data.examples]
    data = replace(data, examples=examples, declared=("without", "with"))
    assert Predictor.from_directory(teacher).labels == ["with", "without"]
    learning = replace(SETTINGS, epochs=12, distillation=Distillation())
    *_, done = finetune(small_checkpoint, "classification", data, dev, learning, wrap=taught_by(teacher))
    assert done.metrics["accuracy"] > 0.85


def test_the_teacher_stays_as_it_was_and_the_maps_are_thrown_away(teacher, small_checkpoint, tmp_path):
    before = (teacher / "model.safetensors").read_bytes()
    taught = replace(SETTINGS, distillation=Distillation(attention=1.0, hidden=1.0, embeddings=1.0))
    wrap = taught_by(teacher)
    list(finetune(small_checkpoint, "classification", *toys(16, 8), taught, wrap=wrap, out=tmp_path / "out"))
    assert (teacher / "model.safetensors").read_bytes() == before
    list(finetune(small_checkpoint, "classification", *toys(16, 8), SETTINGS, out=tmp_path / "alone"))
    one, other = (checkpoint.load(tmp_path / name).state_dict() for name in ("out", "alone"))
    assert {name: x.shape for name, x in one.items()} == {name: x.shape for name, x in other.items()}


def test_both_answer_what_is_asked_meanwhile(larger, small_checkpoint):
    sent = iter([[], [[{"text": "a z"}]], *[[]] * 11, [[{"text": "b b"}]]])
    asking = {"probe_inputs": [{"text": "c"}], "mailbox": lambda: next(sent, [])}
    events = list(distil(small_checkpoint, larger, "classification", *toys(48, 8), SETTINGS, SETTINGS, **asking))
    of_teacher = [event.answers[0]["asked"] for event in events if isinstance(event, TeacherSample)]
    of_student = [event.answers[0]["asked"] for event in events if isinstance(event, Sample)]
    assert len(of_teacher) == 2 and list(dict.fromkeys(of_student)) == of_teacher  # "c" was gone before it could be


def test_who_cannot_teach_says_so(teacher, small_checkpoint, larger):
    def run(task="classification", data=None, folder=teacher, **changes):
        data = data or toy(task, 16, 0)
        wrap = folder and taught_by(folder)
        return list(finetune(small_checkpoint, task, data, data, replace(SETTINGS, **changes), wrap=wrap))

    for said, wrong in {
        "more than one answer": {"task": "tagging"},
        "has learned classification": {"task": "pair"},
        "same labels": {"data": replace(toy("classification", 16, 0), declared=("with", "without", "else"))},
        "no masked-LM loss": {"mlm_weight": 0.1},
        "there is no teacher": {"folder": None, "distillation": Distillation()},
        "not fine-tuned": {"folder": larger},
    }.items():
        with pytest.raises(ValueError, match=said):
            run(**wrong)


def test_words_are_what_two_vocabularies_have_in_common():
    few, many = (Tokenizer([*SPECIAL_TOKENS, *pieces]) for pieces in (("ab", "##c", "d"), ("abc", "d", "##d", "a")))
    ours, theirs = (word_indices(t.encode("abc d d").ids, t) for t in (few, many))
    assert ours == [0, 1, 1, 2, 3, 4] and theirs == [0, 1, 2, 3, 4]
    both = TokenAlignment.of([ours], [theirs], (6, 5))
    mine, _ = both.vectors(torch.arange(6.0).view(1, 6, 1), torch.zeros(1, 5, 1))
    assert mine.flatten().tolist() == [0.0, 1.5, 3.0, 4.0, 5.0] and both.real.all()
    scores = torch.arange(36.0).view(1, 1, 6, 6)
    mine, _ = both.scores(scores, torch.zeros(1, 1, 5, 5))
    assert mine[0, 0, 1, 1] == scores[0, 0, 1:3, 1:3].mean() and mine[0, 0, 0, 2] == scores[0, 0, 0, 3]
    cut = TokenAlignment.of([ours[:4], [0, 1]], [theirs, [0, 1]], (6, 5))
    assert cut.real.tolist() == [[False] * 5, [True, True, False, False, False]]


def test_layers_are_shared_out_evenly():
    of = {n: BertConfig.preset("tiny", num_hidden_layers=n) for n in (1, 3, 4, 6, 12)}
    assert uniform_layers(of[4], of[12]) == {1: 3, 2: 6, 3: 9, 4: 12}  # TinyBERT's
    assert uniform_layers(of[6], of[12]) == {1: 2, 2: 4, 3: 6, 4: 8, 5: 10, 6: 12}
    assert uniform_layers(of[4], of[6])[4] == 6 and uniform_layers(of[3], of[1]) == {1: 1, 2: 1, 3: 1}


def test_a_pass_of_the_same_network_differs_in_nothing(teacher):
    """A student that is its teacher has no loss inside; its own words are its tokens. What has no label gets its."""
    one, other = (Predictor.from_directory(teacher) for _ in range(2))
    examples = toy("classification", 20, 4).examples
    labelled = label_with_teacher(one, [replace(example, label=None) for example in examples])
    assert labelled == label_with_teacher(other, examples) and [one.text for one in labelled] == [
        e.text for e in examples
    ]
    assert {one.label for one in labelled} <= {"with", "without"} and label_with_teacher(one, []) == []
    rows = one.features(examples)
    asked = Distillation(attention=1.0, attention_relation=1.0, value_relation=1.0)
    distiller = Distiller(Learner(one.model), one, other, rows, examples, asked).eval()
    terms = distiller(training_batch(one.task, rows, one.tokenizer.pad_id, rows=torch.arange(20)))
    assert all(terms[f"{name}_loss"].abs() < 1e-5 for name in asked.inside)
