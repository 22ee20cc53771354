"""Why this answer: five attributions of a classifier's answer, in the text and against each other."""

import math

import streamlit as st

from ui.attributed_text import show_attributed
from ui.classifiers import classifier_choice, dev_examples, in_chinese, predictor_of, show_accuracy, task_of
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.navigation import next_lesson
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal, visible
from ui.translations import _

MOST_WORDS = 30  # every word costs each method more questions
MOST_CHARACTERS = 600
STEPS = (2, 4, 8, 16, 32, 64, 128)
USUAL_STEPS = 32
ANSWER = "its-answer"  # instead of a class: the likeliest one
SEVERAL, SHORT = 10, 10  # texts of the test over several, of at most so many words

STYLE = """<style>
.stPlotlyChart [class$="tick"] text, .stPlotlyChart [class$="title"],
.st-key-wide-path .annotation-text { fill: currentColor !important; }
/* On a phone what stands side by side is scrolled, not squeezed. */
@media (max-width: 760px) {
  [class*="st-key-wide-"] { overflow-x: auto; }
  [class*="st-key-wide-"] .stElementContainer { min-width: 560px; }
}
</style>"""

lesson = Lesson("attribution")


def method_names() -> dict[str, str]:
    return {
        "gradient": _("Gradient × input"),
        "integrated": _("Integrated gradients"),
        "leave_one_out": _("Leave one out"),
        "shapley": _("Shapley values"),
        "rollout": _("Attention rollout"),
    }


def column_names() -> dict[str, str]:
    """The same in two lines, for columns."""
    return {method: name.replace(" ", "<br>", 1) for method, name in method_names().items()}


def replacement_names() -> dict[str, str]:
    return {"mask": "[MASK]", "pad": "[PAD]", "cut": _("nothing: cut out")}


# --- what is asked ----------------------------------------------------------------------------------------------------


def input_of(run) -> dict[str, str]:
    """The reader's own text or pair, as the model's task takes it."""
    examples = dev_examples(run)
    if task_of(run) == "pair":
        return {"text": pair_text(run, "a", "text"), "pair": pair_text(run, "b", "pair")}
    if in_chinese(run):
        key, ready = "zh", sorted((example["text"] for example in examples), key=len)[:4]
    else:
        key, ready = "text", lesson.examples
    return {"text": sentence_input(key, ready, label=_("Your own text"), max_chars=MOST_CHARACTERS)}


def pair_text(run, key: str, field: str) -> str:
    label = _("First sentence") if field == "text" else _("Second sentence")
    ready = [example[field] for example in dev_examples(run)[:4]]
    return sentence_input(key, ready, label=label, max_chars=MOST_CHARACTERS)


@st.cache_resource(show_spinner=False, max_entries=64)
def case_of(run_id: str, _run, given: tuple, target: str | None):
    """The answer to explain (`minibert.inside.attribution.Case`), or the reason why there is none."""
    from minibert.inside.attribution import Case

    try:
        return Case.of(predictor_of(_run), dict(given), target)
    except ValueError as error:
        return str(error)


def within(run, given: dict[str, str]):
    """The case of the first MOST_WORDS words of each text, and whether there were more."""
    case = case_of(run.id, run, tuple(given.items()), None)
    if isinstance(case, str):
        return case, False
    cut = {}
    for segment, (field, text) in enumerate(given.items()):
        words = [word for word in case.words if word.segment == segment]
        cut[field] = text[: words[MOST_WORDS].start] if len(words) > MOST_WORDS else text
    return case_of(run.id, run, tuple(cut.items()), None), cut != given


# --- computed once for everyone ---------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=128)
def values_of(key: tuple, _case, replacement: str, steps: int) -> dict:
    from minibert.inside.attribution import attributions

    return attributions(_case, replacement, steps=steps)


@st.cache_data(show_spinner=False, max_entries=128)
def deletion_of(key: tuple, _case, _values: dict, replacement: str, steps: int):
    from minibert.inside.attribution import deletion_test

    return deletion_test(_case, _values, replacement)


@st.cache_data(show_spinner=False, max_entries=64)
def path_of(key: tuple, _case, replacement: str):
    """(the score on the way, its slope at the end, rule → completeness error at each of STEPS)."""
    from minibert.inside.attribution import along_the_path, completeness_errors, slope_at_the_end

    return (
        along_the_path(_case, replacement),
        slope_at_the_end(_case, replacement),
        {
            "riemann_middle": completeness_errors(_case, replacement, STEPS, "riemann_middle"),
            "gausslegendre": completeness_errors(_case, replacement, STEPS, "gausslegendre"),
        },
    )


# --- the parts --------------------------------------------------------------------------------------------------------


def steps_now() -> int:
    if follow_link("steps") or st.session_state.get("steps") not in STEPS:
        asked = url_int("steps", USUAL_STEPS, STEPS[0], STEPS[-1])
        st.session_state["steps"] = asked if asked in STEPS else USUAL_STEPS
    return st.session_state["steps"]


