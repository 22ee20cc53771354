"""The same sentence through each model: the outputs."""

import streamlit as st

from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.predict import may_show, predict
from ui.text import literal
from ui.through.passage import Passage, PassageState
from ui.through.payload import share_text
from ui.through.picture import pass_of, title_and_about
from ui.translations import _


def guess_first(passage: Passage) -> bool:
    """Whether the question is still open: then nothing above it may tell the answer."""
    return _can_ask(passage) and not may_show("expects", _about(passage))


def _can_ask(passage: Passage) -> bool:
    """Whether the hidden word is a single piece to every model."""
    return all(_piece(name, passage) is not None for name in passage.models)


def _about(passage: Passage) -> str:
    return passage.hidden + passage.second


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
    if _can_ask(passage):
        titles = [title_and_about(name)[0] for name in passage.models]
        question = _("Which model expects “{word}” most?").format(word=literal(passage.word))
        if not predict("expects", question, titles, shares.index(max(shares)), about=_about(passage)):
            return
    st.table(rows)


def _row(name: str, passage: Passage) -> tuple[dict[str, str], float | None]:
    """A model's outputs for the text, and its probability of the hidden word, None if that is not a single piece."""
    one_pass, right = pass_of(name, passage), _piece(name, passage)
    ((piece, share),) = one_pass.guesses(outline_of(name).tokenizer.vocab, 1)
    hidden = None if right is None else float(one_pass.expected[right])
    row = {
        _("model"): title_and_about(name)[0],
        _("pieces"): str(len(one_pass.encoding)),
        _("blocks × heads"): f"{one_pass.layers} × {one_pass.attention.shape[1]}",
        _("expects most"): f"{literal(piece)}{_(', ')}{share_text(share)}",
        _("the hidden word"): _("no single piece") if hidden is None else share_text(hidden),
        _("the second follows"): _("no second sentence") if one_pass.follows is None else share_text(one_pass.follows),
    }
    return row, hidden


def _piece(name: str, passage: Passage) -> int | None:
    """The id of the hidden word, None if it is not a single piece."""
    tokenizer = outline_of(name).tokenizer
    ids = tokenizer.encode(passage.word, add_special=False).ids
    return ids[0] if len(ids) == 1 and ids[0] not in tokenizer.special_ids else None
