"""Every task, from the shipped checkpoint and from random weights, beside `transformers` from the same checkpoint.

    python -m bench.finetuning [NAME …] [--seeds 3] [--arms checkpoint …] [--threads 1] [--record]
                                                                            (--list: which sets there are)

The peer is transformers' own model class in a plain training loop. All that is random is the same for both: initial new
weights, order of the rows, dropout masks. On a small dev file chance alone moves the figure by several points; the
remaining difference is the implementation and its rounding. The figure is the task's headline metric on the whole dev
file after the last epoch, never the best along the way. Finished runs are recorded at once and not repeated.
"""

from __future__ import annotations

import os
import random
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import transformers
from torch import nn

from bench.machine import LAST_ONLY, RESULTS, arguments, finetuned, record, recorded
from minibert import checkpoint
from minibert.command_line.arguments import DATA
from minibert.finetune.batches import training_batches
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.split import split_dev
from minibert.folders import ROOT
from minibert.heads import HeadOutput, TaskBatch
from minibert.tasks import TASKS, Task, TaskData
from minibert.train import Optimization
from minibert.training.precision import autocast, best_device

OURS, REAL = ROOT / "lessons" / "data", Path(os.environ.get(DATA, "")) / "tasks"
ARMS = ("checkpoint", "random weights", "transformers")
BERT_PARTS = {"embeddings", "encoder", "pooler"}  # in transformers' model; its other parts are new


@dataclass(frozen=True)
class BenchmarkSet:
    """A data set and its training settings. examples: number taken from the training file, in a fixed random order."""

    task: str
    train: Path
    dev: Path
    epochs: int
    examples: int | None = None
    model: str = "mini-en"
    max_length: int = 128
    batch_size: int = 32
    learning_rate: float = 3e-4
    group_by_length: bool = False


def ours(task: str, name: str, end: str, epochs: int, **settings) -> BenchmarkSet:
    return BenchmarkSet(task, OURS / name / f"train.{end}", OURS / name / f"dev.{end}", epochs, **settings)


def real(task: str, folder: str, train: str, dev: str, epochs: int = 3, **settings) -> BenchmarkSet:
    return BenchmarkSet(task, REAL / folder / train, REAL / folder / dev, epochs, **settings)


