"""The task heads: one class each, a few lines each (Devlin et al. 2019, §4 and figure 4).

They differ in what the new layer reads and in the loss. What they share, top to bottom: the options, the parts of BERT
that are read (layers, pooling, a BiLSTM, metadata), and `TaskHead`, which puts them together. Weights are named as in
transformers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from minibert.config import BertConfig
from minibert.finetune.classifiers import LOSSES, Loss, check_loss, class_loss, classifier, label_loss
from minibert.finetune.layer_choice import LayerChoice, layers_to_read
from minibert.model import BERT_COMPONENTS, Batch, Bert, Components, MlmHead, Tap, initialize, no_tap
from minibert.training.cross_entropy import cross_entropy

if TYPE_CHECKING:
    from minibert.tasks.options import Options

POOLINGS = ("cls", "mean", "max")
BESIDE = ("embedding", "concatenated")  # metadata: added to BERT's vector, or concatenated to it
SHORT = 16  # size of a concatenated metadata embedding
MOST_VALUES = 2**16  # of a metadata column
PROBLEMS = ("single_label_classification", "multi_label_classification", "regression")


# --- input and output -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskBatch(Batch):
    """A batch of a task. metadata: (B, columns), the number of each column's value, 0 for an unknown one · intents:
    (B,) · choices: (B, C) bool, True for real choices; ids, segments, padding are then (B, C, T)."""

    metadata: Tensor | None = None
    intents: Tensor | None = None
    choices: Tensor | None = None


@dataclass(frozen=True)
class HeadOutput:
    """logits: (B, classes), (B, T, tags), (B, T, 2) for start and end, or (B, C) · loss: None without labels ·
    intent_logits: (B, intents), where there are intents · vector: (B, read_width), what a classifier of one vector
    read."""

    logits: Tensor
    loss: Tensor | None = None
    intent_logits: Tensor | None = None
    vector: Tensor | None = None


# --- options ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadOptions:
    """What a head reads, its classifier and its loss; in config.json "classifier_…".

    pooling, layers, bilstm: see finetune/layer_choice.py · metadata: number of values of each metadata column; a
    learned vector for each is added to BERT's or, with metadata_as "concatenated", a short one is concatenated to it ·
    depth, activation, norm: of a classifier with more layers than BERT's one · loss, loss_weights, gamma: see
    finetune/classifiers.py.
    """

    pooling: str = "cls"
    layers: str = "last"
    bilstm: bool = False
    metadata: tuple[int, ...] = ()
    depth: int = 1
    activation: str = "tanh"
    norm: str = "none"
    loss: str = "cross_entropy"
    loss_weights: tuple[float, ...] = ()
    gamma: float = 2.0
    metadata_as: str = "embedding"

    def __post_init__(self) -> None:
        for name in ("metadata", "loss_weights"):  # lists in JSON
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {', '.join(POOLINGS)}, not {self.pooling!r}")
        check_loss(self.loss, self.gamma, self.loss_weights)
        if not all(0 <= values <= MOST_VALUES for values in self.metadata):
            raise ValueError(f"a metadata column has from 0 to {MOST_VALUES:,} values, not {list(self.metadata[:5])}")
        if self.metadata_as not in BESIDE:
            raise ValueError(f"metadata is read as one of {', '.join(BESIDE)}, not as {self.metadata_as!r}")

    def to_config(self) -> dict:
        """The entries in config.json; from `depth` on only those that differ from the defaults."""
        always = ("pooling", "layers", "bilstm", "metadata")
        return {
            f"classifier_{f.name}": getattr(self, f.name)
            for f in fields(self)
            if f.name in always or getattr(self, f.name) != f.default
        }

    @classmethod
    def from_config(cls, values: dict) -> dict:
        """The inverse: config.json → keyword arguments of this class."""
        return {f.name: values[key] for f in fields(cls) if (key := f"classifier_{f.name}") in values}


def head_options(options: Options) -> dict:
    """The keyword arguments of a head for a task's options; metadata as the number of each column's values."""
    embedded = options.metadata if options.metadata_as in BESIDE else ()
    return {
        **{name: getattr(options, name) for name in ("pooling", "layers", "dropout_samples", "bilstm", "loss")},
        **{name: getattr(options, f"classifier_{name}") for name in ("depth", "activation", "norm")},
        "loss_weights": options.loss_weights,
        "gamma": options.focal_gamma,
        "metadata_as": options.metadata_as if embedded else "embedding",
        "metadata": tuple(len(options.metadata_values[name]) for name in embedded),
    }


# --- what the new layer reads -----------------------------------------------------------------------------------------


def every_layer(bert: Bert, batch: Batch, tap: Tap = no_tap) -> list[Tensor]:
    """The outputs of the embeddings and of each block: L + 1 tensors (B, T, H)."""
    names = {"embeddings.out", *(f"blocks.{i}.out" for i in range(len(bert.blocks)))}
    outputs: list[Tensor] = []

    def record(name: str, x: Tensor) -> Tensor:
        x = tap(name, x)
        if name in names:
            outputs.append(x)
        return x

    bert(batch, record)
    return outputs


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


def pooled(x: Tensor, padding: Tensor | None, pooling: str) -> Tensor:
    """(B, T, H) → (B, H): the first token's vector, or the mean or maximum over the real tokens. padding: (B, T), True
    where real, None where all are."""
    if pooling == "cls":
        return x[:, 0]
    if padding is None:
        return x.mean(dim=1) if pooling == "mean" else x.amax(dim=1)
    real = padding.unsqueeze(-1)  # (B, T, 1)
    if pooling == "max":
        return x.masked_fill(~real, float("-inf")).amax(dim=1)
    weight = real.to(x.dtype)
    return torch.sum(x * weight, dim=1) / weight.sum(dim=1)


class MetadataEmbeddings(nn.ModuleList):
    """A table of vectors for each metadata column, whose row 0 is the unknown value.

    how: "embedding", added to what is read, or "concatenated", SHORT numbers beside it, which widen it by `beside`.
    """

    def __init__(self, values: Sequence[int], width: int, how: str):
        self.added = how == "embedding"
        super().__init__(nn.Embedding(count + 1, width if self.added else SHORT) for count in values)
        self.beside = 0 if self.added else SHORT * len(values)

    def forward(self, x: Tensor, pooled: Tensor, metadata: Tensor) -> tuple[Tensor, Tensor]:
        """x: (B, T, width), pooled: (B, width), metadata: (B, columns), the number of each column's value."""
        for column, table in enumerate(self):
            vector = table(metadata[:, column])  # (B, width) or (B, SHORT)
            if self.added:
                x, pooled = x + vector.unsqueeze(1), pooled + vector
            else:
                x = torch.cat([x, vector.unsqueeze(1).expand(-1, x.size(1), -1)], dim=-1)
                pooled = torch.cat([pooled, vector], dim=-1)
        return x, pooled


