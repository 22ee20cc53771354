"""Widgets for the fine-tuning settings, with presets: values that suit a small model per task, and the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from minibert.finetune.augmentation import METHODS
from minibert.finetune.width import rate_of_width
from minibert.tasks import Task
from ui.task_data import ChosenData
from ui.tasks.base import Values
from ui.translations import _, pgettext

if TYPE_CHECKING:
    from minibert.config import BertConfig

RATES = [2e-5, 3e-5, 5e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3]
BATCHES = [4, 8, 16, 32, 64]
LENGTHS = [16, 32, 64, 128, 256, 512]
STRIDES = [16, 32, 64, 128]
MOST_EPOCHS, MOST_SEEDS, MOST_PATIENCE = 30, 5, 5
SECONDS_AT_MOST = 900  # so that no run occupies a worker for ever
METADATA_VALUES = 20  # a column with more distinct values is not treated as categorical
DEFAULTS: dict[str, Any] = {  # widget key → value; None for those that depend on task and model
    "starts": ["pretrained", "random"],
    "seeds": 2,
    "epochs": None,
    "rate": None,
    "batch": None,
    "max-length": None,
    "pooling": "cls",
    "layers": "last",
    "dropout": 0.1,
    "samples": 1,
    "freeze": "none",
    "layer-decay": 1.0,
    "mlm": 0.0,
    "averaging": 0.0,
    "patience": 0,
    "bias-correction": True,
    "stride": 64,
    "truncation": "longest_first",
    "first-share": 50,
    "texts-beside": [],
    "depth": 1,
    "activation": "tanh",
    "norm": "none",
    "loss": "cross_entropy",
    "gamma": 2.0,
    "beside": [],
    "beside-weight": 0.5,
    "metadata": [],
    "metadata-as": "embedding",
    "augment": "none",
    "augment-rate": 0.1,
    "copies": 1,
}
PAPER = Values(3, 32, 5e-5, None)  # Devlin et al. 2019, §4.2; within the ranges of §A.3


def suited(data: ChosenData, config: BertConfig) -> Values:
    """Suitable values for these data and this model size; the learning rate is the nearest one of RATES."""
    known = data.view.sets().get(data.key)
    values = (known and known.small) or data.view.small
    target = rate_of_width(values.rate, config.hidden_size)
    return replace(values, rate=min(RATES, key=lambda rate: abs(math.log(rate / target))))


@dataclass(frozen=True)
class Chosen:
    """starts: of `start_names` · seeds: how many · settings: of FinetuneSettings, except seed and start."""

    starts: Sequence[str]
    seeds: int
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        return len(self.starts) * self.seeds

    def of(self, start: str, seed: int):
        """The FinetuneSettings of one run."""
        from minibert.finetune.augmentation import Augmentation
        from minibert.finetune.settings import FinetuneSettings
        from minibert.train import Optimization

        values = dict(self.settings)
        rate, augmentation = values.pop("learning_rate"), values.pop("augmentation")
        return FinetuneSettings(
            **values,
            optimization=Optimization(learning_rate=rate),
            augmentation=None if augmentation is None else Augmentation(**augmentation),
            seed=seed,
            from_scratch=start == "random",
            max_seconds=SECONDS_AT_MOST,
        )


def segments(label: str, names: dict[str, str], key: str) -> str:
    """A choice of one of a few options. names: value → label."""
    return st.segmented_control(label, list(names), format_func=names.get, required=True, key=key)


def start_names() -> dict[str, str]:
    return {
        "pretrained": _("from the checkpoint"),
        "random": _("from random weights"),
        "other": _("from a second checkpoint"),
    }


def fill_settings(data: ChosenData, config: BertConfig) -> None:
    """Set the main widgets to suitable values; call it before drawing them. Applies when the data change, and when the
    model changes if the user has not changed the values."""
    values, of = suited(data, config), (data.task.name, data.key)
    before = st.session_state.get("settings-of")
    if before is None or before[0] != of or "rate" not in st.session_state or shown(before[1]):
        set_values(values)
    st.session_state["settings-of"] = of, values


def settings_choice(data: ChosenData, blocks: int) -> Chosen:
    """The widgets, filled by `fill_settings`. blocks: number of the model's Transformer blocks."""
    names = start_names()
    starts = st.pills(
        pgettext("of a training", "Start"), list(names), format_func=names.get, selection_mode="multi", key="starts"
    )
    first, second, third, fourth = st.columns(4, gap="medium")
    seeds = first.slider(_("Seeds"), 1, MOST_SEEDS, key="seeds", help=_("Each seed is a run of its own."))
    settings: dict[str, Any] = {
        "epochs": second.slider(_("Epochs"), 1, MOST_EPOCHS, key="epochs"),
        "learning_rate": third.select_slider(_("Learning rate"), RATES, format_func=rate_text, key="rate"),
        "batch_size": fourth.select_slider(_("Batch"), BATCHES, key="batch"),
    }
    with st.expander(_("More settings"), icon=":material/tune:"):
        left, middle, right = st.columns(3, gap="large")
        with left:
            settings |= reading(data.task)
        with middle:
            settings |= learning(data, blocks)
        with right:
            settings |= showing(data)
    return Chosen(starts, seeds, settings)


