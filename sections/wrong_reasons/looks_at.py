"""What the model looks at: attribution finds a cue that we planted."""

import streamlit as st

from sections.wrong_reasons.falls import controls
from sections.wrong_reasons.subject import finished, latest, training_names
from ui.attributed_text import show_attributed
from ui.classifiers import dev_examples, predictor_of
from ui.inputs import pick
from ui.lesson import Lesson
from ui.text import literal, shorten
from ui.translations import _

SAME_CUE_TEXTS = 20  # number of texts for attribution


@st.cache_data(show_spinner=False, max_entries=256)
def attributed(run_id: str, _run, case_fields: tuple) -> tuple:
    """(words, their starts, segments, values, label, its probability) by integrated gradients."""
    from minibert.inside.explanations.attribution import Case, integrated_gradients, probability

    case = Case.of(predictor_of(_run), dict(case_fields))
    values = integrated_gradients(case, steps=16).values
    words = [word.text for word in case.words]
    starts = [word.start for word in case.words]
    segments = [word.segment for word in case.words]
    return words, starts, segments, values.tolist(), case.label, float(probability(case.score))


@st.fragment
def show(lesson: Lesson, cue: str) -> None:
    lesson.show("What it looks at", title=False)
    runs = finished(cue)
    if not runs:
        if latest(cue):
            st.info(_("The models are not ready: *Plant a cue* shows how far they are."), icon=":material/hourglass:")
        else:
            st.info(_("Two models are compared, trained with the cue and with it balanced. Train them first:"))
            controls(cue)
        return
    fields = ("text", "pair") if cue == "overlap" else ("text",)
    run = next(iter(runs.values()))
    flipped = [example for example in dev_examples(run) if example["extra"]["condition"] == "flipped"]
    flipped.sort(key=lambda example: example["extra"]["cue"] == "no")  # texts that contain the cue come first
    names = [f"{shorten(example[fields[-1]], 90)}  ({example['label']})" for example in flipped[:40]]
    example = flipped[pick("example", _("A text whose cue lies"), names)]
    for training in (name for name in training_names() if name in runs):
        case_fields = tuple((field, example[field]) for field in fields)
        words, _starts, segments, values, label, sure = attributed(runs[training].id, runs[training], case_fields)
        right = _("right") if label == example["label"] else _("wrong")
        st.markdown(
            _("**{training}** says **{label}** ({p:.0%}): {right}.").format(
                training=training_names()[training].capitalize(), label=literal(label), p=sure, right=right
            )
        )
        breaks = [i for i in range(1, len(words)) if segments[i] != segments[i - 1]]
        show_attributed(words, values, label=_("The text, with what each word speaks for"), breaks=breaks)
    if cue == "not":
        strongest(runs, flipped)


def strongest(runs: dict, examples: list[dict]) -> None:
    """How often the strongest word is in the aside."""
    rows = []
    with st.spinner(_("Asking {n} texts …").format(n=SAME_CUE_TEXTS)):
        for training in (name for name in training_names() if name in runs):
            hits, room = 0, []
            for example in examples[:SAME_CUE_TEXTS]:
                words, starts, _segments, values, *_rest = attributed(
                    runs[training].id, runs[training], (("text", example["text"]),)
                )
                inside = [start < len(example["extra"]["aside"]) for start in starts]
                hits += inside[max(range(len(words)), key=lambda i: abs(values[i]))]
                room.append(sum(inside) / len(inside))
            rows.append((training, hits, sum(room) / len(room)))
    for training, hits, share in rows:
        st.markdown(
            _(
                "- **{training}**: the strongest word stands in the aside in **{hits} of {n}** texts; the aside is "
                "{share:.0%} of their words."
            ).format(training=training_names()[training], hits=hits, n=min(SAME_CUE_TEXTS, len(examples)), share=share)
        )
