"""Is order missing from the encoder's vectors, or does the NSP head ignore it? A new layer is trained to test that."""

import streamlit as st

from sections.next_sentence.kinds import passages
from sections.next_sentence.subject import Inputs, bundled
from ui.lesson import Lesson
from ui.model_cache import language_read, load, version_of
from ui.source import show_source
from ui.translations import _


@st.cache_data(show_spinner=False, max_entries=24)
def taught(model: str, version: int, sentences: int) -> dict[str, tuple[int, int]]:
    from minibert.inside.predictions.next_sentence import probes, teach_order

    loaded = load(model)
    documents = bundled(language_read(model))
    return teach_order(loaded.model, loaded.tokenizer, probes(*documents, sentences=sentences))


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.next_sentence import teach_order
    from minibert.training.statistics import wilson

    model = inputs.model
    lesson.show("Can it be taught?", title=False)
    sentences = passages()
    key = (model, sentences)
    if st.button(_("Train two layers on order"), key="teach", icon=":material/play_arrow:", type="primary"):
        st.session_state["taught"] = key
    if st.session_state.get("taught") == key:
        with st.spinner(_("Reading the pairs, then training …")):
            results = taught(model, version_of(model), sentences)
        titles = {"pooled": _("reads [CLS], as the head does"), "means": _("reads the mean vector of A and of B")}
        for column, (name, (right, n)) in zip(st.columns(2), results.items(), strict=True):
            low, high = wilson(right, n)
            column.metric(titles[name], f"{right / n:.1%}", border=True)
            words = _("{right} of {n} right; 95% interval {low:.0%} – {high:.0%}; guessing: 50%.")
            column.caption(words.format(right=right, n=n, low=low, high=high))
    show_source(teach_order)
