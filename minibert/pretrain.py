"""Pre-training: masked words and next sentences, from text files to a checkpoint (Devlin et al. 2019, §3.1)."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import torch
from torch import nn

from minibert import checkpoint
from minibert.config import BertConfig, check_positive
from minibert.count import parameters
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking, Objective, losses
from minibert.objectives import measure as measure_objective
from minibert.relatives import build, config_from, objective_for, relative_named, shape_of
from minibert.text.batches import PAIR_FORMATS, PretrainingBatches
from minibert.text.cooccurrence import start_output_bias, start_position_embeddings, start_token_embeddings
from minibert.text.documents import read_documents
from minibert.text.json_values import check_kinds
from minibert.text.store import WORD_SEGMENTERS, TokenStore, cached_store
from minibert.text.vocab import learn_fast
from minibert.tokenizer import Tokenizer
from minibert.train import (
    Done,
    Eval,
    Event,
    Optimization,
    Preparing,
    Sample,
    Saved,
    Started,
    Step,
    TrainingState,
    optimizer_for,
    train,
)
from minibert.training import resume, snapshots
from minibert.training.data_parallel import ProcessGroup, join_process_group
from minibert.training.disk_retry import save_with_retry
from minibert.training.machine import memory
from minibert.training.precision import best_device

STARTS = ("random", "counts", "words", "sinusoids")
LOG = "training.jsonl"
Measure = Callable[[nn.Module, int], Iterator[Event]]


@dataclass(frozen=True)
class PretrainSettings:
    """One pre-training run. Budget: `steps` or `minutes`. The paper's optimizer values suit a base model; the defaults
    here suit small ones on small data, where a higher rate and β₂ 0.98 learn faster (see checkpoints/mini-en)."""

    relative: str = "bert"  # model_type of the trained model
    preset: str = "mini"
    sizes: dict[str, int | str] = field(default_factory=dict)  # fields of the config that differ from the preset
    objective_options: dict[str, Any] = field(default_factory=dict)  # further arguments of its objective
    vocab_size: int = 8192
    steps: int | None = None
    minutes: float | None = None
    batch_size: int = 32
    max_length: int = 128
    input_format: str = "segment_pair"
    short_probability: float = 0.1
    words: str = "none"  # segmenter that finds words, for masking whole words: "jieba" for Chinese
    dropout: float = 0.0
    nsp_weight: float = 1.0  # as in the paper, which has 256 pairs a batch; with few pairs NSP adds noise to MLM
    # Initial weights: "random", or "counts": token embeddings and output bias from counts of the text, positions from
    # sinusoids; "words": the same, but random positions, as in the paper; "sinusoids": the same, but positions are
    # the Transformer's (Vaswani et al. 2017, §3.5), and are not learned.
    start: str = "counts"
    masking: Masking = field(default_factory=Masking)
    optimization: Optimization = field(
        default_factory=lambda: Optimization(learning_rate=1e-3, warmup=0.05, beta2=0.98)
    )
    accumulate: int = 1
    compile: bool = False
    seed: int = 0
    report_every: int = 10
    measure_every: int = 100  # steps
    save_minutes: float = 5.0
    save_every: int | None = None  # steps between states to resume from; None: every `save_minutes`
    snapshots: tuple[float, ...] = ()  # shares of the run at which a small copy of the model is kept

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            raise ValueError("give either steps or minutes")
        try:
            self.objective  # noqa: B018, this and the config raise ValueError for unknown names
        except TypeError:
            options = ", ".join(self.objective_options)
            raise ValueError(f"the objective of {self.relative} has no option {options}") from None
        if self.start not in STARTS:
            raise ValueError(f"start must be one of {', '.join(STARTS)}, not {self.start!r}")
        if self.words not in WORD_SEGMENTERS:
            raise ValueError(f"words must be one of {', '.join(WORD_SEGMENTERS)}, not {self.words!r}")
        if self.nsp_weight < 0:
            raise ValueError(f"nsp_weight must not be negative, but is {self.nsp_weight}")
        if self.max_length < 5:
            raise ValueError(f"max_length must leave room for [CLS] a [SEP] b [SEP]: at least 5, not {self.max_length}")
        check_positive(self, "batch_size", "accumulate", "report_every", "measure_every")

    def config(self, **changes: Any) -> BertConfig:
        """The config of the trained model."""
        kind = relative_named(self.relative).config
        if unknown := self.sizes.keys() - {each.name for each in fields(kind)}:
            raise ValueError(f"{self.relative} has no size {min(unknown)!r}")
        check_kinds(self.sizes, get_type_hints(kind))
        return kind.preset(self.preset, **{**self.sizes, **changes})

    @property
    def objective(self) -> Objective:
        """The pre-training objective of the run."""
        options = {"masking": self.masking, "second_weight": self.nsp_weight, **self.objective_options}
        return objective_for(self.config(), **options)

    @classmethod
    def from_dict(cls, values: dict) -> PretrainSettings:
        """The inverse of `dataclasses.asdict`, also after JSON, which turns tuples into lists. Raises ValueError for
        values that are not such settings."""
        parts = {"masking", "optimization"}  # settings of their own
        check_kinds(values, {name: kind for name, kind in get_type_hints(cls).items() if name not in parts})
        try:
            masking = values["masking"]
            return cls(
                **{
                    **values,
                    "masking": Masking(**{**masking, "split": tuple(masking["split"])}),
                    "optimization": Optimization(**values["optimization"]),
                    "snapshots": tuple(values["snapshots"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"these are not the settings of a pre-training: {error}") from None


def pretrain(
    settings: PretrainSettings,
    data: Sequence[str | Path],
    out: str | Path,
    vocabulary: str | Path | None = None,
    *,
    model: str | Path | None = None,
    dev: Sequence[str | Path] = (),
    cache: str | Path | None = None,
    processes: int = 1,
    resuming: bool = False,
    resume_from: str | Path | None = None,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Learn a vocabulary (unless one is given), tokenize, train, save to `out`.

    Each save replaces the model in `out` by the current one. `training.jsonl` there keeps the events, `resume/` the
    state to resume from exactly, until the run is over, `steps/` the snapshots.

    model: a checkpoint to start from, with its vocabulary and sizes, instead of a new model · dev: text to evaluate on
    every `measure_every` steps · cache: a folder for token stores, so that memory does not grow with the text and the
    next run need not tokenize again · resuming: resume an interrupted run with these settings · resume_from: the
    directory of such a run, copied to `out` first · probe_inputs: texts with [MASK]s, filled at every measurement
    (`Sample`) · mailbox(): messages since the last call; a list of texts replaces `probe_inputs`. Under `torchrun`
    every process runs this, and they share each batch. Raises ValueError (also as DataError or CheckpointError) for
    unusable input.
    """
    torch.manual_seed(settings.seed)
    out, group = Path(out), join_process_group()
    if resume_from is not None:
        shutil.copytree(resume_from, out, dirs_exist_ok=True)
        resuming = True
    saved = check_run(settings, out, group, cache, resuming, model)
    if saved is not None:
        tokenizer = saved.tokenizer()
    elif model is not None:
        tokenizer = checkpoint.load_tokenizer(model)
    elif vocabulary is not None:
        tokenizer = Tokenizer.from_file(vocabulary)
    else:
        yield Preparing("learning a vocabulary")
        tokenizer = shared_vocabulary(group, data, settings.vocab_size, out)
    yield Preparing("tokenizing")
    store, skipped = shared_store(group, data, tokenizer, cache, settings.words, processes)
    measure = measurements(tokenizer, dev, settings, probe_inputs, mailbox)
    facts = {"data": [Path(path).name for path in data], "skipped": skipped}
    yield from pretrain_store(
        settings, store, tokenizer, out, measure, facts, model=model, resuming=resuming, group=group
    )


