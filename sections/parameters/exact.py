"""110 million, to the last one: every meaning of “parameters”, by formula and counted in a built model."""

from dataclasses import replace

import streamlit as st

from minibert.config import BertConfig
from minibert.count import FAMILY, Shape, parameters
from minibert.relatives import model_types, relative_named, shape_of
from sections.parameters.sizes import Sizes
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _


@st.fragment
def show(lesson: Lesson, inputs: Sizes) -> None:
    """The paper's models and the one on screen, by every meaning of “parameters”: by formula and, if built, counted."""
    published = {"BERT-base": "110 M", "BERT-large": "340 M"}
    rows = {name: FAMILY[name] for name in published}
    rows.setdefault(inputs.title, inputs.model)
    head = (_("encoder"), _("encoder + pooler"), _("encoder + MLM head"), _("all of pre-training"), _("the paper says"))
    lines = [f"| | {' | '.join(head)} |", "|:--|--:|--:|--:|--:|:--|"]
    for name, shown in rows.items():
        totals = parameters(shown).totals()
        lines.append(table_row(f"**{unbroken(name)}**", totals.values(), published.get(name, "")))
        if st.session_state.get("built") and (config := buildable(shown)):
            with st.spinner(_("Building the model …"), show_time=True):
                made = built_totals(config)
            verdict = _("= equal") if made == totals else _("≠ **not equal**")
            lines.append(table_row(_("model built"), made.values(), verdict))
    with st.container(key="wide-exact"):
        st.markdown("\n".join(lines))
    lesson.show("110 million, to the last one", title=False)
    if not st.session_state.get("built"):
        st.button(
            _("Build the models and count"),
            key="build",
            icon=":material/construction:",
            on_click=lambda: st.session_state.update(built=True),
            help=_("Builds minibert's own models, without memory for their weights, and adds up their tensors."),
        )
        return
    if not buildable(inputs.model):
        st.caption(
            _(
                "minibert builds BERT, ALBERT, NEZHA, ELECTRA, XLNet and WKLM. Other relatives are counted by the same "
                "formulas; the tests hold them against the models that the transformers library builds."
            )
        )
    show_source(built_totals)


def table_row(name: str, numbers, last: str) -> str:
    return f"| {name} | {' | '.join('–' if n is None else f'{n:,}' for n in numbers)} | {last} |"


def unbroken(name: str) -> str:
    return literal(name.replace("-", "\u2011"))


def buildable(model: Shape) -> BertConfig | None:
    """The config from which minibert builds a model of this shape; None if it cannot."""
    if model == Shape(model.config):
        return model.config
    sizes = model.config.as_dict() | {"embedding_size": model.embedding_size or model.config.hidden_size}
    sizes |= {"shared": model.shared}
    for kind in (relative_named(name).config for name in model_types()):
        config = kind.from_dict(sizes | {"model_type": kind.model_type})
        if replace(shape_of(config), config=model.config) == model:
            return config
    return None


@st.cache_data(max_entries=64, show_spinner=False)
def built_totals(config: BertConfig) -> dict[str, int | None]:
    """Parameter counts of an actually built model, as pre-training leaves it; on the meta device, where tensors have
    shapes but no data."""
    from torch.nn import Module

    from minibert.relatives import build, objective_for
    from minibert.relatives.parts.masked_lm import NoPairs
    from minibert.training.skip_init import sizes_only

    def count(*modules) -> int:
        return sum(p.numel() for p in {p for module in modules for p in module.parameters()})

    with sizes_only():
        objective = objective_for(config)
        model = objective.networks_to_save(build(config, objective.model))[""]
    bert = model.bert
    waits = isinstance(getattr(model, "nsp", None), NoPairs) and isinstance(bert.pooler, Module)
    return {
        "encoder": count(bert.embeddings, bert.blocks),
        "with_pooler": count(bert),
        "masked_lm": count(bert.embeddings, bert.blocks, model.mlm) if hasattr(model, "mlm") else None,
        "pretraining": count(model) - (count(bert.pooler) if waits else 0),  # without an unused pooler
    }
