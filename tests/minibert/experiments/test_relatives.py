"""What a relative's paper claims, in small: the arms, how a run goes on where it stopped, and what it records."""

import json
import re
import shutil
from dataclasses import fields, replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
import torch

from minibert import checkpoint
from minibert.__main__ import main
from minibert.experiments import toy_stories, writing
from minibert.experiments.events import Finished, steps_of
from minibert.experiments.relative_catalogue import (
    RELATIVE_EXPERIMENTS,
    REQUIRED,
    JointScale,
    LengthScale,
    RelativeArm,
    RelativeExperiment,
    RelativeScale,
    WritingScale,
)
from minibert.experiments.relatives import run_relative
from minibert.experiments.results import by_arm, paired_difference, read_records
from minibert.experiments.runner import run_arms
from minibert.experiments.toy_stories import settings_of
from minibert.experiments.writing import chinese
from minibert.folders import ROOT
from minibert.text.json_values import json_value
from minibert.tokenizer import Tokenizer
from minibert.toy import entities_task, pretrain
from minibert.toy.pretrain import pretrain_toy, questions_at
from minibert.toy.pronoun_task import NAMES, tagged, who_is_meant
from minibert.toy.world import stories, vocabulary
from minibert.train import Done, Eval, Started, Step

SMALL = RelativeScale(steps=2, stories=30, train=8, test=6, epochs=1)
TINY = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture
def few_questions(monkeypatch):
    """A model of the toy world is measured on a few stories."""
    monkeypatch.setattr(pretrain, "HELD_OUT", 6)
    monkeypatch.setattr(toy_stories, "JUDGED", 6)
    monkeypatch.setattr(writing, "HELD_OUT", 6)
    monkeypatch.setattr(entities_task, "MOST_ASKED", 60)
    monkeypatch.setattr(entities_task, "learn", partial(entities_task.learn, epochs=2))


@pytest.fixture
def records_of(few_questions, tmp_path):
    """A function: an experiment and its scale → a run of one seed: by arm the record it tells, which it leaves too."""

    def run(experiment, scale) -> dict[str, dict]:
        out = tmp_path / "out.jsonl"
        events = run_relative(experiment, out, seeds=1, scale=scale, tasks=tmp_path)
        records = [event.record for event in events if isinstance(event, Finished)]
        assert json_value(json.dumps(records)) == read_records(out, REQUIRED)
        return {record["arm"]: record for record in records}

    return run


def tiny(name: str, *arms: str, layers: int = 1) -> RelativeExperiment:
    """These arms of an experiment, of one narrow layer or a few."""
    whole = RELATIVE_EXPERIMENTS[name]
    small = {
        arm: replace(whole.arms[arm], sizes={**whole.arms[arm].sizes, **TINY, "num_hidden_layers": layers})
        for arm in arms or whole.arms
    }
    return replace(whole, arms=small)


# --- arms, and the run that goes through them -------------------------------------------------------------------------


def test_the_arms_are_the_papers_tables():
    electra, albert, nezha = (RELATIVE_EXPERIMENTS[name].arms for name in ("electra", "albert", "nezha"))
    assert {name: arm.options.get("variant", "electra") for name, arm in electra.items() if name != "bert"} == {
        name: name.replace("-", "_") for name in ("electra", "electra-15", "replace-mlm", "all-tokens-mlm")
    }
    assert RELATIVE_EXPERIMENTS["albert"].pairs
    assert {arm.sizes["num_hidden_layers"] for arm in albert.values()} == {3}
    arms = {name: arm for name, arm in albert.items() if name != "bert"}
    assert {(arm.sizes["shared"], arm.sizes["embedding_size"]) for arm in arms.values()} == {
        (shared, width) for shared in ("all", "attention", "feed_forward", "none") for width in (32, 128)
    }
    asked = {name: arm.options["second"] for name, arm in arms.items()}
    assert {name: second for name, second in asked.items() if second != "sop"} == {"nsp": "nsp", "mlm": None}
    assert arms["nsp"].sizes == arms["mlm"].sizes == arms["all"].sizes
    starts = {name: arm.start for name, arm in nezha.items()}
    assert starts == {"learned": "words", "sinusoid": "sinusoids", "nezha": "words", "nezha-16": "words"}


