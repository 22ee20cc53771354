"""The paper's ablations in small: what the arms are, how they run and resume, and what their results say."""

import json
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
    Arm,
    Experiment,
    Pretraining,
    Scale,
    experiment_named,
)
from minibert.experiments.comparisons import COMPARISONS
from minibert.experiments.events import Finished, Stage
from minibert.experiments.finetuning import TOY_DEV, finetuning_settings
from minibert.experiments.pretraining import batches_of, objective_of, pretrain, start
from minibert.experiments.records import agrees, append_record, as_recorded
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.run import measures, run_experiment, tasks_of
from minibert.experiments.toy_corpus import QUESTIONED, SEEDS, WORLD, perplexity_of_frequencies, toy_corpus
from minibert.experiments.toy_run import small_run
from minibert.finetune.learner import Learner
from minibert.folders import ROOT
from minibert.heads import TaskBatch
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, NextToken, next_tokens
from minibert.relatives import build
from minibert.relatives.left_to_right import LeftToRightConfig
from minibert.tasks import task_named
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.train import Done, Eval, Started, Step

QUICK = Scale(tokens=16 * 8 * 64, batch_size=8, max_length=64, examples=16, epochs=1, heldout_tokens=300)
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
def corpus():
    return toy_corpus(40)


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


def learner(name: str, config: BertConfig, **arm) -> Learner:
    """What is fine-tuned on a task, as the arm's settings have it."""
    task, settings = task_named("span"), finetuning_settings(Arm(**arm), name, QUICK, 0)
    return Learner.of(build(config, BertForPreTraining), task, [], settings.options(), TOKENIZER, settings)


@torch.no_grad()
def test_fine_tuned_left_to_right_never_looks_right_and_a_bilstm_reads_no_padding():
    torch.manual_seed(0)
    ids = torch.randint(5, 50, (1, 12))
    changed = ids.clone()
    changed[0, 7:] = torch.randint(5, 50, (5,))
    for config, blind in ((LEFT_TO_RIGHT, True), (CONFIG, False)):
        model = learner("meant", config).eval().model
        assert blind == torch.equal(model(TaskBatch(ids)).logits[:, :7], model(TaskBatch(changed)).logits[:, :7])
    model = learner("meant", LEFT_TO_RIGHT, bilstm=True).eval().model
    padded = TaskBatch(F.pad(ids, (0, 4)), padding=torch.arange(16)[None] < 12)
    torch.testing.assert_close(model(TaskBatch(ids)).logits, model(padded).logits[:, :12])


def test_an_arm_says_what_is_asked_and_over_frozen_features_a_bilstm_learns():
    split = (0.0, 0.8, 0.2)
    assert objective_of(Pretraining(split=split)) == MaskedLanguageModel(Masking(split=split))
    assert objective_of(Pretraining(objective="mlm")) == MaskedLanguageModel(second=None)
    assert objective_of(Pretraining(objective="left-to-right")) == NextToken()
    frozen = learner("meant_features", CONFIG)
    ids = torch.randint(5, 50, (3, 7))
    frozen(TaskBatch(ids, labels=torch.ones(3, 2, dtype=torch.long)))["loss"].backward()
    assert all(p.grad is None for p in frozen.model.bert.parameters())
    assert all(p.grad is not None for p in frozen.model.bilstm.parameters())


# --- running ----------------------------------------------------------------------------------------------------------


SMALL_STORIES = replace(SMALL, objective="mlm", input_format="doc_sentences")
SMALL_LTR = replace(SMALL_STORIES, objective="left-to-right")
EXPERIMENT = Experiment(
    "toy-world",
    "in small",
    {
        "mlm": Arm(SMALL_STORIES),
        "left-to-right": Arm(SMALL_LTR),
        "left-to-right+bilstm": Arm(SMALL_LTR, bilstm=True),
        "half": Arm(SMALL_STORIES, at=0.5),
    },
    tasks=("meant",),
    scale=QUICK,
)


def run(corpus, out, seeds=1, experiment=EXPERIMENT, scale=QUICK, **options):
    return list(run_experiment(experiment, corpus, out, seeds=seeds, scale=scale, **options))


def finished(events) -> list[dict]:
    return [event.record for event in events if isinstance(event, Finished)]


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    """(the events of a run that was not interrupted, its results)"""
    out = tmp_path_factory.mktemp("whole") / "results.jsonl"
    return run(corpus, out, command="the command"), results.read_records(out)


