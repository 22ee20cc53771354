"""A student learns from its teacher, with any of the losses, also one with another vocabulary."""

from dataclasses import replace

import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.distillation.reading import Together, uniform_layers, words_of
from minibert.distillation.run import Taught, TeacherSample, Teaching, distil, labelled_by
from minibert.distillation.settings import WAYS, Distillation
from minibert.distillation.shelf import MOST
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.model import BertForPreTraining
from minibert.tasks import TASKS
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer
from minibert.train import Done, Optimization, Sample, Started, Step
from tests.minibert.tasks.toys import toy

TAUGHT = ("classification", "pair", "similarity", "multilabel")
OTHER_VOCABULARY = [*SPECIAL_TOKENS, *"abcdezyxqfghijklmnopqrstuvwxy", *(f"##{c}" for c in "abcdezyx"), "ab", "cd"]


def settings(**changes) -> FinetuneSettings:
    few = {"epochs": 1, "batch_size": 8, "optimization": Optimization(learning_rate=3e-3), "dropout": 0.0}
    return FinetuneSettings(**{**few, **changes})


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """Wider, deeper, with more heads and another vocabulary than `small_checkpoint`."""
    torch.manual_seed(1)
    tokenizer = Tokenizer(list(dict.fromkeys(OTHER_VOCABULARY)))
    config = BertConfig(tokenizer.vocab_size, 48, 3, 4, 96, 64, initializer_range=0.1)
    return checkpoint.save(tmp_path_factory.mktemp("larger"), BertForPreTraining(config), tokenizer)


@pytest.fixture(scope="module")
def teacher(larger, tmp_path_factory):
    out = tmp_path_factory.mktemp("taught") / "teacher"
    *_, done = finetune(larger, "classification", toy("classification", 128, 0), toy("classification", 40, 1),
                        settings(epochs=10), out=out)  # fmt: skip
    assert done.metrics["accuracy"] > 0.9
    return out


@pytest.mark.parametrize("task", TAUGHT)
def test_a_student_learns_from_a_teacher_it_saw_learn(task, larger, small_checkpoint, tmp_path):
    events = list(distil(small_checkpoint, larger, task, toy(task, 32, 0), toy(task, 12, 1), settings(epochs=2),
                         settings(), unlabelled=toy(task, 16, 2).examples, out=tmp_path / "out"))  # fmt: skip
    kinds = [type(event) for event in events]
    assert kinds.index(Teaching) < kinds.index(Taught) < kinds.index(Started) and isinstance(events[-1], Done)
    progress = [event.progress for event in events if isinstance(event, Teaching | Step)]
    assert progress == sorted(progress) and progress[-1] == 1.0
    assert events[kinds.index(Started)].details["train"] == (43 if task == "multilabel" else 48)  # thresholds
    assert Predictor.from_directory(tmp_path / "out").task.name == task


def test_a_teacher_is_kept_for_the_next_student(larger, small_checkpoint, tmp_path):
    def taught(out: str, shelf, **changes) -> list:
        data = (toy("classification", 32, 0), toy("classification", 12, 1))
        return list(distil(small_checkpoint, larger, "classification", *data, settings(), settings(**changes),
                           out=tmp_path / out, shelf=shelf))  # fmt: skip

    def learned(events: list) -> bool:
        return any(isinstance(event, Teaching) for event in events)

    shelf = tmp_path / "shelf"
    first, second = taught("first", shelf), taught("second", shelf)
    assert learned(first) and not learned(second)
    told = [next(event for event in events if isinstance(event, Taught)) for events in (first, second)]
    assert told[0].metrics == told[1].metrics and told[0].parameters == told[1].parameters
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "second")]
    assert weights[0] == weights[1]
    progress = [event.progress for event in second if isinstance(event, Step)]
    assert progress == sorted(progress) and progress[0] < 0.5 and progress[-1] == 1.0
    for seed in range(1, MOST + 1):
        assert learned(taught(f"other-{seed}", shelf, seed=seed))
    assert len(list(shelf.iterdir())) == MOST and learned(taught("again", shelf))  # the first one made room
    (tmp_path / "no-folder").touch()
    assert learned(taught("nothing-kept", tmp_path / "no-folder"))


