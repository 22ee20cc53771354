"""All models in one table: sortable by column, sizes counted where all their parts are known."""

import streamlit as st

from sections.family.subject import Inputs, kind_names
from ui.lesson import Lesson
from ui.translations import _, pgettext

HEIGHT = 560  # pixels: sixteen rows; the table scrolls


def show(lesson: Lesson, inputs: Inputs) -> None:
    words = kind_names()
    rows = [
        {
            "model": member.name,
            "date": member.date,
            "from": member.parent or "–",
            "size": size.name if size else "–",
            "weights": size.weights if size else None,
            "counted": size.counted if size else False,
            "changed": _(", ").join(words[kind] for kind in member.changed),
            "by": member.by,
            "what": _(member.what),
            "paper": member.paper,
        }
        for member in inputs.members.values()
        for size in (member.sizes or (None,))
        if not inputs.kind or inputs.kind in member.changed
    ]
    lesson.show("All in one table", title=False)
    st.dataframe(
        rows,
        hide_index=True,
        height=HEIGHT,
        key="family-table",
        column_config={
            "model": st.column_config.TextColumn(_("model"), pinned=True, width=150),
            "date": st.column_config.TextColumn(_("date"), width=110),
            "by": _("by"),
            "from": pgettext("of a model", "from"),
            "changed": _("changed"),
            "size": _("size"),
            "weights": st.column_config.NumberColumn(_("weights"), format="localized"),
            "counted": st.column_config.CheckboxColumn(_("counted here")),
            "what": st.column_config.TextColumn(_("what"), width=520),
            "paper": _("paper"),
        },
    )
    said = _("{n} models, {sizes} sizes, {counted} counted from their parts; the rest are the papers’ numbers.")
    sizes, counted = (sum(bool(row[name]) for row in rows) for name in ("weights", "counted"))
    st.caption(said.format(n=len({row["model"] for row in rows}), sizes=sizes, counted=counted))