@pytest.mark.trains
def test_a_run_leaves_a_line_for_each_arm(whole, corpus):
    events, records = whole
    assert [record["arm"] for record in records] == ["half", "mlm", "left-to-right", "left-to-right+bilstm"]
    assert finished(events) == records
    half, base, left_to_right, _ = records
    assert half["steps"] * 2 == base["steps"] == QUICK.steps
    for record in records:
        metrics = record["metrics"]
        assert {metric for metric in metrics if "." not in metric} == measures(
            EXPERIMENT.arms[record["arm"]], EXPERIMENT
        )
        assert 0 <= metrics["determined"] <= 1 and 0 <= metrics["determined.pronoun"] <= 1
    assert "mlm_perplexity" in base["metrics"] and "next_token_perplexity" in left_to_right["metrics"]
    assert 0.2 < base["floor"]["determined"] < 0.3 and base["floor"]["meant"] == base["floor"]["meant_features"]
    assert (base["examples"], base["measured_on"]) == ({"meant": 16}, {"meant": TOY_DEV})
    assert all(record["command"] == "the command" and record["machine"]["torch"] for record in records)
    # both left-to-right arms share one pre-training
    assert sum(isinstance(event, Stage) and event.stage == "pretrain" for event in events) == 2
    progress = [event.progress for event in events if isinstance(event, Step)]
    assert progress == sorted(progress) and 0 < progress[0] <= progress[-1] <= 1
    assert isinstance(events[-1], Done)


def test_frozen_features_are_asked_of_the_masking_splits_alone():
    of = {name: tasks_of(arm, EXPERIMENTS["toy-world"]) for name, arm in EXPERIMENTS["toy-world"].arms.items()}
    assert {name for name, tasks in of.items() if "meant_features" in tasks} == {"mlm", "100/0/0", "0/0/100"}
    learned = EXPERIMENTS["which-side"]
    assert {name for name, arm in learned.arms.items() if not tasks_of(arm, learned)} == {
        name for name, arm in learned.arms.items() if arm.at < 1
    }


@pytest.mark.trains
def test_an_interrupted_experiment_resumes_where_it_stopped(whole, corpus, tmp_path):
    out = tmp_path / "broken.jsonl"
    for event in run_experiment(EXPERIMENT, corpus, out, seeds=1, scale=QUICK):
        if isinstance(event, Finished) and event.record["arm"] == "left-to-right":
            break
    with open(out, "a") as file:
        file.write('{"experiment": "objec')  # killed in the middle of a line
    assert [record["arm"] for record in finished(run(corpus, out))] == ["left-to-right+bilstm"]
    resumed = results.read_records(out)
    assert len(resumed) == 4
    for one, other in zip(resumed, whole[1], strict=True):
        assert all(one[fact] == other[fact] for fact in ("arm", "metrics", "tokens"))
    assert not any(isinstance(event, Stage) for event in run(corpus, out))