@pytest.mark.trains
@pytest.mark.parametrize("name", [name for name in vars(Distillation()) if name not in ("temperature", "soft")])
def test_every_loss_falls(name, teacher, small_checkpoint):
    asked = Distillation(soft=0.0, **{name: 1.0})
    steps = [event for event in finetune(small_checkpoint, "classification", toy("classification", 64, 0),
                                         toy("classification", 12, 1), settings(epochs=6, distillation=asked),
                                         teacher=teacher) if isinstance(event, Step)]  # fmt: skip
    assert steps[0].parts.keys() == {f"{name}_loss", "gradient_norm"}
    assert sum(step.loss for step in steps[-8:]) < sum(step.loss for step in steps[:8])


def test_soft_labels_alone_teach_the_task(teacher, small_checkpoint):
    """The labels are wrong, and nothing but the teacher says so."""
    data = toy("classification", 128, 2)
    wrong = {"with": "without", "without": "with"}
    data = replace(data, examples=[replace(example, label=wrong[example.label]) for example in data.examples])
    *_, done = finetune(small_checkpoint, "classification", data, toy("classification", 40, 1),
                        settings(epochs=12, distillation=Distillation()), teacher=teacher)  # fmt: skip
    assert done.metrics["accuracy"] > 0.85


def test_the_teacher_stays_as_it_was_and_the_maps_are_thrown_away(teacher, small_checkpoint, tmp_path):
    before = (teacher / "model.safetensors").read_bytes()
    list(finetune(small_checkpoint, "classification", toy("classification", 16, 0), toy("classification", 8, 1),
                  settings(distillation=WAYS["tinybert"]), teacher=teacher, out=tmp_path / "out"))  # fmt: skip
    assert (teacher / "model.safetensors").read_bytes() == before
    alone = list(finetune(small_checkpoint, "classification", toy("classification", 16, 0),
                          toy("classification", 8, 1), settings(), out=tmp_path / "alone"))  # fmt: skip
    assert isinstance(alone[-1], Done)
    one, other = (checkpoint.load(tmp_path / name).state_dict() for name in ("out", "alone"))
    assert {name: x.shape for name, x in one.items()} == {name: x.shape for name, x in other.items()}


def test_labels_in_another_order_are_found_by_name(teacher, small_checkpoint):
    data = toy("classification", 64, 0)
    data = replace(data, declared=("without", "with"))
    assert Predictor.from_directory(teacher).labels == ["with", "without"]
    *_, done = finetune(small_checkpoint, "classification", data, toy("classification", 40, 1),
                        settings(epochs=12, distillation=Distillation()), teacher=teacher)  # fmt: skip
    assert done.metrics["accuracy"] > 0.8


def test_both_answer_what_is_asked_meanwhile(larger, small_checkpoint):
    sent = iter([[], [[{"text": "a z"}]], *[[]] * 11, [[{"text": "b b"}]]])
    events = list(distil(small_checkpoint, larger, "classification", toy("classification", 48, 0),
                         toy("classification", 8, 1), settings(), settings(), watch=[{"text": "c"}],
                         mailbox=lambda: next(sent, [])))  # fmt: skip
    of_teacher = [event.answers[0]["asked"] for event in events if isinstance(event, TeacherSample)]
    of_student = [event.answers[0]["asked"] for event in events if isinstance(event, Sample)]
    assert len(of_teacher) == 2 and list(dict.fromkeys(of_student)) == of_teacher  # "c" was gone before it could be