def pretrain_store(
    settings: PretrainSettings,
    store: TokenStore,
    tokenizer: Tokenizer,
    out: Path,
    measure: Measure,
    facts: dict,
    *,
    model: str | Path | None = None,
    resuming: bool = False,
    group: ProcessGroup | None = None,
) -> Iterator[Event]:
    """Pre-train on tokenized text; see `pretrain`. measure(model, step): yields the events of a measurement."""
    torch.manual_seed(settings.seed)
    group = group or ProcessGroup()
    damaged: list[str] = []
    saved = resume.latest(out, damaged) if resuming else None
    for directory in damaged:
        yield Preparing(f"passing over {directory}")
    if group.leads:
        resume.clear_unfinished(out)
    stream = PretrainingBatches(
        store,
        tokenizer,
        batch_size=settings.batch_size,
        max_length=settings.max_length,
        seed=settings.seed,
        objective=settings.objective,
        input_format=settings.input_format,
        short_probability=settings.short_probability,
        position=saved.position if saved else None,
    )
    facts = {**facts, "tokens": len(store.ids), "documents": len(store)}
    if saved is not None:
        saved.check(asdict(settings))
        saved.check_text(facts)
    elif group.leads:
        resume.clear(out)
        snapshots.clear(out)
    if start := saved.directory if saved else model:
        learner = load_pretrained(start, settings)
    else:
        if settings.start != "random":
            yield Preparing("counting")
        learner = initial_model(settings, store, tokenizer)
    learner = learner.to(best_device())
    networks = settings.objective.networks_to_save(learner)
    if settings.start == "sinusoids" and (positions := position_table(networks[""])):
        positions.requires_grad_(False)
    state = TrainingState(optimizer_for(learner, settings.optimization))
    if saved is not None:
        saved.restore(learner, state)
    facts = {
        **facts,
        "vocab_size": tokenizer.vocab_size,
        "parameters": sum(p.numel() for p in learner.parameters()),
        "processes": group.size,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    started, events = Started(asdict(settings), facts), saved.events if saved else []
    yield from run(settings, learner, tokenizer, stream, out, started, events, state, group, measure)


def check_run(
    settings: PretrainSettings, out: Path, group: ProcessGroup, cache, resuming: bool, model: str | Path | None
) -> resume.SavedRun | None:
    """The saved run to resume, or None. Raises ValueError for problems that can be found before reading the text."""
    if group.leads:
        checkpoint.make_ready(out)
    if group.size > 1 and cache is None:
        raise ValueError("several processes need a `cache` folder to share the tokenized text")
    if settings.batch_size < group.size * settings.accumulate:
        raise ValueError(
            f"a batch of {settings.batch_size} rows cannot be shared by {group.size} processes in "
            f"{settings.accumulate} parts each"
        )
    if model is None:
        config = settings.config()
    else:
        config = config_from(checkpoint.config_values(model))
        if config.model_type != settings.relative:
            raise ValueError(f"{model} is a {config.model_type} model, and a {settings.relative} model was asked for")
    check_memory(config)
    if settings.max_length > config.longest:
        raise ValueError(f"rows of {settings.max_length} tokens, but the model has {config.longest} positions")
    if not resuming:
        saved = resume.latest(out)
        if saved is not None:
            raise ValueError(
                f"{out} holds a run that was cut off at step {saved.values['step']}: go on with it (--resume), or "
                "begin in another folder"
            )
        return None
    saved = resume.require_latest(out)
    saved.check(asdict(settings))
    return saved


def check_memory(config: BertConfig) -> None:
    """Raise ValueError where weights, gradients and two moments, four bytes each, are more than the machine holds."""
    weights = parameters(shape_of(config)).pretraining
    if (needed := 16 * weights) > (there := memory()):
        raise ValueError(
            f"{weights:,} weights take {needed / 2**30:,.0f} GB to train, and this machine has {there / 2**30:,.0f} GB"
        )


def shared_vocabulary(group: ProcessGroup, data: Sequence[str | Path], size: int, out: Path) -> Tokenizer:
    """Learned by the first process and written to `out`, read by all."""
    if group.leads:
        tokenizer = learn_tokenizer(data, size)
        if group.size > 1:
            out.mkdir(parents=True, exist_ok=True)
            tokenizer.save(out)
    group.wait()
    return tokenizer if group.leads else Tokenizer.from_file(out / "vocab.txt")


def shared_store(
    group: ProcessGroup, data: Sequence[str | Path], tokenizer: Tokenizer, cache, words: str, processes: int
) -> tuple[TokenStore, list[str]]:
    """Built by the first process, memory-mapped by all; without `cache` built in memory. → (store, skipped)"""
    if cache is None:
        skipped: list[str] = []
        store = TokenStore.build(read_documents(data, skipped), tokenizer, words=words, processes=processes)
        return store, skipped
    if group.leads:
        built = cached_store(data, tokenizer, cache, words=words, processes=processes)
    group.wait()
    return built if group.leads else cached_store(data, tokenizer, cache, words=words)


def learn_tokenizer(data: Sequence[str | Path], size: int) -> Tokenizer:
    return Tokenizer(learn_fast((line for document in read_documents(data, []) for line in document), size))


def initial_model(settings: PretrainSettings, store: TokenStore, tokenizer: Tokenizer) -> nn.Module:
    """A model before its first step: random, or with token embeddings from co-occurrence counts, the output bias from
    frequencies, and positions as `settings.start` says."""
    config = settings.config(
        vocab_size=tokenizer.vocab_size,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        pad_token_id=tokenizer.pad_id,
    )
    model = build(config, settings.objective.model)
    if settings.start != "random":
        networks: dict[str, Any] = settings.objective.networks_to_save(model)
        start_token_embeddings(networks[""].bert, store, settings.seed)
        if settings.start != "words" and (positions := position_table(networks[""])):
            words = positions.embedding_dim**-0.5  # root mean square of a token embedding: the same scale for both
            start_position_embeddings(positions, words if settings.start == "sinusoids" else config.initializer_range)
        for network in networks.values():
            if hasattr(network, "mlm"):
                start_output_bias(network.mlm, store)
    return model


def position_table(model: Any) -> nn.Embedding | None:
    """Its position embeddings; None where a relative of BERT has none."""
    return getattr(model.bert.embeddings, "position", None)


def load_pretrained(directory: str | Path, settings: PretrainSettings, *, new_heads: bool = True) -> nn.Module:
    """The settings' model, with the weights of the checkpoint in `directory` and the settings' dropout. new_heads:
    pre-training heads that it does not have begin at random; otherwise they are missed (CheckpointError)."""
    config = config_from(checkpoint.config_values(directory)).change(
        hidden_dropout_prob=settings.dropout, attention_probs_dropout_prob=settings.dropout
    )
    model = build(config, settings.objective.model)
    for folder, network in settings.objective.networks_to_save(model).items():
        before = checkpoint.load(Path(directory) / folder, kind=None if folder else type(network), new_heads=new_heads)
        network.load_state_dict(before.state_dict())
    return model


def run(
    settings: PretrainSettings,
    model: nn.Module,
    tokenizer: Tokenizer,
    stream: PretrainingBatches,
    out: Path,
    begin: Started,
    events: list[dict],
    state: TrainingState,
    group: ProcessGroup,
    measure: Measure,
) -> Iterator[Event]:
    """Train, measure, save; save once more if the caller closes the iterator. `events`: of the run so far."""
    writer = RunWriter(settings, model, tokenizer, stream, out, state, events)
    learner = torch.compile(model, dynamic=True) if settings.compile else model
    if not events:
        yield writer.log(begin)
        if group.leads:
            writer.snapshot(0.0)
            for event in measure(model, 0):
                yield writer.log(event)
            yield writer.save()  # from now on the directory is a model
    measured = state.step
    loop = train(
        learner,
        stream,
        settings.optimization,
        steps=settings.steps,
        seconds=settings.minutes * 60 if settings.minutes else None,
        report_every=settings.report_every,
        also_every=settings.save_every,  # states are saved at reports
        losses_of=partial(losses, stream.objective),
        accumulate=settings.accumulate,
        group=group,
        state=state,
    )
    try:
        for event in loop:
            yield writer.log(event)
            done = isinstance(event, Done)
            if not group.leads:
                continue
            if isinstance(event, Step):
                writer.snapshot(event.progress)
            if done or state.step - measured >= settings.measure_every:
                measured = state.step
                for measurement in measure(model, state.step):
                    yield writer.log(measurement)
            if done or writer.due():
                yield writer.save(finished=done)
    except GeneratorExit:  # the caller closes the iterator: save what was learned
        if group.leads:
            writer.save()
        raise


class RunWriter:
    """Writes a run's model, log, state and snapshots to its directory when they are due."""

    def __init__(self, settings, model, tokenizer, stream, out: Path, state: TrainingState, events: list[dict]):
        self.settings, self.model, self.tokenizer, self.stream, self.out = settings, model, tokenizer, stream, out
        self.state, self.events = state, events
        self.saved_step, self.saved_at = state.step, state.seconds
        last = next((event["progress"] for event in reversed(events) if event["event"] == "step"), -1.0)
        self.snapshots = [share for share in sorted(settings.snapshots) if share > last]

    def log(self, event: Event) -> Event:
        self.events.append(event.as_dict())
        return event

    def due(self) -> bool:
        if self.settings.save_every:
            return self.state.step - self.saved_step >= self.settings.save_every
        return self.state.seconds - self.saved_at >= self.settings.save_minutes * 60

    def snapshot(self, progress: float) -> None:
        if self.snapshots and progress >= self.snapshots[0]:
            self.snapshots = [share for share in self.snapshots if share > progress]
            network = self.settings.objective.networks_to_save(self.model)[""]
            snapshots.save(self.out / "steps", network, self.state.step, self.state.tokens)

    def save(self, finished: bool = False) -> Saved:
        """The model so far in half precision, the log, and, until the run is over, the state to resume from."""
        self.saved_step, self.saved_at = self.state.step, self.state.seconds
        save_with_retry(self._write, finished)
        return Saved(self.state.step, str(self.out))

    def _write(self, finished: bool) -> None:
        networks = self.settings.objective.networks_to_save(self.model)
        for folder, network in networks.items():
            # The relative only knows its default objective; options may have changed it.
            notes = {} if folder else {checkpoint.OBJECTIVE: self.settings.objective.name}
            checkpoint.save(self.out / folder, network, self.tokenizer, dtype=torch.float16, notes=notes)
        with checkpoint.writing(self.out) as folder:
            lines = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in self.events)
            (folder / LOG).write_text(lines, encoding="utf-8")
        if finished:
            resume.clear(self.out)
        else:
            settings, position = asdict(self.settings), self.stream.position
            resume.save(self.out, networks, self.tokenizer, self.state, position, settings, self.events)


