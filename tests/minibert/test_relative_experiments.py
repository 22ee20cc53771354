"""What a relative's paper claims, in small: every arm runs, goes on where it stopped, and records what it did."""

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest
import torch

from minibert import checkpoint
from minibert.__main__ import main
from minibert.command_line.arguments import ROOT
from minibert.experiments.events import Finished, steps_of
from minibert.experiments.pronouns import settings_of
from minibert.experiments.relative_catalogue import (
    RELATIVE_EXPERIMENTS,
    REQUIRED,
    ConeScale,
    JointScale,
    LengthScale,
    RelativeArm,
    RelativeScale,
    SimBertScale,
    VectorScale,
)
from minibert.experiments.relatives import run_relative
from minibert.experiments.results import by_arm, paired_difference, read_records
from minibert.experiments.writing import chinese
from minibert.text.json_values import json_value
from minibert.tokenizer import Tokenizer
from minibert.toy import entities_task
from minibert.toy.pretrain import pretrain_toy, questions_at
from minibert.toy.pronoun_task import NAMES, tagged, who_is_meant
from minibert.toy.world import stories, vocabulary

SMALL = RelativeScale(steps=2, stories=30, train=8, test=6, epochs=1)


def test_electras_arms_are_the_papers_table():
    arms = RELATIVE_EXPERIMENTS["electra"].arms
    assert list(arms) == ["bert", "electra", "electra-15", "replace-mlm", "all-tokens-mlm"]
    assert [arm.options.get("variant", "electra") for arm in list(arms.values())[1:]] == [
        "electra", "electra_15", "replace_mlm", "all_tokens_mlm"
    ]  # fmt: skip


@pytest.mark.release
@pytest.mark.trains
def test_every_arm_runs_once_on_the_same_tokens(tmp_path):
    out, experiment = tmp_path / "electra.jsonl", RELATIVE_EXPERIMENTS["electra"]
    events = run_relative(experiment, out, seeds=1, scale=SMALL, command="try")
    first = next(event for event in events if isinstance(event, Finished))
    events.close()  # cut off after the first arm
    assert first.record["arm"] == "bert"
    finished = [e for e in run_relative(experiment, out, seeds=1, scale=SMALL) if isinstance(e, Finished)]
    assert [event.record["arm"] for event in finished] == list(experiment.arms)[1:]
    records = read_records(out, REQUIRED)
    assert len({record["tokens"] for record in records}) == 1
    assert all(0 <= record["metrics"]["who_is_meant"] <= 1 for record in records)
    assert {record["arm"] for record in records if "chosen" in record["metrics"]} == set(experiment.arms) - {
        "replace-mlm", "all-tokens-mlm"
    }  # fmt: skip
    assert not [e for e in run_relative(experiment, out, seeds=1, scale=SMALL) if isinstance(e, Finished)]
    assert [record["kept"] for record in records] == [
        "BertForPreTraining", "ElectraForPreTraining", "ElectraForPreTraining", "ElectraForMaskedLM",
        "ElectraForAllTokens",
    ]  # fmt: skip
    other = replace(SMALL, steps=3)
    next(e for e in run_relative(experiment, out, seeds=1, scale=other) if isinstance(e, Finished))  # another scale


def test_alberts_arms_are_the_papers_tables():
    experiment = RELATIVE_EXPERIMENTS["albert"]
    arms = {name: arm for name, arm in experiment.arms.items() if name != "bert"}
    assert experiment.pairs and {arm.sizes["num_hidden_layers"] for arm in experiment.arms.values()} == {3}
    assert {(arm.sizes["shared"], arm.sizes["embedding_size"]) for arm in arms.values()} == {
        (shared, width) for shared in ("all", "attention", "feed_forward", "none") for width in (32, 128)
    }  # fmt: skip
    assert {name: arm.options["second"] for name, arm in arms.items() if arm.options["second"] != "sop"} == {
        "nsp": "nsp", "mlm": None
    }  # fmt: skip
    assert arms["nsp"].sizes == arms["mlm"].sizes == arms["all"].sizes


