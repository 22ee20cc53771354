"""Two masked words: predicted independently, or one after the other. *New York* is the paper's example."""

import html
from functools import partial

import streamlit as st

from plots.xlnet import joint_bars
from sections.xlnet.subject import Inputs
from ui.figures import figure
from ui.inputs import numbered, pick
from ui.lesson import Lesson
from ui.pairs import networks
from ui.predict import predict
from ui.source import show_source
from ui.text import literal, tokens_html, visible
from ui.translations import _

DRAWS = 8


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("Words that go together", title=False)
    if len(inputs.tokens) < 2:
        st.info(_("Type at least two words."), icon=":material/edit:")
        return
    words = numbered([visible(token) for token in inputs.tokens])
    usual = usual_words(inputs)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = pick("first", _("One hidden word"), words, default=usual[0], width=220)
        second = pick("second", _("and another"), words, default=usual[-1], width=220)
    if first == second:
        st.info(_("Choose two different words."), icon=":material/edit:")
        return
    places = tuple(sorted((first, second)))
    hidden = [visible(token) for token in inputs.tokens]
    kinds = ["mask" if n in places else "plain" for n in range(len(hidden))]
    for place in places:
        hidden[place] = "[MASK]"
    st.html(tokens_html(hidden, kinds=kinds, label=_("what is known")))
    one, other = (visible(inputs.tokens[place]) for place in places)
    ways = probabilities(inputs, places)
    bert, xlnet = (ways[name][0] for name in (_("BERT, both at once"), _("XLNet, one after the other")))
    question = _("Who gives “{one} … {other}” the higher joint probability?")
    if not predict(
        "joint",
        question.format(one=literal(one), other=literal(other)),
        [_("BERT, both at once"), _("XLNet, one after the other")],
        int(xlnet > bert),
        about=f"{inputs.text}\n{places}\n{inputs.pair.name}",
    ):
        return
    joint = {name: value for name, (value, _parts) in ways.items()}
    listed = _("; ").join(f"{name}{_(': ')}{value:.3%}" for name, value in joint.items())
    times = xlnet / bert if bert else 0.0
    figure(
        partial(
            joint_bars,
            joint,
            _("P(both words)"),
            _("P(“{one}”, “{other}”): XLNet, one after the other, {times:.1f} × BERT’s at once").format(
                one=one, other=other, times=times
            ),
        ),
        _("The joint probability of “{one}” and “{other}”. {told}.").format(one=one, other=other, told=listed),
        "joint",
        data=[
            {_("way"): name, _("its factors"): parts, _("joint"): f"{value:.3%}"}
            for name, (value, parts) in ways.items()
        ],
        wide=True,
    )
    draws(inputs, places)
    lesson.show("Independent guesses", title=False)


def usual_words(inputs: Inputs) -> tuple[int, ...]:
    """Positions of a pair of words that belong together in the toy world, else of the first and last word."""
    known = combinations()
    for a in range(len(inputs.ids)):
        for b in range(len(inputs.ids) - 1, a, -1):
            if (inputs.ids[a], inputs.ids[b]) in known:
                return a, b
    return 0, len(inputs.ids) - 1


@st.cache_resource(show_spinner=False)
def combinations() -> set[tuple[int, ...]]:
    """Pairs of ids that belong together in the toy world: first and last word of each group."""
    from minibert.tokenizer import Tokenizer
    from minibert.toy import world
    from minibert.toy.collocations import REFERENCE_SEED, collocations_of

    groups = collocations_of(world.stories(600, REFERENCE_SEED, "small"), Tokenizer(world.vocabulary()))
    return {(group.words[0], group.words[-1]) for group in groups}


@st.cache_data(show_spinner=False, max_entries=64, hash_funcs={Inputs: lambda inputs: (inputs.text, inputs.pair.name)})
def _log_probs(inputs: Inputs, places: tuple[int, ...], version: int) -> list[list[float]]:
    """For BERT, then XLNet: log-probabilities of both words at once, then one after the other."""
    from minibert.toy.collocations import at_once, in_order

    xlnet, bert, tokenizer = networks(inputs.pair)
    row, inside = inputs.row(), [place + 1 for place in places]  # shifted by [CLS]
    return [way(model, row, inside, tokenizer.mask_id) for model in (bert, xlnet) for way in (at_once, in_order)]


def probabilities(inputs: Inputs, places: tuple[int, ...]) -> dict[str, tuple[float, str]]:
    """Way → the joint probability, and its factors in words."""
    from math import exp

    names = (
        _("BERT, both at once"),
        _("BERT, filled in one after the other"),
        _("XLNet, both at once"),
        _("XLNet, one after the other"),
    )
    results = {}
    for name, logs in zip(names, _log_probs(inputs, places, inputs.pair.version), strict=True):
        results[name] = (exp(sum(logs)), " · ".join(f"{exp(value):.2%}" for value in logs))
    return results


@st.cache_data(show_spinner=False, max_entries=64, hash_funcs={Inputs: lambda inputs: (inputs.text, inputs.pair.name)})
def _drawn(inputs: Inputs, places: tuple[int, ...], version: int) -> list[list[tuple[int, ...]]]:
    """Pairs sampled by BERT at once, and by XLNet one after the other."""
    import torch

    from minibert.toy.collocations import sample_words

    xlnet, bert, tokenizer = networks(inputs.pair)
    row, inside, rng = inputs.row(), [place + 1 for place in places], torch.Generator().manual_seed(0)
    return [
        [sample_words(model, row, inside, tokenizer.mask_id, rng, chained=chained) for _draw in range(DRAWS)]
        for model, chained in ((bert, False), (xlnet, True))
    ]


def draws(inputs: Inputs, places: tuple[int, ...]) -> None:
    """Both words sampled several times: which samples occur in the toy world."""
    vocab, known = networks(inputs.pair)[2].vocab, combinations()
    rows, counts = [], []
    for name, drawn in zip(("BERT", "XLNet"), _drawn(inputs, places, inputs.pair.version), strict=True):
        counts.append(sum(pair in known for pair in drawn))
        items = "".join(
            f'<li class="{"fits" if pair in known else "odd"}"><span>{"✓" if pair in known else "·"}</span>'
            f"<bdi>{html.escape(' … '.join(visible(vocab[i]) for i in pair))}</bdi></li>"
            for pair in drawn
        )
        rows.append(f'<li><b>{name}</b><ul class="mb-draws">{items}</ul></li>')
    words = _("Both words drawn {n} times: of BERT’s draws {a} go together in the toy world, of XLNet’s {b}")
    st.markdown(f"**{words.format(n=DRAWS, a=counts[0], b=counts[1])}**")
    st.html(f'<ul class="mb-drawn">{"".join(rows)}</ul>')
    st.caption(_("✓: such a pair stands in stories of the toy world. Pairs of other kinds than these are not counted."))
    from minibert.toy.collocations import expected

    show_source(expected, label=_("One word, while others are unknown too"))