def test_unlabelled_examples_get_the_teachers_answers(teacher):
    known = Predictor.from_directory(teacher)
    examples = toy("classification", 20, 3).examples
    hidden = [replace(example, label=None) for example in examples]
    labelled = labelled_by(known, hidden)
    assert labelled == labelled_by(known, examples) and [one.text for one in labelled] == [e.text for e in examples]
    assert {one.label for one in labelled} <= {"with", "without"} and labelled_by(known, []) == []


def test_who_cannot_teach_says_so(teacher, small_checkpoint, larger):
    def run(task="classification", data=None, taught_by=teacher, **changes):
        data = data or toy(task, 16, 0)
        return list(finetune(small_checkpoint, task, data, data, settings(**changes), teacher=taught_by))

    with pytest.raises(ValueError, match="more than one answer"):
        run("tagging")
    with pytest.raises(ValueError, match="has learned classification"):
        run("pair")
    with pytest.raises(ValueError, match="same labels"):
        run(data=replace(toy("classification", 16, 0), declared=("with", "without", "else")))
    with pytest.raises(ValueError, match="no masked-LM loss"):
        run(mlm_weight=0.1)
    with pytest.raises(ValueError, match="there is no teacher"):
        run(taught_by=None, distillation=Distillation())
    with pytest.raises(ValueError, match="not fine-tuned"):
        run(taught_by=larger)


def test_words_are_what_two_vocabularies_have_in_common():
    few, many = (Tokenizer([*SPECIAL_TOKENS, *pieces]) for pieces in (("ab", "##c", "d"), ("abc", "d", "##d", "a")))
    ours, theirs = (words_of(t.encode("abc d d").ids, t) for t in (few, many))
    assert ours == [0, 1, 1, 2, 3, 4] and theirs == [0, 1, 2, 3, 4]
    both = Together.of([ours], [theirs], (6, 5))
    x = torch.arange(6.0).view(1, 6, 1)
    mine, _ = both.vectors(x, torch.zeros(1, 5, 1))
    assert mine.flatten().tolist() == [0.0, 1.5, 3.0, 4.0, 5.0] and both.real.all()
    scores = torch.arange(36.0).view(1, 1, 6, 6)
    mine, _ = both.scores(scores, torch.zeros(1, 1, 5, 5))
    assert mine[0, 0, 1, 1] == scores[0, 0, 1:3, 1:3].mean() and mine[0, 0, 0, 2] == scores[0, 0, 0, 3]
    cut = Together.of([ours[:4], [0, 1]], [theirs, [0, 1]], (6, 5))
    assert cut.real.tolist() == [[False] * 5, [True, True, False, False, False]]


def test_layers_are_shared_out_evenly():
    of = {n: BertConfig.preset("tiny", num_hidden_layers=n) for n in (1, 3, 4, 6, 12)}
    assert uniform_layers(of[4], of[12]) == {1: 3, 2: 6, 3: 9, 4: 12}  # TinyBERT's
    assert uniform_layers(of[6], of[12]) == {1: 2, 2: 4, 3: 6, 4: 8, 5: 10, 6: 12}
    assert uniform_layers(of[4], of[6])[4] == 6 and uniform_layers(of[3], of[1]) == {1: 1, 2: 1, 3: 1}


def test_a_pass_of_the_same_network_differs_in_nothing(teacher):
    """A student that is its teacher has no loss inside; its own words are its tokens."""
    from minibert.distillation.learner import Distiller
    from minibert.finetune.learner import Learner

    one, other = (Predictor.from_directory(teacher) for _ in range(2))
    data = toy("classification", 6, 4)
    rows = one.features(data.examples)
    asked = Distillation(attention=1.0, attention_relation=1.0, value_relation=1.0)
    distiller = Distiller(Learner(one.model), one, other, rows, data.examples, asked).eval()
    batch = replace(TASKS["classification"].batch(rows, one.tokenizer.pad_id), rows=torch.arange(6))
    terms = distiller(batch)
    assert all(terms[f"{name}_loss"].abs() < 1e-5 for name in asked.inside)