def test_the_arms_are_built_and_read_as_much():
    """Arms that are pre-trained on the toy world: their configs, and what is alike in all of an experiment."""
    for experiment in RELATIVE_EXPERIMENTS.values():
        if type(experiment.scale) not in (RelativeScale, LengthScale, JointScale, WritingScale):
            continue
        settings = [settings_of(arm, experiment.scale, 1, experiment.pairs) for arm in experiment.arms.values()]
        assert [one.config().model_type for one in settings] == [arm.relative for arm in experiment.arms.values()]
        assert len({(one.steps, one.batch_size, one.max_length, one.seed) for one in settings}) == 1
        assert {one.input_format for one in settings} == {"segment_pair" if experiment.pairs else "doc_sentences"}


def arms_begun(monkeypatch, begins):
    """`run_relative` of a list of events, with no training in it."""

    def learned(settings, model, *, stories, seed, lengths, spans):
        model.mkdir()
        (model / "config.json").write_text(json.dumps({"architectures": ["Kept"], "model_type": "bert"}))
        yield from begins(settings.relative, seed)

    def tuned(*_):
        yield Step(1, 0.5, 1.0, 1e-3, 8, 8.0, 1.0)
        return Done(1, 8, 1.0, {"f1": 0.5})

    monkeypatch.setattr(toy_stories, "pretrain_toy", learned)
    monkeypatch.setattr(toy_stories, "who_is_meant_by", tuned)
    return run_relative


def arms_given(monkeypatch, begins):
    """`run_arms` of the same."""

    def run(experiment, out, **options):
        facts = {"data": ["stories"], "pretraining": {}}
        return run_arms("try", experiment.arms, begins, lambda name: facts, out, required=REQUIRED, **options)

    return run


@pytest.mark.parametrize("begin", [arms_begun, arms_given])
def test_a_run_goes_on_where_it_stopped_and_does_nothing_twice(begin, tmp_path, monkeypatch):
    asked, failing, out = [], {"nezha"}, tmp_path / "out.jsonl"

    def begins(name, seed):
        asked.append((name, seed))
        if name in failing:
            raise KeyboardInterrupt
        yield Started({}, {"parameters": 7, "data": ["stories"]})
        yield Step(1, 0.5, 1.0, 1e-3, 8, 8.0, 1.0)
        yield Eval(3, {"chosen": seed / 10})
        yield Done(3, 24, 1.0)

    def run(scale=SMALL):
        return begun(experiment, out, seeds=2, scale=scale, command="try")

    begun = begin(monkeypatch, begins)
    experiment = RelativeExperiment("try", "in small", {name: RelativeArm(name) for name in ("bert", "nezha")}, SMALL)
    with pytest.raises(KeyboardInterrupt):
        list(run())
    assert [(record["arm"], record["seed"]) for record in read_records(out, REQUIRED)] == [("bert", 0)]
    failing.clear()
    asked.clear()
    events = list(run())
    assert asked == [("nezha", 0), ("bert", 1), ("nezha", 1)]  # seed by seed
    records = read_records(out, REQUIRED)
    assert json_value(json.dumps([event.record for event in events if isinstance(event, Finished)])) == records[1:]
    assert [record["metrics"]["chosen"] for record in records] == [0, 0, 0.1, 0.1]
    assert all((one["steps"], one["tokens"], one["parameters"], one["command"]) == (3, 24, 7, "try") for one in records)
    progress = [event.progress for event in events if isinstance(event, (Step, Finished))]
    assert progress == sorted(progress) and progress[-1] == 1
    assert (events[-1].step, events[-1].tokens) == (9, 72)
    asked.clear()
    (done,) = run()
    assert isinstance(done, Done) and not asked
    list(run(replace(SMALL, steps=3)))  # another scale
    assert len(asked) == 4 and len(read_records(out, REQUIRED)) == 8


# --- one tiny arm of each, trained ------------------------------------------------------------------------------------


def test_what_is_measured_is_the_model_at_the_end(tmp_path, few_questions):
    """A run saves behind its Done: whoever stops listening there is left with the weights of its first step."""
    settings = settings_of(RelativeArm(sizes=TINY), replace(SMALL, steps=3), 0)
    events = pretrain_toy(settings, tmp_path / "model", stories=30)
    steps = steps_of(events)
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
    assert end.value.value.step == 3
    kept = checkpoint.load(tmp_path / "model").state_dict()
    events.close()
    again = checkpoint.load(tmp_path / "model").state_dict()
    assert all(torch.equal(kept[name], again[name]) for name in kept)
    logged = [json_value(line) for line in (tmp_path / "model" / "training.jsonl").read_text().splitlines()]
    assert "done" in [event["event"] for event in logged]
    with pytest.raises(RuntimeError, match="ended"):
        next(steps_of(iter(())))