ZH = {"model": "mini-zh"}
LM = {"model": "minilm-en", "learning_rate": 1e-4}  # a larger model, which knows more, needs smaller steps
SETS = {
    "SST-2": real("classification", "en/sst2", "train.tsv", "dev.tsv", examples=4000),
    "MRPC": real("pair", "en/mrpc", "train.tsv", "test.tsv"),
    "STS-B": real("similarity", "en/stsb", "train.tsv", "dev.tsv"),
    "GoEmotions (ekman)": real("multilabel", "en/goemotions/ekman", "train.tsv", "dev.tsv", examples=8000),
    "CoNLL-2003": real("tagging", "en/conll2003", "eng.train", "eng.testa", examples=4000),
    "SNIPS": real("intent", "en/snips", "train.md", "test.md", examples=4000),
    "ChnSentiCorp": real("classification", "zh/chnsenticorp", "train.tsv", "dev.tsv", examples=4000, **ZH),
    "ChnSentiCorp, all": real("classification", "zh/chnsenticorp", "train.tsv", "dev.tsv", max_length=256, **ZH),
    "LCQMC": real("pair", "zh/lcqmc", "dev.txt", "test.txt", **ZH),
    "People’s Daily NER": real("tagging", "zh/peopledaily_ner", "train.txt", "dev.txt", examples=4000, **ZH),
    "People’s Daily NER, all": real("tagging", "zh/peopledaily_ner", "train.txt", "dev.txt", 1, **ZH),
    "reviews": ours("classification", "reviews", "tsv", 6),
    "pairs": ours("pair", "pairs", "tsv", 10),
    "similarity": ours("similarity", "similarity", "tsv", 10),
    "emotions": ours("multilabel", "emotions", "tsv", 10),
    "entities": ours("tagging", "entities", "txt", 6),
    "questions": ours("span", "questions", "json", 10),
    "questions-or-none": ours("span-or-none", "questions-or-none", "json", 10),
    "choices": ours("choice", "choices", "csv", 10),
    "stories": ours("choice", "stories", "tsv", 10, max_length=256, batch_size=16),
    "intents": ours("intent", "intents", "md", 10),
    "reviews-zh": ours("classification", "reviews-zh", "tsv", 6, **ZH),
    "entities-zh": ours("tagging", "entities-zh", "txt", 6, **ZH),
    "questions-zh": ours("span", "questions-zh", "json", 10, **ZH),
    "intents-zh": ours("intent", "intents-zh", "md", 10, **ZH),
    "SQuAD": real("span", "en/squad", "half1.json", "half2.json"),
    "RTE": real("pair", "en/rte", "train.tsv", "dev.tsv", 6),
    "CoNLL-2003 testb": real("tagging", "en/conll2003", "eng.train", "eng.testb", 4),
    "SST-2, minilm-en": real("classification", "en/sst2", "train.tsv", "dev.tsv", group_by_length=True, **LM),
    "MRPC, minilm-en": real("pair", "en/mrpc", "train.tsv", "test.tsv", 4, **LM),
    "STS-B, minilm-en": real("similarity", "en/stsb", "train.tsv", "dev.tsv", 4, **LM),
    "RTE, minilm-en": real("pair", "en/rte", "train.tsv", "dev.tsv", 6, **LM),
    "CoNLL-2003 testb, minilm-en": real("tagging", "en/conll2003", "eng.train", "eng.testb", 4, **LM),
    "SQuAD, minilm-en": real("span", "en/squad", "half1.json", "half2.json", 4, max_length=256, batch_size=16, **LM),
}