def values_buttons(data: ChosenData, config: BertConfig) -> None:
    """Two buttons that reset the main widgets: to the values that suit task and model, or to the paper's."""
    for key, label, values in (
        ("suited-values", _("What suits this model"), suited(data, config)),
        ("papers-values", _("The paper’s values"), PAPER),
    ):
        st.button(label, key=key, on_click=set_values, args=(values,), disabled=shown(values))


def shown(values: Values) -> bool:
    """Whether the main widgets hold these values now."""
    return all(st.session_state.get(name) == value for name, value in main_values(values).items())


def main_values(values: Values) -> dict[str, Any]:
    """Widget key → value, without those that are None."""
    found = {"epochs": values.epochs, "batch": values.batch, "rate": values.rate, "max-length": values.max_length}
    return {key: value for key, value in found.items() if value is not None}


def set_values(values: Values) -> None:
    st.session_state.update(main_values(values))


def rate_text(rate: float, digits: int = 0) -> str:
    return f"{rate:.{digits}e}".replace("e-0", "e-")


# --- more settings ----------------------------------------------------------------------------------------------------


def reading(task: Task) -> dict[str, Any]:
    """Widgets: pooling, layers and dropout of the classification head, and its own layers."""
    st.markdown(_("**What the new layer reads**"))
    chosen: dict[str, Any] = {}
    if task.pooled:
        poolings = {"cls": "[CLS]", "mean": _("mean"), "max": _("maximum")}
        chosen["pooling"] = segments(_("Of the tokens"), poolings, "pooling")
    layers = {
        "last": _("the last"),
        "second_to_last": _("the one before the last"),
        "embeddings": _("the embeddings, before any block"),
        "last_four_sum": _("sum of the last four"),
        "last_four_concat": _("the last four side by side"),
        "last_four_weighted": _("a learned mixture of the last four"),
        "all_sum": _("sum of all"),
        "all_concat": _("all side by side"),
        "weighted": _("a learned mixture of all"),
    }
    chosen["layers"] = st.selectbox(_("Of the layers"), list(layers), format_func=layers.get, key="layers")
    chosen["dropout"] = st.slider(_("Dropout"), 0.0, 0.5, step=0.05, key="dropout")
    chosen["dropout_samples"] = st.slider(
        _("Dropout masks averaged"), 1, 8, key="samples", help=_("Multi-sample dropout (Inoue 2019)")
    )
    return chosen | new_layers(task)