@pytest.mark.release
@pytest.mark.trains
def test_pairs_are_read_and_both_questions_asked(tmp_path):
    arms = {name: RELATIVE_EXPERIMENTS["albert"].arms[name] for name in ("bert", "all", "nsp", "mlm")}
    experiment, out = replace(RELATIVE_EXPERIMENTS["albert"], arms=arms), tmp_path / "albert.jsonl"
    assert [e for e in run_relative(experiment, out, seeds=1, scale=SMALL) if isinstance(e, Finished)]
    records = {record["arm"]: record for record in read_records(out, REQUIRED)}
    for record in records.values():
        measured = record["metrics"]
        assert all(0 <= measured[name] <= 1 for name in ("nsp", "sop", "who_is_meant", "chosen"))
        assert measured["milliseconds"] > 0
    asked = {arm: {part for *_, parts in record["curve"] for part in parts} for arm, record in records.items()}
    assert {arm for arm, parts in asked.items() if "nsp_loss" in parts} <= {"bert", "nsp"}
    assert records["all"]["parameters"] == records["nsp"]["parameters"] < records["bert"]["parameters"]


def recorded(name: str, tmp_path, **smaller) -> dict[str, dict]:
    """A run of one seed at a small scale: arm → record."""
    experiment, out = RELATIVE_EXPERIMENTS[name], tmp_path / f"{name}.jsonl"
    scale = replace(experiment.scale, **smaller)
    assert [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]
    again = [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]
    assert not again  # all of it is done
    return {record["arm"]: record for record in read_records(out, REQUIRED)}


@pytest.mark.release
@pytest.mark.trains
def test_names_are_asked_of_a_bert_that_goes_on(tmp_path):
    found = recorded("wklm", tmp_path, steps=2, batch_size=4, stories=20, held_out=8, train=8, test=6, epochs=1)
    assert list(found) == ["bert", "wklm", "names_too"]
    metrics = {arm: record["metrics"] for arm, record in found.items()}
    assert set(metrics["bert"]) == {"found", "found_blank", "names", "who_is_meant"}
    assert set(metrics["wklm"]) - set(metrics["bert"]) == {"found_head", "names_believed"}
    assert metrics["wklm"]["found"] == metrics["wklm"]["found_head"] != metrics["wklm"]["found_blank"]
    assert all(0 <= share <= 1 for shares in metrics.values() for share in shares.values())
    assert found["wklm"]["parameters"] < found["bert"]["parameters"]  # without the head for pairs


def test_roles_are_told_for_few_stories_and_many(tmp_path):
    found = recorded("sembert", tmp_path, steps=1, told=[4, 8], test=8)
    assert set(found["bert"]["metrics"]) == {"meant_4", "meant_8", "commonest"}
    assert found["sembert"]["steps"] == 2 and found["bert"]["tokens"] == found["shuffled"]["tokens"] > 0
    assert found["sembert"]["parameters"] == found["shuffled"]["parameters"] > found["bert"]["parameters"]


def test_entities_are_told_or_not(tmp_path, monkeypatch):
    monkeypatch.setattr(entities_task, "MOST_ASKED", 60)
    found = recorded("ernie_thu", tmp_path, steps=1, batch_size=4, stories=20, test=8)
    assert all({"strangers", "friends", "mlm"} <= set(record["metrics"]) for record in found.values())
    assert [len(record["curve"]) for record in found.values()] == [2] * 5


def test_it_is_listed(capsys):
    assert main(["experiment", "--list"]) == 0
    listed = capsys.readouterr().out
    assert "electra      ELECTRA and its ablations" in listed and "albert       ALBERT: what is shared" in listed


