"""The guessing game: ten pairs; after each guess come the truth, the model's answer, and the topic judge's."""

import streamlit as st

from sections.next_sentence.subject import Inputs, bundled, kind_names, topic_judge
from ui.inputs import choice, counter
from ui.lesson import Lesson
from ui.model_cache import language_read, load, version_of
from ui.page import picture
from ui.predict import tally
from ui.text import literal, one_by_one
from ui.translations import _
from ui.visitor import owner

ROUND = 10  # pairs to guess


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="asked"):
        against = choice(
            "against",
            _("The pairs"),
            {"elsewhere": _("BERT: next or from elsewhere"), "swapped": _("ALBERT: in order or swapped")},
        )
        number = counter("round", _("New round"), button="new-round")
    with picture():
        _table(inputs.model, against, number)
    lesson.show("A second question", title=False)


def _table(model: str, against: str, number: int) -> None:
    """The current pair: first to be guessed, then its answer. number: seed of the deal."""
    from minibert.inside.predictions.next_sentence import deal, probes

    probed = probes(*bundled(language_read(model)))
    dealt = deal(probed, against, ROUND, number)
    state = st.session_state.setdefault("_guessed", {})
    guesses: list[bool] = state.setdefault((against, number), [])
    turned = st.session_state.setdefault("_turned", {})
    at = turned.get((against, number), 0)  # index of the current pair
    if at == ROUND:
        _show_score(model, probed, dealt, guesses)
        return
    probe = probed[dealt[at]]
    words = (
        (_("B follows A"), _("B is from elsewhere"))
        if against == "elsewhere"
        else (_("A comes before B"), _("B comes before A"))
    )
    question = f"next-sentence\n{against}\n{probe.a}\n{probe.b}"
    st.progress(at / ROUND, text=_("Pair {n} of {all}").format(n=at + 1, all=ROUND))
    for name, text in (("A", probe.a), ("B", probe.b)):
        with st.container(border=True, key=f"passage-{name}"):
            st.markdown(f"**{name}** &nbsp; {literal(one_by_one(*text.split(' ')))}")
    if len(guesses) <= at:
        with st.container(key="guess", horizontal=True, gap="small"):
            for answer, label, icon in zip((True, False), words, (":material/check:", ":material/close:"), strict=True):
                args = ((against, number), at, answer, question)
                st.button(label, key=f"guess-{answer}", icon=icon, on_click=_guess, args=args)
        return
    _reveal(model, probed, dealt[at], guesses[at], words, question)
    st.button(
        _("Next pair") if at + 1 < ROUND else _("See the score"),
        key="turn",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=_turn,
        args=((against, number), at),
    )


def _guess(key: tuple, at: int, answer: bool, question: str) -> None:
    guesses = st.session_state["_guessed"][key]
    if len(guesses) == at:  # a double click must not answer the next pair
        guesses.append(answer)
        tally().vote(question, owner(), str(answer))


def _turn(key: tuple, at: int) -> None:
    st.session_state["_turned"][key] = at + 1


def _answers(model: str, probed: list, rows: list[int]) -> tuple[list[float], list[bool]]:
    """(P(IsNext) by the model, verdicts of the topic judge) for some of the pairs."""
    from minibert.inside.predictions.next_sentence import judge

    loaded = load(model)
    probs = judge(loaded.model, loaded.tokenizer, [(probed[row].a, probed[row].b) for row in rows])
    _overlap, verdicts = topic_judge(model, version_of(model))
    return probs.tolist(), verdicts.follows[rows].tolist()


def _mark(right: bool) -> str:
    return "✓" if right else "✗"


def _reveal(model: str, probed: list, row: int, guess: bool, words: tuple[str, str], question: str) -> None:
    """The truth, and who was right: the learner, the room, the model, the topic judge."""
    (prob,), (topic,) = _answers(model, probed, [row])
    truth = probed[row].kind == "next"
    phrase = _("In truth: **{kind}**.").format(kind=kind_names()[probed[row].kind])
    (st.success if guess == truth else st.error)(
        f"{phrase} " + (_("You were right.") if guess == truth else _("You were wrong."))
    )
    counts = tally().counts(question)
    with st.container(horizontal=True, gap="small", key="judges"):
        if counts.total() > 1:
            of = {True: counts["True"], False: counts["False"]}
            mark = _mark((of[True] > of[False]) == truth)
            _verdict(_("The room {mark}").format(mark=mark), f"{of[truth]} / {counts.total()}", words, truth)
        for name, follows, number in (
            (model, prob > 0.5, _("IsNext {p:.0%}").format(p=prob)),
            (_("Topic only"), topic, _("alike") if topic else _("not alike")),
        ):
            _verdict(f"{literal(name)} {_mark(follows == truth)}", number, words, follows)


def _verdict(who: str, number: str, words: tuple[str, str], follows: bool) -> None:
    st.metric(who, number, words[0 if follows else 1], delta_color="off", delta_arrow="off", border=True)


def _show_score(model: str, probed: list, dealt: list[int], guesses: list[bool]) -> None:
    probs, topic = _answers(model, probed, dealt)
    truths = [probed[row].kind == "next" for row in dealt]
    answers = {_("You"): guesses, _("The model"): [prob > 0.5 for prob in probs], _("Topic only"): topic}
    for column, (name, verdicts) in zip(st.columns(3), answers.items(), strict=True):
        right = sum(one == truth for one, truth in zip(verdicts, truths, strict=True))
        column.metric(name, _("{right} of {all}").format(right=right, all=ROUND), border=True)
    with st.expander(_("Pair by pair"), icon=":material/table_rows:"):
        rows = [
            {
                "A": literal(probed[row].a),
                "B": literal(probed[row].b),
                _("in truth"): kind_names()[probed[row].kind],
                **{name: _mark(verdicts[i] == truths[i]) for name, verdicts in answers.items()},
            }
            for i, row in enumerate(dealt)
        ]
        st.table(rows)
    st.caption(
        _(
            "Ten pairs are few: guessing blindly gets 7 or more right in one round of six. *Topic against coherence* "
            "counts many."
        )
    )
