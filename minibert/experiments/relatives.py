"""What a relative's paper claims, in small: its arms pre-trained on the same stories of the toy world, and each then
fine-tuned to say whom the pronouns mean; a line of results an arm and seed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert.experiments.events import Finished, Stage, steps_of, within
from minibert.experiments.records import append_record
from minibert.experiments.relative_catalogue import REQUIRED, RelativeArm, RelativeExperiment, RelativeScale
from minibert.experiments.results import read_records
from minibert.train import Done, Event, Optimization, Step

JUDGED = 300  # stories, never trained on, whose pairs are judged


def settings_of(arm: RelativeArm, scale: RelativeScale, seed: int, pairs: bool = False):
    """The page's toy run, with as much hidden as in the papers and for a number of steps; of pairs, if rows are."""
    from minibert.objectives import Masking
    from minibert.toy.pretrain import PAIRS, TOY

    return replace(
        TOY,
        relative=arm.relative,
        objective_options=dict(arm.options),
        sizes=dict(arm.sizes),
        minutes=None,
        steps=scale.steps,
        batch_size=scale.batch_size,
        masking=Masking(rate=scale.masked),
        optimization=replace(TOY.optimization, learning_rate=scale.learning_rate),
        seed=seed,
        report_every=20,
        measure_every=scale.steps,
        snapshots=(),
        **(PAIRS if pairs else {}),
    )


def run_relative(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int = 3, scale: RelativeScale | None = None, command=""
) -> Iterator[Event]:
    """Every arm with seeds 0 … seeds − 1, seed by seed; what `out` holds already at this scale is not done again.
    Yields Stage, Step, Finished, Done."""
    from minibert.checkpoint import config_values
    from minibert.finetune.run import finetune
    from minibert.finetune.settings import FinetuneSettings
    from minibert.toy.pretrain import pretrain_toy
    from minibert.toy.pronoun_task import who_is_meant
    from minibert.train import Eval, Started
    from minibert.training import machine

    scale = scale or experiment.scale
    done = {
        (record["arm"], record["seed"]) for record in read_records(out, REQUIRED) if record["scale"] == asdict(scale)
    }
    todo = [(seed, name) for seed in range(seeds) for name in experiment.arms if (name, seed) not in done]
    train, test = who_is_meant(scale.train, 11), who_is_meant(scale.test, 12)
    begun, steps, tokens = time.perf_counter(), 0, 0
    for number, (seed, name) in enumerate(todo):
        low, middle, high = ((number + share) / len(todo) for share in (0, 0.8, 1))
        arm, before = experiment.arms[name], time.process_time()
        settings = settings_of(arm, scale, seed, experiment.pairs)
        with TemporaryDirectory() as folder:
            seen: list[Event] = []
            yield Stage(name, seed, "pretrain", low)
            events = kept(pretrain_toy(settings, Path(folder) / "model", stories=scale.stories, seed=seed), seen)
            pretrained = yield from within(steps_of(events), low, middle)
            seconds = time.process_time() - before
            yield Stage(name, seed, "who-is-meant", middle)
            tuning = FinetuneSettings(
                epochs=scale.epochs, batch_size=16, max_length=settings.max_length, seed=seed, evaluations_per_epoch=1,
                optimization=Optimization(learning_rate=scale.finetune_rate),
            )  # fmt: skip
            tuned = yield from within(
                steps_of(finetune(Path(folder) / "model", "tagging", train, test, tuning)), middle, high
            )
            kind = config_values(Path(folder) / "model")["architectures"][0]
            asked = about_pairs(Path(folder) / "model", scale) if experiment.pairs else {}
        measured = [event.metrics for event in seen if isinstance(event, Eval)][-1]
        reads_mask = arm.options.get("variant", "electra") not in ("replace_mlm", "all_tokens_mlm")  # or none at all
        chosen = {"chosen": measured["chosen"]} if reads_mask else {}
        facts = next(event.details for event in seen if isinstance(event, Started))
        record = {
            "experiment": experiment.name,
            "arm": name,
            "seed": seed,
            "metrics": {"who_is_meant": tuned.metrics["f1"], **chosen, **asked},
            "pretraining": {"relative": arm.relative, "options": dict(arm.options), "sizes": dict(arm.sizes)},
            "scale": asdict(scale),
            "steps": pretrained.step,
            "tokens": pretrained.tokens,
            "parameters": facts["parameters"],
            "kept": kind,
            "curve": [[e.tokens, round(e.seconds, 1), e.parts] for e in seen if isinstance(e, Step)],
            "seconds": round(seconds, 1),  # of processors, in pre-training: other work here does not count
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
    """Both questions about pairs, put to the model, and the processor milliseconds that it needs to read a story."""
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
    """The same events, which `seen` then holds."""
    for event in events:
        seen.append(event)
        yield event
