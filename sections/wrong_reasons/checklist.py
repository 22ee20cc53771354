"""A checklist: texts edited by rule, and the effect on the prediction (Ribeiro et al. 2020)."""

from functools import partial

import streamlit as st

from ui.classifiers import classifier_choice, dev_examples, in_chinese, predictor_of, show_accuracy, task_of
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import count_unknown, say_unknown
from ui.text import literal, visible
from ui.translations import _

FLIP_ROWS = 8
MOST_LINES, MOST_CHARACTERS = 60, 6_000


def rule_names() -> dict[str, str]:
    return {
        "synonym": _("another word for the same"),
        "name": _("another name"),
        "short form": _("isn’t for is not"),
        "aside": _("a neutral sentence behind it"),
        "typo": _("a typo"),
        "negation": _("negated, or no longer"),
        "opposite": _("a word becomes its opposite"),
        "order": _("words shuffled"),
    }


@st.cache_data(show_spinner=False, max_entries=32)
def checked(run_id: str, _run, inputs: tuple, field: str) -> list:
    from minibert.inside.predictions.checklist import check

    return list(check(predictor_of(_run), [dict(example) for example in inputs], field))


@st.fragment
def show(lesson: Lesson, cue: str) -> None:
    run = classifier_choice()
    if run is None:
        lesson.show("A checklist", title=False)
        return
    show_accuracy(run)
    field = "pair" if task_of(run) == "pair" else "text"
    inputs = texts_to_check(lesson, run)
    if not inputs:
        st.info(_("Type at least one sentence."), icon=":material/edit:")
        return
    with st.spinner(_("Editing and asking …")):
        results = checked(run.id, run, tuple(tuple(example.items()) for example in inputs), field)
    rates(results)
    flipped(results)
    lesson.show("A checklist", title=False)


def texts_to_check(lesson: Lesson, run) -> list[dict[str, str]]:
    """The user's own lines, or the held-out texts; of the course's reviews only the plain ones, whose meaning a rule
    can invert."""
    sources = {"held-out": _("held-out texts"), "own": _("your own sentences")}
    pairs = task_of(run) == "pair"
    source = "held-out" if pairs else choice("texts", _("Texts"), sources)
    examples = dev_examples(run)
    if source == "own":
        chinese = in_chinese(run)
        start = [example["text"] for example in examples[:4]] if chinese else lesson.examples
        text = sentence_input(
            "zh-lines" if chinese else "lines",
            [],
            default="\n".join(start),
            label=_("One sentence a line"),
            multiline=True,
            max_chars=MOST_CHARACTERS,
        )
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            st.caption(_("Of {total} lines the first {n} are used.").format(total=len(lines), n=MOST_LINES))
        tokenizer = predictor_of(run).tokenizer
        counts = [count_unknown(tokenizer.encode(line)) for line in lines[:MOST_LINES]]
        say_unknown(sum(unknown for unknown, _n in counts), sum(n for _unknown, n in counts), _("this model"))
        return [{"text": line} for line in lines[:MOST_LINES]]
    plain = [example for example in examples if example["extra"].get("kind", "plain") == "plain"]
    return [{"text": e["text"], **({"pair": e["pair"]} if pairs else {})} for e in plain][:200]


def rates(results: list) -> None:
    from plots.checklist import FlipRate, flip_rates

    names = rule_names()
    applied = [one for one in results if one.texts]
    if not applied:
        st.info(_("None of the rules applies to these texts."))
        return
    rows = [
        FlipRate(
            names[one.rule.name],
            one.rule.expects,
            one.rate,
            one.interval,
            _("{flips} of {n}").format(flips=one.flips, n=len(one.texts)),
        )
        for one in applied
    ]
    expected = {"same": _("should stay"), "change": _("should change"), "open": _("neither right nor wrong")}
    figure(
        partial(flip_rates, rows, _("answers that flipped")),
        _("How often each rule flips the answer. {rows}.").format(
            rows=_("; ").join(
                _("{rule} ({expected}): {note}").format(rule=row.name, expected=expected[row.expects], note=row.note)
                for row in rows
            )
        ),
        "rates",
        data=[
            {
                _("rule"): row.name,
                _("the answer"): expected[row.expects],
                _("flipped"): row.rate,
                _("at least"): row.interval[0],
                _("at most"): row.interval[1],
                _("texts"): len(one.texts),
                _("of"): one.of,
            }
            for row, one in zip(rows, applied, strict=True)
        ],
    )


def flipped(results: list) -> None:
    names = {one.rule.name: rule_names()[one.rule.name] for one in results if one.texts}
    if not names:
        return
    rule = choice("rule", _("The texts behind it"), names, wrap=True)
    one = next(one for one in results if one.rule.name == rule)
    texts = sorted(one.texts, key=lambda edited: not edited.flipped)
    rows = [
        {
            _("before"): visible(edited.before, spaces=False),
            _("after"): visible(edited.after, spaces=False),
            _("answer"): f"{edited.label} {edited.answer[edited.label]:.0%}",
            _("then"): f"{edited.label_after} {edited.answer_after[edited.label_after]:.0%}",
            _("flipped"): "●" if edited.flipped else "",
        }
        for edited in texts
    ]
    # Escape for st.table, which renders cells as Markdown; st.dataframe does not.
    st.table([{literal(name): literal(value) for name, value in row.items()} for row in rows[:FLIP_ROWS]])
    if len(rows) > FLIP_ROWS:
        with st.expander(_("All {n}").format(n=len(rows))):
            st.dataframe(rows, hide_index=True)