def test_an_arm_that_there_is_not_is_refused(tmp_path, capsys):
    assert main(["experiment", "albert", "--arms", "all", "heads", "--out", str(tmp_path / "x.jsonl")]) != 0
    assert "albert has no arm 'heads'; there are bert, all," in capsys.readouterr().err


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


# --- asked in longer rows ---------------------------------------------------------------------------------------------


def test_the_same_questions_at_the_end_of_longer_rows():
    tokenizer = Tokenizer(vocabulary())
    told = stories(40, 5, "small")
    asked = questions_at(told, tokenizer, (32, 64, 128), most=50)
    text = [word for story in told for word in story.words]
    counts = {len(rows) for rows in asked.values()}
    assert counts.pop() >= 50 and not counts
    for short, middle, long in zip(*asked.values(), strict=True):
        answers = {ids[place] for ids, place, _ in (short, middle, long)}
        assert len(answers) == 1 and len({kind for _, _, kind in (short, middle, long)}) == 1
        for (ids, place, _), most in zip((short, middle, long), (32, 64, 128), strict=True):
            assert len(ids) <= most
            assert ids[0] == tokenizer.cls_id and ids[-1] == tokenizer.sep_id
            back = len(short[0]) - short[1]
            assert len(ids) - place == back  # as far from the end
            assert ids[-len(short[0]) + 1 :] == short[0][1:]  # and the short row is the end of it
        assert len(long[0]) > 128 - 20  # nearly full: whole sentences
    assert {word.text for word in text} >= {tokenizer.vocab[short[0][short[1]]] for short in asked[32]}


def test_what_decides_the_word_stands_in_the_shortest_row():
    """Found again in the stories: the row's words, and where each of them was determined from."""
    tokenizer = Tokenizer(vocabulary())
    told = stories(12, 9, "small")
    words = [(word, base) for base, story in bases(told) for word in story.words]
    row = [tokenizer.ids[word.text] for word, _ in words]
    for ids, place, kind in questions_at(told, tokenizer, (32, 64))[32]:
        starts = [n for n in range(len(row)) if row[n : n + len(ids) - 2] == ids[1:-1]]
        fits = [
            all(start <= base + i < start + len(ids) - 2 for i in word.determined_by)
            for start in starts
            for word, base in [words[start + place - 1]]
            if word.kind == kind
        ]
        assert any(fits)


def bases(told):
    first = 0
    for story in told:
        yield first, story
        first += len(story.words)


@pytest.mark.release
@pytest.mark.trains
def test_nezhas_arms_are_asked_at_every_length(tmp_path):
    out, experiment = tmp_path / "nezha.jsonl", RELATIVE_EXPERIMENTS["nezha"]
    scale = LengthScale(steps=2, batch_size=4, stories=40, lengths=(32, 64))
    finished = [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]
    assert [event.record["arm"] for event in finished] == ["learned", "sinusoid", "nezha", "nezha-16"]
    records = read_records(out, REQUIRED)
    assert len({record["tokens"] for record in records}) == 1
    assert all(set(record["metrics"]) == {"right_32", "right_64"} for record in records)
    assert [record["pretraining"]["start"] for record in records] == ["words", "sinusoids", "words", "words"]
    assert not [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]


@pytest.mark.release
@pytest.mark.trains
def test_what_is_measured_is_the_model_at_the_end(tmp_path):
    """A run saves behind its Done: whoever stops listening there is left with the weights of its first step."""
    scale = replace(SMALL, steps=3)
    events = pretrain_toy(settings_of(RelativeArm(), scale, 0), tmp_path / "model", stories=30)
    steps = steps_of(events)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            assert end.value.step == 3
            break
    kept = checkpoint.load(tmp_path / "model").state_dict()
    events.close()
    again = checkpoint.load(tmp_path / "model").state_dict()
    assert all(torch.equal(kept[name], again[name]) for name in kept)
    logged = [json_value(line) for line in (tmp_path / "model" / "training.jsonl").read_text().splitlines()]
    assert "done" in [event["event"] for event in logged]
    with pytest.raises(RuntimeError, match="ended without saying so"):
        next(steps_of(iter(())))


