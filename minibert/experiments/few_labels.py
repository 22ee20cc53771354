"""Claims of PET, P-tuning and VAT at small scale: few labels, a head or a cloze, English and Chinese reviews."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

from minibert import checkpoint
from minibert.experiments.events import in_succession
from minibert.experiments.relative_catalogue import FewLabelsScale, RelativeExperiment
from minibert.experiments.runner import Run
from minibert.few_labels.zero_shot import zero_shot_predictor
from minibert.finetune.evaluation import evaluate
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.unlabelled import Unlabelled
from minibert.folders import ROOT
from minibert.tasks import TASKS, TaskData
from minibert.tasks.sampling import spread
from minibert.train import Eval, Event, Optimization

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
        **values,
        epochs=max(1, round(options["steps"] / batches)),
        batch_size=scale.batch_size,
        seed=seed,
        optimization=Optimization(learning_rate=options["rate"]),
        max_length=scale.max_length,
        dev_sample=16,
        evaluations_per_epoch=1,
    )


def few_labels(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds en/sst2 and zh/chnsenticorp."""
    scale = experiment.scale
    read = {
        language: [TASKS["classification"].read(tasks / folder / f"{part}.tsv") for part in ("train", "dev")]
        for language, folder in FOLDERS.items()
    }

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        language = "zh" if name.startswith("zh") else "en"
        options, (train, dev) = experiment.arms[name], read[language]
        begins = scale.begins_with_zh if language == "zh" else scale.begins_with
        dev = dev.take(spread(len(dev.examples), scale.measured))
        model = checkpoint.load(ROOT / begins)
        if "task" in options:
            beside = None
            if options.get("vat_weight"):
                texts = train.take(spread(len(train.examples), scale.unlabelled)).examples
                beside = Unlabelled([replace(one, label=None) for one in texts])
            found = yield from in_succession(
                {
                    count: finetune(
                        ROOT / begins,
                        options["task"],
                        few(train, count, seed),
                        dev,
                        settings_of(options, language, scale, count, seed),
                        unlabelled=beside,
                    )
                    for count in scale.labels
                }
            )
            metrics = {f"accuracy_{count}": last["accuracy"] for count, last in found.items()}
            middle = scale.labels[len(scale.labels) // 2]
            yield Eval(0, {"accuracy": metrics[f"accuracy_{middle}"], **metrics})
        else:
            tokenizer, pattern, words = checkpoint.load_tokenizer(ROOT / begins), PATTERNS[language], WORDS[language]
            predictor = zero_shot_predictor(model, tokenizer, pattern, words, max_length=scale.max_length)
            yield Eval(0, {"accuracy": evaluate(predictor, dev).metrics["accuracy"]})
        return {
            "pretraining": {"begins_with": begins, **options},
            "parameters": sum(weight.numel() for weight in model.bert.parameters()),
            "data": [f"{FOLDERS[language]}/{part}.tsv" for part in ("train", "dev")],
        }

    return run
