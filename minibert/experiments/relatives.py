"""Claims of BERT's relatives at small scale: arms are pre-trained on the same stories of the toy world and then
fine-tuned to resolve pronouns, or evaluated as they are; a line of results per arm and seed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert.experiments.events import Finished, Stage, steps_of, within
from minibert.experiments.pronouns import settings_of, who_is_meant_by
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import (
    REQUIRED,
    BatchScale,
    ChineseCorrectingScale,
    ConeScale,
    ContinualScale,
    CorrectingScale,
    DialogueScale,
    DistillationScale,
    EntitiesScale,
    FewLabelsScale,
    LengthScale,
    MemoryScale,
    NamesScale,
    PruningScale,
    RelativeExperiment,
    RelativeScale,
    RolesScale,
    SearchScale,
    SimBertScale,
    VectorScale,
    WritingScale,
)
from minibert.experiments.results import read_records
from minibert.text.json_values import json_value
from minibert.train import Done, Event, Step

SPANS = ("determined", "span", "span_whole", "span_boundary", "corrected")
JUDGED = 300  # held-out stories whose pairs are judged


def run_relative(
    experiment: RelativeExperiment,
    out: str | Path,
    *,
    seeds: int = 3,
    scale: RelativeScale | None = None,
    command: str = "",
    tasks: Path | None = None,
) -> Iterator[Event]:
    """Run every arm with seeds 0 … seeds − 1, seed by seed, except what `out` already holds at this scale. tasks: the
    folder that holds what the scale `needs`. Yields Stage, Step, Finished, Done."""
    from minibert.checkpoint import config_values
    from minibert.experiments.batches import run_batches
    from minibert.experiments.cone import run_cone
    from minibert.experiments.continual import run_continual
    from minibert.experiments.dialogue import run_dialogue
    from minibert.experiments.few_labels import run_few_labels
    from minibert.experiments.find_and_write import run_simbert
    from minibert.experiments.memory import run_memory
    from minibert.experiments.names import run_names
    from minibert.experiments.pruning import run_pruning
    from minibert.experiments.search import run_search
    from minibert.experiments.smaller import run_smaller
    from minibert.experiments.told import run_entities, run_roles
    from minibert.experiments.vectors import run_vectors
    from minibert.experiments.writing import run_chinese_corrector, run_corrector, written
    from minibert.toy.pretrain import pretrain_toy
    from minibert.train import Eval, Started
    from minibert.training import machine

    scale = scale or experiment.scale
    for kind, run in (
        (ConeScale, run_cone),
        (VectorScale, run_vectors),
        (SimBertScale, run_simbert),
        (ChineseCorrectingScale, run_chinese_corrector),
        (DistillationScale, run_smaller),
        (SearchScale, run_search),  # before its base class
        (PruningScale, run_pruning),
        (FewLabelsScale, run_few_labels),
        (DialogueScale, run_dialogue),
    ):
        if isinstance(scale, kind):
            yield from run(experiment, out, seeds=seeds, scale=scale, command=command, tasks=tasks)
            return
    for kind, run in (
        (CorrectingScale, run_corrector),
        (ContinualScale, run_continual),
        (BatchScale, run_batches),
        (MemoryScale, run_memory),
        (NamesScale, run_names),
        (RolesScale, run_roles),
        (EntitiesScale, run_entities),
    ):
        if isinstance(scale, kind):
            yield from run(experiment, out, seeds=seeds, scale=scale, command=command)
            return
    done = {
        (record["arm"], record["seed"])
        for record in read_records(out, REQUIRED)
        if record["scale"] == json_value(json.dumps(asdict(scale)))  # JSON turns tuples into lists
    }
    todo = [(seed, name) for seed in range(seeds) for name in experiment.arms if (name, seed) not in done]
    lengths = scale.lengths if isinstance(scale, LengthScale) else ()
    begun, steps, tokens = time.perf_counter(), 0, 0
    for number, (seed, name) in enumerate(todo):
        low, middle, high = ((number + share) / len(todo) for share in (0, 0.8, 1))
        arm, before = experiment.arms[name], time.process_time()
        settings = settings_of(arm, scale, seed, experiment.pairs)
        with TemporaryDirectory() as folder:
            seen: list[Event] = []
            yield Stage(name, seed, "pretrain", low)
            model = Path(folder) / "model"
            more = {"lengths": lengths, "spans": experiment.spans}
            events = kept(pretrain_toy(settings, model, stories=scale.stories, seed=seed, **more), seen)
            pretrained = yield from within(steps_of(events), low, middle)
            seconds = time.process_time() - before
            measured = [event.metrics for event in seen if isinstance(event, Eval)][-1]
            if experiment.measured:
                module, _, function = experiment.measured.partition(":")
                metrics = getattr(import_module(module), function)(model, scale) | {"chosen": measured["chosen"]}
            elif lengths:
                metrics = {name: measured[name] for name in (f"right_{length}" for length in lengths)}
            elif isinstance(scale, WritingScale):
                yield Stage(name, seed, "writing", middle)
                metrics = yield from within(written(model, settings, scale), middle, high)
                metrics["determined"] = measured["determined"]
            else:
                yield Stage(name, seed, "who-is-meant", middle)
                tuned = yield from within(who_is_meant_by(model, settings, scale), middle, high)
                metrics = {"who_is_meant": tuned.metrics["f1"]}
                reads_mask = arm.options.get("variant", "electra") not in ("replace_mlm", "all_tokens_mlm")
                metrics |= {"chosen": measured["chosen"]} if reads_mask else {}
            if experiment.spans:
                metrics |= {name: measured[name] for name in SPANS if name in measured}
            if experiment.pairs:
                metrics |= about_pairs(model, scale)
            kind = config_values(model)["architectures"][0]
        facts = next(event.details for event in seen if isinstance(event, Started))
        record = {
            "experiment": experiment.name,
            "arm": name,
            "seed": seed,
            "metrics": metrics,
            "pretraining": {
                "relative": arm.relative,
                "options": dict(arm.options),
                "sizes": dict(arm.sizes),
                "start": arm.start,
            },
            "scale": asdict(scale),
            "steps": pretrained.step,
            "tokens": pretrained.tokens,
            "parameters": facts["parameters"],
            "kept": kind,
            "curve": [[e.tokens, round(e.seconds, 1), e.parts] for e in seen if isinstance(e, Step)],
            "seconds": round(seconds, 1),  # CPU time of pre-training, so that other processes do not count
            "finetuning_seconds": round(time.process_time() - before - seconds, 1),
            "data": facts["data"],
            "command": command,
            "machine": machine.description(),
        }
        append_record(out, record)
        yield Finished(record, high)
        steps, tokens = steps + pretrained.step, tokens + pretrained.tokens
    yield Done(steps, tokens, time.perf_counter() - begun)


def about_pairs(folder: Path, scale: RelativeScale) -> dict[str, float]:
    """The model's results on next-sentence and order questions, and the CPU milliseconds it takes to read a story."""
    from minibert import checkpoint
    from minibert.inside.pair_questions import judged
    from minibert.inside.vectors import sentence_vectors
    from minibert.toy import world

    model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
    told = world.stories(JUDGED, 3_000_017, "small")
    answers = judged(model, tokenizer, [[sentence.text for sentence in story.sentences] for story in told])
    texts, before = [story.text for story in told], time.process_time()
    sentence_vectors(model, tokenizer, texts, ["cls"])
    return {**answers, "milliseconds": 1_000 * (time.process_time() - before) / len(texts)}


def kept(events: Iterator[Event], seen: list[Event]) -> Iterator[Event]:
    """Pass the events on and append each to `seen`."""
    for event in events:
        seen.append(event)
        yield event
