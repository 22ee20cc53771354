"""Three vectors are added: strips that slide into their sum. The numbers come from the model."""

from pathlib import Path

import streamlit as st

from sections.input.subject import COLUMNS, Inputs
from ui.figures import in_words
from ui.lesson import Lesson
from ui.model_cache import load, trace_of
from ui.page import picture
from ui.player import controls, moving, reported_value
from ui.predict import predict
from ui.source import show_source
from ui.text import Signed, literal, visible
from ui.translations import _

DIMENSIONS = 64  # of a vector that are drawn
START = 2  # default token of the picture
NUMBERS = 8  # of a vector that are written out
KEY = "strips"
TOKEN = "_token"  # session_state key: the token's position, from 0
_HTML = """<div class="moving" role="group" tabindex="0"><div class="tokens"></div>
<p class="said" aria-live="polite"></p>
<div class="way"></div><div class="strips"></div><p class="numbers"></p></div>"""


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The strips of one token, and their numbers."""
    trace = trace_of(inputs.model, inputs.first, inputs.second)
    place = min(st.session_state.get(TOKEN, START), min(len(trace.tokens), COLUMNS) - 1)
    names = {"token": _("token"), "segment": _("segment"), "position": _("position")}
    # No position: NEZHA. narrow: ALBERT's E-wide sum, before the projection to H.
    parts = {title: trace[tap][place] for name, title in names.items() if (tap := f"embeddings.{name}") in trace.names}
    if list(parts) == [_("token")]:
        _nothing_added(trace, place)
        return
    narrow = "embeddings.narrow" in trace.names
    total, out = trace["embeddings.sum"][place], trace["embeddings.narrow" if narrow else "embeddings.out"][place]
    with picture():
        answered = _guessed(inputs, visible(trace.tokens[place]), parts)
        _strips(inputs, trace, place, parts, total, out, answered)
    after = {_("sum"): total, _("after LayerNorm"): out}
    if narrow:
        after[_("widened to H")] = trace["embeddings.out"][place]
    rows = [
        {_("vector"): literal(name), **{str(i + 1): f"{Signed(v):+.6f}" for i, v in enumerate(vector[:NUMBERS])}}
        for name, vector in {**parts, **after}.items()
    ]
    with st.container(key="wide-numbers"):
        st.table(rows)
    positions = _("position") in parts
    st.markdown(_picked(trace, place, positions))
    if positions and (twice := _twice(trace, place)):
        st.markdown(twice)
    if narrow:
        st.markdown(
            _(
                "The three and their sum are E = {e} numbers wide; after LayerNorm one matrix makes H = {h} of them."
            ).format(e=len(total), h=trace.config.hidden_size)
        )
    lesson.show("Three vectors are added", title=False)
    _source(inputs.model, positions, narrow)


def _nothing_added(trace, place: int) -> None:
    """XLNet: the token's vector alone, with nothing added."""
    st.info(
        _(
            "Nothing is added to a token’s vector here: each head of this model gets the distance of two tokens and "
            "whether they are in one segment. Choose another model above to see three vectors added."
        ),
        icon=":material/help:",
    )
    vector = trace["embeddings.out"][place]
    with st.container(key="wide-numbers"):
        st.table(
            [{_("vector"): _("token"), **{str(i + 1): f"{Signed(v):+.6f}" for i, v in enumerate(vector[:NUMBERS])}}]
        )


def _guessed(inputs: Inputs, token: str, parts: dict) -> bool:
    """Ask which vector is longest; True if the lengths may be shown."""
    names = list(parts)
    longest = max(names, key=lambda name: _length(parts[name]))
    return predict(
        "longest",
        _("Which vector of “{token}” is longest?").format(token=literal(token)),
        names,
        names.index(longest),
        about=f"{inputs.model} {token} {_length(parts[longest]):.6f}",
    )


def _length(vector) -> float:
    return float((vector.astype("float64") ** 2).sum() ** 0.5)


