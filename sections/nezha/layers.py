"""LAMB's trust ratio per weight matrix, for the page's NEZHA in further training, beside AdamW's step."""

from collections.abc import Iterator
from functools import partial

import streamlit as st

from sections.nezha.subject import STORIES, Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.pairs import ModelPair, networks
from ui.source import show_source
from ui.translations import _

BATCHES = (8, 32, 128)
STEPS, RATE = 5, 1e-3


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.training.lamb import Lamb
    from plots.nezha import layer_shares

    lesson.show("LAMB", title=False)

    rows = st.segmented_control(_("Rows a batch"), BATCHES, default=32, key="lamb-rows", required=True)
    steps = moved(inputs.pair, inputs.pair.version, int(rows or 32))
    names = [name_of(one.name) for one in steps]
    least, most = min(steps, key=lambda one: one.adamw), max(steps, key=lambda one: one.adamw)
    st.markdown(
        _(
            "At the same learning rate {rate:g}, AdamW moves **{most}** by {high:.2%} of its length and **{least}** by "
            "{low:.2%}, {times:.0f} times less. LAMB moves each by {lamb:.2%}."
        ).format(
            rate=RATE,
            most=name_of(most.name),
            high=most.adamw,
            least=name_of(least.name),
            low=least.adamw,
            times=most.adamw / least.adamw if least.adamw else 0,
            lamb=steps[0].lamb,
        )
    )
    shares = {"AdamW": [one.adamw for one in steps], "LAMB": [one.lamb for one in steps]}
    listed = "; ".join(f"{name}: {one.adamw:.2%}, {one.lamb:.2%}" for name, one in zip(names, steps, strict=True))
    table = [
        {
            _("matrix"): name,
            "‖w‖": f"{one.weight:.2f}",
            "‖u‖": f"{one.step:.2f}",
            _("ratio ‖w‖/‖u‖"): f"{one.ratio:.4f}",
            "AdamW": f"{one.adamw:.3%}",
            "LAMB": f"{one.lamb:.3%}",
        }
        for name, one in zip(names, steps, strict=True)
    ]
    figure(
        partial(layer_shares, names, shares, _("share of its length that a step moves it")),
        _("By how much of its own length a step moves each matrix, AdamW and LAMB. {told}.").format(told=listed),
        "layer-shares",
        data=table,
        wide=True,
    )
    words = _(
        "The page’s NEZHA, {steps} steps further with AdamW on stories it has not read; of the last step, u = "
        "m̂/(√v̂ + ε) + λw of each matrix. Numbers stand under *In words and numbers*."
    )
    st.caption(words.format(steps=STEPS))
    show_source(Lamb.move, find="trust_ratio", label=_("A step of LAMB"))
    lesson.show("When batches grow")


def name_of(weight: str) -> str:
    """The shortest unambiguous name of a weight."""
    for long, short in (("bert.", ""), (".weight", ""), ("blocks.", "block "), ("embeddings.", ""), (".attn.", " ")):
        weight = weight.replace(long, short)
    parts = weight.split()
    if parts[0] == "block":
        number, _dot, rest = parts[1].partition(".")
        return " ".join([f"block {int(number) + 1}", *([rest] if rest else []), *parts[2:]])
    return weight


def batches(pair: ModelPair, rows: int) -> Iterator:
    """Batches of stories outside the training data of every pair, 15 % masked as in the paper."""
    from minibert.objectives import MaskedLanguageModel
    from minibert.text.batches import PretrainingBatches
    from minibert.text.store import TokenStore
    from minibert.toy import world

    tokenizer = networks(pair)[2]
    store = TokenStore.build(world.documents(max(200, 2 * rows), STORIES, "small"), tokenizer)
    options = {"batch_size": rows, "max_length": 32, "seed": 0, "input_format": "doc_sentences"}
    return iter(PretrainingBatches(store, tokenizer, objective=MaskedLanguageModel(second=None), **options))


@st.cache_data(show_spinner=False, max_entries=12, hash_funcs={ModelPair: lambda pair: pair.name})
def moved(pair: ModelPair, version: int, rows: int) -> list:
    from itertools import islice

    from minibert.inside.layer_steps import layer_steps
    from minibert.objectives import MaskedLanguageModel
    from minibert.train import Optimization

    model = networks(pair)[0]
    steps = islice(batches(pair, rows), STEPS)
    return layer_steps(model, steps, MaskedLanguageModel(second=None), Optimization(learning_rate=RATE))
