"""Live training of SimCSE (also without dropout or with inference pairs) and Sentence-BERT: alignment and uniformity
during training, and a search."""

import os
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.sentence_vectors.subject import PREFIX, Inputs
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import answers_of, follow_runs, metrics_by_step, with_cosines
from ui.runs import by_title, evals, manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.samples import DATA, questions, senses, similar_parts
from ui.source import show_source
from ui.text import literal
from ui.translations import _

STARTS = {"en": "mini-en", "zh": "mini-zh"}
SETS = {"both": ("simcse", "no-dropout"), "labels": ("simcse", "simcse-supervised", "softmax")}
INFERENCE = ("simcse-supervised", "softmax")  # objectives on inference pairs
TASK_FILES = {"rte": "rte/train.tsv", "hans": "hans/heuristics_evaluation_set.tsv"}  # in MINIBERT_DATA's tasks/en


def kinds(language: str) -> dict[str, str]:
    """The objectives offered. The Chinese pairs are too few for both training and evaluation."""
    names = {
        "simcse": "SimCSE",
        "no-dropout": _("SimCSE, dropout 0"),
        "simcse-supervised": _("SimCSE, supervised"),
        "softmax": _("Sentence-BERT, from classes"),
    }
    return names if language == "zh" else {**names, "cosine": _("Sentence-BERT, from scores")}


def inference_files(language: str) -> dict[str, list[Path]]:
    """Files with inference pairs: the course's own, and in English also RTE and HANS if their data are present."""
    if language == "zh":
        return {"own": [DATA / "pairs-zh" / "pairs.tsv"]}
    folder = Path(os.environ.get("MINIBERT_DATA", ""), "tasks", "en")
    own = [DATA / "pairs" / f"{part}.tsv" for part in ("train", "dev")]
    return {"own": own, **{name: [folder / file] for name, file in TASK_FILES.items() if (folder / file).is_file()}}


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.sentence_vectors.objectives import contrastive_loss

    manager().warm_up()
    lesson.show("Train SimCSE", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        some = {"both": _("With and without dropout"), "labels": _("Without and with labels")}
        who = choice("who", _("Who learns"), {**some, **kinds(inputs.language)}, box=260)
        source = "own"
        if who == "labels" or who in INFERENCE:
            named = {"own": _("the course’s own"), "rte": "RTE", "hans": "HANS"}
            named = {name: named[name] for name in inference_files(inputs.language)}
            source = choice("pairs", _("Pairs of inference"), named, box=180) if len(named) > 1 else source
        steps = st.slider(_("Steps"), 20, 200, 60, 20, key="vector-steps", width=220)
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train-vectors"):
            for name in SETS.get(who, (who,)):
                begin(name, int(steps), inputs, source)
    show_refusal()
    runs = [run for run in own_runs(f"{PREFIX}-learn") if run.kind.endswith(inputs.language)][3::-1]
    hint = _("**No run yet.** Press *Train*: in a minute or two each sentence recognises its twin among all others.")
    follow_runs(runs, draw, hint, message=[inputs.text])
    lesson.show("With labels")
    lesson.show("Two things that are good")
    show_source(contrastive_loss)


def sentences(language: str) -> list[str]:
    """The course's own sentences for training; none of them occurs in the evaluated pairs."""
    *parts, held = similar_parts(language)
    texts = [text for part in parts for *pair, _score in part for text in pair]
    texts += [text for uses in senses(language).values() for _sense, text in uses]
    measured = {text for *pair, _score in held for text in pair}
    return [text for text in dict.fromkeys(texts) if text not in measured]


def begin(name: str, steps: int, inputs: Inputs, source: str = "own") -> None:
    from minibert.sentence_vectors.rows import SentenceRow, read_rows
    from minibert.sentence_vectors.run import HeldOut, VectorSettings
    from minibert.tasks.similarity import HIGHEST, ScoredPair
    from minibert.train import Optimization

    every = max(2, steps // 12)
    settings = VectorSettings(
        objective="simcse" if name == "no-dropout" else name,
        dropout=0.0 if name == "no-dropout" else 0.1,
        temperature=0.05 if name == "simcse-supervised" else 0.1,
        steps=steps,
        batch_size=32,
        report_every=every,
        measure_every=every,
        save_every=steps,
        optimization=Optimization(learning_rate=1e-4 if name in INFERENCE else 3e-4),
    )
    *parts, held = similar_parts(inputs.language)
    if name == "cosine":
        rows = [SentenceRow((a, b), score / HIGHEST) for part in parts for a, b, score in part]
    elif name in INFERENCE:
        rows = [row for file in inference_files(inputs.language)[source] for row in read_rows(name, file)]
    else:
        rows = [SentenceRow((text,)) for text in sentences(inputs.language)]
    desk = questions(inputs.language)
    measured = HeldOut([ScoredPair(*pair) for pair in held], desk)
    submit(
        "minibert.sentence_vectors.run:learn_vectors",
        settings,
        weights_to_begin_with(CHECKPOINTS / STARTS[inputs.language]),
        rows,
        held=measured,
        lines=[question for question, _standard in desk],
        probe_inputs=[inputs.text],
        title=kinds(inputs.language)[name] + (f" · {source.upper()}" if name in INFERENCE and source != "own" else ""),
        kind=f"{PREFIX}-learn/{name}-{inputs.language}",
    )


def draw(runs: list) -> None:
    """Each run's path in the plane of alignment and uniformity, Spearman's correlation, and what a search finds."""
    from plots.sentence_vectors import plane

    marks = by_title(runs, evals)
    if not marks:
        return
    ends = {name: results[-1][1] for name, results in marks.items()}
    listed = _("; ").join(
        _("{name}: alignment {alignment:.2f}, uniformity {uniformity:.2f}").format(name=name, **metrics)
        for name, metrics in ends.items()
    )
    start = next(iter(marks.values()))[0][1]
    summary = _("Spearman’s correlation: {start:.2f} at the start; now {now}").format(
        start=start["spearman"], now=_(", ").join(f"{name} {m['spearman']:.2f}" for name, m in ends.items())
    )
    figure(
        plane(marks, (_("uniformity"), _("alignment")), summary, _("step")),
        _("The way over uniformity and alignment, both better when small. {told}. {summary}").format(
            told=listed, summary=summary
        ),
        "plane",
        data=metrics_by_step(marks),
    )
    for run in runs:
        if answers := answers_of(run):
            same = [answer for answer in answers if answer["text"] == answers[-1]["text"]]
            before, now = (with_cosines(answer["nearest"][:3]) for answer in (same[0], same[-1]))
            words = _("**{title}** – first: {before}  \nnow: {now}")
            st.markdown(words.format(title=literal(run.title), before=before, now=now))