SHARES = {"who_is_meant", "chosen"}
FITS = {"joint_at_once", "joint_in_order", "fits_at_once", "fits_in_order", "chosen"}
RIGHT = {"right_32", "right_64"}
SCALES = {
    "electra": SMALL,
    "nezha": LengthScale(steps=2, batch_size=4, stories=40, lengths=(32, 64)),
    "xlnet": JointScale(steps=2, batch_size=4, stories=40, groups=4),
    "to_write": WritingScale(steps=2, batch_size=4, stories=30, answer_steps=2),
}
KEPT = {  # by arm, what is kept of it and what it is asked
    "electra": {
        "electra": ("ElectraForPreTraining", SHARES),
        "replace-mlm": ("ElectraForMaskedLM", {"who_is_meant"}),
        "all-tokens-mlm": ("ElectraForAllTokens", {"who_is_meant"}),
    },
    "nezha": {"sinusoid": ("BertForPreTraining", RIGHT), "nezha": ("NezhaForPreTraining", RIGHT)},
    "xlnet": {"bert": ("BertForPreTraining", FITS), "xlnet-spans": ("XLNetLMHeadModel", FITS)},
    "to_write": {
        "unilm": ("UnilmForPreTraining", {"next_word", "answers", "determined"}),
        "left-to-right": ("LeftToRightForPreTraining", {"next_word", "determined"}),
    },
}


@pytest.mark.release
@pytest.mark.trains
@pytest.mark.parametrize("name", KEPT)
def test_arms_read_the_same_tokens_and_are_asked_what_they_can_answer(name, records_of):
    found = records_of(tiny(name, *KEPT[name]), SCALES[name])
    assert len({record["tokens"] for record in found.values()}) == 1
    assert {arm: (one["kept"], set(one["metrics"])) for arm, one in found.items()} == KEPT[name]
    shares = {name: value for one in found.values() for name, value in one["metrics"].items() if name[:5] != "joint"}
    assert all(0 <= value <= 1 for value in shares.values())


@pytest.mark.release
@pytest.mark.trains
def test_pairs_are_read_and_both_questions_asked(records_of):
    found = records_of(tiny("albert", "bert", "all", "nsp", layers=2), SMALL)
    for record in found.values():
        assert all(0 <= record["metrics"][name] <= 1 for name in ("nsp", "sop", "who_is_meant", "chosen"))
    asked = {arm: {part for *_, parts in record["curve"] for part in parts} for arm, record in found.items()}
    assert "sop_loss" in asked["all"]
    assert [arm for arm, parts in asked.items() if "nsp_loss" in parts] == ["bert", "nsp"]
    assert found["all"]["parameters"] == found["nsp"]["parameters"] < found["bert"]["parameters"]


def smaller(name: str, arms=None, **scale) -> tuple[RelativeExperiment, RelativeScale]:
    """An experiment, and its scale with these numbers."""
    experiment = RELATIVE_EXPERIMENTS[name]
    arms = {arm: experiment.arms[arm] for arm in arms or experiment.arms}
    known = {field.name for field in fields(experiment.scale)}
    few = {name: value for name, value in {"steps": 1, "batch_size": 4, "stories": 20}.items() if name in known}
    return replace(experiment, arms=arms), replace(experiment.scale, **few | scale)


@pytest.mark.release
@pytest.mark.trains
def test_names_are_asked_of_a_bert_that_goes_on(records_of):
    found = records_of(*smaller("wklm", ("bert", "wklm"), held_out=8, train=8, test=6, epochs=1))
    metrics = {arm: record["metrics"] for arm, record in found.items()}
    assert set(metrics["bert"]) == {"found", "found_blank", "names", "who_is_meant"}
    assert set(metrics["wklm"]) - set(metrics["bert"]) == {"found_head", "names_believed"}
    assert metrics["wklm"]["found"] == metrics["wklm"]["found_head"] != metrics["wklm"]["found_blank"]
    assert all(0 <= share <= 1 for shares in metrics.values() for share in shares.values())
    assert found["wklm"]["parameters"] < found["bert"]["parameters"]  # without the head for pairs


