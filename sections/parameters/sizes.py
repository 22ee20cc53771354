"""The sizes on screen: sliders, the family, and the options of relatives; the three sums that follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.count import FAMILY, Shape, flops, memory, parameters
from plots.parameters import short, short_bytes
from sections.parameters import how
from sections.parameters.models import BATCH, MASKED, RANGES, START, model_of, models, settings_of, with_weights
from sections.parameters.names import slider_labels
from ui.errors import translated
from ui.inputs import choice
from ui.model_registry import about
from ui.page import drawer
from ui.projector import projecting
from ui.state import follow_link, url_choice, url_int
from ui.text import literal
from ui.translations import _

WIDTHS = [64, 128, 256, 512, 1024]  # of factorised embeddings
CHOSEN = "_chosen-model"  # session_state key: the name of the model loaded last

_CHOICES = "_families-chosen"  # session_state key: number of choices so far


@dataclass(frozen=True)
class Sizes:
    """A model, the batch it processes, and its name if it has one."""

    model: Shape
    tokens: int
    batch: int
    name: str | None

    @property
    def title(self) -> str:
        return self.name or _("your sizes")


def read() -> Sizes | None:
    """The sizes, always in view, and the sums that follow; None, after showing an error, if the sizes are
    inconsistent."""
    st.html(
        _style()
        .replace("LIGHT", st.get_option("theme.light.backgroundColor") or "white")
        .replace("DARK", st.get_option("theme.dark.backgroundColor") or "black")
    )
    _follow_link()
    with st.container(key="sizes"):
        with st.container(horizontal=True, vertical_alignment="center", key="start-from"):
            family = st.container(width=170)
            with drawer(_("More"), holds=("proportions", "shared", "E", "relative", "xl", "S", "pooler")):
                _design()
            line = st.container(key="sums")
        labels = slider_labels(short=projecting())
        widths = [4, 5.5, 4, 6, 5, 5, 4.5, 5]  # as long as the labels
        for letter, column in zip("LHAFVPTB", st.columns(widths, gap="xsmall"), strict=True):
            low, high, step = RANGES[letter]
            column.slider(labels[letter], low, high, step=step, key=letter, on_change=MOVED.get(letter))
        with family:
            name = _choose_model()
    _say()
    try:
        model = model_of(st.session_state)
    except ValueError as problem:
        line.error(literal(translated(problem)), icon=":material/error:")
        return None
    inputs = Sizes(model, st.session_state["T"], st.session_state["B"], name)
    line.html(_sums(inputs))
    return inputs


def _style() -> str:
    return f"<style>{Path(__file__).with_name('sizes.css').read_text(encoding='utf-8')}</style>"


def fits(inputs: Sizes) -> bool:
    """Whether the model has a position for each token; shows a warning if not."""
    positions = inputs.model.config.max_position_embeddings
    if inputs.tokens <= positions:
        return True
    st.warning(
        _(
            "T = {tokens:,} tokens need as many positions, and this model has P = {positions:,}. "
            "Make T smaller or P larger."
        ).format(tokens=inputs.tokens, positions=positions),
        icon=":material/straighten:",
    )
    return False


# --- the link -------------------------------------------------------------------------------------------------------
# Not bound with bind="query-params": loading a model changes a dozen sizes, in one step of the browser's history.


def _usual() -> dict[str, object]:
    """Defaults of a page opened without a link."""
    return settings_of(FAMILY[START]) | BATCH | {"proportions": True}


def _said(key: str, usual: object) -> object:
    """The value of `key` in the link."""
    if isinstance(usual, bool):
        return url_choice(key, ["true", "false"], str(usual).lower()) == "true"
    if key in RANGES:
        low, high, step = RANGES[key]
        value = url_int(key, usual, low, high)
        return value if (value - low) % step == 0 or value == usual else usual
    allowed = _widths() if key == "E" else [0, 1, 2]
    value = url_int(key, usual, 0, max(allowed))
    return value if value in allowed else usual


def _follow_link() -> None:
    for key, usual in _usual().items():
        if key != "objective" and (follow_link(key) or key not in st.session_state):  # `choice` follows the link itself
            st.session_state[key] = _said(key, usual)


def _say() -> None:
    """Write all changes to the link at once: each write is a step in the browser's history."""
    values = {key: st.session_state[key] for key in _usual() if key != "objective"}
    changed = {key: str(value).lower() for key, value in values.items() if value != _said(key, _usual()[key])}
    if changed:
        st.query_params.update(changed)


# --- widgets --------------------------------------------------------------------------------------------------------


