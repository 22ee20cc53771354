"""Claims of PET, P-tuning and VAT at small scale: few labels, a head or a cloze, English and Chinese reviews."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert import checkpoint
from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import FewLabelsScale, RelativeExperiment
from minibert.few_labels.unlabelled import Unlabelled
from minibert.few_labels.zero_shot import asked
from minibert.finetune.evaluation import evaluate
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import ROOT
from minibert.tasks import TASKS, TaskData
from minibert.tasks.sampling import spread
from minibert.train import Done, Eval, Event, Optimization, Started, Step

FOLDERS = {"en": "en/sst2", "zh": "zh/chnsenticorp"}
PATTERNS = {"en": "{text} It was [MASK].", "zh": "{text}我[MASK]喜欢。"}
PROMPTED = {
    "en": "{text} [unused1] [unused2] [unused3] [unused4] [MASK] .",
    "zh": "{text}[unused1][unused2][unused3][unused4][MASK]。",
}
WORDS = {
    "en": {"0": ["bad", "terrible", "boring"], "1": ["good", "great", "wonderful"]},
    "zh": {"0": ["不"], "1": ["很"]},
}


def few(data: TaskData, count: int, seed: int) -> TaskData:
    """`count` examples, balanced over the labels; each seed draws others, the same for all arms."""
    order = list(range(len(data.examples)))
    random.Random(f"few {seed}").shuffle(order)
    chosen: list[int] = []
    for number, label in enumerate(data.labels):
        wanted = count // len(data.labels) + (number < count % len(data.labels))
        chosen += [i for i in order if data.examples[i].label == label][:wanted]
    return data.take(sorted(chosen))


def settings_of(options: dict, language: str, scale: FewLabelsScale, count: int, seed: int) -> FinetuneSettings:
    """An arm's options as settings: `steps` become epochs of `count` examples."""
    values = {name: value for name, value in options.items() if name not in ("task", "steps", "rate")}
    if options["task"] == "cloze":
        values["words"] = WORDS[language]
        values["pattern"] = (PROMPTED if "prompt" in values else PATTERNS)[language]
    batches = -(-count // scale.batch_size)
    return FinetuneSettings(
        **values, epochs=max(1, round(options["steps"] / batches)), batch_size=scale.batch_size, seed=seed,
        optimization=Optimization(learning_rate=options["rate"]), max_length=scale.max_length, dev_sample=16,
        evaluations_per_epoch=1,
    )  # fmt: skip


def run_few_labels(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: FewLabelsScale, command: str, tasks: Path
) -> Iterator[Event]:
    """Like `relatives.run_relative`. tasks: the folder that holds en/sst2 and zh/chnsenticorp."""
    read = {
        language: [TASKS["classification"].read(tasks / folder / f"{part}.tsv") for part in ("train", "dev")]
        for language, folder in FOLDERS.items()
    }

    def events(name: str, seed: int) -> Iterator[Event]:
        language = "zh" if name.startswith("zh") else "en"
        options, (train, dev) = dict(experiment.arms[name].options), read[language]
        start = ROOT / (scale.begins_with_zh if language == "zh" else scale.begins_with)
        dev = dev.take(spread(len(dev.examples), scale.measured))
        if "task" not in options:
            model = checkpoint.load(start)
            pattern, words = PATTERNS[language], WORDS[language]
            found = asked(model, checkpoint.load_tokenizer(start), pattern, words, max_length=scale.max_length)
            yield Started({}, {"parameters": sum(weight.numel() for weight in model.bert.parameters())})
            yield Eval(0, {"accuracy": evaluate(found, dev).metrics["accuracy"]})
            return
        metrics, steps, tokens, seconds = {}, 0, 0, 0.0
        beside = None
        if options.get("vat_weight"):
            texts = train.take(spread(len(train.examples), scale.unlabelled)).examples
            beside = Unlabelled([replace(one, label=None) for one in texts])
        for place, count in enumerate(scale.labels):
            settings = settings_of(options, language, scale, count, seed)
            for event in finetune(start, options["task"], few(train, count, seed), dev, settings, unlabelled=beside):
                if isinstance(event, Started) and not place:
                    yield replace(event, details={**event.details, "parameters": parameters(start)})
                elif isinstance(event, Step):
                    share = (place + event.progress) / len(scale.labels)
                    yield replace(event, step=steps + event.step, progress=share)
                elif isinstance(event, Done):
                    metrics[f"accuracy_{count}"] = event.metrics["accuracy"]
                    steps, tokens, seconds = steps + event.step, tokens + event.tokens, seconds + event.seconds
        middle = scale.labels[len(scale.labels) // 2]
        yield Eval(steps, {"accuracy": metrics[f"accuracy_{middle}"], **metrics})
        yield Done(steps, tokens, seconds)

    def facts(name: str, seen: list[Event]) -> dict:
        language = "zh" if name.startswith("zh") else "en"
        begins = scale.begins_with_zh if language == "zh" else scale.begins_with
        return {
            "pretraining": {"begins_with": begins, **experiment.arms[name].options},
            "curve": [],
            "data": [f"{FOLDERS[language]}/{part}.tsv" for part in ("train", "dev")],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="few labels", events=events, facts=facts
    )


def parameters(start: Path) -> int:
    """Number of parameters of the encoder in `start`."""
    return sum(weight.numel() for weight in checkpoint.load(start).bert.parameters())