def test_roles_are_told_for_few_stories_and_many(records_of):
    found = records_of(*smaller("sembert", told=[4, 8], test=8))
    assert set(found["bert"]["metrics"]) == {"meant_4", "meant_8", "commonest"}
    assert found["sembert"]["steps"] == 2 and found["bert"]["tokens"] == found["shuffled"]["tokens"] > 0
    assert found["sembert"]["parameters"] == found["shuffled"]["parameters"] > found["bert"]["parameters"]


def test_entities_are_told_or_not(records_of):
    found = records_of(*smaller("ernie_thu", test=8, steps=2))
    assert all({"strangers", "friends", "mlm"} <= set(record["metrics"]) for record in found.values())
    assert [len(record["curve"]) for record in found.values()] == [3] * 5


@pytest.mark.release
@pytest.mark.trains
def test_correctors_learn_and_the_pretrained_one_does_not(records_of):
    found = records_of(*smaller("corrector", measured=10))
    assert [record["steps"] for record in found.values()] == [0, 1, 1]
    assert all(0 <= value <= 1 for record in found.values() for value in record["metrics"].values())


# --- questions of the toy world ---------------------------------------------------------------------------------------


def test_a_pronoun_is_tagged_with_whom_it_means():
    """By hand from the story: the people in the order of their names, those of the pronoun's own determiners."""
    seen = set()
    for story in stories(60, 3, "small"):
        example = tagged(story)
        people = list(dict.fromkeys(word for word in example.words if word in NAMES))
        for word, tag, truth in zip(example.words, example.tags, story.words, strict=True):
            named = {story.words[i].text for i in truth.determined_by} & set(people)
            if tag == "O":
                assert truth.kind not in ("pronoun", "reflexive") or not named
                continue
            assert named == set(people[:2]) if tag == "B-BOTH" else named == {people[tag == "B-SECOND"]}
            assert (word in ("they", "them", "their", "themselves")) == (tag == "B-BOTH")
            seen.add(tag)
    assert seen == {"B-FIRST", "B-SECOND", "B-BOTH"}
    data = who_is_meant(5, 3)
    assert data.examples == who_is_meant(5, 3).examples and set(data.labels) <= {tag[2:] for tag in seen}


def test_the_same_questions_at_the_end_of_longer_rows():
    """Found again in the stories: what decides the word stands in the shortest row."""
    tokenizer = Tokenizer(vocabulary())
    told = stories(40, 5, "small")
    asked = questions_at(told, tokenizer, (32, 64, 128), most=50)
    assert len(asked[32]) >= 50
    for rows in zip(*asked.values(), strict=True):
        short, _, long = (ids for ids, _, _ in rows)
        assert len({(ids[place], len(ids) - place, kind) for ids, place, kind in rows}) == 1  # as far from the end
        for (ids, _, _), most in zip(rows, (32, 64, 128), strict=True):
            assert len(ids) <= most
            assert ids[0] == tokenizer.cls_id and ids[-1] == tokenizer.sep_id
            assert ids[-len(short) + 1 :] == short[1:]  # and the short row is the end of it
        assert len(long) > 128 - 20  # nearly full: whole sentences

    firsts = accumulate(len(story.words) for story in told[:-1])
    words = [(word, first) for first, story in zip([0, *firsts], told, strict=True) for word in story.words]
    text = [tokenizer.ids[word.text] for word, _ in words]
    for ids, place, kind in asked[32]:
        starts = [n for n in range(len(text)) if text[n : n + len(ids) - 2] == ids[1:-1]]
        found = [(start, *words[start + place - 1]) for start in starts]
        assert any(
            word.kind == kind and all(start <= first + i < start + len(ids) - 2 for i in word.determined_by)
            for start, word, first in found
        )


# --- on real data -----------------------------------------------------------------------------------------------------


