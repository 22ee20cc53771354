"""The task heads: one class each, a few lines each (Devlin et al. 2019, §4 and figure 4).

They differ in what the one new layer reads and in the loss; `TaskHead` has what they share: the choice of BERT's layers
and of the pooling. Weights are named as in transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from minibert.classifiers import LOSSES, check_loss, class_loss, classifier, cross_entropy, label_loss
from minibert.config import BertConfig
from minibert.model import BERT, Batch, Bert, Components, Tap, initialize, no_tap

if TYPE_CHECKING:
    from minibert.tasks.options import Options

POOLINGS = ("cls", "mean", "max")
# The layers of Devlin et al. 2019, table 7; "all_concat" with pooling "cls" is the [CLS] of every layer; "weighted" is
# a learned mixture of all of them, "last_four_weighted" of the last four (Peters et al. 2018).
LAYERS = (
    "last", "embeddings", "second_to_last", "last_four_concat", "last_four_sum", "last_four_weighted", "all_concat",
    "all_sum", "weighted",
)  # fmt: skip
# Defaults; config.json stores other values as "classifier_…".
VARIANTS = {
    "depth": 1, "activation": "tanh", "norm": "none", "loss": "cross_entropy", "loss_weights": (), "gamma": 2.0,
    "metadata_as": "embedding",
}  # fmt: skip
BESIDE = ("embedding", "concatenated")  # metadata: added to BERT's vector, or concatenated to it
SHORT = 16  # size of a concatenated metadata embedding
MOST_VALUES = 2**16  # of a metadata column
PROBLEMS = ("single_label_classification", "multi_label_classification", "regression")


@dataclass(frozen=True)
class TaskBatch(Batch):
    """A batch of a task. metadata: (B, columns), the number of each column's value, 0 for an unknown one · intents:
    (B,) · choices: (B, C) bool, True for real choices; ids, segments, padding are then (B, C, T) · auxiliary: (B,
    columns), the number of each auxiliary label · masked, masked_labels: as ids, for an additional MLM loss · rows:
    (B,), index of each row in the training data · unlabelled: a batch of rows without labels to learn from · soft: (B,
    C), soft labels: other models' predictions for the rows."""

    metadata: Tensor | None = None
    intents: Tensor | None = None
    choices: Tensor | None = None
    auxiliary: Tensor | None = None
    masked: Tensor | None = None
    masked_labels: Tensor | None = None
    rows: Tensor | None = None
    unlabelled: TaskBatch | None = None
    soft: Tensor | None = None

    def to(self, device) -> TaskBatch:
        beside = None if self.unlabelled is None else self.unlabelled.to(device)
        moved = super(TaskBatch, replace(self, unlabelled=None)).to(device)
        return moved if beside is None else replace(moved, unlabelled=beside)


@dataclass(frozen=True)
class HeadOutput:
    """logits: (B, classes), (B, T, tags), (B, T, 2) for start and end, or (B, C) · loss: None without labels ·
    intent_logits: (B, intents), where there are intents."""

    logits: Tensor
    loss: Tensor | None = None
    intent_logits: Tensor | None = None


class LearnedMix(nn.Module):
    """γ · Σ softmax(w)ᵢ · layerᵢ (Peters et al. 2018, equation 1): starts as the mean of the layers."""

    def __init__(self, layers: int):
        super().__init__()
        self.weights, self.scale = nn.Parameter(torch.zeros(layers)), nn.Parameter(torch.ones(1))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        return self.scale * torch.einsum("l,lbth->bth", self.weights.softmax(0), torch.stack(tuple(layers)))