def new_layers(task: Task) -> dict[str, Any]:
    """Widgets: depth of the head, activation and norm between its layers, and the loss."""
    chosen: dict[str, Any] = {"classifier_depth": st.slider(_("Layers of the classifier"), 1, 4, key="depth")}
    if chosen["classifier_depth"] > 1:
        activations = {"tanh": "tanh", "gelu": "GELU", "relu": "ReLU"}
        chosen["classifier_activation"] = segments(_("Between them"), activations, "activation")
        norms = {"none": _("no norm"), "layer": _("layer norm")}
        if task.pooled and task.architecture != "BertForIntentAndEntities":
            norms["batch"] = _("batch norm")
        if st.session_state.get("norm") not in norms:
            st.session_state["norm"] = "none"
        chosen["classifier_norm"] = segments(_("And"), norms, "norm")
    if task.losses:
        names = loss_names()
        chosen["loss"] = st.selectbox(_("Loss"), list(names), format_func=names.get, key="loss")
        if chosen["loss"] == "focal":
            chosen["focal_gamma"] = st.slider(_("Its exponent γ"), 0.0, 5.0, step=0.5, key="gamma")
    return chosen


def loss_names() -> dict[str, str]:
    return {
        "cross_entropy": _("cross-entropy"),
        "class_weights": _("cross-entropy, rare classes weigh more"),
        "focal": _("focal loss"),
        "label_smoothing": _("label smoothing"),
    }


def learning(data: ChosenData, blocks: int) -> dict[str, Any]:
    """Widgets: frozen layers, layer-wise learning rate decay, auxiliary losses, weight averaging, bias correction."""
    st.markdown(_("**What learns**"))
    frozen = {
        "none": _("everything"),
        "embeddings": _("all but the embeddings"),
        **{n: _("only what is above block {n}").format(n=n) for n in range(1, blocks)},
        "all": _("only the new layer"),
    }
    return {
        "freeze": st.selectbox(_("Learning"), list(frozen), format_func=frozen.get, key="freeze"),
        "layer_decay": st.slider(
            _("Rate of each block, as a share of the one above"), 0.5, 1.0, step=0.05, key="layer-decay"
        ),
        "mlm_weight": st.slider(
            _("Weight of a masked-LM loss beside"),
            0.0,
            1.0,
            step=0.1,
            key="mlm",
            help=_("The model goes on filling blanks in the same texts."),
        ),
        **learned_beside(data),
        "averaging": st.slider(
            _("Running mean of the weights"),
            0.0,
            1.0,
            step=0.05,
            key="averaging",
            help=_(
                "0: the last weights answer. 1: the mean of the weights after all steps. Between: a mean in which "
                "later steps count more (Shamir and Zhang 2013)."
            ),
        ),
        "patience": st.slider(
            _("Stop after … epochs without gain"),
            0,
            MOST_PATIENCE,
            key="patience",
            help=_(
                "0: every epoch is trained, and the last one is kept. Otherwise the epoch with the best dev score is "
                "kept. It was chosen by that score, so only a test file says how good it is."
            ),
        ),
        "bias_correction": st.toggle(
            _("Adam’s bias correction"), key="bias-correction", help=_("The original BERT code left it out.")
        ),
    }


def learned_beside(data: ChosenData) -> dict[str, Any]:
    """Widgets: columns predicted as auxiliary targets; for sequence classifiers on data with categorical columns."""
    read = {*st.session_state.get("metadata", ()), *st.session_state.get("texts-beside", ())}
    pooled = data.task.architecture == "BertForSequenceClassification"
    columns = [name for name in metadata_columns(data) if name not in read] if pooled else []
    if not columns:
        return {}
    st.session_state["beside"] = [name for name in st.session_state.get("beside", ()) if name in columns]
    chosen = st.multiselect(_("Columns learned beside"), columns, key="beside")
    if not chosen:
        return {}
    weight = st.slider(_("Weight of their loss"), 0.1, 1.0, step=0.1, key="beside-weight")
    return {"auxiliary": tuple(chosen), "auxiliary_weight": weight}