def write(folder: Path, files: list[str], lines: list[str]) -> None:
    """The same lines in each file."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def small_stsb(folder: Path) -> None:
    """Pairs in the files of STS-B."""
    rows = [(f"A man number {i} eats.", f"Somebody {i % 3} has a meal.", f"{i % 6}.0") for i in range(24)]
    write(folder, ["stsb/train.tsv", "stsb/dev.tsv"], ["sentence1\tsentence2\tscore", *map("\t".join, rows)])
    rows = [f"g\tf\t2012\t{i}\t{score}\t{one}\tno {i}" for i, (one, _, score) in enumerate(rows)]
    write(folder, ["stsb/sts-test.tsv"], rows)


@pytest.mark.release
@pytest.mark.trains
def test_sentence_vectors_are_measured_with_and_without_learning(records_of, tmp_path):
    """An arm of each kind: none learns, one of the text alone, two of labelled pairs."""
    small_stsb(tmp_path)
    rows = [f"a{i}\tb{i}\t{label}" for i in range(9) for label in ("entailment", "not_entailment")]
    files = ["rte/train.tsv", "hans/heuristics_evaluation_set.tsv"]
    write(tmp_path, files, ["sentence1\tsentence2\tlabel", *rows])
    every = RELATIVE_EXPERIMENTS["sentence_vectors"].arms
    learns = next(name for name, arm in every.items() if arm.get("objective"))
    names = ("mean", learns, "supervised-rte-own", "softmax-rte")
    experiment, scale = smaller("sentence_vectors", names, steps=2, batch_size=8)
    arms = {
        name: {**options, "steps": 2} if "steps" in options else options for name, options in experiment.arms.items()
    }
    found = records_of(replace(experiment, arms=arms), scale)
    assert [record["steps"] for record in found.values()] == [0, 2, 2, 2]
    assert all({"spearman", "uniformity"} <= record["metrics"].keys() for record in found.values())
    assert found["supervised-rte-own"]["data"][2:] == ["rte/train.tsv", "pairs/train.tsv", "pairs/dev.tsv"]
    assert found["softmax-rte"]["pretraining"]["learning_rate"] == 1e-4


@pytest.mark.release
@pytest.mark.trains
def test_the_cone_is_measured_plain_whitened_and_with_a_flow(records_of, tmp_path):
    small_stsb(tmp_path)
    experiment, scale = smaller("cone", ("mean", "flow"), steps=2)
    whitened = {"layers": "first-last", "dimensions": 8}
    found = records_of(replace(experiment, arms={**experiment.arms, "whitened-8": whitened}), scale)
    assert [record["steps"] for record in found.values()] == [0, 2, 0]
    assert all({"spearman", "spearman_dev", "mean_cosine"} <= one["metrics"].keys() for one in found.values())
    assert found["whitened-8"]["metrics"]["mean_cosine"] < found["mean"]["metrics"]["mean_cosine"] - 0.3


@pytest.mark.release
@pytest.mark.trains
def test_dialogue_is_learned_by_both_and_measured_on_each_set(records_of, tmp_path):
    needed = RELATIVE_EXPERIMENTS["dialogue"].needs
    requests = ["## intent:a", "- go to [rome](city)", "- fly to [oslo](city)", "## intent:b", "- play [jazz](kind)"]
    write(tmp_path, [f"{name}/{part}.md" for name in needed for part in ("train", "test")], [*requests, "- music"])
    found = records_of(*smaller("dialogue", examples=4, measured=4, epochs=1))
    assert list(found) == list(RELATIVE_EXPERIMENTS["dialogue"].arms)
    wanted = {f"{name}_{what}" for name in needed for what in ("intent", "entities", "both")}
    assert all(set(one["metrics"]) == wanted and one["steps"] == 2 and one["parameters"] > 0 for one in found.values())


@pytest.mark.release
@pytest.mark.trains
def test_simbert_is_measured_with_each_loss_and_both(records_of, tmp_path):
    rows = [f"怎么{a}{b}？\t{b}怎么{a}？\t{1 if b in '书票门' else 0}" for a in "买看开" for b in "书票门灯车"]
    write(tmp_path, ["lcqmc/dev.txt", "lcqmc/test.txt"], rows)
    found = records_of(*smaller("simbert", steps=2, asked=5, written=2))
    assert [one["steps"] for one in found.values()] == [0, 2, 2, 2]
    assert all(set(one["metrics"]) == {"found", "nats"} for one in found.values())
    assert found["both"]["examples"] == {"lcqmc": 9}


@pytest.mark.release
@pytest.mark.trains
def test_chinese_correctors_learn_from_questions_and_are_asked_others(records_of, tmp_path):
    for file, people in (("dev.txt", "他她我你"), ("test.txt", "我谁")):  # 我 is asked in both
        rows = [f"{who}在{where}做什么？\t{who}在{where}干什么？\t1" for who in people for where in "家店山"]
        write(tmp_path, [f"lcqmc/{file}"], rows)
    sentences = chinese(tmp_path / "lcqmc", 4)
    assert len(sentences) == 24 + 4 == len(set(sentences)) and all(text.startswith("谁") for text in sentences[-4:])
    found = records_of(*smaller("corrector_zh", measured=4))
    assert [one["steps"] for one in found.values()] == [0, 1, 1]
    assert re.findall(r"\d+", found["plain"]["data"][0]) == ["24"]
    assert found["soft_masked"]["parameters"] > found["plain"]["parameters"]


def small_sst2(folder: Path) -> None:
    rows = [f"{'a good' if i % 2 else 'no'} film {i}\t{i % 2}" for i in range(40)]
    write(folder, ["sst2/train.tsv", "sst2/dev.tsv"], ["sentence\tlabel", *rows])


@pytest.mark.release
@pytest.mark.trains
def test_students_and_their_teacher_are_measured(records_of, tmp_path):
    small_sst2(tmp_path)
    few = {"labelled": 8, "unlabelled": 8, "epochs": 1, "teacher_epochs": 1, "batch_size": 8}
    arms = ("alone", "teacher", "minilm")
    found = records_of(*smaller("smaller", arms, **few, teacher="checkpoints/mini-en"))
    assert [record["steps"] for record in found.values()] == [2, 1, 2]  # every student as many
    for record in found.values():
        assert 0 <= record["metrics"]["accuracy"] <= 1 and 0 <= record["metrics"]["changed_int8"] <= 1
        assert record["metrics"]["megabytes_int8"] < record["metrics"]["megabytes"] == pytest.approx(21.8, abs=0.1)


@pytest.mark.release
@pytest.mark.trains
def test_what_is_cut_away_is_measured_before_and_after(records_of, tmp_path):
    small_sst2(tmp_path)
    found = records_of(*smaller("pruning", ("full", "heads-50"), labelled=8, again=4, epochs=1))
    assert [one["steps"] for one in found.values()] == [1, 1]
    assert found["heads-50"]["parameters"] < found["full"]["parameters"]
    assert found["full"]["pretraining"] == {"begins_with": "checkpoints/mini-en", "share": 0.0}


@pytest.mark.release
@pytest.mark.trains
def test_parts_of_one_network_are_measured(records_of, tmp_path):
    small_sst2(tmp_path)
    found = records_of(*smaller("search", labelled=8, again=4, epochs=1, trained_alone=2))
    assert [one["steps"] for one in found.values()] == [2, 2, 1, 1, 2]
    assert len(found["super"]["candidates"]) == 36 and len(found["super"]["compared"]) == 2
    assert found["found"]["part"] == found["alone"]["part"]


@pytest.mark.release
@pytest.mark.trains
def test_few_labels_are_learned_in_each_way(records_of, tmp_path):
    rows = [f"{'a good' if i % 2 else 'no'} film {i}\t{i % 2}" for i in range(12)]
    files = [f"{folder}/{part}.tsv" for folder in ("en/sst2", "zh/chnsenticorp") for part in ("train", "dev")]
    write(tmp_path, files, ["sentence\tlabel", *rows])
    experiment, scale = smaller("few_labels", ("zero-shot", "vat", "zh-pet"), labels=[2, 4], measured=4, unlabelled=4)
    arms = {name: {**options, "steps": 1} if options else options for name, options in experiment.arms.items()}
    found = records_of(replace(experiment, arms=arms), scale)
    assert [one["steps"] for one in found.values()] == [0, 2, 2]
    assert set(found["vat"]["metrics"]) == {"accuracy", "accuracy_2", "accuracy_4"}
    assert found["zh-pet"]["pretraining"]["begins_with"] == scale.begins_with_zh


@pytest.mark.parametrize(("name", "folder"), [("sentence_vectors", "stsb"), ("dialogue", "atis")])
def test_data_that_are_missing_are_named(name, folder, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    for options, told in (([], "--tasks"), (["--tasks", str(tmp_path)], folder)):
        assert main(["experiment", name, *options, "--out", str(tmp_path / "x.jsonl")]) == 2
        assert told in capsys.readouterr().err


def test_an_arm_that_there_is_not_is_refused(tmp_path, capsys):
    assert main(["experiment", "albert", "--arms", "all", "heads", "--out", str(tmp_path / "x.jsonl")]) != 0
    error = capsys.readouterr().err
    assert "'heads'" in error and all(arm in error for arm in RELATIVE_EXPERIMENTS["albert"].arms)


# --- what is recorded -------------------------------------------------------------------------------------------------


def recorded(name: str) -> list[dict]:
    return read_records(ROOT / "lessons" / "results" / f"{name}.jsonl", REQUIRED)


@pytest.mark.parametrize("name", RELATIVE_EXPERIMENTS)
def test_what_is_recorded_is_not_run_again(name, tmp_path):
    """Although records hold fields that their scales no longer have."""
    experiment, begun = RELATIVE_EXPERIMENTS[name], set()
    out = shutil.copy(ROOT / "lessons" / "results" / f"{name}.jsonl", tmp_path)

    def run(arm, seed):
        begun.add((arm, seed))
        yield Eval(0, {})

    facts = {"data": [], "pretraining": {}}
    list(
        run_arms(name, experiment.arms, run, lambda arm: facts, out, seeds=3, required=REQUIRED, scale=experiment.scale)
    )
    done = {(one["arm"], one["seed"]) for one in recorded(name)}
    assert done and begun == {(arm, seed) for arm in experiment.arms for seed in range(3)} - done
    assert len({str(one["scale"]) for one in read_records(out, REQUIRED)}) == 1  # pages compare what is of one scale


@pytest.mark.parametrize("name", ["cone", "sentence_vectors", "dialogue", "corrector_zh", "simbert", "smaller"])
def test_every_arm_and_seed_is_recorded(name):
    recorded_runs = {(one["arm"], one["seed"]) for one in recorded(name)}
    assert recorded_runs >= {(arm, n) for arm in RELATIVE_EXPERIMENTS[name].arms for n in range(3)}


def test_whitening_gains_what_the_page_says():
    found = {record["arm"]: 100 * record["metrics"]["spearman"] for record in recorded("cone")}
    told = {"mean": 58.0, "whitened": 62.7, "embeddings": 48.4, "embeddings-whitened": 67.5, "minilm": 77.0}
    assert {arm: found[arm] for arm in told} == pytest.approx(told, abs=0.1)


def test_labelled_pairs_gain_what_the_page_says():
    found = by_arm(recorded("sentence_vectors"), "spearman")
    over = {arm: paired_difference(values, found["mean"]) for arm, values in found.items()}
    assert over["supervised-own"].mean == pytest.approx(0.04, abs=5e-3)  # the lesson's “about 4 points”
    assert all(over[arm].clear and 0 < over[arm].mean < 0.08 for arm in found if arm.startswith("supervised"))
    easy = paired_difference(found["supervised-own"], found["supervised-own-easy"])
    assert easy.mean == pytest.approx(5e-3, abs=1e-3)
    assert over["softmax-hans"].clear and over["softmax-hans"].mean < 0 and not over["softmax-rte"].clear


def test_the_chinese_corrector_gains_what_the_page_says():
    told = re.findall(r"\d+\.\d", (ROOT / "lessons" / "to_write" / "en.md").read_text(encoding="utf-8"))
    found = by_arm(recorded("corrector_zh"), "correction_f1")
    assert {f"{100 * sum(found[arm].values()) / 3:.1f}" for arm in ("soft_masked", "plain")} <= set(told)
    gaps = [found["soft_masked"][seed] - found["plain"][seed] for seed in range(3)]
    assert min(gaps) < 0 < max(gaps)


def test_simbert_finds_and_writes_as_the_page_says():
    records = recorded("simbert")
    nats, found = by_arm(records, "nats"), by_arm(records, "found")
    assert paired_difference(nats["both"], nats["writes"]).mean == pytest.approx(0.07, abs=0.005)
    assert paired_difference(nats["finds"], nats["as-is"]).mean > 0.9  # who only learns to find unlearns writing
    assert paired_difference(found["both"], found["finds"]).mean > 0
    assert not paired_difference(found["writes"], found["as-is"]).clear
