"""What holds for every task: it learns, saves, answers alike, and transformers computes the same from what it saved."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from minibert import checkpoint
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TASKS, TaskDataError, guess_task
from minibert.tasks.tables import LONGEST_TEXT
from minibert.train import Done, Eval, Optimization, Sample, Saved, Started
from tests.minibert.tasks.toys import INPUTS, NAMES, toy
from tests.shipped import DATA, SETS

OF_TEXTS = ("classification", "pair", "similarity", "multilabel")
AUTO = {
    **dict.fromkeys(OF_TEXTS, transformers.AutoModelForSequenceClassification),
    "tagging": transformers.AutoModelForTokenClassification,
    **dict.fromkeys(("span", "span-or-none"), transformers.AutoModelForQuestionAnswering),
    **dict.fromkeys(("choice", "next-utterance"), transformers.AutoModelForMultipleChoice),
}


def settings_for(name: str) -> FinetuneSettings:
    many = {"choice": 12, "next-utterance": 12, "span": 8, "span-or-none": 12, "pair": 8, "similarity": 16}
    return FinetuneSettings(
        epochs=many.get(name, 6),
        batch_size=8 if name == "similarity" else 16,
        max_length=24,
        pooling="max" if name in ("intent", "multilabel") else "cls",  # two things at once are much for this [CLS]
        optimization=Optimization(learning_rate=3e-3 if name == "similarity" else 5e-3),
        evaluations_per_epoch=1,
        dropout=0.0,
    )


def test_the_readers_do_not_wait_for_torch():
    program = "import sys, minibert.tasks\nassert not {'torch', 'sklearn', 'scipy', 'seqeval'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).resolve().parents[3])


def test_every_task_has_a_toy():
    assert list(TASKS) == NAMES
    assert all(task.name == name for name, task in TASKS.items())


@pytest.mark.trains
@pytest.mark.parametrize("name", NAMES)
def test_it_learns_what_can_be_learned_and_what_was_saved_answers_alike(small_checkpoint, tmp_path, name):
    out, train, dev = tmp_path / name, toy(name, 96, 0), toy(name, 24, 1)
    events = list(
        finetune(small_checkpoint, name, train, dev, settings_for(name), out=out, probe_inputs=[INPUTS[name]])
    )
    kinds = [type(event) for event in events]
    assert kinds[:3] == [Started, Eval, Sample] and kinds[-2:] == [Saved, Done]
    details = events[0].details
    assert details["task"] == name and details["model"] == small_checkpoint.name
    assert len(details["dev_examples"]) == len(dev.examples)
    assert details["dev"] == len(dev.examples) and details["untrainable"] == 0
    evals = [event for event in events if isinstance(event, Eval)]
    predictions = evals[-1].details["predictions"]
    assert len(predictions) == len(dev.examples) and sum(p["grade"] for p in predictions) > 0.9 * len(predictions)
    assert evals[-1].metrics[TASKS[name].metric] > 0.9, evals[-1].metrics
    assert evals[-1].metrics["loss"] < evals[0].metrics["loss"]
    json.dumps([event.as_dict() for event in events])
    predictor = Predictor.from_directory(out)  # what was saved answers alike
    assert predictor.task is TASKS[name]
    key = predictor.task.metric
    assert evaluate(predictor, dev).metrics[key] == pytest.approx(evals[-1].metrics[key], abs=0.05)
    answer, other = predictor.predict([INPUTS[name]]), list(predictor.stream([INPUTS[name]] * 5, 2))
    assert len(other) == 5 and other[0].keys() == answer[0].keys()
    json.dumps(answer)
    if name == "multilabel":
        config = json.loads((out / "config.json").read_text())
        assert config["minibert_task"] == name and config["problem_type"] == "multi_label_classification"
        assert config["minibert_options"]["max_length"] == 24
        assert len(config["minibert_options"]["thresholds"]) == 2


@pytest.mark.parametrize("name", AUTO)
def test_transformers_computes_the_same_logits_and_loss(small_checkpoint, tmp_path, name):
    torch.manual_seed(0)
    task, data, options = TASKS[name], toy(name, 24, 1), FinetuneSettings(max_length=24)
    source, tokenizer = checkpoint.load(small_checkpoint), checkpoint.load_tokenizer(small_checkpoint)
    model = Learner.of(source, task, task.labels(data), options.options(), tokenizer, options).model
    Predictor(model, tokenizer, task, options.options()).save(tmp_path)
    ours, theirs = checkpoint.load(tmp_path), AUTO[name].from_pretrained(tmp_path).eval()
    batch = task.batch(task.features(tokenizer, data.examples[:7], ours.labels, options.options()), 0)
    padding = torch.ones_like(batch.ids) if batch.padding is None else batch.padding.long()
    labels = {}
    if name in (*OF_TEXTS, "tagging"):
        labels["labels"] = batch.labels.squeeze(-1) if name == "similarity" else batch.labels
        assert list(theirs.config.id2label.values()) == list(ours.labels)
    with torch.no_grad():
        got = ours(batch)
        expected = theirs(input_ids=batch.ids, token_type_ids=batch.segments, attention_mask=padding, **labels)
    spans = name.startswith("span")
    logits = torch.stack([expected.start_logits, expected.end_logits], dim=-1) if spans else expected.logits
    real = padding.bool() if spans or name == "tagging" else slice(None)  # what stands at padding is nobody's business
    torch.testing.assert_close(got.logits[real], logits[real], atol=1e-4, rtol=0)
    if labels:
        torch.testing.assert_close(got.loss, expected.loss, atol=1e-4, rtol=0)


HALF_A_CHOICE = ["x", {"context": "a"}, {"context": "a", "choices": ["b"]}, {"context": 1, "choices": "ab"}]
NO_REPLIES = [{}, {"turns": ["a"]}, {"turns": "a", "choices": ["b", "c"]}, {"turns": [], "choices": ["b", "c"]}]
NO_REPLIES += [{"turns": ["a"], "choices": ["b"]}, {"turns": ["a"], "choices": ["b", 5]}, ["a", "b"], "hello"]
WRONG = {"choice": HALF_A_CHOICE, "next-utterance": NO_REPLIES}


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_input_is_named(answering, name):
    predictor = answering(name)
    for wrong in [5, *WRONG.get(name, [])]:
        with pytest.raises(ValueError, match=r"^input 2: the input "):
            predictor.predict([INPUTS[name], wrong])


GUESSES = {
    "sentence\tlabel\nx\t1\n": "classification",
    "1\tgood\n0\tbad\n": "classification",
    "a\tb\tc\td\te\tf\tsentence\tlabel\n1\t2\t3\t4\t5\t6\tx\t1\n": "classification",
    "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n": "pair",
    "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\ta\tb\n": "pair",
    "甲\t乙\t1\n": "pair",
    "text,sentiment,source\ngood film,pos,web\n": "classification",
    "review\tsentiment\tid\ngood film\tpos\t7\n": "classification",
    "index\tgenre\tsentence1\tsentence2\tscore\n0\tx\ta\tb\t4.5\n": "similarity",
    "main\tMSR\t2012\t0024\t2.500\tA girl.\tA boy.\n": "similarity",
    "so good\t1,4\tid1\n": "multilabel",
    "text\tlabels\nso good\tjoy,love\n": "multilabel",
    "EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n": "tagging",
    "中 B-ORG\n国 I-ORG\n": "tagging",
    '{"data": []}': "span",
    '{"data": [{"is_impossible": true}]}': "span-or-none",
    "sent1,sent2,ending0,ending1,label\na,b,c,d,0\n": "choice",
    "## intent:greet\n- hello\n": "intent",
    "Anna: Hello.\nBen: Good morning!\n\nAnna: Bye.\n": "next-utterance",
    "Context,Utterance,Label\nhi __eou__ __eot__,hello __eou__,1\n": "next-utterance",
    "1\thi\thow are you\tfine\n0\thi\thow are you\tblue\n": "next-utterance",
}


@pytest.mark.parametrize("text", GUESSES)
def test_the_task_is_guessed_from_the_form(text):
    assert guess_task(text.encode(), "file.txt") == GUESSES[text]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a\0b", b"{", b"\n\n", b"x" * 50, b'{"data": 5}'])
def test_what_is_none_of_its_files_is_refused_in_words(name, content):
    with pytest.raises(TaskDataError, match=r"^odd\.txt"):
        TASKS[name].parse(content, "odd.txt")


NODES = ["paragraphs", "qas", "context", "question", "answers", "text", "answer_start"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NODES), inner),
    max_leaves=12,
)
BYTES = st.binary(max_size=200) | st.sampled_from([b"\x01\t\x01", b","])
HOSTILE = {  # name → (contents, files, what holds of an example that is read)
    "classification": (BYTES, ["a.tsv", "a.csv", "a.txt"], lambda e: e.text and e.label),
    "pair": (BYTES, ["a.tsv"], lambda e: e.text and e.pair and e.label),
    "tagging": (BYTES, ["a.conll"], lambda e: len(e.words) == len(e.tags) > 0),
    "intent": (
        st.text(max_size=120).map(lambda text: f"## intent:a\n- {text}\n".encode()),
        ["a.md"],
        lambda e: len(e.words) == len(e.tags) and all(e.text[one.start : one.end] for one in e.entities),
    ),
    "span-or-none": (
        JSON.map(lambda value: json.dumps({"data": value}).encode()),
        ["a.json"],
        lambda e: e.context and e.question and e.answers is not None,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
@given(st.data())
def test_whatever_the_content_there_is_data_or_a_clear_error(name, data):
    contents, files, sound = HOSTILE[name]
    content, file = data.draw(contents), data.draw(st.sampled_from(files))
    try:
        read = TASKS[name].parse(content, file)
    except TaskDataError as error:
        assert str(error).startswith(file)
    else:
        assert read.examples and all(map(sound, read.examples))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.txt", "a.json"])
def test_a_line_that_nobody_has_written_is_refused(task, name):
    long = b"a" * (LONGEST_TEXT + 1)
    for content in (long, b"{" + long, b"text\tlabel\n" + long + b"\tx\n", b'{"data": ' + b"[" * 100_000):
        with pytest.raises(TaskDataError) as told:
            guess_task(content, name)
            TASKS[task].parse(content, name)
        assert len(str(told.value)) <= 400


def test_runs_of_spaces_are_read_once():
    """Not as often as there are of them: a pattern that tries every way to share them would take hours."""
    spaces = " " * 200_000
    for task, line in [("intent", f"## intent:{spaces}a{spaces}b"), ("next-utterance", f"A:{spaces}\tb")]:
        with pytest.raises(TaskDataError):
            TASKS[task].parse(f"{line}\n".encode(), "a.txt")
    assert TASKS["intent"].parse(b"## intent:  go away \n- x\n", "a.md").examples[0].intent == "go away"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_comes_back_from_json(name):
    for example in TASKS[name].read(DATA / SETS[name]).examples[:40]:
        assert TASKS[name].restored(asdict(example)) == example
        assert TASKS[name].restored(json.loads(json.dumps(asdict(example)))) == example
    unanswered = TASKS["tagging"].example("Anna is in Oslo")
    assert TASKS["tagging"].restored(json.loads(json.dumps(asdict(unanswered)))) == unanswered


@pytest.mark.parametrize(
    ("name", "answer", "metric"),
    [
        ("classification", {"label": "positive"}, "accuracy"),
        ("multilabel", {"labels": ["joy"]}, "micro_f1"),
        ("span-or-none", {"answer": "", "best_answer": "x", "null_difference": 0.0}, "f1"),
        ("choice", None, None),
        ("tagging", None, None),
    ],
)
def test_the_line_to_beat_is_what_the_commonest_answer_scores(name, answer, metric):
    task, data = TASKS[name], TASKS[name].read(DATA / SETS[name])
    found = task.trivial([asdict(example) for example in data.examples])
    if answer is None:
        assert found == (0.25 if name == "choice" else None)
    else:
        said = [{**answer, "probabilities": dict.fromkeys(data.labels, 0.0)}] * len(data.examples)
        assert found == pytest.approx(task.score(said, data.examples)[metric])
    assert TASKS["classification"].trivial([]) is None