@pytest.mark.release
@pytest.mark.trains
def test_xlnets_arms_are_asked_for_words_that_go_together(tmp_path):
    out, experiment = tmp_path / "xlnet.jsonl", RELATIVE_EXPERIMENTS["xlnet"]
    scale = JointScale(steps=2, batch_size=4, stories=40, groups=4)
    finished = [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]
    assert [event.record["arm"] for event in finished] == ["bert", "xlnet", "xlnet-code", "xlnet-spans"]
    records = read_records(out, REQUIRED)
    assert len({record["tokens"] for record in records}) == 1
    wanted = {"joint_at_once", "joint_in_order", "fits_at_once", "fits_in_order", "chosen"}
    assert all(set(record["metrics"]) == wanted for record in records)
    assert [record["kept"] for record in records] == ["BertForPreTraining", *["XLNetLMHeadModel"] * 3]


@pytest.mark.release
@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("to_write", {"bert": 3, "unilm": 3, "left-to-right": 2}),
        ("corrector", {"pretrained": 3, "plain": 3, "soft_masked": 3}),
    ],
)
def test_who_writes_and_who_corrects(name, metrics, tmp_path):
    out, experiment = tmp_path / f"{name}.jsonl", RELATIVE_EXPERIMENTS[name]
    own = {"answer_steps": 2} if name == "to_write" else {"measured": 10}
    scale = replace(experiment.scale, steps=2, batch_size=4, stories=30, **own)
    finished = [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]
    assert {event.record["arm"]: len(event.record["metrics"]) for event in finished} == metrics
    assert all(0 <= value <= 1 for record in read_records(out, REQUIRED) for value in record["metrics"].values())
    assert not [e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]


def small_stsb(folder: Path, count: int = 24) -> None:
    """Pairs in the files of STS-B."""
    (folder / "stsb").mkdir()
    rows = [f"A man number {i} eats.\tSomebody {i % 3} has a meal.\t{i % 6}.0" for i in range(count)]
    header = "sentence1\tsentence2\tscore"
    for part in ("train", "dev"):
        (folder / "stsb" / f"{part}.tsv").write_text("\n".join([header, *rows]) + "\n")
    (folder / "stsb" / "sts-test.tsv").write_text(
        "".join(
            f"g\tf\t2012\t{i}\t{row.split(chr(9))[2]}\t{row.split(chr(9))[0]}\tno {i}\n" for i, row in enumerate(rows)
        )
    )