# --- the heads --------------------------------------------------------------------------------------------------------


class TaskHead(nn.Module):
    """BERT, and the input of a new layer: the tokens of the chosen layers, or one vector pooled from them.

    labels: names of the outputs · dropout_samples: in training that many dropout masks over the same vector, and the
    mean of their losses (Inoue 2019) · options: those of `HeadOptions`. A relative may insert a `summary` layer between
    the pooled vector and the new layer, in heads with `one_vector`.
    """

    one_vector = True
    stores_labels = reads_labels = True  # as id2label in config.json
    losses: tuple[str, ...] = ()  # supported besides cross-entropy

    def __init__(
        self,
        config: BertConfig,
        labels: Any = (),
        *,
        dropout_samples: int = 1,
        components: Components = BERT_COMPONENTS,
        **options,
    ):
        super().__init__()
        self.config, self.labels, self.dropout_samples = config, labels, dropout_samples
        self.options = chosen = HeadOptions(**options)
        if chosen.loss != "cross_entropy" and chosen.loss not in self.losses:
            raise ValueError(f"{type(self).__name__} learns by a loss of its own, not by {chosen.loss!r}")
        self.bert = Bert(config, components)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.width = self.reading.width  # of what is read, without metadata
        self.mix = LearnedMix(len(self.reading.layers)) if self.reading.how == "mix" else None
        self.bilstm = BiLstm(self.width) if chosen.bilstm else None
        self.metadata = MetadataEmbeddings(chosen.metadata, self.width, chosen.metadata_as)
        self.read_width = self.width + self.metadata.beside
        initialize(self.metadata, config.initializer_range)
        self.summary = None
        if self.one_vector and components.summary:
            self.summary = nn.Sequential(nn.Linear(self.width, self.width), components.summary())
            initialize(self.summary, config.initializer_range)

    @property
    def reading(self) -> LayerChoice:
        """Which of BERT's vectors are read; pruning may leave fewer layers than there were."""
        layers, hidden, chosen = self.config.num_hidden_layers, self.config.hidden_size, self.options
        return layers_to_read(chosen.layers, layers, hidden, pooling=chosen.pooling, bilstm=chosen.bilstm)

    def new_layer(self, outputs: int, of_tokens: bool = False) -> nn.Module:
        chosen = self.options
        layer = classifier(
            self.read_width,
            outputs,
            depth=chosen.depth,
            activation=chosen.activation,
            norm=chosen.norm,
            dropout=self.config.hidden_dropout_prob,
            of_tokens=of_tokens,
        )
        initialize(layer, self.config.initializer_range)
        return layer

    def read(self, batch: Batch, tap: Tap = no_tap) -> tuple[Tensor, Tensor]:
        """→ tokens (B, T, read_width) of the chosen layers, one vector of them (B, read_width), metadata in both."""
        if self.options.layers == "last":
            x, vector = self.bert(batch, tap)  # (B, T, H), (B, H)
        else:
            x = self.choose(every_layer(self.bert, batch, tap))  # (B, T, width)
        if self.bilstm is not None:
            x = self.bilstm(x, batch.padding)  # (B, T, width)
        if self.reading.pooling != "pooler":  # which is trained on [CLS] of the last layer only
            vector = pooled(x, batch.padding, self.reading.pooling or "cls")  # (B, width)
        if self.summary is not None:
            vector = self.summary(vector)  # (B, width)
        return self.metadata(x, vector, getattr(batch, "metadata", None)) if len(self.metadata) else (x, vector)

    def choose(self, layers: Sequence[Tensor]) -> Tensor:
        """Embeddings and L layers, (B, T, H) each → (B, T, width)."""
        chosen = [layers[i] for i in self.reading.layers]
        match self.reading.how:
            case "concat":
                return torch.cat(chosen, dim=-1)
            case "mix" if self.mix is not None:
                return self.mix(chosen)
            case _:  # "sum", or "one"
                return sum(chosen[1:], chosen[0])

    def answers(self, x: Tensor, layer: nn.Module) -> Iterator[Tensor]:
        """The new layer's outputs, one per dropout mask."""
        for _ in range(self.dropout_samples if self.training else 1):
            yield layer(self.dropout(x))

    def answer(self, x: Tensor, layer: nn.Module, loss: Loss, labels: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """(mean logits, mean loss) over the dropout masks; no loss without labels."""
        logits = torch.stack([one.float() for one in self.answers(x, layer)])
        return logits.mean(0), None if labels is None else torch.stack([loss(one, labels) for one in logits]).mean()

    def options_to_config(self) -> dict:
        """This head's entries in config.json, under transformers' names where there are any."""
        return (names_to_config(self.labels) if self.stores_labels else {}) | self.options.to_config()

    @classmethod
    def options_from_config(cls, values: dict) -> dict:
        """The inverse: config.json → keyword arguments of this class."""
        return ({"labels": names_from_config(values)} if cls.reads_labels else {}) | HeadOptions.from_config(values)


def new_weights(head: nn.Module) -> dict[str, tuple[int, ...]]:
    """What fine-tuning adds to BERT: the shape of each new weight, by name."""
    return {name: tuple(weight.shape) for name, weight in head.named_parameters() if not name.startswith("bert.")}


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
        super().__init__(config, list(labels), **options)
        if (weights := self.options.loss_weights) and len(weights) != len(labels):
            raise ValueError(f"{len(weights)} weights for {len(labels)} labels")
        self.problem = problem
        self.classifier = self.new_layer(len(labels))

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        _, vector = self.read(batch, tap)  # (B, read_width)
        chosen = self.options
        weights = torch.tensor(chosen.loss_weights) if chosen.loss_weights else None
        measure = {
            "single_label_classification": class_loss(chosen.loss, weights, chosen.gamma),
            "multi_label_classification": known(label_loss(chosen.loss, weights, chosen.gamma)),
            "regression": known(F.mse_loss),
        }[self.problem]
        logits, loss = self.answer(vector, self.classifier, measure, batch.labels)
        return HeadOutput(tap("classifier.logits", logits), loss, vector=vector)

    def options_to_config(self) -> dict:
        return {"problem_type": self.problem, **super().options_to_config()}

    @classmethod
    def options_from_config(cls, values: dict) -> dict:
        options = super().options_from_config(values)
        default = "regression" if len(options["labels"]) == 1 else "single_label_classification"
        return {"problem": values.get("problem_type") or default, **options}


def known(loss: Loss) -> Loss:
    """The loss over the rows whose labels are known (no NaN)."""

    def measure(logits: Tensor, labels: Tensor) -> Tensor:
        rows = ~labels.isnan().any(dim=1)
        return loss(logits[rows], labels[rows]) if rows.any() else logits.sum() * 0.0

    return measure


def tag_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Cross-entropy over all tokens. logits: (B, T, tags), tags: (B, T), −100 where there is no target."""
    return cross_entropy(logits.flatten(0, 1), tags.flatten())


class BertForTokenClassification(TaskHead):
    """One new layer over every token; a word is tagged at its first piece (Devlin et al. 2019, §5.3)."""

    one_vector = False

    def __init__(self, config: BertConfig, labels: Sequence[str] = ("0", "1"), **options):
        super().__init__(config, list(labels), **options)
        self.classifier = self.new_layer(len(labels), of_tokens=True)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        x, _ = self.read(batch, tap)  # (B, T, width)
        logits, loss = self.answer(x, self.classifier, tag_loss, batch.labels)  # (B, T, tags)
        return HeadOutput(tap("classifier.logits", logits), loss)


class BertForQuestionAnswering(TaskHead):
    """Two new vectors, S and E: P(start = i) = softmax(S·Tᵢ), and E likewise (Devlin et al. 2019, §4.2)."""

    one_vector = reads_labels = False

    def __init__(self, config: BertConfig, labels: Sequence[str] = ("start", "end"), **options):
        super().__init__(config, labels, **options)
        self.qa_outputs = self.new_layer(2, of_tokens=True)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        """batch.labels: (B, 2), the positions of the answer's first and last token."""
        x, _ = self.read(batch, tap)  # (B, T, width)

        def span_loss(logits: Tensor, labels: Tensor) -> Tensor:
            if batch.padding is not None:  # transformers leaves padding in; it can never be the answer
                logits = logits.masked_fill(~batch.padding.unsqueeze(-1), -1e4)
            return (cross_entropy(logits[..., 0], labels[:, 0]) + cross_entropy(logits[..., 1], labels[:, 1])) / 2

        logits, loss = self.answer(x, self.qa_outputs, span_loss, batch.labels)  # (B, T, 2)
        return HeadOutput(tap("qa_outputs.logits", logits), loss)


class BertForMultipleChoice(TaskHead):
    """One new vector; its product with each choice's [CLS] is the choice's score (Devlin et al. 2019, §4.4)."""

    stores_labels = reads_labels = False

    def __init__(self, config: BertConfig, labels: Sequence[str] = ("score",), **options):
        super().__init__(config, labels, **options)
        self.classifier = self.new_layer(1)

    def forward(self, batch: TaskBatch, tap: Tap = no_tap) -> HeadOutput:
        """batch.ids: (B, C, T)."""
        rows, count = batch.ids.shape[:2]
        inputs = (batch.segments, batch.padding, batch.metadata)
        segments, padding, metadata = (None if x is None else x.flatten(0, 1) for x in inputs)
        choices = TaskBatch(batch.ids.flatten(0, 1), segments, padding, metadata=metadata)
        _, vector = self.read(choices, tap)  # (B·C, width)

        def scores(logits: Tensor) -> Tensor:
            logits = logits.view(rows, count)  # (B, C)
            return logits if batch.choices is None else logits.masked_fill(~batch.choices, -1e4)

        choice_loss = lambda logits, labels: cross_entropy(scores(logits), labels)  # noqa: E731
        logits, loss = self.answer(vector, self.classifier, choice_loss, batch.labels)
        return HeadOutput(tap("classifier.logits", scores(logits)), loss)


class BertForIntentAndEntities(TaskHead):
    """Two new layers, two losses added: the intent at [CLS], a tag at every token (Chen et al. 2019)."""

    stores_labels = reads_labels = False

    def __init__(self, config: BertConfig, labels: dict[str, Sequence[str]], **options):
        super().__init__(config, {name: list(labels[name]) for name in ("intents", "tags")}, **options)
        self.intent_classifier = self.new_layer(len(labels["intents"]))
        self.tag_classifier = self.new_layer(len(labels["tags"]), of_tokens=True)

    def forward(self, batch: TaskBatch, tap: Tap = no_tap) -> HeadOutput:
        x, vector = self.read(batch, tap)  # (B, T, width), (B, width)
        intents, intent_loss = self.answer(vector, self.intent_classifier, cross_entropy, batch.intents)  # (B, intents)
        tags, tags_loss = self.answer(x, self.tag_classifier, tag_loss, batch.labels)  # (B, T, tags)
        loss = None if intent_loss is None or tags_loss is None else intent_loss + tags_loss
        return HeadOutput(tap("tag_classifier.logits", tags), loss, tap("intent_classifier.logits", intents))

    def options_to_config(self) -> dict:
        return {**self.labels, **super().options_to_config()}

    @classmethod
    def options_from_config(cls, values: dict) -> dict:
        labels = {name: values.get(name, []) for name in ("intents", "tags")}
        return {"labels": labels, **super().options_from_config(values)}


class BertForCloze(TaskHead):
    """No new layer, but the pre-trained masked-LM head: a label's score is the mean of the logits of its words at
    [MASK], followed by a softmax over the labels (Schick and Schütze 2021, §3.1). words: for each label the ids of its
    words · mask: the id of [MASK], which each row contains once."""

    one_vector = False

    def __init__(
        self,
        config: BertConfig,
        labels: Sequence[str] = ("0", "1"),
        *,
        words: Sequence[Sequence[int]] = ((0,), (1,)),
        mask: int = 0,
        components: Components = BERT_COMPONENTS,
    ):
        if len(labels) < 2 or len(words) != len(labels) or not all(words):
            raise ValueError(f"a cloze needs two classes or more, and words for each: {list(labels)}, {list(words)}")
        if not all(0 <= number < config.vocab_size for number in (mask, *(i for ids in words for i in ids))):
            raise ValueError(f"a word of the classes is none of the {config.vocab_size} entries of the vocabulary")
        super().__init__(config, list(labels), components=components)
        self.words, self.mask_id = [list(ids) for ids in words], mask
        self.mlm = MlmHead(config, self.bert.embeddings.token)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> HeadOutput:
        logits = tap("classifier.logits", self.scores(self.at_blank(batch, tap)).float())  # (B, C)
        return HeadOutput(logits, None if batch.labels is None else F.cross_entropy(logits, batch.labels))

    def at_blank(self, batch: Batch, tap: Tap = no_tap) -> Tensor:
        """The logits over the whole vocabulary at each row's [MASK]: (B, V)."""
        x, _ = self.bert(batch, tap)  # (B, T, H)
        place = (batch.ids == self.mask_id).int().argmax(dim=1)  # (B,)
        blank = x.gather(1, place.view(-1, 1, 1).expand(-1, 1, x.size(2))).squeeze(1)  # (B, H)
        return tap("mlm.logits", self.mlm(blank))

    def scores(self, logits: Tensor) -> Tensor:
        """(B, V) → (B, C), the mean over each label's words."""
        return torch.stack([logits[:, ids].mean(dim=1) for ids in self.words], dim=1)

    def options_to_config(self) -> dict:
        return {**names_to_config(self.labels), "cloze_words": self.words, "cloze_mask": self.mask_id}

    @classmethod
    def options_from_config(cls, values: dict) -> dict:
        return {
            "labels": names_from_config(values),
            "words": values.get("cloze_words", []),
            "mask": values.get("cloze_mask", 0),
        }


# --- labels in config.json --------------------------------------------------------------------------------------------


def names_to_config(labels: Sequence[str]) -> dict:
    return {
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    }


def names_from_config(values: dict) -> list[str]:
    """The labels in order; without `id2label` LABEL_0 …, as in transformers. Raises ValueError."""
    names = values.get("id2label") or {str(i): f"LABEL_{i}" for i in range(values.get("num_labels", 2))}
    if sorted(names) != sorted(map(str, range(len(names)))):
        raise ValueError("the keys of id2label must be the numbers of the labels, from 0")
    labels = [str(names[str(i)]) for i in range(len(names))]
    if len(set(labels)) < len(labels):
        raise ValueError(
            f"id2label has the name {max(labels, key=labels.count)!r} twice: no answer could tell them apart"
        )
    return labels
