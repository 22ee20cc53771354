"""How hard each masking is: the same text masked many times, and the model's accuracy."""

import math
from functools import partial

import streamlit as st

from minibert.training.statistics import wilson
from sections.what_to_hide.side_by_side import ways
from sections.what_to_hide.subject import Inputs, vocabulary
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.model_cache import load, version_of
from ui.source import show_source
from ui.translations import _

DRAWS, MOST = 40, 128  # of each way; tokens of a text


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.masking import units
    from minibert.relatives.parts import span_boundary as spans
    from plots.what_to_hide import shares

    lesson.show("What falls together")
    counted = _counted(inputs.text, inputs.model, version_of(inputs.model), inputs.rate, inputs.chinese)
    if any(n for _right, n in counted.values()):
        words = ways()
        rows = {words[kind][0]: (right / n, *wilson(right, n)) for kind, (right, n) in counted.items() if n}
        listed = _("; ").join(f"{name} {share:.0%}" for name, (share, *_rest) in rows.items())
        figure(
            partial(shares, rows, _("hidden tokens right")),
            _("Your text, drawn {n} times in each way. {told}.").format(n=DRAWS, told=listed),
            "how-hard",
            title=_finding(rows),
            data=[{_("hidden"): name, _("right"): f"{share:.1%}"} for name, (share, *_rest) in rows.items()],
        )
        say_left_out(len(load(inputs.model).tokenizer.encode(inputs.text)) - MOST)
        st.caption(
            _(
                "Your text above, {n} draws of each way, {rate} % hidden; bars: 95 % intervals of a share (Wilson), as "
                "if every token were one throw. Two ways differ if the 95 % interval of their difference leaves out 0; "
                "of the others the figure says no order."
            ).format(n=DRAWS, rate=inputs.rate)
        )
    lesson.show("Harder is not better by itself")
    show_source(units.draw_units, label=_("Units in random order, until the budget is full"))
    show_source(spans.length_shares, label=_("The lengths of SpanBERT’s spans"))
    show_source(units.hide_units, find="draw(list(row)", label=_("A unit falls as a whole"))


def _finding(rows: dict[str, tuple[float, float, float]]) -> str:
    """Which ways are harder or easier than the first, BERT's own, by more than the noise. rows: → share, interval."""
    first, *others = rows
    harder = [name for name in others if differs(rows[first], rows[name])]
    easier = [name for name in others if differs(rows[name], rows[first])]
    words = {
        _("Harder than {first} ({share:.0%} right) by more than the noise: {names}"): harder,
        _("Easier than {first} ({share:.0%} right) by more than the noise: {names}"): easier,
    }
    if not harder + easier:
        words = {_("No way differs from {first} ({share:.0%} right) by more than the noise"): [first]}
    share = rows[first][0]
    return " · ".join(
        told.format(first=first, share=share, names=_(", ").join(names)) for told, names in words.items() if names
    )


def differs(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Whether the first share is larger by more than the noise: the 95 % interval of their difference, made of those
    of both (Newcombe 1998), is above 0. one, other: share, low, high."""
    return one[0] - other[0] > math.hypot(one[0] - one[1], other[2] - other[0])


@st.cache_data(show_spinner=False, max_entries=64)
def _counted(text: str, model: str, version: int, rate: int, chinese: bool) -> dict[str, tuple[int, int]]:
    """Kind → (right predictions, masked tokens), over all draws."""
    from minibert.inside.predictions.hidden_text import KINDS, guessed, hide, read

    def compute() -> dict[str, tuple[int, int]]:
        loaded, vocab = load(model), vocabulary(model)
        reading = read(loaded.tokenizer, vocab, text, MOST, chinese)
        if all(reading.kept):
            return dict.fromkeys(KINDS, (0, 0))
        rows = [hide(reading, kind, vocab, rate / 100, seed) for kind in KINDS for seed in range(DRAWS)]
        hidden = guessed(loaded.model, rows, loaded.tokenizer.pad_id)  # in one batch: ways often hide the same
        drawn = {kind: hidden[n * DRAWS : (n + 1) * DRAWS] for n, kind in enumerate(KINDS)}
        return {
            kind: (sum(one.right for one in some), sum(len(one.places) for one in some)) for kind, some in drawn.items()
        }

    stored = first_view("what_to_hide", "hard", model, [text, rate, chinese, DRAWS], compute)
    return {kind: (int(right), int(n)) for kind, (right, n) in stored.items()}
