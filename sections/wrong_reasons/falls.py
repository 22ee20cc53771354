"""The picture: a model that learned a cue, tested where the cue helps, is uninformative, or misleads."""

import time
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from sections.wrong_reasons.subject import KIND, latest, recording, sets_of, test_names, training_names, training_of
from ui.classifiers import dev_examples
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.recorded import records_of, start, start_folder
from ui.runs import complete, live, show_refusal, state_rows, submit, weights_to_begin_with
from ui.text import literal
from ui.translations import _, ngettext

Finals = Mapping[str, Mapping[str, Sequence[float]]]  # training → test → accuracies, one per seed
GUESSES = (0.95, 0.5, 0.05)


def show(lesson: Lesson, cue: str) -> None:
    runs = latest(cue)
    finals = _recorded(cue)
    revealed = _guessed(cue, finals)
    with picture():
        if runs:
            live(
                tuple(run.id for run in runs),
                lambda results: _draw(results, revealed),
                lambda results: state_rows(results, _speed),
            )
        elif finals:
            _bars(finals, revealed, _("Recorded from {model}").format(model=start()))
        else:
            with st.container(border=True):
                st.markdown(_("**No run yet.** Press *Train*: the curves come within seconds."))
                st.caption(_("Recorded with `{command}`").format(command=literal(recording(cue))))
    controls(cue)
    _planted(lesson, cue)
    left, right = st.columns(2, gap="large")
    with left:
        lesson.show("Train with the cue and without", level=3)
    with right:
        lesson.show("Remove the cue, flip the cue", level=3)


def _recorded(cue: str) -> Finals:
    finals: dict[str, dict[str, list[float]]] = {}
    for record in records_of(KIND):
        case, training = record["arm"].split("/")
        if case == cue:
            for test in test_names():
                finals.setdefault(training, {}).setdefault(test, []).append(record["metrics"][test])
    return {name: finals[name] for name in training_names() if name in finals}


def _guessed(cue: str, finals: Finals) -> bool:
    """Ask for the accuracy when the cue is flipped; True if it may be shown."""
    values = finals.get("planted", {}).get("flipped")
    if not values:
        return True
    share = sum(values) / len(values)
    right = min(range(len(GUESSES)), key=lambda i: abs(GUESSES[i] - share))
    question = _("The cue is flipped: is it still right?")
    options = [_("nearly always"), _("half the time"), _("hardly ever")]
    return predict("flip", question, options, right, about=f"{start()}/{cue}")


def controls(cue: str) -> None:
    """The button that trains both models."""
    if not complete(start_folder()):
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
        return
    seeds = st.session_state["seeds"]
    label = ngettext("Train {n} model", "Train {n} models", 2 * seeds).format(n=2 * seeds)
    if st.button(label, type="primary", icon=":material/play_arrow:", key="train"):
        _start(cue, seeds)
        st.rerun()
    show_refusal()


def _start(cue: str, seeds: int) -> None:
    from dataclasses import replace

    from minibert.experiments.cues import settings_of

    task, trainings, tests = sets_of(cue)
    batch, weights = time.time_ns(), weights_to_begin_with(start_folder())
    for seed in range(seeds):
        for training, data in trainings.items():
            settings = replace(settings_of(cue, start(), seed), dev_sample=1000)
            title = f"{training_names()[training]} · " + _("seed {n}").format(n=seed)
            kind = f"{KIND}/{cue}/{batch}/{training}"
            submit("minibert.finetune.run:finetune", weights, task, data, tests, settings, title=title, kind=kind)


def _speed(step: dict) -> str:
    return _(" · loss {loss:.3f}").format(loss=step["loss"])


