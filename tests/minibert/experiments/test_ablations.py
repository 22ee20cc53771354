"""The paper's ablations in small: what the arms are, how they run and resume, and what their results say."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers
from scipy import stats

from minibert import checkpoint
from minibert.__main__ import main
from minibert.config import BertConfig
from minibert.experiments import results
from minibert.experiments.catalogue import (
    DOWNSTREAM,
    EXPERIMENTS,
    TOY_SCALE,
    Arm,
    Experiment,
    Pretraining,
    Scale,
    experiment_named,
)
from minibert.experiments.comparisons import COMPARISONS
from minibert.experiments.corpus import CORPUS, prepare
from minibert.experiments.events import Finished, Stage
from minibert.experiments.finetuning import finetuning_settings, in_iob1, read_data
from minibert.experiments.pretraining import batches_of, objective_of, pretrain, start
from minibert.experiments.records import agrees, append_record, as_recorded
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.run import measures, run_experiment
from minibert.experiments.toy_corpus import QUESTIONED, SEEDS, WORLD, perplexity_of_frequencies, toy_corpus
from minibert.experiments.toy_run import small_run
from minibert.finetune.learner import Learner
from minibert.folders import ROOT
from minibert.heads import TaskBatch
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, NextToken, next_tokens
from minibert.relatives import build
from minibert.relatives.left_to_right import LeftToRightConfig
from minibert.tasks import TaskData, TaskDataError, task_named
from minibert.tasks.tagging import TaggedExample, entities, to_iob2
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.train import Done, Eval, Started, Step

TINY = Scale(
    tokens=2048,
    vocab_size=120,
    batch_size=8,
    max_length=16,
    examples=24,
    epochs=1,
    finetune_batch_size=8,
    heldout_tokens=200,
)
TOKENIZER = Tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
SMALL = Pretraining(layers=1, hidden=16, heads=2)
CONFIG = BertConfig(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=16,
)
LEFT_TO_RIGHT = LeftToRightConfig(**CONFIG.as_dict())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus and the three task files in their own formats, in small."""
    folder = tmp_path_factory.mktemp("experiment")
    rng = random.Random(0)
    words = ["the", "a", "dog", "cat", "film", "plot", "good", "bad", "dull", "sees", "runs", "in", "Paris", "Anna"]

    def sentence():
        return " ".join(rng.choices(words, k=rng.randint(4, 9))) + " ."

    def write(name, lines):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    documents = ["\n".join(sentence() for _ in range(8)) + "\n" for _ in range(30)]
    write("text.txt", documents)
    write("heldout.txt", documents[:4])
    for part, number in (("train", 30), ("dev", 11)):
        write(f"tasks/sst2/{part}.tsv", ["sentence\tlabel", *(f"{sentence()}\t{i % 2}" for i in range(number))])
    for part in ("train", "test"):
        rows = [f"{i % 2}\t1\t2\t{sentence()}\t{sentence()}" for i in range(20)]
        write(f"tasks/mrpc/{part}.tsv", ["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows])
    for part in ("train", "testa"):
        rows = ["\nAnna NNP I-NP I-PER\nruns V I-VP O\nParis NNP I-NP I-LOC"] * 4
        write(f"tasks/conll2003/eng.{part}", ["-DOCSTART- -X- O O", *rows])
    return folder


@pytest.fixture(scope="module")
def corpus(folder):
    return prepare([folder / "text.txt"], TINY.vocab_size, heldout=folder / "heldout.txt")


# --- models -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_left_to_right_is_transformers_decoder(tmp_path):
    """Its logits are those of BertLMHeadModel with the same weights; its loss is theirs, which shifts the labels."""
    torch.manual_seed(0)
    model = build(LEFT_TO_RIGHT, BertForPreTraining).eval()
    for weights in model.parameters():
        weights.normal_(std=0.3)
    directory = checkpoint.save(tmp_path / "model", model)
    theirs = transformers.BertLMHeadModel.from_pretrained(
        directory, config=transformers.BertConfig(**CONFIG.as_dict(), is_decoder=True), attn_implementation="eager"
    ).eval()
    ids = torch.randint(5, 50, (3, 9))
    padding = torch.arange(9) < torch.tensor([[9], [6], [4]])
    known = theirs(ids, attention_mask=padding.long(), labels=ids.masked_fill(~padding, IGNORE))
    logits = model(Batch(ids, padding=padding)).mlm_logits
    torch.testing.assert_close(logits[padding], known.logits[padding], atol=1e-5, rtol=1e-5)
    asked = Batch(ids, padding=padding, labels=next_tokens(ids, padding))
    (answers,) = NextToken().prediction_stats(model(asked), asked).values()
    torch.testing.assert_close(answers.loss, known.loss, atol=1e-5, rtol=1e-5)
    assert torch.equal(next_tokens(ids), next_tokens(ids, torch.ones_like(padding)))


def learner(name: str, config: BertConfig, labels: list[str], **arm) -> Learner:
    """What is fine-tuned on a task, as the arm's settings have it."""
    task, settings = task_named(DOWNSTREAM[name].task), finetuning_settings(Arm(**arm), name, TINY, 0)
    return Learner.of(build(config, BertForPreTraining), task, labels, settings.options(), TOKENIZER, settings)


@torch.no_grad()
def test_fine_tuned_left_to_right_never_looks_right_and_no_mean_counts_padding():
    torch.manual_seed(0)
    ids = torch.randint(5, 50, (1, 12))
    changed = ids.clone()
    changed[0, 7:] = torch.randint(5, 50, (5,))
    for config, blind in ((LEFT_TO_RIGHT, True), (CONFIG, False)):
        model = learner("ner", config, ["O", "B-PER", "I-PER"]).eval().model
        assert blind == torch.equal(model(TaskBatch(ids)).logits[:, :7], model(TaskBatch(changed)).logits[:, :7])
    model = learner("sst2", LEFT_TO_RIGHT, ["0", "1"], bilstm=True).eval().model
    padded = TaskBatch(F.pad(ids, (0, 4)), padding=torch.arange(16)[None] < 12)
    torch.testing.assert_close(model(TaskBatch(ids)).logits, model(padded).logits)
    # A sentence is the mean of its tokens.
    ids = torch.randint(5, 50, (2, 5))
    padding = torch.tensor([[True] * 5, [True, True, True, False, False]])
    model = learner("sst2", CONFIG, ["0", "1"]).eval().model
    x, _ = model.bert(Batch(ids, padding=padding))
    means = torch.stack([x[0].mean(0), x[1, :3].mean(0)])
    torch.testing.assert_close(model(TaskBatch(ids, padding=padding)).logits, model.classifier(means))


def test_an_arm_says_what_is_asked_and_over_frozen_features_a_bilstm_learns():
    split = (0.0, 0.8, 0.2)
    assert objective_of(Pretraining(split=split)) == MaskedLanguageModel(Masking(split=split))
    assert objective_of(Pretraining(objective="mlm")) == MaskedLanguageModel(second=None)
    assert objective_of(Pretraining(objective="left-to-right")) == NextToken()
    frozen = learner("ner_features", CONFIG, ["O", "B-X"])
    ids = torch.randint(5, 50, (3, 7))
    frozen(TaskBatch(ids, labels=torch.zeros(3, 7, dtype=torch.long)))["loss"].backward()
    assert all(p.grad is None for p in frozen.model.bert.parameters())
    assert all(p.grad is not None for p in frozen.model.bilstm.parameters())


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_the_data_of_the_tasks(folder, tmp_path):
    train, dev = read_data("sst2", folder / "tasks", TINY)
    everything = read_data("sst2", folder / "tasks", replace(TINY, examples=30))[0].examples
    drawn = np.random.default_rng(0).permutation(30)[:24]  # always the same ones
    assert train.examples == [everything[i] for i in drawn] and len(dev.examples) == 11
    train, dev = read_data("mrpc", folder / "tasks", TINY)  # measured on its test part
    assert [len(part.examples) for part in (train, dev)] == [20, 20] and set(dev.labels) == {"0", "1"}
    train, dev = read_data("ner", folder / "tasks", TINY)
    assert dev.examples[0].words == ("Anna", "runs", "Paris") and dev.examples[0].tags == ("I-PER", "O", "I-LOC")
    assert train.labels == dev.labels == ["LOC", "PER"]
    (tmp_path / "sst2").mkdir()
    (tmp_path / "sst2" / "train.tsv").write_text("sentence\tlabel\nfine\t1\nno label\n")
    with pytest.raises(TaskDataError, match=r"train.tsv, line 3, column 2"):
        read_data("sst2", tmp_path, TINY)
    # Every scheme of tags is read as IOB2; back in IOB1 the same names stand there.
    tags = ("I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-ORG", "B-ORG", "I-ORG")
    data = TaskData([TaggedExample(tuple("abcdefgh"), to_iob2(tags))])
    (example,) = in_iob1(data).examples
    assert example.tags == tags and in_iob1(data).labels == ["LOC", "ORG", "PER"]
    assert entities(tags) == entities(to_iob2(tags))


# --- running ----------------------------------------------------------------------------------------------------------


EXPERIMENT = Experiment(
    "objectives",
    "in small",
    {
        "mlm+nsp": Arm(SMALL),
        "left-to-right": Arm(replace(SMALL, objective="left-to-right")),
        "left-to-right+bilstm": Arm(replace(SMALL, objective="left-to-right"), bilstm=True),
        "half": Arm(SMALL, at=0.5),
    },
    tasks=("sst2", "ner"),
)


def run(folder, corpus, out, seeds=1, experiment=EXPERIMENT, scale=TINY, **options):
    return list(run_experiment(experiment, corpus, folder / "tasks", out, seeds=seeds, scale=scale, **options))


def finished(events) -> list[dict]:
    return [event.record for event in events if isinstance(event, Finished)]


@pytest.fixture(scope="module")
def whole(folder, corpus, tmp_path_factory):
    """(the events of a run that was not interrupted, its results)"""
    out = tmp_path_factory.mktemp("whole") / "results.jsonl"
    return run(folder, corpus, out, command="the command"), results.read_records(out)


def test_a_run_leaves_a_line_for_each_arm(whole):
    events, records = whole
    assert [record["arm"] for record in records] == ["half", "mlm+nsp", "left-to-right", "left-to-right+bilstm"]
    assert finished(events) == records
    half, base, left_to_right, _ = records
    assert half["steps"] * 2 == base["steps"] == TINY.steps
    assert set(base["metrics"]) == {"mlm_perplexity", "sst2", "ner"}
    assert "next_token_perplexity" in left_to_right["metrics"]
    assert all(record["command"] == "the command" and record["machine"]["torch"] for record in records)
    # both left-to-right arms share one pre-training
    assert sum(isinstance(event, Stage) and event.stage == "pretrain" for event in events) == 2
    progress = [event.progress for event in events if isinstance(event, Step)]
    assert progress == sorted(progress) and 0 < progress[0] <= progress[-1] <= 1
    assert isinstance(events[-1], Done)


@pytest.mark.trains
def test_an_interrupted_experiment_resumes_where_it_stopped(whole, folder, corpus, tmp_path):
    out = tmp_path / "broken.jsonl"
    for event in run_experiment(EXPERIMENT, corpus, folder / "tasks", out, seeds=1, scale=TINY):
        if isinstance(event, Finished) and event.record["arm"] == "left-to-right":
            break
    with open(out, "a") as file:
        file.write('{"experiment": "objec')  # killed in the middle of a line
    assert [record["arm"] for record in finished(run(folder, corpus, out))] == ["left-to-right+bilstm"]
    resumed = results.read_records(out)
    assert len(resumed) == 4
    for one, other in zip(resumed, whole[1], strict=True):
        assert all(one[fact] == other[fact] for fact in ("arm", "metrics", "tokens"))
    assert not any(isinstance(event, Stage) for event in run(folder, corpus, out))
    assert [record["seed"] for record in finished(run(folder, corpus, out, seeds=2))] == [1] * 4


def test_results_count_as_done_for_their_text_and_scale(folder, corpus, tmp_path):
    """Without held-out text there is no perplexity; once there is such text, the arm is done again."""
    experiment, out = replace(EXPERIMENT, arms={"base": EXPERIMENT.base}, tasks=("sst2",)), tmp_path / "results.jsonl"
    begun = [
        len(finished(run(folder, text, out, experiment=experiment, scale=scale)))
        for text in (replace(corpus, heldout=None), corpus, replace(corpus, files=("other.txt",)))
        for scale in (TINY, replace(TINY, examples=16), TINY)
    ]
    assert begun == [1, 1, 0] * 3


def test_a_scale_that_has_gained_and_lost_fields_is_known_again():
    recorded = {"gone": 1, **as_recorded(replace(TOY_SCALE, masking_rate=Scale.masking_rate))}
    assert agrees(recorded, replace(TOY_SCALE, masking_rate=0.15)) and not agrees(recorded, TOY_SCALE)
    del recorded["masking_rate"]  # not recorded: then it had its default
    assert agrees(recorded, replace(TOY_SCALE, masking_rate=0.15)) and not agrees(recorded, TOY_SCALE)


def test_the_shipped_results_count_as_done(corpus):
    for name, experiment in EXPERIMENTS.items():
        text = toy_corpus(2) if experiment.toy else corpus
        for record in results.read_records(ROOT / "lessons" / "results" / f"{name}.jsonl"):
            arm = experiment.arms[record["arm"]]
            assert record["pretraining"] == as_recorded(arm.pretraining) and agrees(record["scale"], experiment.scale)
            kinds = {metric for metric in record["metrics"] if metric.startswith("determined.")}
            assert set(record["metrics"]) - kinds == measures(arm, experiment, text)
            assert bool(kinds) == experiment.toy and record["steps"] == experiment.scale.step_at(arm.at)


def test_a_record_without_its_end_of_line_is_kept(tmp_path):
    out = tmp_path / "results.jsonl"
    for begun, kept in (('{"a": 2}', '{"a": 2}\n'), ('{"a": ', "")):
        out.write_text('{"a": 1}\n' + begun)
        append_record(out, {"a": 3})
        assert out.read_text() == '{"a": 1}\n' + kept + '{"a": 3}\n'


def test_tokenized_text_is_found_again(folder, tmp_path):
    first, again = (prepare([folder / "text.txt"], 120, cache=tmp_path) for _ in range(2))
    assert again.tokenizer.vocab == first.tokenizer.vocab
    assert (again.store.ids == first.store.ids).all() and (again.store.documents == first.store.documents).all()
    (cached,) = tmp_path.glob("*/store.json")  # one, not one a call
    cached.write_text("broken")
    assert (prepare([folder / "text.txt"], 120, cache=tmp_path).store.ids == first.store.ids).all()


def test_a_step_tells_the_masked_loss_alone(corpus):
    """Beside what is trained on, so that runs with and without NSP can be laid over each other."""
    arms = [replace(SMALL, objective=objective) for objective in ("mlm+nsp", "mlm", "left-to-right")]
    both, alone, other = (next(pretrain(start(arm, corpus, TINY, 0), arm, corpus, TINY, 0)) for arm in arms)
    assert both.parts["mlm_loss"] == pytest.approx(alone.parts["mlm_loss"], abs=1e-4)  # the same pairs, the same masks
    assert alone.loss == alone.parts["mlm_loss"] and both.loss > both.parts["mlm_loss"] + 0.3
    assert "mlm_loss" not in other.parts


def test_arms_with_short_rows_read_as_many_tokens_a_step(corpus, monkeypatch):
    """The base keeps its batch; another format gets more rows a batch where its rows are shorter."""
    asked = []

    def fake(store, tokenizer, *, batch_size, max_length, seed, objective, input_format):
        asked.append((batch_size, input_format))
        length = max_length if input_format == "segment_pair" else max_length // 4
        while True:
            yield Batch(torch.ones(batch_size, length, dtype=torch.long))

    monkeypatch.setattr("minibert.experiments.pretraining.PretrainingBatches", fake)
    for form in ("segment_pair", "sentence_pair"):
        next(batches_of(Pretraining(input_format=form), corpus.store, corpus.tokenizer, Scale(), 0))
    assert asked == [(32, "segment_pair"), (32, "sentence_pair"), (round(32 * Scale().filled * 4), "sentence_pair")]


# --- on the toy world -------------------------------------------------------------------------------------------------

QUICK = replace(TOY_SCALE, tokens=16 * 8 * 64, batch_size=8, max_length=64, examples=16, epochs=1, heldout_tokens=300)


def test_the_toy_worlds_base_fills_as_much_of_a_row_as_its_scale_says():
    corpus = toy_corpus(600)
    batches = batches_of(EXPERIMENTS["toy-world"].base.pretraining, corpus.store, corpus.tokenizer, TOY_SCALE, 0)
    first = [next(batches) for _ in range(12)]
    sizes, tokens = [batch.ids.size(0) for batch in first], sum(batch.tokens for batch in first)
    assert sizes.count(TOY_SCALE.batch_size) >= 11  # the last of a pool may be a smaller one
    assert tokens / sum(sizes) / TOY_SCALE.max_length == pytest.approx(TOY_SCALE.filled, abs=0.03)
    assert sum(batch.num_targets for batch in first) / tokens == pytest.approx(TOY_SCALE.masking_rate, abs=0.05)


@pytest.mark.release
@pytest.mark.trains
def test_arms_on_the_toy_world_are_asked_for_determined_words(tmp_path):
    small = replace(SMALL, objective="mlm", input_format="doc_sentences")
    arms = {
        "mlm": Arm(small),
        "left-to-right": Arm(replace(small, objective="left-to-right")),
        "0/0/100": Arm(replace(small, split=(0.0, 1.0, 0.0))),
    }
    experiment = Experiment("toy-world", "in small", arms, tasks=("meant", "meant_features"), toy=True)
    corpus, out = toy_corpus(40), tmp_path / "results.jsonl"
    list(run_experiment(experiment, corpus, None, out, seeds=1, scale=QUICK))
    records = {record["arm"]: record for record in results.read_records(out)}
    for name, arm in arms.items():
        metrics = records[name]["metrics"]
        assert {metric for metric in metrics if "." not in metric} == measures(arm, experiment, corpus)
        assert ("meant_features" in metrics) == (name != "left-to-right")  # where the paper asks it
        assert 0 <= metrics["determined"] <= 1 and 0 <= metrics["determined.pronoun"] <= 1
    floor = records["mlm"]["floor"]
    assert floor["meant"] == floor["meant_features"] and 0.2 < floor["determined"] < 0.3
    assert not list(run_experiment(experiment, corpus, None, out, seeds=1, scale=QUICK))[:-1]  # it is all there


def test_questions_that_one_side_decides_are_as_many_of_each():
    corpus = toy_corpus(2)
    before, after = ([each for each in corpus.one_sided if each[2] == side] for side in ("before", "after"))
    assert len(before) == len(after) > 100 and len(corpus.one_sided) == len(before) + len(after)
    stories = world.stories(QUESTIONED, SEEDS["questions"], WORLD)
    of_ids = {tuple(corpus.tokenizer.encode(story.text).ids): story for story in stories}
    for ids, place, side in corpus.one_sided:
        decided_by = of_ids[tuple(ids)].words[place - 1].determined_by
        assert decided_by and all((at < place - 1) == (side == "before") for at in decided_by)


def test_guessing_by_frequency_is_the_entropy_of_what_is_asked():
    corpus = toy_corpus(200)
    found = perplexity_of_frequencies(corpus, replace(QUICK, heldout_tokens=25_000))
    ids = corpus.heldout.ids[corpus.heldout.ids >= 5].astype(int)
    counts = np.bincount(corpus.store.ids.astype(int), minlength=corpus.tokenizer.vocab_size) + 1.0
    everything = np.exp(-np.log(counts[ids] / counts.sum()).mean())  # of all words, of which 15 % are asked for
    assert found == pytest.approx(everything, rel=0.1)


@pytest.mark.release
@pytest.mark.trains
def test_a_run_of_ones_own_is_measured_as_a_recorded_one():
    events = list(small_run("left-to-right@0.5", scale=QUICK, stories=40))
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps[:8] == list(range(1, 9))  # half of 16, and then the steps of fine-tuning
    assert [event.stage for event in events if isinstance(event, Stage)] == ["pretrain", "meant"]
    (measured,) = (event for event in events if isinstance(event, Eval))
    assert {"determined", "meant", "next_token_perplexity"} <= set(measured.metrics) and measured.step == 8
    assert events[-1].metrics == measured.metrics and isinstance(events[-1], Done)
    progress = [event.progress for event in events if isinstance(event, Step)]
    assert progress == sorted(progress) and progress[-1] <= 1
    (settings,) = (event.settings for event in events if isinstance(event, Started))
    assert settings == {"arm": "left-to-right@0.5", "seed": 0}
    with pytest.raises(ValueError, match="no arm"):
        next(small_run("nothing"))


@pytest.fixture
def begun(monkeypatch):
    """What a run of the command line is begun with; nothing is run."""
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    asked = {}

    def run(*_, **options):
        asked.update(options)
        return iter([Done(0, 0, 0.0)])

    monkeypatch.setattr("minibert.experiments.corpus.prepare", lambda data, *_, **how: asked.update(data=data, **how))
    monkeypatch.setattr("minibert.experiments.run.run_experiment", run)
    return asked


@pytest.mark.release
def test_the_toy_world_needs_no_files_and_takes_none(begun, tmp_path, capsys):
    assert main(["experiment", "toy-world", "--tasks", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["experiment", "toy-world"]) == 0
    assert begun["scale"] == TOY_SCALE and begun["command"] == "python -m minibert experiment toy-world --seeds 3"


def test_data_lie_where_the_options_or_the_environment_say(begun, tmp_path, capsys, monkeypatch):
    for options, told in (
        ([], {"--data", "MINIBERT_DATA"}),
        (["--data", str(tmp_path)], {"--tasks", "MINIBERT_DATA"}),
        (["--heldout", str(tmp_path / "mistyped.txt")], {str(tmp_path / "mistyped.txt"), "exist"}),
    ):
        assert main(["experiment", "objectives", *options]) == 2
        assert told <= set(capsys.readouterr().err.split())
    assert not begun  # said before the vocabulary is learned
    monkeypatch.setenv("MINIBERT_DATA", str(tmp_path))
    text = tmp_path / "heldout-text" / "valid.txt"
    for heldout in (None, text):
        assert main(["experiment", "objectives"]) == 0
        assert begun["data"] == [tmp_path / "pretrain" / "en" / name for name in CORPUS]
        assert begun["heldout"] == heldout
        assert begun["command"] == "python -m minibert experiment objectives --seeds 3"
        text.parent.mkdir(exist_ok=True)
        text.touch()


def test_the_catalogue_is_sound():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.tasks) <= set(DOWNSTREAM)
        scale = experiment.scale
        for arm in experiment.arms.values():
            assert abs(sum(arm.pretraining.split) - 1) < 1e-9
            assert scale.steps * arm.at == scale.step_at(arm.at)  # the run stops there with a report
            assert scale.step_at(arm.at) % scale.report_every == 0
    split = {name: arm.pretraining.split for name, arm in EXPERIMENTS["masking"].arms.items()}
    assert split["0/20/80"] == (0.0, 0.8, 0.2)  # MASK/SAME/RND there, [MASK]/random/unchanged here
    with pytest.raises(ValueError, match="objectives"):
        experiment_named("nothing")


@pytest.mark.release
@pytest.mark.trains
def test_the_command_line(folder, tmp_path, capsys, monkeypatch):
    assert main(["experiment", "--list", "--json"]) == 0
    listed = [json.loads(line)["experiment"] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*EXPERIMENTS, *COMPARISONS, *RELATIVE_EXPERIMENTS]
    assert main(["experiment", "nonsense"]) == 2
    assert "nonsense" in (told := capsys.readouterr().err) and all(name in told for name in EXPERIMENTS)
    monkeypatch.setitem(EXPERIMENTS, "objectives", EXPERIMENT)
    out = tmp_path / "results.jsonl"
    said = (
        f"--seeds 1 --tokens 2048 --examples 8 --data {folder / 'text.txt'} --heldout {folder / 'heldout.txt'} "
        f"--tasks {folder / 'tasks'}"
    )
    options = [*said.split(), "--out", str(out), "--cache", str(tmp_path)]
    assert main(["experiment", "objectives", *options]) == 0
    records = results.read_records(out)
    assert len(records) == len(EXPERIMENT.arms)
    assert records[0]["command"] == f"python -m minibert experiment objectives {said}"
    assert main(["experiment", "objectives", *options]) == 0
    assert results.read_records(out) == records


# --- what results say -------------------------------------------------------------------------------------------------


def test_paired_difference_is_students_and_a_share_is_of_the_way_to_the_best():
    arm, base = {0: 0.80, 1: 0.83, 2: 0.79}, {0: 0.75, 1: 0.76, 2: 0.75, 5: 0.2}
    found = results.paired_difference(arm, base)
    interval = stats.ttest_rel([0.80, 0.83, 0.79], [0.75, 0.76, 0.75]).confidence_interval(0.95)
    ends = (found.mean - found.half, found.mean + found.half)
    assert found.seeds == 3 and ends == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert results.paired_difference({0: 1.0}, {0: 0.5}) == results.Difference(0.5, None, 1)
    assert results.paired_difference({0: 1.0}, {1: 0.5}) is None
    halvings = [results.share_of_way(score, 64, 4, log=True) for score in (64, 32, 16, 8, 4)]
    assert halvings == pytest.approx([0, 0.25, 0.5, 0.75, 1])  # of the way from knowing nothing to the best
    assert results.share_of_way(75, 50, 100) == 0.5 and results.share_of_way(45, 50, 100) < 0


def test_verdicts():
    up, unsure, single = (results.Difference(2.0, half, seeds) for half, seeds in ((1.0, 3), (3.0, 3), (None, 1)))
    assert (results.verdict(up, 0.7), results.verdict(up, -0.7)) == ("agrees", "disagrees")
    assert results.verdict(unsure, 0.7) == results.verdict(single, 0.7) == results.verdict(None, 0.7) == "unclear"
    assert results.verdict(up, None) == "not in the paper"
    assert results.verdict(up, 0.0) == results.verdict(unsure, 0) == "no difference in the paper"
    for doubt in ("too little learned", "nothing left to gain", "another task"):
        assert results.verdict(up, 0.7, doubt) == results.verdict(unsure, -0.7, doubt) == doubt
        assert results.verdict(up, None, doubt) == "not in the paper"
        assert results.verdict(up, 0.0, doubt) == "no difference in the paper"


def test_a_claim_that_little_is_lost_holds_if_the_whole_interval_says_so():
    for mean, half, said in ((-1, 0.5, "agrees"), (-3, 0.5, "disagrees"), (-1, 1.5, "unclear"), (-1, None, "unclear")):
        assert results.verdict(results.Difference(mean, half, 3), 1, margin=2.0) == said
        lower_is_better = None if mean is None else results.Difference(-mean, half, 3)
        assert results.verdict(lower_is_better, -1, margin=2.0) == said


def test_what_no_seed_changes_and_what_a_control_gains_too_is_no_agreement():
    still = results.paired_difference({0: 0.7, 1: 0.7, 2: 0.7}, {0: 0.6, 1: 0.6, 2: 0.6})
    assert results.verdict(still, 1) == "same in every seed" and still.half == pytest.approx(0, abs=1e-12)
    arm, base = {0: 0.72, 1: 0.70, 2: 0.71}, {0: 0.6, 1: 0.6, 2: 0.6}
    ours = results.paired_difference(arm, base)
    assert results.verdict(ours, 1) == "agrees"  # one of the two varies
    for control, said in ((arm, "not for this reason"), (base, "agrees")):
        assert results.verdict(ours, 1, control=results.paired_difference(arm, control)) == said
    assert results.verdict(ours, -1, control=results.paired_difference(arm, arm)) == "disagrees"


def test_under_the_floor_and_at_the_ceiling_nothing_can_be_tested():
    doubts = {
        (60, 20, 50, 100): "too little learned",  # a fifth of the way
        (70, 20, 50, 100): None,
        (49, 20, 50, None): "too little learned",
        (51, 20, 50, None): None,
        (95, 91, 50, 100): "nothing left to gain",
        (95, 89, 50, 100): None,
    }
    assert {scores: results.doubt_about(*scores) for scores in doubts} == doubts
    assert results.doubt_about(50, 60, 64, 1, log=True) == "too little learned"
    assert results.doubt_about(4, 6, 64, 1, log=True) is None


def test_a_results_file_that_is_none_is_named(tmp_path):
    assert results.read_records(tmp_path / "nothing.jsonl") == []
    bad, no_records = tmp_path / "bad.jsonl", (b"nonsense\n\n", b"[" * 100_000 + b"\n", b'["arm"]\n', b"5\n")
    whys = {b'{"arm": 1}\n': "line 1: the record lacks", b"\xff\n": "not UTF-8"}
    for content, why in (whys | dict.fromkeys(no_records, "line 1: not a record")).items():
        bad.write_bytes(content)
        with pytest.raises(results.ResultsError, match=why) as told:
            results.read_records(bad, {"arm", "seed"})
        assert len(str(told.value)) < 300