def _strips(inputs: Inputs, trace, place: int, parts: dict, total, out, answered: bool) -> None:
    """The moving picture."""
    import numpy as np

    from plots.theme import DIVERGING

    token = visible(trace.tokens[place])
    lengths = _("; ").join(f"{name} {_length(vector):.3f}" for name, vector in {**parts, _("sum"): total}.items())
    longest = max(parts, key=lambda name: _length(parts[name]))
    finding = _("“{token}”: its {part} vector is the longest, {length:.2f}").format(
        token=token, part=longest, length=_length(parts[longest])
    )
    added = list(parts)
    steps = [
        _("“{token}”: {n} vectors of {h} numbers each").format(token=token, n=len(parts), h=len(total)),
        *(
            " + ".join(added[: n + 1]) + (f" = {_('sum')}" if n == len(added) - 1 else " + …")
            for n in range(len(added))
        ),
        finding
        if answered
        else _(
            "… and LayerNorm brings each token’s numbers to mean 0 and variance 1, then applies a learned gain and "
            "shift"
        ),
    ]
    alt = _("The first {n} of {h} numbers of each vector for “{token}”. {lengths}").format(
        n=min(DIMENSIONS, len(total)),
        h=len(total),
        token=token,
        lengths=_("Lengths: {lengths}.").format(lengths=lengths) if answered else "",
    )

    def strip(name: str, vector) -> dict:
        return {
            "name": name,
            "values": [float(value) for value in vector[:DIMENSIONS]],
            "length": f"{_length(vector):.2f}" if answered else "",
        }

    def reach(*vectors) -> float:
        """Limit of the colour scale: the 97 % quantile, so that a few large numbers do not pale all others."""
        return float(np.quantile(np.abs([vector[:DIMENSIONS] for vector in vectors]), 0.97)) or 1.0

    moving("strips", Path(__file__).parent, _HTML)(
        key=KEY,
        data={
            "identity": f"{inputs.model}\n{inputs.first}\n{inputs.second}\n{place}",
            "tokens": [visible(one) for one in trace.tokens[:COLUMNS]],
            "token": place,
            "parts": [strip(name, vector) for name, vector in parts.items()],
            "sum": strip(_("sum"), total),
            "out": strip(_("after LayerNorm"), out) | {"limit": reach(out)},
            "limit": reach(*parts.values(), total),
            "colours": DIVERGING,
            "told": answered,
            "texts": {"steps": steps, "numbers": _("Dimension {n}: {terms} = {sum}")},
            "controls": controls(_("Steps so far"), _("step {n} of {last}")),
            "alt": alt,
        },
        on_token_change=_take,
    )
    in_words(alt, "strips-words", None)


def _take() -> None:
    number = reported_value(KEY, "token")
    if number is not None:
        st.session_state[TOKEN] = number


def _picked(trace, place: int, positions: bool) -> str:
    """Which rows of the embedding tables were looked up."""
    text = _(
        "Token {id} → row {id}; segment {segment} → row {segment}; position {place} of the text → row {row}, counting "
        "from 0."
    )
    without = _(
        "Token {id} → row {id}; segment {segment} → row {segment}. This model has no position embeddings, so two "
        "vectors are added, not three."
    )
    return (text if positions else without).format(
        id=trace.ids[place], segment=trace.encoding.segments[place], place=place + 1, row=place
    )


def _twice(trace, place: int) -> str:
    """What the sums of one token at two places have in common; "" if no token comes more than once."""
    import numpy as np

    ids = trace.ids[: len(trace.tokens)]
    often = [i for i, one in enumerate(ids) if not trace.encoding.special[i] and ids.count(one) > 1]
    if not often:
        return ""
    here = place if place in often else often[0]
    there = next(i for i in often if i != here and ids[i] == ids[here])
    one, other = (trace["embeddings.sum"][i].astype("float64") for i in (here, there))
    cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    return _(
        "“{token}” stands at positions {here} and {there}: the same token vector, and still two different sums, "
        "with a cosine of {cosine:.2f}."
    ).format(token=literal(visible(trace.tokens[here])), here=here + 1, there=there + 1, cosine=Signed(cosine))


def _source(model: str, positions: bool, narrow: bool) -> None:
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.model import Embeddings

    own = type(encoder_of(load(model).model).embeddings)
    show_source(Embeddings if positions else own, find='tap("sum"', label=_("The sum, in the running code"))
    if narrow:
        show_source(own, find="self.projection(", label=_("… and what widens it"))