def showing(data: ChosenData) -> dict[str, Any]:
    """Widgets: maximum length, windows or truncation, augmentation, and metadata columns as inputs."""
    task = data.task
    st.markdown(_("**What it is shown**"))
    chosen: dict[str, Any] = {
        "max_length": st.select_slider(_("Tokens at most"), LENGTHS, key="max-length"),
        "augmentation": None,
    }
    if task.too_long == "windows":
        chosen["doc_stride"] = st.select_slider(
            _("A new window every … tokens"), STRIDES, key="stride", help=_("Longer texts are read in windows.")
        )
    elif task.too_long == "truncation":
        chosen |= texts_beside(data)
        cuts = {
            "longest_first": _("the longer text’s end goes"),
            "head": _("keep the beginning"),
            "tail": _("keep the end"),
            "head_tail": _("keep beginning and end"),
        }
        if task.two_texts or chosen.get("texts_beside"):
            cuts["budget"] = _("a share for each")
        if st.session_state.get("truncation") not in cuts:
            st.session_state["truncation"] = "longest_first"
        chosen["truncation"] = st.selectbox(_("Too long?"), list(cuts), format_func=cuts.get, key="truncation")
        if chosen["truncation"] == "budget":
            share = st.slider(_("Share of the first text"), 10, 90, step=10, format="%d %%", key="first-share")
    if task.augmentable:
        chosen["augmentation"] = augmentation()
    if columns := metadata_columns(data):
        columns = [name for name in columns if name not in chosen.get("texts_beside", ())]
        offered = [name for name in st.session_state.get("metadata", ()) if name in columns]
        st.session_state["metadata"] = offered  # the data may have changed
        chosen["metadata"] = tuple(st.multiselect(_("Columns read beside the text"), list(columns), key="metadata"))
        if chosen["metadata"]:
            ways = {"embedding": _("a vector, added"), "concatenated": _("a vector beside"), "token": _("a token")}
            chosen["metadata_as"] = segments(_("Read as"), ways, "metadata-as")
    if chosen.get("truncation") == "budget":
        tokens = len(chosen.get("metadata", ())) if chosen.get("metadata_as") == "token" else 0
        chosen["budgets"] = budgets(
            chosen["max_length"] - tokens, share, texts_of(task, chosen.get("texts_beside", ()))
        )
    return chosen


def texts_beside(data: ChosenData) -> dict[str, Any]:
    """Widget: columns read as further texts; {} if the task cannot read any or the data have none."""
    columns = text_columns(data) if data.task.reads_texts else []
    if not columns:
        return {}
    st.session_state["texts-beside"] = [name for name in st.session_state.get("texts-beside", ()) if name in columns]
    return {"texts_beside": tuple(st.multiselect(_("Columns read as further texts"), columns, key="texts-beside"))}


def texts_of(task: Task, further: Sequence[str]) -> int:
    """Number of texts in a row. further: columns read as further texts."""
    return 1 + task.two_texts + len(further)


def budgets(max_length: int, share: int, texts: int = 2) -> tuple[int, ...]:
    """Token budget of each text: `share` per cent for the first, equal parts for the others, after reserving [CLS] and
    one [SEP] per text. The last text gets the remainder."""
    room = max_length - 1 - texts
    first = room * share // 100
    each = (room - first) // (texts - 1)
    return first, *[each] * (texts - 2), room - first - each * (texts - 2)


def augmentation() -> dict[str, Any] | None:
    names = {
        "none": _("none"),
        "replace": _("words the model fills in"),
        "mask": _("words become [MASK]"),
        "drop": _("words dropped"),
        "swap": _("words swapped"),
    }
    method = st.selectbox(
        _("More examples by changing words"), ["none", *METHODS], format_func=names.get, key="augment"
    )
    if method == "none":
        return None
    rate = st.slider(_("Share of the words"), 0.05, 0.5, step=0.05, key="augment-rate")
    return {"method": method, "rate": rate, "copies": st.slider(_("Copies"), 1, 4, key="copies")}


def text_columns(data: ChosenData) -> list[str]:
    """The extra columns with free text: those with a value of more than one word."""
    found = (name for example in data.train.examples for name, value in example.extra.items() if " " in value.strip())
    return sorted(set(found))


def metadata_columns(data: ChosenData) -> dict[str, list[str]]:
    """Categorical extra column → its sorted values, between 2 and METADATA_VALUES of them."""
    values: dict[str, set[str]] = {}
    for example in data.train.examples:
        for name, value in example.extra.items():
            if value and name != "id" and len(values.setdefault(name, set())) <= METADATA_VALUES:
                values[name].add(value)
    return {name: sorted(distinct) for name, distinct in values.items() if 2 <= len(distinct) <= METADATA_VALUES}