@pytest.mark.trains
def test_results_count_as_done_for_their_text_and_scale(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("minibert.experiments.run.without_reading", lambda *_: {})
    experiment, out = replace(EXPERIMENT, arms={"base": EXPERIMENT.base}, tasks=()), tmp_path / "results.jsonl"
    begun = [
        len(finished(run(text, out, experiment=experiment, scale=scale)))
        for text in (corpus, replace(corpus, files=("other.txt",)))
        for scale in (QUICK, replace(QUICK, heldout_tokens=200), QUICK)
    ]
    assert begun == [1, 1, 0] * 2
    assert [record["seed"] for record in finished(run(corpus, out, experiment=experiment, seeds=2))] == [1]
    asked_more = replace(experiment, tasks=("meant",))
    assert len(finished(run(corpus, out, experiment=asked_more))) == 1  # a metric is missing


def test_a_scale_that_has_gained_and_lost_fields_is_known_again():
    other = Scale(masking_rate=0.15)
    recorded = {"gone": 1, **as_recorded(other)}
    assert agrees(recorded, other) and not agrees(recorded, Scale())
    del recorded["masking_rate"]  # not recorded: then it had its default
    assert agrees(recorded, Scale()) and not agrees(recorded, other)


def test_the_shipped_results_count_as_done():
    for name, experiment in EXPERIMENTS.items():
        for record in results.read_records(ROOT / "lessons" / "results" / f"{name}.jsonl"):
            arm = experiment.arms[record["arm"]]
            assert record["pretraining"] == as_recorded(arm.pretraining) and agrees(record["scale"], experiment.scale)
            kinds = {metric for metric in record["metrics"] if metric.startswith("determined.")}
            assert kinds and set(record["metrics"]) - kinds == measures(arm, experiment)
            assert record["steps"] == experiment.scale.step_at(arm.at)


def test_a_record_without_its_end_of_line_is_kept(tmp_path):
    out = tmp_path / "results.jsonl"
    for begun, kept in (('{"a": 2}', '{"a": 2}\n'), ('{"a": ', "")):
        out.write_text('{"a": 1}\n' + begun)
        append_record(out, {"a": 3})
        assert out.read_text() == '{"a": 1}\n' + kept + '{"a": 3}\n'


def test_a_step_tells_the_masked_loss_alone(corpus):
    """Beside what is trained on, so that runs with and without NSP can be laid over each other."""
    arms = [replace(SMALL, objective=objective) for objective in ("mlm+nsp", "mlm", "left-to-right")]
    both, alone, other = (next(pretrain(start(arm, corpus, QUICK, 0), arm, corpus, QUICK, 0)) for arm in arms)
    assert both.parts["mlm_loss"] == pytest.approx(alone.parts["mlm_loss"], abs=1e-4)  # the same pairs, the same masks
    assert alone.loss == alone.parts["mlm_loss"] and both.loss > both.parts["mlm_loss"] + 0.3
    assert "mlm_loss" not in other.parts


def test_arms_with_short_rows_read_as_many_tokens_a_step(corpus, monkeypatch):
    """The base keeps its batch; another format gets more rows a batch where its rows are shorter."""
    asked = []

    def fake(store, tokenizer, *, batch_size, max_length, seed, objective, input_format):
        asked.append((batch_size, input_format))
        length = max_length if input_format == "doc_sentences" else max_length // 4
        while True:
            yield Batch(torch.ones(batch_size, length, dtype=torch.long))

    monkeypatch.setattr("minibert.experiments.pretraining.PretrainingBatches", fake)
    rows, filled = Scale.batch_size, Scale.filled
    for form in ("doc_sentences", "segment_pair"):
        next(batches_of(Pretraining(input_format=form), corpus.store, corpus.tokenizer, Scale(), 0))
    assert asked == [(rows, "doc_sentences"), (rows, "segment_pair"), (round(rows * filled * 4), "segment_pair")]


# --- the toy world ----------------------------------------------------------------------------------------------------


def test_the_toy_worlds_base_fills_as_much_of_a_row_as_its_scale_says():
    corpus = toy_corpus(600)
    batches = batches_of(EXPERIMENTS["toy-world"].base.pretraining, corpus.store, corpus.tokenizer, Scale(), 0)
    first = [next(batches) for _ in range(12)]
    sizes, tokens = [batch.ids.size(0) for batch in first], sum(batch.tokens for batch in first)
    assert sizes.count(Scale().batch_size) >= 11  # the last of a pool may be a smaller one
    assert tokens / sum(sizes) / Scale().max_length == pytest.approx(Scale().filled, abs=0.03)
    assert sum(batch.num_targets for batch in first) / tokens == pytest.approx(Scale().masking_rate, abs=0.05)


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


def test_an_experiment_refuses_options_that_it_does_not_read(monkeypatch, tmp_path, capsys):
    asked = {}

    def begin(*_, **options):
        asked.update(options)
        return iter([Done(0, 0, 0.0)])

    monkeypatch.setattr("minibert.experiments.run.run_experiment", begin)
    for ignored in (
        "toy-world --arms mlm",
        f"toy-world --tasks {tmp_path}",
        "electra --tokens 9",
        "features --arms last",
    ):
        assert main(["experiment", *ignored.split()]) == 2
        said = capsys.readouterr().err
        assert f"does not read {ignored.split()[1]}" in said and said.count("\n") == 1 and not asked
    assert main(["experiment", "toy-world"]) == 0
    assert asked["scale"] == Scale() and asked["command"] == "python -m minibert experiment toy-world --seeds 3"


def test_the_catalogue_is_sound():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.tasks) <= set(DOWNSTREAM)
        scale = experiment.scale
        for arm in experiment.arms.values():
            assert abs(sum(arm.pretraining.split) - 1) < 1e-9
            assert scale.steps * arm.at == scale.step_at(arm.at)  # the run stops there with a report
            assert scale.step_at(arm.at) % scale.report_every == 0
    split = {name: arm.pretraining.split for name, arm in EXPERIMENTS["toy-world"].arms.items()}
    assert split["0/0/100"] == (0.0, 1.0, 0.0)  # MASK/SAME/RND there, [MASK]/random/unchanged here
    with pytest.raises(ValueError, match="toy-world"):
        experiment_named("nothing")


@pytest.mark.release
@pytest.mark.trains
def test_the_command_line(corpus, tmp_path, capsys, monkeypatch):
    assert main(["experiment", "--list", "--json"]) == 0
    listed = [json.loads(line)["experiment"] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*EXPERIMENTS, *COMPARISONS, *RELATIVE_EXPERIMENTS]
    assert main(["experiment", "nonsense"]) == 2
    assert "nonsense" in (told := capsys.readouterr().err) and all(name in told for name in EXPERIMENTS)
    monkeypatch.setitem(EXPERIMENTS, "toy-world", EXPERIMENT)
    monkeypatch.setattr("minibert.experiments.toy_corpus.toy_corpus", lambda: corpus)
    out, said = tmp_path / "results.jsonl", "--seeds 1 --tokens 2048 --examples 8"
    assert main(["experiment", "toy-world", *said.split(), "--out", str(out)]) == 0
    records = results.read_records(out)
    assert len(records) == len(EXPERIMENT.arms)
    assert records[0]["command"] == f"python -m minibert experiment toy-world {said}"
    assert main(["experiment", "toy-world", *said.split(), "--out", str(out)]) == 0
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
    for doubt in ("too little learned", "nothing left to gain"):
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
