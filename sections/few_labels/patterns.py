"""Own pattern: accuracy of several patterns without training, on the course's own reviews."""

from functools import partial

import streamlit as st

from sections.few_labels.subject import PATTERNS, USUAL_ZH, Inputs, asker, reviews
from ui.errors import translated
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.predict import predict
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.few_labels import SeedScores, accuracies

    lesson.show("Own pattern", title=False)
    several = {pattern: words_of(inputs, pattern) for pattern in PATTERNS[inputs.language]}
    several[inputs.pattern] = {label: list(some) for label, some in inputs.words}
    count = len(reviews(inputs.language, "dev").examples)
    if not predict(
        f"pattern-{inputs.language}",
        _("How far apart are the best and the worst of these patterns?"),
        [_("less than 5 points"), _("more than 5 points")],
        1,
        about=inputs.language,
    ):
        return
    rows = []
    with st.spinner(_("Reading {n} reviews in {m} patterns …").format(n=count, m=len(several))):
        for pattern, words in several.items():
            try:
                value = measured(
                    inputs,
                    inputs.model,
                    version_of(inputs.model),
                    pattern,
                    tuple((k, tuple(v)) for k, v in words.items()),
                )
            except ValueError as error:
                st.warning(literal(translated(error)), icon=":material/edit:")
                continue
            rows.append(SeedScores(pattern, (value,), pattern == inputs.pattern))
    if not rows:
        return
    title = _("Right on {n} reviews that no model was trained on").format(n=count)
    details = _("; ").join(f"{row.name}{_(': ')}{row.values[0]:.1%}" for row in rows)
    figure(
        partial(accuracies, rows, title, _("accuracy"), _("half: guessing")),
        _("{title}. {told}.").format(title=title, told=details),
        "patterns",
        wide=max(map(len, several)) > 34,
        data=[{_("pattern"): row.name, _("accuracy"): row.values[0]} for row in rows],
    )
    lesson.show("What a pattern is worth")


def words_of(inputs: Inputs, pattern: str) -> dict[str, list[str]]:
    if pattern in USUAL_ZH:
        return dict(zip(inputs.usual_words, ([word] for word in USUAL_ZH[pattern]), strict=True))
    return inputs.usual_words


@st.cache_data(show_spinner=False, max_entries=200)
def measured(_inputs: Inputs, model: str, version: int, pattern: str, words: tuple) -> float:
    """Accuracy, computed once for all sessions."""
    data = reviews(_inputs.language, "dev")

    def evaluated() -> dict:
        import numpy as np

        from minibert.finetune.evaluation import evaluate

        return {"accuracy": np.array(evaluate(asker(_inputs, pattern, dict(words)), data).metrics["accuracy"])}

    examples = [[one.text, one.label] for one in data.examples]
    stored = first_view("few_labels", "pattern", model, [pattern, words, examples], evaluated)
    return float(stored["accuracy"])
