"""The two streams, computed as in the paper, and as one row of double length under one mask: the same numbers."""

from functools import partial

import streamlit as st

from plots.xlnet import double_mask
from sections.xlnet.subject import Inputs, streams
from ui.figures import figure
from ui.lesson import Lesson
from ui.pairs import networks
from ui.source import show_source
from ui.text import visible
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    import torch

    from minibert.inside.relatives.two_streams import double_length, two_streams
    from minibert.model import Batch
    from minibert.relatives.parts.permutation import with_queries

    lesson.show("Why two streams", title=False)
    if not inputs.tokens:
        return
    model = networks(inputs.pair)[0]
    batch = Batch(torch.tensor([list(inputs.ids)]), order=torch.tensor([list(inputs.order)]))
    content, query = two_streams(model.bert, batch)
    both, count = double_length(model.bert, batch)[0], len(inputs.ids)
    apart = max(float((both[:count] - content[0]).abs().max()), float((both[count:] - query[0]).abs().max()))
    largest = float(both.abs().max())
    _longer, mask, _asked = with_queries(Batch(batch.ids, labels=batch.ids, order=batch.order), model.config.vocab_size)
    words = [visible(token) for token in inputs.tokens]
    finding = _("One row of double length gives the same vectors as two streams").format(n=count, apart=apart)
    alt = _(
        "Mask of {n} × {n}. Tokens look at tokens read before them and at themselves; queries at tokens read before "
        "them; no token looks at a query. {open} cells are open."
    ).format(n=2 * count, open=int(mask.sum()))
    figure(partial(double_mask, words, mask[0, 0].numpy(), tuple(streams()), finding), alt, "double", wide=True)
    differ = _(
        "Computed just now with the page’s XLNet in both ways: of numbers up to {largest:.2f} in size, the two "
        "differ by at most **{apart:.1e}**, which is the rounding of 32-bit arithmetic."
    )
    equal = _("Computed just now with the page’s XLNet in both ways: the two are equal to the last bit.")
    st.markdown((differ if apart else equal).format(largest=largest, apart=apart))
    lesson.show("One row of double length", title=False)
    show_source(two_streams, label=_("The streams apart"))
    show_source(with_queries, find="query_id", label=_("… and as one row: this is what is trained here"))