@st.fragment
def explore(run) -> None:
    lesson.show("The question")
    given = input_of(run)
    case, more = within(run, given)
    if isinstance(case, str):
        st.info(_("Type a text with at least one word.") + f" ({literal(case)})", icon=":material/edit:")
        return
    if more:
        st.caption(_("The first {n} words are read.").format(n=MOST_WORDS))
    names = {ANSWER: _("its answer"), **{label: literal(label) for label in case.predictor.labels}}
    with st.container(horizontal=True, gap="medium"):
        target = choice("class", _("Speaks for"), names)
        replacement = choice("instead", _("Instead of a missing word stands"), replacement_names())
    if target not in (ANSWER, case.label):
        case = case_of(run.id, run, tuple(texts_read(case, given).items()), target)
    steps = steps_now()
    key = (run.id, tuple(texts_read(case, given).items()), case.label)
    probability = 1 / (1 + math.exp(-case.score))
    st.markdown(
        _("The model says **{label}** with a probability of **{p:.1%}**: log-odds **{score:+.2f}**.").format(
            label=literal(case.label), p=probability, score=case.score
        )
    )
    five_answers(key, case, replacement, steps)
    path(key, case, replacement)
    agreement(values_of(key, case, replacement, steps))
    deletion(key, case, replacement, steps)


def texts_read(case, given: dict[str, str]) -> dict[str, str]:
    """The texts up to the last word that is explained."""
    read = {}
    for segment, (field, text) in enumerate(given.items()):
        words = [word for word in case.words if word.segment == segment]
        read[field] = text[: words[-1].start + len(words[-1].text)] if words else text
    return read


def five_answers(key: tuple, case, replacement: str, steps: int) -> None:
    from plots.attribution import word_grid

    lesson.show("Five answers")
    with st.spinner(_("Asking five ways …")):
        values = values_of(key, case, replacement, steps)
    names = method_names()
    method = choice("method", _("Method"), {name: names[name] for name in ("integrated", *names)}, wrap=True)
    words = [visible(word.text, spaces=False) for word in case.words]
    shown = values[method]
    breaks = [i for i in range(1, len(words)) if case.words[i].segment != case.words[i - 1].segment]
    show_attributed(
        words, shown.tolist(), label=_("The text, with what each word speaks for"), breaks=breaks,
        titles=[f"{word}: {value:+.4f}" for word, value in zip(words, shown, strict=True)],
    )  # fmt: skip
    st.caption(sum_in_words(method, shown, case, replacement))
    strongest = {name: words[int(abs(value).argmax())] for name, value in values.items()}
    with st.container(key="wide-grid"):
        figure(
            word_grid(words, values, column_names()),
            _("The value of every word by five methods. Strongest word: {words}.").format(
                words="; ".join(f"{names[name]}: {word}" for name, word in strongest.items())
            ),
            "grid",
            data=lambda: [
                {_("word"): word, **{names[name]: float(value[i]) for name, value in values.items()}}
                for i, word in enumerate(words)
            ],
        )


def sum_in_words(method: str, values, case, replacement: str) -> str:
    """What the values of a method sum to, and what they should."""
    total = float(values.sum())
    if method == "rollout":
        return _("Shares of 1: these words have {total:.2f}, [CLS] and [SEP] the rest. No sign, no class.").format(
            total=total
        )
    if method in ("integrated", "shapley"):
        from minibert.inside.attribution import nothing_left

        start = nothing_left(case, replacement, gradients=method == "integrated")
        return _(
            "Sum {total:+.3f}. The score is {score:+.3f}, without any word {start:+.3f}: the sum should be "
            "{wanted:+.3f}."
        ).format(total=total, score=case.score, start=start, wanted=case.score - start)
    return _("Sum {total:+.3f}. Nothing says what these should sum to: the score is {score:+.3f}.").format(
        total=total, score=case.score
    )


def path(key: tuple, case, replacement: str) -> None:
    from plots.attribution import path_and_error

    lesson.show("Where the slope misleads")
    steps = st.select_slider(_("Steps of integrated gradients"), STEPS, key="steps")
    set_url("steps", steps, default=USUAL_STEPS)
    with st.spinner(_("Walking the way …")):
        scores, slope, errors = path_of(key, case, replacement)
    rules = {"riemann_middle": _("midpoints"), "gausslegendre": _("Gauss–Legendre")}
    error = errors["riemann_middle"][STEPS.index(steps)]
    st.markdown(
        _("With {steps} midpoints the sum misses by **{error:.2g}** of {wanted:+.3f}.").format(
            steps=steps, error=error, wanted=float(scores[-1] - scores[0])
        )
    )
    titles = [
        _("The score on the way"), _("Completeness error"), _("share of the way"), _("log-odds"), _("steps"),
        _("error"), _("score"), _("slope at the text"),
    ]  # fmt: skip
    with st.container(key="wide-path"):
        figure(
            path_and_error(scores, slope, STEPS, {rules[rule]: line for rule, line in errors.items()}, steps, titles),
            _(
                "On the way from the baseline to the text the score goes from {first:+.2f} to {last:+.2f}; the slope "
                "at the end alone would say {slope:+.2f} for the whole way. Completeness error with {few} steps "
                "{most:.2g}, with {many} steps {least:.2g}."
            ).format(
                first=scores[0], last=scores[-1], slope=slope, few=STEPS[0], many=STEPS[-1],
                most=errors["riemann_middle"][0], least=errors["riemann_middle"][-1],
            ),
            "path",
            data=lambda: [
                {_("steps"): n, **{rules[rule]: line[i] for rule, line in errors.items()}} for i, n in enumerate(STEPS)
            ],
        )  # fmt: skip


