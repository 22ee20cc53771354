"""Own pattern: accuracy of several patterns without training, on the course's own reviews."""

import streamlit as st

from sections.few_labels.subject import PATTERNS, USUAL_ZH, Subject, asker, reviews
from ui.figures import figure
from ui.lesson import Lesson
from ui.model_cache import version_of
from ui.predict import predict
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, seen: Subject) -> None:
    from plots.few_labels import Row, accuracies

    lesson.show("Own pattern", title=False)
    several = {pattern: words_of(seen, pattern) for pattern in PATTERNS[seen.language]}
    several[seen.pattern] = {label: list(some) for label, some in seen.words}
    count = len(reviews(seen.language, "dev").examples)
    if not predict(
        f"pattern-{seen.language}",
        _("How far apart are the best and the worst of these patterns?"),
        [_("less than 5 points"), _("more than 5 points")],
        1,
        about=seen.language,
    ):
        return
    rows = []
    with st.spinner(_("Reading {n} reviews in {m} patterns …").format(n=count, m=len(several))):
        for pattern, words in several.items():
            try:
                value = measured(
                    seen, seen.model, version_of(seen.model), pattern, tuple((k, tuple(v)) for k, v in words.items())
                )
            except ValueError as error:
                st.warning(literal(error), icon=":material/edit:")
                continue
            rows.append(Row(pattern, (value,), pattern == seen.pattern))
    if not rows:
        return
    title = _("Right in {n} reviews that nobody has trained on").format(n=count)
    told = "; ".join(f"{row.name}: {row.values[0]:.1%}" for row in rows)
    figure(
        accuracies(rows, title, _("accuracy"), _("half: guessing")),
        f"{title}. {told}.",
        "patterns",
        wide=True,
        data=[{_("pattern"): row.name, _("accuracy"): row.values[0]} for row in rows],
    )
    lesson.show("What a pattern is worth")


def words_of(seen: Subject, pattern: str) -> dict[str, list[str]]:
    if pattern in USUAL_ZH:
        return dict(zip(seen.usual_words, ([word] for word in USUAL_ZH[pattern]), strict=True))
    return seen.usual_words


@st.cache_data(show_spinner=False, max_entries=200)
def measured(_seen: Subject, model: str, version: int, pattern: str, words: tuple) -> float:
    """Accuracy, computed once for all sessions."""
    from minibert.finetune.evaluation import evaluate

    found = asker(_seen, pattern, dict(words))
    return evaluate(found, reviews(_seen.language, "dev")).metrics["accuracy"]
