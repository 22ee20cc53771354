"""The first minute: one sentence with a hidden word on its way through BERT, and three models' predictions."""

import streamlit as st

from plots.side_by_side import Bar, Card, CardSection, side_by_side
from ui.fragments import fragment
from ui.model_cache import outline_of
from ui.navigation import link_to
from ui.page import picture
from ui.projector import projecting
from ui.text import shorten, visible
from ui.through.passage import LONGEST, Passage, once_loaded, read_passage
from ui.through.payload import LITTLE, TOP, share_text
from ui.through.picture import at_once, pass_of, show_picture, title_and_about
from ui.translations import _

MUCH = 0.2  # least attention for a word to be named in the title
UNSURE = 0.1  # a probability this close to 0.5 gives no verdict
MOSTLY = 0.5


def show() -> None:
    """The sentence, the picture of its way, and the models' predictions side by side."""
    with st.container(key="first-minute"):
        once_loaded(fragment(_first_minute))


def _first_minute(waiting: bool) -> None:
    passage = read_passage()
    if passage is None:
        return
    waiting = waiting and not at_once(passage)
    place = picture()
    cards = [_card(name, passage, waiting) for name in passage.models]
    st.html(side_by_side(cards, _("What each model makes of it"), waiting=waiting))
    with place:  # shown above the cards, computed after them: they need not wait
        show_picture(passage, waiting)
    _ways_on(passage)


# --- what a model says ------------------------------------------------------------------------------------------------


def _card(name: str, passage: Passage, waiting: bool) -> Card:
    title, about = title_and_about(name)
    if waiting:
        coming = [_("The word it expects"), _("Where it looks")]
        coming += [_("Does the second sentence follow?")] * bool(passage.second)
        return Card(title, about, [CardSection(finding, "bars", note=_("Loading the model …")) for finding in coming])
    one_pass, tokenizer = pass_of(name, passage), outline_of(name).tokenizer
    found = [_guessed(one_pass, tokenizer, passage), _looked(one_pass, passage)]
    if one_pass.follows is not None:
        found.append(_judged(one_pass.follows))
    return Card(title, about, found)


def _guessed(one_pass, tokenizer, passage: Passage) -> CardSection:
    bars = [
        Bar(visible(word, spaces=False), share, share_text(share), right=word == passage.word.lower())
        for word, share in one_pass.guesses(tokenizer.vocab, TOP)
    ]
    best = bars[0]
    said = _("Expects no word") if best.share < LITTLE else _("Expects “{word}”: {share}")
    unknown, unread = one_pass.unknown(tokenizer.unk_id), ""
    if unknown > MOSTLY:
        unread = _("Most of these words are [UNK] to it.")
    elif unknown:
        unread = _("{share} of these words are [UNK] to it.").format(share=share_text(unknown))
    return CardSection(said.format(word=best.name, share=best.written), "bars", bars, unread)


def _looked(one_pass, passage: Passage) -> CardSection:
    names = [_name(one_pass.encoding, pieces, passage) for pieces in one_pass.words]
    bars = [Bar(name, weight, share_text(weight)) for name, weight in zip(names, one_pass.looks(), strict=True)]
    blank = next(i for i, pieces in enumerate(one_pass.words) if one_pass.blank in pieces)
    others = sorted((i for i in range(len(bars)) if i != blank), key=lambda i: -bars[i].share)
    lettered = (i for i in others if not names[i].startswith("[") and any(map(str.isalnum, names[i])))
    word = next((bars[i] for i in lettered if bars[i].share >= MUCH), None)
    most = bars[others[0]]
    if one_pass.even:
        said = _("Looks everywhere alike")
    elif word is most:
        said = _("Looks at “{word}”: up to {share}").format(word=most.name, share=most.written)
    else:  # [CLS], [SEP] or a full stop
        said = _("Rests on “{word}”: up to {share}").format(word=most.name, share=most.written)
        if word:
            said += " · " + _("“{word}”: up to {share}").format(word=word.name, share=word.written)
    drawn = set(range(len(one_pass.encoding)) if one_pass.rows is None else one_pass.rows)
    shown = [i for i, pieces in enumerate(one_pass.words) if not drawn.isdisjoint(pieces)]
    return CardSection(said, "words", [bars[i] for i in shown], selected=shown.index(blank))


def _name(encoding, pieces: list[int], passage: Passage) -> str:
    """A word as spelled in the text; [CLS] and [SEP] by name."""
    first, last = pieces[0], pieces[-1]
    if encoding.words[first] is None:
        return encoding.tokens[first]
    text = (passage.hidden, passage.second)[encoding.segments[first]]
    return shorten(text[encoding.offsets[first][0] : encoding.offsets[last][1]], LONGEST)


def _judged(share: float) -> CardSection:
    if abs(share - 0.5) < UNSURE:
        said = _("Follows? A toss-up: {share}")
    else:
        said = _("Follows? Yes: {share}") if share > 0.5 else _("Follows? No: {share}")
    return CardSection(said.format(share=share_text(share)), "answer", [Bar("", share, share_text(share))])


def _ways_on(passage: Passage) -> None:
    """Links to the lessons on each of the three predictions, with this sentence."""
    if projecting():
        return
    best = {"model": passage.models[-1]}
    pair = {"part": "Judged live", "a": passage.text, "b": passage.second}
    with st.container(horizontal=True, gap="medium", key="first-minute-on"):
        link_to("through", _("The whole way: One sentence through BERT"), query_params={"text": passage.text})
        link_to("masking", _("Blanks: Masking"), query_params={"cloze": passage.hidden, **best})
        link_to("attention_explorer", _("Looks: Attention explorer"), query_params={"sentence": passage.hidden, **best})
        if passage.second:
            link_to("next_sentence", _("What follows: Next sentence"), query_params={**pair, **best})
