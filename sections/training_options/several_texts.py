"""Several texts of one example in a row: each with its own budget, or truncated together."""

from itertools import islice

import streamlit as st

from sections.training_options import measured
from sections.training_options.bench import TASK, called, command, example_of, model
from ui.inputs import choice, pick
from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.page import drawer, picture
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _, pgettext

HEADING = "Several texts"
BESIDE = {"verdicts": ("title", "reply"), "answered": ("body", "answer")}  # data set → columns of its further texts
BUDGETS = {"verdicts": (12, 4, 4), "answered": (6, 16, 16)}  # tokens to begin with


def show(lesson: Lesson, text: str) -> None:
    ways = {
        "budget": _("budgets"),
        "longest_first": _("longest first"),
        "head": pgettext("of a text", "head"),
        "tail": _("tail"),
        "head_tail": _("head + tail"),
    }
    first, *places, last = st.columns(5, gap="medium", vertical_alignment="bottom")
    with first:
        way = pick("cut", _("Too long?"), list(ways.values()))
    with last, drawer(_("The texts"), key="more", holds=("title", "reply", "question", "body", "answer")):
        kinds = {"verdicts": _("a review, its title, a reply"), "answered": _("a question, its details, an answer")}
        data = choice("three", _("Which three"), kinds)
        if data == "verdicts":
            names = (_("the review"), _("the title"), _("the reply"))
            title = st.text_input(_("Title"), _("A weekend in March"), key="title", max_chars=200)
            reply = st.text_input(_("The owner’s reply"), _("Thank you for writing to us."), key="reply", max_chars=500)
            texts = text, title, reply
        else:
            names = (_("the title"), _("the question"), _("the answer"))
            title, body, answer = lesson.examples_called(called("question"))
            texts = (
                st.text_input(_("Title"), title, key="question", max_chars=200),
                st.text_input(_("The question"), body, key="body", max_chars=500),
                st.text_input(_("An answer"), answer, key="answer", max_chars=500),
            )
    way = list(ways)[way]
    budgets = None
    if way == "budget":
        budgets = tuple(
            place.slider(name[:1].upper() + name[1:], 0, 32, start, key=f"budget-{data}-{n}")
            for n, (place, name, start) in enumerate(zip(places, names, BUDGETS[data], strict=True))
        )
        room = sum(budgets)
    else:
        room = places[0].slider(_("Places for the three texts"), 3, 96, 20, key="three-room", bind="query-params")
    from minibert.tasks import TASKS, Options

    options = Options(
        max_length=room + 1 + len(names), truncation=way, budgets=budgets, texts_beside=BESIDE[data], pooling="mean"
    )
    tokenizer = outline_of(model()).tokenizer
    example = example_of(texts[0], "positive", **dict(zip(BESIDE[data], texts[1:], strict=True)))
    (row,) = TASKS[TASK].input_rows(tokenizer, example, [], options)
    drawn = iter(list(zip(row.tokens, row.segments, row.cut, strict=True))[1:])  # without [CLS]
    parts = [list(islice(drawn, len(ids) + 1)) for ids in tokenizer.encode_bulk(texts)]
    with picture():
        for name, part in zip(names, parts, strict=True):
            kept = sum(not cut for _token, _segment, cut in part) - 1
            words = _("**{text}**: {kept} of {n} tokens stay, segment {segment}")
            st.markdown(words.format(text=name, kept=kept, n=len(part) - 1, segment="AB"[part[-1][1]]))
            show_tokens(
                [token for token, _segment, _cut in part],
                kinds=["faded" if cut else "plain" for _token, _segment, cut in part],
                limit=120,
                label=name,
            )
    words = _("**{n} tokens are read**, [CLS] and a [SEP] for each text counted; {lost} are lost.")
    st.markdown(
        words.format(n=row.length, lost=sum(row.cut)),
        width=820,
    )
    measured.nothing(_("No run with several texts has been recorded here: which way is best is not measured."))
    lesson.show(HEADING)
    given = f"--budgets {' '.join(map(str, budgets))}" if budgets else ""
    command(
        f"--texts-beside {' '.join(BESIDE[data])}",
        f"--max-length {options.max_length}",
        f"--truncation {way}",
        given,
        data=data,
    )
    from minibert.tasks.sequences import assembled
    from minibert.text.truncation import longest_first

    show_source(assembled, label=_("The row"))
    show_source(longest_first, label=_("Longest first, of any number of texts"))