def measurements(
    tokenizer: Tokenizer,
    dev: Sequence[str | Path],
    settings: PretrainSettings,
    probe_inputs: Sequence[str],
    mailbox: Callable[[], list],
) -> Measure:
    """→ measure(model, step): yields loss and accuracy on `dev`, if given, and the fillings of the `probe_inputs`
    texts."""
    batches: list[Batch] = []
    if dev:
        store = TokenStore.build(read_documents(dev), tokenizer, words=settings.words)
        batches = list(dev_batches(store, tokenizer, settings))

    def measure(model: nn.Module, step: int) -> Iterator[Event]:
        nonlocal probe_inputs
        for message in mailbox():
            probe_inputs = [str(text) for text in message]
        if batches:
            yield Eval(step, measure_objective(settings.objective, model, batches))
        if probe_inputs:
            yield Sample(step, fills(settings.objective.networks_to_save(model)[""], tokenizer, probe_inputs))

    return measure


def dev_batches(store: TokenStore, tokenizer: Tokenizer, settings: PretrainSettings) -> PretrainingBatches:
    """Every document once, always with the same masks; a single document, which has no other for a second segment,
    without next-sentence prediction."""
    pairs = len(store) > 1 or settings.input_format not in PAIR_FORMATS or not settings.objective.uses_other_documents
    return PretrainingBatches(
        store,
        tokenizer,
        batch_size=32,
        max_length=settings.max_length,
        seed=0,
        objective=settings.objective,
        epochs=1,
        input_format=settings.input_format if pairs else "full_sentences",
    )