@pytest.mark.release
@pytest.mark.trains
def test_sentence_vectors_are_measured_with_and_without_learning(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["sentence_vectors"], tmp_path / "sentence_vectors.jsonl"
    small_stsb(tmp_path)
    inferred = "sentence1\tsentence2\tlabel\n" + "".join(f"a{i}\tb{i}\t{label}\n" for i in range(9) for label in
                                                      ("entailment", "not_entailment"))  # fmt: skip
    for file in ("rte/train.tsv", "hans/heuristics_evaluation_set.tsv"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text(inferred)
    arms = {name: replace(arm, options={**arm.options, "steps": 2} if "steps" in arm.options else arm.options)
            for name, arm in experiment.arms.items()}  # fmt: skip
    experiment, scale = replace(experiment, arms=arms), VectorScale(steps=2, batch_size=8)
    run = partial(run_relative, experiment, out, seeds=1, scale=scale, tasks=tmp_path)
    finished = {event.record["arm"]: event.record for event in run() if isinstance(event, Finished)}
    assert list(finished) == list(arms)
    assert [record["steps"] for record in finished.values()] == [0] * 3 + [2] * 12
    assert all({"spearman", "uniformity"} <= record["metrics"].keys() for record in finished.values())
    assert finished["supervised-rte-own"]["data"][2:] == ["rte/train.tsv", "pairs/train.tsv", "pairs/dev.tsv"]
    assert finished["softmax-rte"]["pretraining"]["learning_rate"] == 1e-4
    assert len(read_records(out, REQUIRED)) == 15 and not [event for event in run() if isinstance(event, Finished)]


@pytest.mark.release
@pytest.mark.trains
def test_the_cone_is_measured_plain_whitened_and_with_a_flow(tmp_path):
    small_stsb(tmp_path)
    whole, out = RELATIVE_EXPERIMENTS["cone"], tmp_path / "cone.jsonl"
    arms = {name: whole.arms[name] for name in ("mean", "flow")}
    arms["whitened-8"] = RelativeArm(options={"layers": "first-last", "dimensions": 8})
    run = partial(run_relative, replace(whole, arms=arms), out, seeds=1, scale=ConeScale(steps=2), tasks=tmp_path)
    finished = {event.record["arm"]: event.record for event in run() if isinstance(event, Finished)}
    assert [record["steps"] for record in finished.values()] == [0, 2, 0]
    assert all({"spearman", "spearman_dev", "mean_cosine"} <= one["metrics"].keys() for one in finished.values())
    assert finished["whitened-8"]["metrics"]["mean_cosine"] < finished["mean"]["metrics"]["mean_cosine"] - 0.3
    assert len(read_records(out, REQUIRED)) == 3 and not [event for event in run() if isinstance(event, Finished)]


def test_the_recorded_cone_is_whole_and_whitening_gains_what_the_page_says():
    records = read_records(ROOT / "lessons" / "results" / "cone.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["cone"]
    assert {(record["arm"], record["seed"]) for record in records} == {
        (arm, seed) for arm in experiment.arms for seed in range(3)
    }
    assert all(record["scale"] == asdict(experiment.scale) for record in records)
    found = {record["arm"]: 100 * record["metrics"]["spearman"] for record in records}
    told = {"mean": 58.0, "whitened": 62.7, "embeddings": 48.4, "embeddings-whitened": 67.5, "minilm": 77.0}
    assert {arm: found[arm] for arm in told} == pytest.approx(told, abs=0.1)


def test_the_recorded_sentence_vectors_are_whole():
    records = read_records(ROOT / "lessons" / "results" / "sentence_vectors.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["sentence_vectors"]
    assert {(record["arm"], record["seed"]) for record in records} == {
        (arm, seed) for arm in experiment.arms for seed in range(3)
    }
    assert all(record["scale"] == asdict(experiment.scale) for record in records)
    found = by_arm(records, "spearman")
    over = {arm: paired_difference(values, found["mean"]) for arm, values in found.items()}
    assert over["supervised-own"].mean == pytest.approx(0.04, abs=5e-3)  # the lesson's “about 4 points”
    assert all(over[arm].clear and 0 < over[arm].mean < 0.08 for arm in found if arm.startswith("supervised"))
    assert paired_difference(found["supervised-own"], found["supervised-own-easy"]).mean == pytest.approx(
        5e-3, abs=1e-3
    )
    assert over["softmax-hans"].clear and over["softmax-hans"].mean < 0 and not over["softmax-rte"].clear


def test_sentence_vectors_need_their_data(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    assert main(["experiment", "sentence_vectors", "--out", str(tmp_path / "x.jsonl")]) == 2
    assert "--tasks is missing" in capsys.readouterr().err
    assert main(["experiment", "sentence_vectors", "--tasks", str(tmp_path), "--out", str(tmp_path / "x.jsonl")]) == 2
    assert "has no folder stsb" in capsys.readouterr().err


@pytest.mark.release
@pytest.mark.trains
def test_dialogue_is_learned_by_both_and_measured_on_each_set(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["dialogue"], tmp_path / "dialogue.jsonl"
    text = "## intent:a\n- go to [rome](city)\n- fly to [oslo](city)\n## intent:b\n- play [jazz](kind)\n- music\n"
    for name in experiment.scale.needs:
        (tmp_path / name).mkdir()
        for file in ("train.md", "test.md"):
            (tmp_path / name / file).write_text(text)
    scale = replace(experiment.scale, examples=4, measured=4, epochs=1)
    run = partial(run_relative, experiment, out, seeds=1, scale=scale, tasks=tmp_path)
    finished = [event for event in run() if isinstance(event, Finished)]
    assert [event.record["arm"] for event in finished] == list(experiment.arms)
    wanted = {f"{name}_{what}" for name in experiment.scale.needs for what in ("intent", "entities", "both")}
    assert all(set(event.record["metrics"]) == wanted and event.record["steps"] == 2 for event in finished)
    assert all(event.record["parameters"] > 0 for event in finished)
    assert len(read_records(out, REQUIRED)) == 6 and not [event for event in run() if isinstance(event, Finished)]


def test_the_recorded_dialogue_is_whole():
    records = read_records(ROOT / "lessons" / "results" / "dialogue.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["dialogue"]
    assert {(record["arm"], record["seed"]) for record in records} == {
        (arm, seed) for arm in experiment.arms for seed in range(3)
    }
    assert all(record["scale"] == asdict(experiment.scale) for record in records)


@pytest.mark.release
@pytest.mark.trains
def test_simbert_is_measured_with_each_loss_and_both(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["simbert"], tmp_path / "simbert.jsonl"
    (tmp_path / "lcqmc").mkdir()
    for file in ("dev.txt", "test.txt"):
        rows = (f"怎么{a}{b}？\t{b}怎么{a}？\t{1 if b in '书票门' else 0}\n" for a in "买看开" for b in "书票门灯车")
        (tmp_path / "lcqmc" / file).write_text("".join(rows), encoding="utf-8")
    scale = SimBertScale(steps=2, batch_size=4, asked=5, written=2)
    run = partial(run_relative, experiment, out, seeds=1, scale=scale, tasks=tmp_path)
    finished = {event.record["arm"]: event.record for event in run() if isinstance(event, Finished)}
    assert list(finished) == list(experiment.arms) and [one["steps"] for one in finished.values()] == [0, 2, 2, 2]
    assert all(set(one["metrics"]) == {"found", "nats"} for one in finished.values())
    assert finished["both"]["examples"] == {"lcqmc": 9} and not [one for one in run() if isinstance(one, Finished)]


@pytest.mark.release
@pytest.mark.trains
def test_chinese_correctors_learn_from_questions_and_are_asked_others(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["corrector_zh"], tmp_path / "corrector_zh.jsonl"
    (tmp_path / "lcqmc").mkdir()
    for file, people in (("dev.txt", "他她我你"), ("test.txt", "我谁")):  # 我 is asked in both
        rows = (f"{who}在{where}做什么？\t{who}在{where}干什么？\t1\n" for who in people for where in "家店山")
        (tmp_path / "lcqmc" / file).write_text("".join(rows), encoding="utf-8")
    sentences = chinese(tmp_path / "lcqmc", 4)
    assert len(sentences) == 24 + 4 == len(set(sentences)) and all(text.startswith("谁") for text in sentences[-4:])
    scale = replace(experiment.scale, steps=2, batch_size=4, measured=4)
    run = partial(run_relative, experiment, out, seeds=1, scale=scale, tasks=tmp_path)
    finished = {event.record["arm"]: event.record for event in run() if isinstance(event, Finished)}
    assert list(finished) == list(experiment.arms) and [one["steps"] for one in finished.values()] == [0, 2, 2]
    assert finished["plain"]["data"] == ["LCQMC, 24 questions, misspelled"]
    assert finished["soft_masked"]["parameters"] > finished["plain"]["parameters"]
    assert not [event for event in run() if isinstance(event, Finished)]


def test_the_recorded_chinese_corrector_is_whole_and_gains_what_the_page_says():
    records = read_records(ROOT / "lessons" / "results" / "corrector_zh.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["corrector_zh"]
    assert {(one["arm"], one["seed"]) for one in records} == {(arm, n) for arm in experiment.arms for n in range(3)}
    assert all(one["scale"] == asdict(experiment.scale) for one in records)
    told = (ROOT / "lessons" / "to_write" / "en.md").read_text(encoding="utf-8")
    found = by_arm(records, "correction_f1")
    taught, plain = (f"{100 * sum(found[arm].values()) / 3:.1f}" for arm in ("soft_masked", "plain"))
    assert f"is {taught} with it and {plain} without" in told
    gaps = [found["soft_masked"][seed] - found["plain"][seed] for seed in range(3)]
    assert min(gaps) < 0 < max(gaps)


def test_the_recorded_simbert_is_whole_and_says_what_the_page_does():
    records = read_records(ROOT / "lessons" / "results" / "simbert.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["simbert"]
    assert {(record["arm"], record["seed"]) for record in records} == {
        (arm, seed) for arm in experiment.arms for seed in range(3)
    }
    assert all(record["scale"] == asdict(experiment.scale) for record in records)
    nats, found = by_arm(records, "nats"), by_arm(records, "found")
    assert paired_difference(nats["both"], nats["writes"]).mean == pytest.approx(0.07, abs=0.005)
    assert paired_difference(nats["finds"], nats["as-is"]).mean > 0.9  # who only learns to find unlearns writing
    assert (
        paired_difference(found["both"], found["finds"]).mean > 0
        and not paired_difference(found["writes"], found["as-is"]).clear
    )


def test_dialogue_needs_its_data(tmp_path, capsys):
    assert main(["experiment", "dialogue", "--tasks", str(tmp_path), "--out", str(tmp_path / "x.jsonl")]) == 2
    assert "has no folder atis" in capsys.readouterr().err


@pytest.mark.release
@pytest.mark.trains
def test_students_and_their_teacher_are_measured(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["smaller"], tmp_path / "smaller.jsonl"
    few = ("alone", "teacher", "labels", "minilm")
    experiment = replace(experiment, arms={name: experiment.arms[name] for name in few})
    (tmp_path / "sst2").mkdir()
    rows = [f"{'a good' if i % 2 else 'no'} film {i}\t{i % 2}" for i in range(40)]
    for name in ("train", "dev"):
        (tmp_path / "sst2" / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    scale = replace(experiment.scale, labelled=16, unlabelled=16, epochs=1, teacher_epochs=1, batch_size=8,
                    teacher="checkpoints/mini-en")  # fmt: skip
    run = partial(run_relative, experiment, out, seeds=1, scale=scale, tasks=tmp_path)
    finished = [event.record for event in run() if isinstance(event, Finished)]
    assert [record["arm"] for record in finished] == list(few)
    assert [record["steps"] for record in finished] == [4, 2, 4, 4]  # every student as many
    for record in finished:
        assert 0 <= record["metrics"]["accuracy"] <= 1 and 0 <= record["metrics"]["changed_int8"] <= 1
        assert record["metrics"]["megabytes_int8"] < record["metrics"]["megabytes"] == pytest.approx(21.8, abs=0.1)
    assert not [event for event in run() if isinstance(event, Finished)]


def test_the_recorded_students_are_whole():
    records = read_records(ROOT / "lessons" / "results" / "smaller.jsonl", REQUIRED)
    experiment = RELATIVE_EXPERIMENTS["smaller"]
    assert {(record["arm"], record["seed"]) for record in records} == {
        (arm, seed) for arm in experiment.arms for seed in range(3)
    }
    assert all(record["scale"] == asdict(experiment.scale) for record in records)