def _take_along() -> None:
    """After a change of H: keep the family's proportions, D = 64 and F = 4·H."""
    if st.session_state["proportions"]:
        hidden = st.session_state["H"]
        st.session_state["A"] = min(hidden // 64, RANGES["A"][1])
        st.session_state["F"] = min(4 * hidden, RANGES["F"][1])
    _fit_heads()


def _fit_heads() -> None:
    """After a change of H or A: the number of heads nearest to A that divides H."""
    hidden, heads = st.session_state["H"], st.session_state["A"]
    fitting = (count for count in range(1, RANGES["A"][1] + 1) if hidden % count == 0)
    st.session_state["A"] = min(fitting, key=lambda count: abs(count - heads))


MOVED = {"H": _take_along, "A": _fit_heads}  # slider → what follows when it is moved


def _widths() -> list[int]:
    return sorted({0, *WIDTHS, *(model.embedding_size or 0 for model in models().values())})


def _design() -> None:
    """Options besides sizes: whether heads and feed-forward follow H, and how relatives differ from BERT."""
    st.toggle(
        _("H takes A and F along"),
        key="proportions",
        help=_("As in every published BERT: heads of 64 numbers, A = H/64, and F = 4·H."),
    )
    st.markdown(f"**{_('What relatives change')}**")
    st.toggle(_("All layers share one block (ALBERT)"), key="shared")
    st.selectbox(
        _("E width of the embeddings (ALBERT, ELECTRA)"),
        _widths(),
        format_func=lambda width: f"{width}" if width else _("H"),
        key="E",
    )
    st.toggle(_("Distances at keys and values, no position embeddings (NEZHA)"), key="relative")
    st.toggle(_("Distances and segments at the scores, neither in the embeddings (XLNet)"), key="xl")
    st.slider(_("S segments"), 0, 6, key="S")
    st.toggle(_("Pooler"), key="pooler")
    choice(
        "objective",
        _(
            "Pre-training: masked tokens (MLM), with sentence pairs (NSP, SOP), span boundaries (SBO), replaced (RTD) "
            "or permuted tokens (PLM)"
        ),
        {
            "mlm+nsp": "MLM + NSP",
            "mlm+sop": "MLM + SOP",
            "mlm": "MLM",
            "mlm+sbo": "MLM + SBO",
            "mlm+names": _("MLM + names"),
            "rtd": "RTD",
            "plm": "PLM",
        },
    )


def load(name: str) -> None:
    """Set the sizes to those of a model."""
    st.session_state.update(settings_of(models()[name]) | {CHOSEN: name})


def _load_chosen(key: str) -> None:
    chosen = st.session_state[key]
    st.session_state[_CHOICES] = st.session_state.get(_CHOICES, 0) + 1
    if chosen is not None:
        load(chosen)


def _choose_model() -> str | None:
    """The family to start from; returns the name of the model whose sizes are on screen.

    The page never sets this widget, and each choice creates a new one. Otherwise, if a slider moves again before the
    browser knows that no model has the current sizes, the browser sends the old model, and its sizes are loaded.
    """
    now: Mapping = {key: st.session_state[key] for key in settings_of(FAMILY[START])}
    known, here_too = models(), with_weights()
    alike = [name for name, model in known.items() if settings_of(model) == now]
    chosen = st.session_state.get(CHOSEN)
    here = chosen if chosen in alike else next(iter(alike), None)  # several runs often share the same sizes
    words = about(here_too[here][1]) if here in here_too else ""
    key = f"family-{st.session_state.get(_CHOICES, 0)}"
    st.selectbox(
        _("Start from"),
        list(known),
        format_func=str,
        key=key,
        index=None,
        placeholder=here or _("your sizes"),
        label_visibility="collapsed",
        on_change=_load_chosen,
        args=(key,),
    )
    if words:
        st.caption(words)
    return here


def _sums(inputs: Sizes) -> str:
    """The three sums that depend on the sliders, as HTML."""
    model, batch, tokens = inputs.model, inputs.batch, inputs.tokens
    parts = [_("<b>{n}</b> parameters").format(n=f"{parameters(model).pretraining:,}")]
    if tokens <= model.config.max_position_embeddings:
        step, peak = flops(model, batch, tokens, MASKED).total, memory(model, batch, tokens, masked=MASKED, **how.now())
        parts += [
            _("<b>{n}FLOP</b> a step").format(n=short(step)),
            _("<b>{n}</b> memory").format(n=short_bytes(peak.peak)),
        ]
    return f'<div class="mb-sums" role="status">{"".join(f"<span>{part}</span>" for part in parts)}</div>'
