"""The weights, counted: V·H against V·E + E·H, one block against L; and the published sizes."""

import streamlit as st

from sections.albert.subject import Inputs
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _, pgettext

WIDTHS = (16, 32, 64, 128, 256, 512, 768, 1024, 2048, 4096)  # E
SIZES = ("base", "large", "xlarge", "xxlarge")
HALVES = {"attention": "block.attn", "mlp": "block.mlp"}  # group in the figure → prefix of its parts


def shared_words() -> dict[str, str]:
    return {
        "all": _("all"),
        "attention": _("attention"),
        "feed_forward": _("feed-forward"),
        "none": pgettext("shared", "nothing"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import counted, parameters
    from minibert.relatives import shape_of
    from minibert.relatives.albert import AlbertConfig
    from plots.albert import weights
    from plots.theme import titled

    lesson.show("The weights", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="weights-asked"):
        size = choice("size", _("Size"), {name: name for name in SIZES})
        shared = choice("shared", _("Shared by all layers"), shared_words())
        width = st.select_slider(
            _("E, width of the embeddings"), WIDTHS, value=128, key="E", bind="query-params", width=260
        )
    albert = AlbertConfig.preset(size, embedding_size=int(width), shared=shared)
    bert = BertConfig(
        albert.vocab_size,
        albert.hidden_size,
        albert.num_hidden_layers,
        albert.num_attention_heads,
        albert.intermediate_size,
    )
    counts = {_("BERT of these sizes"): parameters(bert), "ALBERT": parameters(shape_of(albert))}
    before, after = (count.with_pooler for count in counts.values())
    names = {
        "embeddings": _("embeddings"),
        "attention": _("attention, a copy each"),
        "mlp": _("feed-forward, a copy each"),
        "heads": _("pooler"),
    }
    title = _("{after:,} weights in the place of {before:,}: {times:.1f} times fewer").format(
        after=after, before=before, times=before / after
    )
    figure(
        titled(weights({name: segments(count) for name, count in counts.items()}, names, _("million weights")), title),
        title
        + _(". ")
        + _("; ").join(
            f"{name}{_(': ')}" + _(", ").join(f"{part.name} {part.times} × {part.one:,}" for part in encoder(count))
            for name, count in counts.items()
        ),
        "weights",
        data=lambda: [
            {
                _("model"): name,
                _("part"): part.name,
                _("formula"): part.formula,
                _("one copy"): part.one,
                _("copies"): part.times,
            }
            for name, count in counts.items()
            for part in encoder(count)
        ],
    )
    table(bert, albert)
    show_source(counted, find="copies(", label=_("How it is counted"))


def encoder(count) -> list:
    """The parts up to the pooler: what transformers calls BertModel, and what the papers count."""
    return [part for part in count.parts if part.name.startswith(("embeddings.", "block.", "pooler"))]


def segments(count) -> list[tuple[str, int]]:
    """(group, weights) of each copy, in the order of data flow: embeddings, block after block, pooler. A norm belongs
    to its half of the block."""
    result = [("embeddings", count.of("embeddings."))]
    halves = {
        group: (sum(part.one for part in parts), parts[0].times)
        for group, prefix in HALVES.items()
        if (parts := [part for part in count.parts if part.name.startswith(prefix)])
    }
    for layer in range(max(times for _one, times in halves.values())):
        result += [(group, one) for group, (one, times) in halves.items() if layer < times]
    return [*result, ("heads", count.of("pooler"))]


def table(bert, albert) -> None:
    """The three sums, with their formulas and the numbers in them."""
    from minibert.count import SHARED, parameters
    from minibert.relatives import shape_of

    theirs, ours = parameters(bert), parameters(shape_of(albert))
    v, e, h, layers = (albert.vocab_size, albert.embedding_size, albert.hidden_size, albert.num_hidden_layers)
    rows = [(_("words"), f"V·H = {v:,}·{h:,}", v * h, f"V·E + E·H = {v:,}·{e:,} + {e:,}·{h:,}", v * e + e * h)]
    for half, prefix in ((_("attention"), "block.attn"), (_("feed-forward"), "block.mlp")):
        one = sum(part.one for part in ours.parts if part.name.startswith(prefix))
        here = 1 if prefix.removeprefix("block.") in SHARED[albert.shared] else layers
        rows.append((half, f"{layers} × {one:,}", layers * one, f"{here} × {one:,}", here * one))
    rows.append((_("all, with pooler"), "", theirs.with_pooler, "", ours.with_pooler))
    head = f"| | {_('BERT of these sizes')} | | ALBERT | |\n|:--|:--|--:|:--|--:|\n"
    st.markdown(head + "\n".join(f"| {a} | {b} | {c:,} | {d} | {e:,} |" for a, b, c, d, e in rows))
    st.caption(
        _(
            "Both with the vocabulary of ALBERT, V = {v:,}. Positions, segments, norms and biases stand in the last "
            "line only, those of the blocks in theirs."
        ).format(v=v)
    )


def show_published(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import flops, parameters
    from minibert.relatives import shape_of
    from minibert.relatives.albert import AlbertConfig

    lesson.show("What became of it", title=False)
    base = flops(BertConfig.preset("base"), 1, 128, 0, training=False).total
    rows = []
    for name in SIZES:
        config = AlbertConfig.preset(name)
        work = flops(shape_of(config), 1, 128, 0, training=False).total / base
        rows.append(
            {
                _("model"): f"ALBERT-{name}",
                "L": config.num_hidden_layers,
                "H": config.hidden_size,
                "E": config.embedding_size,
                _("weights, with pooler"): f"{parameters(shape_of(config)).with_pooler:,}",
                _("arithmetic of an answer, BERT-base = 1"): f"{work:.1f}",
            }
        )
    st.markdown("### " + _("Sizes, counted"))
    st.table(rows)
    st.caption(
        _(
            "Counted by minibert.count; the tests hold the weights against `AlbertModel` of transformers. The paper "
            "has 12, 18, 60 and 235 million (table 1): of the last its released model has fewer. The arithmetic is "
            "of 128 tokens."
        )
    )
