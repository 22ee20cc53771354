"""How similar are positions? Learned vectors beside sine and cosine waves."""

from functools import partial

import streamlit as st

from sections.input.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.text import Signed
from ui.translations import _

PLACES = 128


@st.cache_data(show_spinner=False, max_entries=8)
def position_tables(model: str, version: int):
    """The first PLACES rows of the learned table and of the sinusoids; None for a model without such a table."""
    from minibert.inside.geometry.vectors import encoder_of
    from minibert.text.position_vectors import sinusoids

    embeddings = encoder_of(load(model).model).embeddings
    if not hasattr(embeddings, "position"):
        return None
    table = embeddings.position.weight.detach()[:PLACES].numpy()
    return table, sinusoids(*table.shape).numpy()


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The cosine between any two positions, learned and fixed."""
    from plots.embeddings_sum import cosines, position_similarity

    tables = position_tables(inputs.model, version_of(inputs.model))
    if tables is None:
        st.info(
            _(
                "This model has no table of positions to compare: its heads use the distance of two tokens. Choose "
                "another model above."
            ),
            icon=":material/help:",
        )
        return
    learned, fixed = tables
    titles = (_("learned by the model"), _("sine and cosine waves"))
    near = {name: cosines(table) for name, table in zip(titles, (learned, fixed), strict=True)}
    words = _("; ").join(
        _("{name}: neighbours {one:.2f}, eight apart {eight:.2f}").format(
            name=name, one=Signed(matrix.diagonal(1).mean()), eight=Signed(matrix.diagonal(8).mean())
        )
        for name, matrix in near.items()
    )
    alt = _("Cosine between the vectors of the first {n} places. On average, {words}.").format(
        n=len(learned), words=words
    )
    one = {name: Signed(matrix.diagonal(1).mean()) for name, matrix in near.items()}
    title = _("Neighbours are alike: cosine {learned:.2f} where learned, {fixed:.2f} between waves").format(
        learned=one[titles[0]], fixed=one[titles[1]]
    )
    figure(partial(position_similarity, learned, fixed, titles, _("place"), title), alt, key="places", wide=True)
    st.markdown(_("On average: {words}.").format(words=words))
    lesson.show("How alike are places?", title=False)
    lesson.show("How the Transformer's input differs")