def _draw(runs: list, revealed: bool) -> None:
    """Live runs: curves during training, bars once all have ended."""
    from minibert.experiments.cues import accuracies

    curves: dict[str, dict[str, list]] = {}
    for run in runs:
        if run.latest("eval"):
            by_test: dict[str, list] = {}
            for event in run.events():
                if event["event"] == "eval":
                    shares = accuracies(dev_examples(run), event["details"]["predictions"])
                    for test, share in shares.items():
                        by_test.setdefault(test, []).append((event["step"], share))
            for test, points in by_test.items():
                curves.setdefault(training_of(run), {}).setdefault(test, []).append(points)
    if not curves:
        return
    curves = {name: curves[name] for name in training_names() if name in curves}
    finals = {
        name: {test: [points[-1][1] for points in lines] for test, lines in by_test.items()}
        for name, by_test in curves.items()
    }
    if all(run.over for run in runs):
        _bars(finals, revealed, _("Your models"))
        return
    from plots.cues import accuracy_over_steps

    words, rows = _told(finals)
    alt = _("Accuracy on the three tests while training, a line a seed. Now: {words}.").format(words=words)
    titles = (_("step"), _("accuracy"))
    curves = {name: {test: by[test] for test in by if revealed or test != "flipped"} for name, by in curves.items()}
    figure(
        partial(accuracy_over_steps, curves, training_names(), test_names(), 0.5, titles),
        alt,
        "curves",
        data=rows,
    )


def _told(finals: Finals) -> tuple[str, list[dict]]:
    """The accuracies in words, and as table rows."""
    rows = [
        {
            _("model"): training_names()[name],
            _("test"): test_names()[test],
            _("mean accuracy"): sum(values) / len(values),
            _("lowest"): min(values),
            _("highest"): max(values),
        }
        for name, by_test in finals.items()
        for test, values in by_test.items()
    ]
    return _("; ").join(
        f"{row[_('model')]}{_(', ')}{row[_('test')]}{_(': ')}{row[_('mean accuracy')]:.0%}" for row in rows
    ), rows


def _bars(finals: Finals, revealed: bool, whose: str) -> None:
    from plots.cues import final_accuracy

    finals = {name: {t: by[t] for t in by if revealed or t != "flipped"} for name, by in finals.items()}
    words, rows = _told(finals)
    first = next(iter(finals.values()))
    shares = {test: f"{sum(values) / len(values):.0%}" for test, values in first.items()}
    seeds = len(next(iter(first.values())))
    if revealed and "planted" in finals:
        finding = _(
            "Trained with the cue: {planted} right if it helps, {balanced} if it says nothing, {flipped} if it misleads"
        ).format(**shares)
    else:
        finding = _("Trained with the cue: {planted} right if it helps, {balanced} if it says nothing").format(**shares)
    alt = _("Accuracy on the three tests at the end. {words}.").format(words=words)
    drawn = partial(final_accuracy, finals, training_names(), test_names(), 0.5, _("accuracy"), finding)
    with st.container(key="scores-cues"):
        figure(drawn, finding + _(". ") + alt, "finals", data=rows)
    st.caption(f"{whose} · " + ngettext("{n} seed a bar", "{n} seeds a bar, a dot each", seeds).format(n=seeds))


def _planted(lesson: Lesson, cue: str) -> None:
    """Two examples of each class, and how often each class has the cue."""
    lesson.show("Plant a cue", level=3)
    task, _trainings, tests = sets_of(cue)
    shown = choice("set", _("Set"), test_names())
    examples = [example for example in tests.examples if example.extra["condition"] == shown]
    few = [example for label in tests.labels for example in [e for e in examples if e.label == label][:2]]
    rows = [
        {
            _("text"): literal(example.text),
            **({_("second text"): literal(example.pair)} if task == "pair" else {}),
            _("label"): literal(example.label),
            _("cue"): _("yes") if example.extra["cue"] == "yes" else _("no"),
        }
        for example in few
    ]
    st.table(rows)
    share = {
        label: sum(e.extra["cue"] == "yes" for e in examples if e.label == label)
        / sum(e.label == label for e in examples)
        for label in tests.labels
    }
    words = _("The cue stands in: {shares}.")
    part_of = _("**{share:.0%}** of the texts that are {label}")
    shares = _(", ").join(part_of.format(share=part, label=literal(label)) for label, part in share.items())
    st.markdown(words.format(shares=shares))
