"""Two texts: how the second relates to the first, asked as a cloze of both, without training."""

import streamlit as st

from sections.few_labels.blank import draw, show_filled
from sections.few_labels.subject import MAX_CHARS, Inputs, asker, split
from ui.errors import translated
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import count_unknown, say_unknown
from ui.model_cache import outline_of, version_of
from ui.model_registry import title_of
from ui.text import literal
from ui.translations import _

PATTERNS = {
    "en": ("{text}? [MASK], {second}", "{second}? [MASK]. {text}"),
    "zh": ("{text}？[MASK]，{second}", "{second}？[MASK]。{text}"),
}
WORDS = {"en": {"no": "no", "yes": "yes"}, "zh": {"no": "不", "yes": "是"}}


def show(lesson: Lesson, inputs: Inputs) -> None:
    language = inputs.language
    lesson.show("Two texts", title=False)
    examples = lesson.examples_called(f"pairs-{language}")
    left, right = st.columns(2)
    with left:
        first = sentence_input(f"first-{language}", [], label=_("The first"), default=examples[0], max_chars=MAX_CHARS)
    with right:
        second = sentence_input(
            f"second-{language}", [], label=_("The second"), default=examples[1], max_chars=MAX_CHARS
        )
    say_unknown(*count_unknown(outline_of(inputs.model).tokenizer.encode(first, second)), title_of(inputs.model))
    pattern = sentence_input(
        f"pair-pattern-{language}",
        PATTERNS[language],
        max_chars=200,
        label=literal(_("Your pattern, with {text}, {second} and [MASK]")),
        blanks=True,
    )
    names = {"no": _("no"), "yes": _("yes")}
    words = {}
    for column, label in zip(st.columns(2), names, strict=True):
        with column:
            words[label] = sentence_input(
                f"{label}-{language}",
                [],
                default=WORDS[language][label],
                max_chars=100,
                label=_("Words for “{label}”").format(label=names[label]),
            )
    try:
        chosen = tuple((label, tuple(split(some))) for label, some in words.items())
        prediction = look(inputs, inputs.model, version_of(inputs.model), first, second, pattern, chosen)
    except ValueError as error:
        st.info(literal(translated(error)), icon=":material/edit:")
        return
    parts = {"{text}": first, "{second}": second}
    show_filled("".join(parts.get(part, part) for part in parts_of(pattern)))
    draw(prediction, names, "at-pair-blank")
    lesson.show("What a small model makes of two texts", level=3)
    st.code(
        "python -m minibert finetune --task cloze-pair --train pairs.tsv --dev dev.tsv \\\n"
        '    --model checkpoints/mini-zh --pattern "{text}？[MASK]，{second}" --words 0=不 1=是 --out my-pairs',
        "bash",
        wrap_lines=True,
    )


def parts_of(pattern: str) -> list[str]:
    """The pattern cut at its holes, so that braces in a text stay what they are."""
    from minibert.tasks.pattern import PARTS

    return PARTS.split(pattern)


@st.cache_data(show_spinner=False, max_entries=100)
def look(_inputs: Inputs, model: str, version: int, first: str, second: str, pattern: str, words: tuple):
    """The predictions at the blank of both texts; computed once for all sessions."""
    from minibert.few_labels.zero_shot import predict_blank

    if "{second}" not in pattern:
        raise ValueError(_("Without {second} the pattern reads one text alone: put it where the other belongs."))
    return predict_blank(asker(_inputs, pattern, dict(words)), {"text": first, "pair": second})