def main() -> None:
    parser = arguments(__doc__, "finetuning")
    parser.add_argument("sets", nargs="*", metavar="NAME", help="all without")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    if unknown := set(chosen.sets) - set(SETS):
        parser.error(f"no set {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    if chosen.list:
        print("\n".join(SETS))
        return
    if absent := [name for name in chosen.sets or SETS if not SETS[name].train.exists()]:
        parser.error(f"there are no files of {', '.join(absent)}; {DATA} must name the folder that holds tasks/")
    torch.set_num_threads(chosen.threads)
    transformers.logging.set_verbosity_error()  # it warns of new heads, which are intended here
    transformers.logging.disable_progress_bar()
    results = recorded("finetuning") if chosen.record else {}
    for seed in range(chosen.seeds):
        for name in chosen.sets or SETS:
            for arm in chosen.arms:
                entry = results.setdefault(name, described(SETS[name]))
                runs = entry["runs"].setdefault(arm, {})
                if str(seed) in runs:
                    continue
                metrics = run(SETS[name], arm, seed)
                runs[str(seed)] = {key: round(value, 4) for key, value in metrics.items()}
                print(f"{name:20} seed {seed}  {arm:15} {entry['metric']} {metrics[entry['metric']]:.3f}", flush=True)
                record(chosen.record, results)
                if chosen.record:
                    (RESULTS / "finetuning.md").write_text(table(results), encoding="utf-8")
    print(table(results), end="")


def described(one: BenchmarkSet) -> dict:
    """The settings, files and metric to record with the figures."""
    settings = {key: value for key, value in asdict(one).items() if key not in ("train", "dev")}
    files = {"train": f"{one.train.parent.name}/{one.train.name}", "dev": f"{one.dev.parent.name}/{one.dev.name}"}
    return {**settings, **files, "metric": TASKS[one.task].metric, "runs": {}}


def table(results: dict) -> str:
    """Markdown: mean and standard deviation of the headline metric over the seeds run, one column per arm; and by how
    much the checkpoint fine-tuned here beats `transformers` with the same seeds."""
    heads = ["set", "from", "metric", *ARMS, "difference, same seeds"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, entry in sorted(results.items(), key=lambda item: list(SETS).index(item[0])):
        cells, scores = [], {}
        for arm in ARMS:
            scores[arm] = {seed: metrics[entry["metric"]] for seed, metrics in entry["runs"].get(arm, {}).items()}
            values = list(scores[arm].values())
            spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
            cells.append(f"{statistics.fmean(values):.3f}{spread} ({len(values)})" if values else "–")
        here, there = scores["checkpoint"], scores["transformers"]
        differences = [here[seed] - there[seed] for seed in here if seed in there]
        cells.append(f"{statistics.fmean(differences):+.3f}" if differences else "–")
        lines.append(f"| {name} | {entry['model']} | {entry['metric']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# --- one run ----------------------------------------------------------------------------------------------------------


def run(one: BenchmarkSet, arm: str, seed: int) -> dict[str, float]:
    """The metrics after the last epoch."""
    task = TASKS[one.task]
    train, dev = task.read(one.train), task.read(one.dev)
    if one.examples is not None:
        order = list(range(len(train.examples)))
        random.Random(0).shuffle(order)
        train = train.take(order[: one.examples])
    settings = {name: getattr(one, name) for name in ("epochs", "batch_size", "max_length", "group_by_length")}
    settings |= {"seed": seed, "from_scratch": arm == "random weights", **LAST_ONLY}
    start = ROOT / "checkpoints" / one.model
    if arm == "transformers":
        optimization = Optimization(learning_rate=one.learning_rate)
        return peer_metrics(start, task, train, dev, FinetuneSettings(optimization=optimization, **settings))
    return finetuned(start, task, train, dev, one.learning_rate, **settings).metrics


def peer_metrics(start: Path, task: Task, train: TaskData, dev: TaskData, settings: FinetuneSettings) -> dict:
    """transformers' model with the same initial new weights as ours at this seed; reading and scoring by the task."""
    torch.manual_seed(settings.seed)
    tokenizer, labels, options = checkpoint.load_tokenizer(start), task.labels(train), settings.options()
    begun = Learner.of(checkpoint.load(start), task, labels, options, tokenizer, settings)
    chance = torch.get_rng_state()  # random state for the dropout masks to come
    model = peer(task.name, start, labels, settings.dropout)
    copy_new_weights(begun.model, model)
    torch.set_rng_state(chance)
    predictor = Predictor(model.to(best_device()), tokenizer, task, options)
    aside = TaskData([])
    if task.tune_on == "split":
        train, aside = split_dev(train, settings.set_aside, settings.seed)
    rows = [row for row in predictor.features(train.examples) if row.target is not None]
    train_peer(predictor, rows, settings)
    if aside.examples:
        predictor = predictor.tuned(aside.examples)
    if task.tune_on == "dev":
        predictor = predictor.tuned(dev.examples)
    return evaluate(predictor, dev).metrics


def train_peer(predictor: Predictor, rows: list, settings: FinetuneSettings) -> None:
    model, chosen = predictor.model.train(), settings.optimization
    plain = [p for name, p in model.named_parameters() if p.dim() < 2]
    decayed = [p for name, p in model.named_parameters() if p.dim() >= 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": chosen.weight_decay}, {"params": plain, "weight_decay": 0.0}],
        lr=1.0,  # multiplied by the schedule
        betas=(chosen.beta1, chosen.beta2),
        eps=chosen.epsilon,
    )
    steps = -(-len(rows) // settings.batch_size) * settings.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: chosen.rate_at((step + 0.5) / steps))
    for batch in training_batches(predictor.task, rows, settings, predictor.tokenizer):
        with autocast(best_device()):
            loss = model(batch.to(best_device())).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), chosen.clip)
        optimizer.step()
        schedule.step()


# --- the peer's models ------------------------------------------------------------------------------------------------


def peer(task: str, start: Path, labels, dropout: float) -> Peer:
    sequence, kinds = (
        transformers.BertForSequenceClassification,
        {
            "classification": {},
            "pair": {},
            "similarity": {"num_labels": 1, "problem_type": "regression"},
            "multilabel": {"problem_type": "multi_label_classification"},
        },
    )
    config = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout, "dtype": torch.float32}
    if task == "intent":
        return IntentPeer(transformers.BertModel.from_pretrained(start, **config), labels)
    if task in kinds:
        model = sequence.from_pretrained(start, **{"num_labels": len(labels)} | kinds[task] | config)
    elif task == "tagging":
        model = transformers.BertForTokenClassification.from_pretrained(start, num_labels=len(labels), **config)
    elif task == "choice":
        model = transformers.BertForMultipleChoice.from_pretrained(start, **config)
    else:
        return SpanPeer(transformers.BertForQuestionAnswering.from_pretrained(start, **config), labels)
    return Peer(model, labels)


@torch.no_grad()
def copy_new_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy the weights that fine-tuning adds to BERT; both models define them in the same order."""
    new = [weight for name, weight in source.named_parameters() if not name.startswith("bert.")]
    theirs = [weight for name, weight in target.named_parameters() if not set(name.split(".")) & BERT_PARTS]
    for weight, value in zip(theirs, new, strict=True):
        if weight.shape != value.shape:
            raise ValueError(f"the new weights differ in shape: {tuple(value.shape)} here, {tuple(weight.shape)} there")
        weight.copy_(value)


class Peer(nn.Module):
    """transformers' model with the interface of our heads."""

    def __init__(self, model: nn.Module, labels):
        super().__init__()
        self.model, self.config, self.labels = model, model.config, labels

    def outputs(self, batch: TaskBatch, **labels):
        mask = None if batch.padding is None else batch.padding.long()
        return self.model(input_ids=batch.ids, token_type_ids=batch.segments, attention_mask=mask, **labels)

    def forward(self, batch: TaskBatch) -> HeadOutput:
        outputs = self.outputs(batch, labels=batch.labels)
        return HeadOutput(outputs.logits, outputs.loss)


class SpanPeer(Peer):
    """transformers has no dropout before this layer and allows padding in the answer; here both are as in minibert."""

    def __init__(self, model: nn.Module, labels):
        super().__init__(model, labels)
        self.dropout = nn.Dropout(self.config.hidden_dropout_prob)

    def forward(self, batch: TaskBatch) -> HeadOutput:
        mask = None if batch.padding is None else batch.padding.long()
        x = self.model.bert(input_ids=batch.ids, token_type_ids=batch.segments, attention_mask=mask).last_hidden_state
        logits = self.model.qa_outputs(self.dropout(x)).float()  # (B, T, 2)
        loss = None
        if batch.labels is not None:
            masked_logits = logits if mask is None else logits.masked_fill(mask.unsqueeze(-1) == 0, -1e4)
            loss = nn.functional.cross_entropy(masked_logits, batch.labels)  # over T, for the start and for the end
        return HeadOutput(logits, loss)


class IntentPeer(Peer):
    """transformers has no head for intents and tags: two linear layers on its `BertModel`."""

    def __init__(self, model: nn.Module, labels):
        super().__init__(model, labels)
        self.dropout = nn.Dropout(self.config.hidden_dropout_prob)
        self.intents = nn.Linear(self.config.hidden_size, len(labels["intents"]))
        self.tags = nn.Linear(self.config.hidden_size, len(labels["tags"]))

    def forward(self, batch: TaskBatch) -> HeadOutput:
        outputs = self.outputs(batch)
        intents = self.intents(self.dropout(outputs.pooler_output)).float()  # (B, intents)
        tags = self.tags(self.dropout(outputs.last_hidden_state)).float()  # (B, T, tags)
        loss = None
        if batch.labels is not None:
            loss = nn.functional.cross_entropy(intents, batch.intents)
            loss = loss + nn.functional.cross_entropy(tags.flatten(0, 1), batch.labels.flatten())
        return HeadOutput(tags, loss, intents)


if __name__ == "__main__":
    main()