@torch.no_grad()
def fill(model: nn.Module, tokenizer: Tokenizer, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
    """For every [MASK] in `text`, the `top` likeliest pieces with probabilities. Raises ValueError without one."""
    if not isinstance(model, BertForPreTraining):
        raise ValueError("this model was not pre-trained by guessing hidden words: it fills no [MASK]")
    encoding = tokenizer.encode(text, max_length=model.config.longest, truncation="head")
    ids = torch.tensor([encoding.ids], device=next(model.parameters()).device)  # (1, T)
    labels = torch.where(ids == tokenizer.mask_id, ids, IGNORE)
    if not (labels != IGNORE).any():
        raise ValueError("there is no [MASK] in the text to fill")
    batch = objective_for(model.config).at_blanks(Batch(ids, labels=labels))
    probs = model(batch).mlm_logits.float().softmax(-1)  # (M, V)
    best = probs.topk(min(top, probs.size(-1)), dim=-1)
    return [
        [(tokenizer.vocab[i], p) for i, p in zip(row_ids, row_probs, strict=True)]
        for row_ids, row_probs in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def fills(model: nn.Module, tokenizer: Tokenizer, texts: Sequence[str], top: int = 5) -> list[dict]:
    """`fill` for several texts, as an event carries it; a text without a [MASK] has no blanks."""
    training = model.training
    model.eval()
    answers = []
    for text in texts:
        try:
            blanks = fill(model, tokenizer, text, top)
        except ValueError:
            blanks = []
        answers.append({"text": text, "blanks": blanks})
    model.train(training)
    return answers