def agreement(values: dict) -> None:
    from minibert.inside.attribution import agreement as correlations
    from plots.attribution import agreement_matrix

    lesson.show("Do they agree?")
    matrix = correlations(values)
    names, short = list(method_names().values()), list(column_names().values())
    pairs = [
        _("{a} and {b}: {rho:.2f}").format(a=names[i], b=names[j], rho=matrix[i, j])
        for i in range(len(names))
        for j in range(i)
    ]
    with st.container(key="wide-agreement", width=760):
        figure(
            agreement_matrix(matrix, short),
            _("Rank correlations. {pairs}.").format(pairs="; ".join(pairs)),
            "agreement",
            data=lambda: [
                {_("method"): name, **dict(zip(names, row, strict=True))}
                for name, row in zip(names, matrix.tolist(), strict=True)
            ],
        )


def deletion(key: tuple, case, replacement: str, steps: int) -> None:
    from plots.attribution import deletion_curves

    lesson.show("The deletion test")
    values = values_of(key, case, replacement, steps)
    with st.spinner(_("Taking words away …")):
        test = deletion_of(key, case, values, replacement, steps)
    names = method_names()
    titles = (_("words taken away"), _("P({label})").format(label=literal(case.label)), _("random order"))
    falls = "; ".join(f"{names[name]} {test.fall(name):.1%}" for name in test.methods)
    figure(
        deletion_curves(test.methods, test.random, names, titles),
        _(
            "How far the probability falls, on average over the curve: {falls}; random {random:.1%} ± {spread:.1%}."
        ).format(falls=falls, random=test.random_falls.mean(), spread=test.random_falls.std(ddof=1)),
        "deletion",
        data=lambda: [
            {_("words taken away"): i, **{names[name]: float(curve[i]) for name, curve in test.methods.items()}}
            for i in range(len(case.words) + 1)
        ],
    )


# --- several texts ----------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=64)
def one_of_several(run_id: str, _run, given: tuple, replacement: str) -> dict | None:
    """Method (and "random") → mean fall; None for a text that is too long."""
    from minibert.inside.attribution import attributions, deletion_test

    case = case_of(run_id, _run, given, None)
    if isinstance(case, str) or len(case.words) > SHORT:
        return None
    test = deletion_test(case, attributions(case, replacement, steps=16), replacement)
    return {**{name: test.fall(name) for name in test.methods}, "random": float(test.random_falls.mean())}


@st.fragment
def several(run) -> None:
    lesson.show("One text is an anecdote")
    replacement = choice("holes", _("Instead of a missing word stands"), replacement_names())
    fields = ("text", "pair") if task_of(run) == "pair" else ("text",)
    texts = sorted(dev_examples(run), key=lambda example: sum(len(example[field]) for field in fields))
    done = ("several", run.id, replacement)
    if not st.session_state.get("_several", {}).get(done):
        label = _("Test on {n} short held-out texts").format(n=SEVERAL)
        if not st.button(label, icon=":material/play_arrow:", key="several"):
            return
        st.session_state.setdefault("_several", {})[done] = True
    rows, bar = [], st.empty()
    for example in texts:
        bar.progress(len(rows) / SEVERAL, text=_("{n} of {all} texts").format(n=len(rows), all=SEVERAL))
        row = one_of_several(run.id, run, tuple((field, example[field]) for field in fields), replacement)
        rows += [row] if row else []
        if len(rows) == SEVERAL:
            break
    bar.empty()
    if not rows:
        st.info(_("No held-out text has {n} words or fewer.").format(n=SHORT))
        return
    from plots.attribution import falls

    names = {**method_names(), "random": _("random order")}
    columns = {name: [row[name] for row in rows] for name in names}
    figure(
        falls(columns, names, _("mean fall of the probability")),
        _("Mean fall of the probability over {n} texts: {means}.").format(
            n=len(rows),
            means="; ".join(f"{names[name]} {sum(points) / len(points):.1%}" for name, points in columns.items()),
        ),
        "falls",
        data=lambda: [{names[name]: row[name] for name in names} for row in rows],
    )


def code() -> None:
    from minibert.inside import attribution

    lesson.show("Why they differ")
    lesson.show("The code")
    show_source(attribution.gradient_times_input, find="autograd.grad")
    show_source(attribution.integrated_gradients, find="IntegratedGradients(")
    show_source(attribution.exact_shapley, find="weight[")
    show_source(attribution.rolled_out, find="@ total")
    show_source(attribution.deletion_test, find="rank[")


st.html(STYLE)
lesson.show_title()
run = classifier_choice()
if run is not None:
    show_accuracy(run)
    explore(run)
    several(run)
else:
    lesson.show("The question")
code()
lesson.quiz()
next_lesson("attribution")
