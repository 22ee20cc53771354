"""The road: each step shows its input, its command, and the output."""

import streamlit as st

from sections.service import export, measures
from sections.service.subject import Served
from ui.lesson import Lesson
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, visible
from ui.translations import _


@st.fragment
def show(lesson: Lesson, served: Served) -> None:
    lesson.show("The road", title=False)
    steps = {
        _("file"): _file,
        _("finetune"): measures.show_finetune,
        _("evaluate"): measures.show_evaluate,
        _("predict"): measures.show_predict,
        _("export"): export.show,
        _("serve"): export.show_serve,
    }
    step = stepper("step", list(steps))
    with st.container(border=True, key="road"):
        list(steps.values())[step](served)


def _file(served: Served) -> None:
    from minibert.tasks import TASKS, TaskDataError

    st.markdown(
        _(
            "A TSV or CSV with a header that names a `sentence` and a `label`. Every line that cannot be used is "
            "named, and nothing is dropped silently. Two lines here are wrong; mend them, or break others:"
        )
    )
    text = st.text_area(_("Your file"), key="file", height=170)
    try:
        data = TASKS["classification"].parse(text.encode("utf-8", "replace"), "mine.tsv")
    except TaskDataError as error:
        st.error(literal(error), icon=":material/error:")
        return
    counts = ", ".join(f"{literal(label)}: {data.counts[label]}" for label in data.labels)
    st.markdown(_("**{n} examples**; {counts}").format(n=len(data.examples), counts=counts))
    if data.problems:
        rows = [
            {_("line"): p.line, _("column"): p.column, _("why"): visible(p.why, spaces=False)}
            for p in data.problems[:100]
        ]
        st.dataframe(rows, hide_index=True)
    else:
        st.markdown(_("No line is wrong."))
    from minibert.tasks.tables import rows_of

    show_source(rows_of, find="problem", label=_("Where a line is refused"))