class BiLstm(nn.Module):
    """One LSTM reads forwards, one backwards, H/2 numbers each, side by side; padding is not read."""

    def __init__(self, hidden: int):
        super().__init__()
        if hidden % 2:
            raise ValueError(f"a BiLSTM halves the hidden size, which must be even, not {hidden}")
        self.lstm = nn.LSTM(hidden, hidden // 2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """x: (B, T, H), padding: (B, T) True where real → (B, T, H), 0 at padding."""
        lengths = torch.full((x.size(0),), x.size(1)) if padding is None else padding.sum(1).cpu()
        with torch.autocast(x.device.type, enabled=False):  # an LSTM in bfloat16 is slower on a CPU
            packed = pack_padded_sequence(x.float(), lengths, batch_first=True, enforce_sorted=False)
            read, _ = self.lstm(packed)
        return pad_packed_sequence(read, batch_first=True, total_length=x.size(1))[0]


class TaskHead(nn.Module):
    """BERT, and the input of a new layer: the tokens of the chosen layers, or one vector pooled from them.

    dropout_samples: in training that many dropout masks over the same vector, and the mean of their losses (Inoue
    2019) · metadata: number of values of each metadata column; a learned vector for each is added to BERT's or, with
    metadata_as "concatenated", a short one is concatenated to it · bilstm: whether one is put between BERT and the new
    layer (§5.3) · depth, activation, norm: of a classifier with more layers than BERT's one; loss, loss_weights, gamma:
    see classifiers.py. A relative may insert a `summary` layer between the pooled vector and the new layer, in heads
    with `one_vector`.
    """

    one_vector = True
    losses: tuple[str, ...] = ()  # supported besides cross-entropy

    def __init__(
        self,
        config: BertConfig,
        *,
        pooling: str = "cls",
        layers: str = "last",
        dropout_samples: int = 1,
        metadata: Sequence[int] = (),
        metadata_as: str = "embedding",
        bilstm: bool = False,
        depth: int = 1,
        activation: str = "tanh",
        norm: str = "none",
        loss: str = "cross_entropy",
        loss_weights: Sequence[float] = (),
        gamma: float = 2.0,
        components: Components = BERT,
    ):
        super().__init__()
        if pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
        if layers not in LAYERS:
            raise ValueError(f"layers must be one of {', '.join(LAYERS)}, not {layers!r}")
        check_loss(loss, gamma, loss_weights)
        if loss != "cross_entropy" and loss not in self.losses:
            raise ValueError(f"{type(self).__name__} learns by a loss of its own, not by {loss!r}")
        self.depth, self.activation, self.norm = depth, activation, norm
        self.loss, self.loss_weights, self.gamma = loss, tuple(loss_weights), gamma
        self.config, self.pooling, self.layers, self.dropout_samples = config, pooling, layers, dropout_samples
        self.bert = Bert(config, components)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        blocks = config.num_hidden_layers + 1  # the embeddings count as one
        copies = {"last_four_concat": min(4, blocks), "all_concat": blocks}.get(layers, 1)
        self.width = copies * config.hidden_size  # what a new layer reads
        if layers in ("weighted", "last_four_weighted"):
            self.mix = LearnedMix(min(4, blocks) if layers == "last_four_weighted" else blocks)
        if bilstm:
            self.bilstm = BiLstm(self.width)
        if not all(0 <= values <= MOST_VALUES for values in metadata):
            raise ValueError(f"a metadata column has from 0 to {MOST_VALUES:,} values, not {list(metadata)[:5]}")
        if metadata_as not in BESIDE:
            raise ValueError(f"metadata is read as one of {', '.join(BESIDE)}, not as {metadata_as!r}")
        self.metadata_as = metadata_as
        added = metadata_as == "embedding"
        self.metadata = nn.ModuleList(nn.Embedding(values + 1, self.width if added else SHORT) for values in metadata)
        self.read_width = self.width + (0 if added else SHORT * len(self.metadata))
        initialize(self.metadata, config.initializer_range)
        if self.one_vector and components.summary:
            self.summary = nn.Sequential(nn.Linear(self.width, self.width), components.summary())
            initialize(self.summary, config.initializer_range)

    def new_layer(self, outputs: int, of_tokens: bool = False) -> nn.Module:
        layer = classifier(
            self.read_width, outputs, depth=self.depth, activation=self.activation, norm=self.norm,
            dropout=self.config.hidden_dropout_prob, of_tokens=of_tokens,
        )  # fmt: skip
        initialize(layer, self.config.initializer_range)
        return layer

    @property
    def weights_of_loss(self) -> Tensor | None:
        return torch.tensor(self.loss_weights) if self.loss_weights else None

    def read(self, batch: Batch, tap: Tap = no_tap) -> tuple[Tensor, Tensor]:
        """→ tokens (B, T, read_width) of the chosen layers, pooled (B, read_width), metadata in both."""
        if self.layers == "last":
            x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
            if self.pooling != "cls":
                pooled = self.pool(x, batch.padding)
        else:
            x = self.choose(every_layer(self.bert, batch, tap))  # (B, T, width)
            pooled = self.pool(x, batch.padding)  # (B, width)
        if hasattr(self, "bilstm"):
            x = self.bilstm(x, batch.padding)  # (B, T, width)
            pooled = self.pool(x, batch.padding)
        if hasattr(self, "summary"):
            pooled = self.summary(pooled)  # (B, width)
        for column, table in enumerate(self.metadata):
            vector = table(batch.metadata[:, column])  # (B, width) or (B, SHORT)
            if self.metadata_as == "embedding":
                x, pooled = x + vector.unsqueeze(1), pooled + vector
            else:
                x = torch.cat([x, vector.unsqueeze(1).expand(-1, x.size(1), -1)], dim=-1)
                pooled = torch.cat([pooled, vector], dim=-1)
        return x, pooled

    def choose(self, layers: list[Tensor]) -> Tensor:
        """Embeddings and L layers, (B, T, H) each → (B, T, width)."""
        match self.layers:
            case "embeddings":
                return layers[0]
            case "second_to_last":
                return layers[-2]
            case "last_four_sum":
                return sum(layers[-4:])
            case "all_sum":
                return sum(layers[1:])
            case "last_four_concat":
                return torch.cat(layers[-4:], dim=-1)
            case "all_concat":
                return torch.cat(layers, dim=-1)
            case "last_four_weighted":
                return self.mix(layers[-4:])
            case _:
                return self.mix(layers)

    def pool(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """(B, T, width) → (B, width); "cls" skips the pooler, which is trained on the last layer only."""
        if self.pooling == "mean":
            return mean_of_tokens(x, padding)
        if self.pooling == "max":
            return (x if padding is None else x.masked_fill(~padding.unsqueeze(-1), float("-inf"))).amax(dim=1)
        return x[:, 0]

    def answers(self, x: Tensor, layer: nn.Module) -> Iterator[Tensor]:
        """The new layer's outputs, one per dropout mask."""
        for _ in range(self.dropout_samples if self.training else 1):
            yield layer(self.dropout(x))

    def answer(
        self, x: Tensor, layer: nn.Module, loss: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, Tensor | None]:
        """(mean logits, mean loss) over the dropout masks."""
        logits = torch.stack([one.float() for one in self.answers(x, layer)])
        return logits.mean(0), None if loss is None else torch.stack([loss(one) for one in logits]).mean()


def new_weights(head: nn.Module) -> dict[str, tuple[int, ...]]:
    """What fine-tuning adds to BERT: the shape of each new weight, by name."""
    return {name: tuple(weight.shape) for name, weight in head.named_parameters() if not name.startswith("bert.")}


def every_layer(bert: Bert, batch: Batch, tap: Tap = no_tap) -> list[Tensor]:
    """The outputs of the embeddings and of each block: L + 1 tensors (B, T, H)."""
    names = {"embeddings.out", *(f"blocks.{i}.out" for i in range(len(bert.blocks)))}
    seen: list[Tensor] = []

    def watch(name: str, x: Tensor) -> Tensor:
        x = tap(name, x)
        if name in names:
            seen.append(x)
        return x

    bert(batch, watch)
    return seen


def mean_of_tokens(x: Tensor, padding: Tensor | None) -> Tensor:
    """Mean over the real tokens. x: (B, T, H), padding: (B, T) True where real → (B, H)."""
    if padding is None:
        return x.mean(dim=1)
    weight = padding.unsqueeze(-1).to(x.dtype)  # (B, T, 1)
    return torch.sum(x * weight, dim=1) / weight.sum(dim=1)


class BertForSequenceClassification(TaskHead):
    """One new layer over the pooled [CLS]: softmax(W·C) for a class (Devlin et al. 2019, §4.1), W·C for a number, or
    a sigmoid for each of several labels. `problem` as transformers' problem_type."""

    def __init__(
        self,
        config: BertConfig,
        labels: Sequence[str] = ("0", "1"),
        *,
        problem: str = "single_label_classification",
        **options,
    ):
        if problem not in PROBLEMS:
            raise ValueError(f"the problem must be one of {', '.join(PROBLEMS)}, not {problem!r}")
        self.losses = () if problem == "regression" else LOSSES
        if problem == "single_label_classification" and len(labels) < 2:
            raise ValueError(f"classification needs two classes or more, not {list(labels)}")
        super().__init__(config, **options)
        if self.loss_weights and len(self.loss_weights) != len(labels):
            raise ValueError(f"{len(self.loss_weights)} weights for {len(labels)} labels")
        self.labels, self.problem = list(labels), problem
        self.classifier = self.new_layer(len(self.labels))

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        return self.answered(self.read(batch, tap)[1], batch, tap)

    def answered(self, pooled: Tensor, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        """pooled: (B, read_width), what `read` gives."""
        losses = {
            "single_label_classification": class_loss(self.loss, self.weights_of_loss, self.gamma),
            "multi_label_classification": known(label_loss(self.loss, self.weights_of_loss, self.gamma)),
            "regression": known(F.mse_loss),
        }
        measure = losses[self.problem]
        loss = None if batch.labels is None else lambda logits: measure(logits, batch.labels)
        logits, loss = self.answer(pooled, self.classifier, loss)
        return HeadOutput(tap("classifier.logits", logits), loss)

    def options_to_config(self) -> dict:
        """This head's entries in config.json, under transformers' names where there are any."""
        return {**names_to_config(self.labels), "problem_type": self.problem, **reading_to_config(self)}

    @staticmethod
    def options_from_config(values: dict) -> dict:
        """The inverse: config.json → keyword arguments of this class."""
        labels = names_from_config(values)
        problem = values.get("problem_type") or ("regression" if len(labels) == 1 else "single_label_classification")
        return {"labels": labels, "problem": problem, **reading_from_config(values)}


def known(loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss over the rows whose labels are known (no NaN)."""

    def measure(logits: Tensor, labels: Tensor) -> Tensor:
        rows = ~labels.isnan().any(dim=1)
        return loss(logits[rows], labels[rows]) if rows.any() else logits.sum() * 0.0

    return measure


class BertForTokenClassification(TaskHead):
    """One new layer over every token; a word is tagged at its first piece (Devlin et al. 2019, §5.3)."""

    one_vector = False

    def __init__(self, config: BertConfig, labels: Sequence[str] = ("0", "1"), **options):
        super().__init__(config, **options)
        self.labels = list(labels)
        self.classifier = self.new_layer(len(self.labels), of_tokens=True)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        x, _ = self.read(batch, tap)  # (B, T, width)
        loss = None if batch.labels is None else lambda z: cross_entropy(z.flatten(0, 1), batch.labels.flatten())
        logits, loss = self.answer(x, self.classifier, loss)  # (B, T, tags)
        return HeadOutput(tap("classifier.logits", logits), loss)

    def options_to_config(self) -> dict:
        return {**names_to_config(self.labels), **reading_to_config(self)}

    @staticmethod
    def options_from_config(values: dict) -> dict:
        return {"labels": names_from_config(values), **reading_from_config(values)}


class BertForQuestionAnswering(TaskHead):
    """Two new vectors, S and E: P(start = i) = softmax(S·Tᵢ), and E likewise (Devlin et al. 2019, §4.2)."""

    one_vector = False

    labels = ("start", "end")

    def __init__(self, config: BertConfig, **options):
        super().__init__(config, **options)
        self.qa_outputs = self.new_layer(2, of_tokens=True)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        """batch.labels: (B, 2), the positions of the answer's first and last token."""
        x, _ = self.read(batch, tap)  # (B, T, width)

        def loss(logits: Tensor) -> Tensor:
            if batch.padding is not None:  # transformers leaves padding in; it can never be the answer
                logits = logits.masked_fill(~batch.padding.unsqueeze(-1), -1e4)
            return (
                cross_entropy(logits[..., 0], batch.labels[:, 0]) + cross_entropy(logits[..., 1], batch.labels[:, 1])
            ) / 2

        logits, loss = self.answer(x, self.qa_outputs, None if batch.labels is None else loss)  # (B, T, 2)
        return HeadOutput(tap("qa_outputs.logits", logits), loss)

    def options_to_config(self) -> dict:
        return {**names_to_config(self.labels), **reading_to_config(self)}

    @staticmethod
    def options_from_config(values: dict) -> dict:
        return reading_from_config(values)


class BertForMultipleChoice(TaskHead):
    """One new vector; its product with each choice's [CLS] is the choice's score (Devlin et al. 2019, §4.4)."""

    labels = ("score",)

    def __init__(self, config: BertConfig, **options):
        super().__init__(config, **options)
        self.classifier = self.new_layer(1)

    def forward(self, batch: TaskBatch, tap: Tap = no_tap) -> HeadOutput:
        """batch.ids: (B, C, T)."""
        rows, count = batch.ids.shape[:2]
        flat = TaskBatch(
            batch.ids.flatten(0, 1),
            None if batch.segments is None else batch.segments.flatten(0, 1),
            None if batch.padding is None else batch.padding.flatten(0, 1),
            metadata=None if batch.metadata is None else batch.metadata.flatten(0, 1),
        )
        _, pooled = self.read(flat, tap)  # (B·C, width)

        def scores(logits: Tensor) -> Tensor:
            logits = logits.view(rows, count)  # (B, C)
            return logits if batch.choices is None else logits.masked_fill(~batch.choices, -1e4)

        loss = None if batch.labels is None else lambda logits: cross_entropy(scores(logits), batch.labels)
        logits, loss = self.answer(pooled, self.classifier, loss)
        return HeadOutput(tap("classifier.logits", scores(logits)), loss)

    def options_to_config(self) -> dict:
        return reading_to_config(self)

    @staticmethod
    def options_from_config(values: dict) -> dict:
        return reading_from_config(values)


class BertForIntentAndEntities(TaskHead):
    """Two new layers, two losses added: the intent at [CLS], a tag at every token (Chen et al. 2019)."""

    def __init__(self, config: BertConfig, labels: dict[str, Sequence[str]], **options):
        super().__init__(config, **options)
        self.labels = {name: list(labels[name]) for name in ("intents", "tags")}
        self.intent_classifier = self.new_layer(len(self.labels["intents"]))
        self.tag_classifier = self.new_layer(len(self.labels["tags"]), of_tokens=True)

    def forward(self, batch: TaskBatch, tap: Tap = no_tap) -> HeadOutput:
        x, pooled = self.read(batch, tap)  # (B, T, width), (B, width)
        of_intents = of_tags = None
        if batch.labels is not None:
            of_intents = lambda logits: cross_entropy(logits, batch.intents)  # noqa: E731
            of_tags = lambda logits: cross_entropy(logits.flatten(0, 1), batch.labels.flatten())  # noqa: E731
        intents, intent_loss = self.answer(pooled, self.intent_classifier, of_intents)  # (B, intents)
        tags, tag_loss = self.answer(x, self.tag_classifier, of_tags)  # (B, T, tags)
        loss = None if batch.labels is None else intent_loss + tag_loss
        return HeadOutput(tap("tag_classifier.logits", tags), loss, tap("intent_classifier.logits", intents))

    def options_to_config(self) -> dict:
        return {**self.labels, **reading_to_config(self)}

    @staticmethod
    def options_from_config(values: dict) -> dict:
        return {"labels": {name: values.get(name, []) for name in ("intents", "tags")}, **reading_from_config(values)}


# --- config.json ------------------------------------------------------------------------------------------------------


def reading_options(options: Options) -> dict:
    """The keyword arguments of every head that say what it reads; metadata as the number of each column's values."""
    embedded = options.metadata if options.metadata_as in BESIDE else ()
    return {
        **{name: getattr(options, name) for name in ("pooling", "layers", "dropout_samples", "bilstm", "loss")},
        **{name: getattr(options, f"classifier_{name}") for name in ("depth", "activation", "norm")},
        "loss_weights": options.loss_weights,
        "gamma": options.focal_gamma,
        "metadata_as": options.metadata_as if embedded else "embedding",
        "metadata": [len(options.metadata_values[name]) for name in embedded],
    }


def names_to_config(labels: Sequence[str]) -> dict:
    return {
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    }


def names_from_config(values: dict) -> list[str]:
    names = values.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    if not all(key.isdecimal() for key in names):
        raise ValueError("the keys of id2label must be the numbers of the labels")
    return [str(names[key]) for key in sorted(names, key=int)]


def reading_to_config(head: TaskHead) -> dict:
    """What the new layer reads, under names of our own: transformers always reads the last layer, and its pooler."""
    return {
        "classifier_pooling": head.pooling,
        "classifier_layers": head.layers,
        "classifier_bilstm": hasattr(head, "bilstm"),
        "classifier_metadata": [table.num_embeddings - 1 for table in head.metadata],
        **{f"classifier_{name}": getattr(head, name) for name in VARIANTS if getattr(head, name) != VARIANTS[name]},
    }


def reading_from_config(values: dict) -> dict:
    return {
        "pooling": values.get("classifier_pooling", "cls"),
        "layers": values.get("classifier_layers", "last"),
        "metadata": values.get("classifier_metadata", []),
        "bilstm": values.get("classifier_bilstm", False),
        **{name: values.get(f"classifier_{name}", usual) for name, usual in VARIANTS.items()},
    }
