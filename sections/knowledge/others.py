"""Three other ways to knowledge, in words; and a name that is replaced by one of its kind."""

import random

import streamlit as st

from sections.knowledge.subject import Subject, knowledge
from ui.lesson import Lesson
from ui.models import language_read
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.knowledge import replaced_name

    lesson.show("Three other ways", title=False)
    st.markdown("#### " + _("WKLM’s question, on the lesson’s facts"))
    seed = st.number_input(_("Seed"), 0, 9_999, 1, key="wklm-seed", width=150, bind="query-params")
    base = knowledge(language_read(seen.model))
    rows = []
    rng = random.Random(int(seed or 0))
    for fact in rng.sample(base.facts, 6):
        changed = replaced_name(base, fact, rng)
        answer = _("yes") if changed == fact else _("no, it was {name}")
        rows.append(
            {
                _("the text says"): literal(str(changed)),
                _("asked: is the name right?"): answer.format(name=literal(fact.object)),
            }
        )
    st.table(rows)
