"""Runs that have ended, made without training, for pages that look into what a run has left."""

import inspect
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path

import torch

from jobs.files import pack
from jobs.run import Run
from jobs.worker import unpacked
from minibert.config import BertConfig
from minibert.finetune.evaluation import evaluate
from minibert.finetune.predictor import Predictor
from minibert.tasks import Options, TaskData, task_named
from tests.spelling import spelling_tokenizer


def finished_run(
    manager,
    folder: Path,
    predictor: Predictor,
    examples: Sequence,
    *,
    kind: str,
    owner: str,
    title: str = "a run",
    from_scratch: bool = False,
) -> Run:
    """A fine-tuning run whose model is `predictor`, measured on `examples`. folder: for its files on the way."""
    measured = evaluate(predictor, TaskData(list(examples))).as_dict()
    details = {
        "task": predictor.task.name,
        "labels": predictor.labels if isinstance(predictor.labels, dict) else list(predictor.labels),
        "metric": predictor.task.metric,
        "dev_examples": [asdict(example) for example in examples],
        "steps_per_epoch": 1,
    }
    events = [
        {"event": "started", "settings": {"seed": 0, "from_scratch": from_scratch}, "details": details},
        measured,
        {"event": "done", "step": 1, "metrics": measured["metrics"]},
    ]
    run = Run(manager, manager.directory, owner, title, kind, "minibert.finetune.run:finetune")
    return ended(run, events, pack(predictor.save(folder / run.id)))


def run_of(events: Iterable, kind: str, *, owner: str, title: str = "a run", folder: Path | None = None) -> Run:
    """A finished run with these events of a trainer's. folder: what it has left behind, if anything."""
    from ui.runs import manager

    run = Run(manager(), manager().directory, owner, title, kind, "x:y")
    events = [event.as_dict() for event in events]
    return ended(run, events, pack(folder) if folder is not None and folder.exists() else {})


def ended(run: Run, events: Sequence[dict], files: dict[str, bytes]) -> Run:
    """The run with its events and files, in the list of its manager."""
    run.store()
    run.add([json.dumps({"number": i, "time": run.created, **event}) for i, event in enumerate(events)])
    run.store_files(files)
    run.change("finished")
    run._manager._runs[run.id] = run
    return run


def spelling_predictor(
    task: str, labels: Sequence[str] | dict, kind: type[BertConfig] = BertConfig, **sizes
) -> Predictor:
    """A model of random weights over an alphabet vocabulary; its answers differ from text to text. kind: BERT's config,
    or that of a relative; sizes: fields of it."""
    torch.manual_seed(0)
    tokenizer = spelling_tokenizer()
    config = kind(
        vocab_size=tokenizer.vocab_size,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
        initializer_range=0.5,
        **sizes,
    )
    options = Options(max_length=256, pooling="mean")
    model = task_named(task).head(config, labels if isinstance(labels, dict) else list(labels), options)
    return Predictor(model.eval(), tokenizer, task_named(task), options)


def run_here(call: tuple[str, tuple, dict], folder: Path, *, owner: str, **changed) -> Run:
    """What a page has asked for (the fixture `asked_for`), done in this process in place of a worker's. changed: fields
    of its settings. folder: an empty one, for its files on the way."""
    from ui.runs import manager

    target, arguments, options = call
    function = getattr(import_module(target.partition(":")[0]), target.partition(":")[2])
    arguments = [unpacked(one, folder.with_name(f"{folder.name}-in-{n}")) for n, one in enumerate(arguments)]
    arguments = [replace(one, **changed) if type(one).__name__.endswith("Settings") else one for one in arguments]
    given = {name: value for name, value in options.items() if name not in ("owner", "title", "kind", "address")}
    if "out" in inspect.signature(function).parameters:
        given["out"] = folder
    events = [event.as_dict() for event in function(*arguments, **given)]
    run = Run(manager(), manager().directory, owner, options["title"], options["kind"], target)
    return ended(run, events, pack(folder) if folder.exists() else {})
