"""The same sentence through each model: the outputs."""

import streamlit as st

from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.predict import predict
from ui.text import literal
from ui.through.passage import Passage, PassageState
from ui.through.payload import share_text
from ui.through.picture import pass_of, title_and_about
from ui.translations import _


def show(lesson: Lesson, inputs: PassageState) -> None:
    lesson.show("The same way, three models", title=False)
    if inputs.passage is None:
        return
    if inputs.waiting:
        st.info(_("Loading the model …"), icon=":material/hourglass_top:")
        return
    passage = inputs.passage
    rows, shares = [], []
    for name in passage.models:
        row, share = _row(name, passage)
        rows.append(row)
        shares.append(share)
    if None not in shares:
        titles = [title_and_about(name)[0] for name in passage.models]
        question = _("Which model expects “{word}” most?").format(word=literal(passage.word))
        if not predict("expects", question, titles, shares.index(max(shares)), about=passage.hidden + passage.second):
            return
    st.table(rows)


def _row(name: str, passage: Passage) -> tuple[dict[str, str], float | None]:
    """A model's outputs for the text, and its probability of the hidden word, None if that is not a single piece."""
    one_pass, tokenizer = pass_of(name, passage), outline_of(name).tokenizer
    ((piece, share),) = one_pass.guesses(tokenizer.vocab, 1)
    right = tokenizer.encode(passage.word, add_special=False).ids
    hidden = float(one_pass.expected[right[0]]) if len(right) == 1 and right[0] not in tokenizer.special_ids else None
    row = {
        _("model"): title_and_about(name)[0],
        _("pieces"): str(len(one_pass.encoding)),
        _("blocks × heads"): f"{one_pass.layers} × {one_pass.attention.shape[1]}",
        _("expects most"): f"{literal(piece)}{_(', ')}{share_text(share)}",
        _("the hidden word"): _("no single piece") if hidden is None else share_text(hidden),
        _("the second follows"): _("no second sentence") if one_pass.follows is None else share_text(one_pass.follows),
    }
    return row, hidden
