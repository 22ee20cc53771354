"""Extractive question answering: the answer is a span of the text."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import WRONG, case, percent, safe
from ui.figures import figure
from ui.highlights import Highlight, between, excerpt, marked_html
from ui.tasks.base import DataSet, Review, TaskView, Values, least_right, window_title, wrong_of
from ui.tasks.forms import LONG, hint, text_field
from ui.text import literal, shorten
from ui.translations import _

Place = tuple[int, int]


class SpansView(TaskView):
    name = "span"
    section = "An answer that stands in the text"
    head_lines = "qa_outputs"
    small = Values(3, 8, 2e-4, 256)  # every shipped passage fits into one window
    fields = ("context", "question")

    def title(self) -> str:
        return _("An answer in the text")

    def expected(self) -> str:
        return squad_words() + _(".")

    def formats(self) -> dict[str, str]:
        return {"squad": "SQuAD 1.1"}

    def metric_title(self) -> str:
        return _("F1 of answers")

    def sets(self) -> dict[str, DataSet]:
        note = _("six questions a passage; the dev set has passages of its own")
        chinese = _("five questions a passage; the dev set has passages of its own")
        return {
            "questions": DataSet(self.name, ".json", _("Questions"), note),
            "questions-zh": DataSet(self.name, ".json", _("Questions, Chinese"), chinese, "zh"),
        }

    def in_a_line(self, example) -> str:
        return example.question

    def in_words(self, part) -> str:
        """The text of an answer."""
        return part.text

    def form(self, example, key) -> dict[str, Any] | str | None:
        context = text_field(f"{key}-context", _("Passage"), example.context, most=LONG)
        question = text_field(f"{key}-question", _("Question"), example.question, multiline=False)
        if not (context.strip() and question.strip()):
            hint(_("Write a passage and a question, and the model answers."))
            return None
        return {"question": question, "context": context}

    def asked(self, example, labels, options) -> str:
        if example.answers is None:
            return _(
                "Predicted: where the answer starts (S) and where it ends (E), a choice among all tokens of the "
                "passage."
            )
        if not example.answers:
            return _("Predicted: S and E. **The passage holds no answer**, so both belong to `[CLS]`.")
        if example.place is None:
            return _("The answer does not stand where the file says it does, so this example has no loss.")
        start, end = example.place
        return _(
            "Predicted: the token where the answer “{answer}” starts (S) and the one where it ends (E). In a window "
            "without the answer both belong to `[CLS]`."
        ).format(answer=literal(shorten(example.context[start:end], 120)))

    def row_title(self, rows, number) -> str:
        return window_title(rows, number, _("passage tokens {first}–{last} of {total}"))

    def headline(self, answer) -> tuple[str, float | None]:
        return shorten(answer["answer"], 120) or _("no answer"), answer["probability"]

    def show_answer(self, given, answer, key) -> None:
        context = given["context"] if isinstance(given, Mapping) else given[1]
        if answer["start"] is None:
            st.markdown(_("**No answer**: the model finds none in the passage."))
        else:
            st.markdown(
                _("The answer is **{answer}**, with a probability of {p} among the spans listed below.").format(
                    answer=literal(shorten(answer["answer"], 300)), p=f"{answer['probability']:.1%}"
                )
            )
        offsets = [tuple(place) for place in answer["offsets"]]
        st.html(marked_html(context, span_marks(answer, offsets), label=_("The passage with the answer")))
        if "null_difference" in answer:
            show_difference(answer)
        show_ends(context, offsets, answer, f"{key}-ends")
        show_best(answer, f"{key}-best")

    def review(self, pairs, evaluation, key) -> Review:
        from minibert.tasks.span_scores import outcome
        from plots.answers import outcome_bars

        asked = [(self.task.restored(example), said) for example, said in pairs]
        names = {
            "exact": _("exact"),
            "overlap": _("overlapping"),
            "wrong": _("wrong"),
            "silent": _("rightly silent"),
            "missed": _("silent, but there is an answer"),
            "invented": _("answered, but should be silent"),
        }
        counts: dict[str, dict[str, int]] = {}
        for example, said in asked:
            row = _("has an answer") if example.answers else _("has none")
            by = counts.setdefault(row, {})
            kind = outcome(said["answer"], example)
            by[kind] = by.get(kind, 0) + 1
        listed = _("; ").join(f"{names[kind]}{_(': ')}{n}" for by in counts.values() for kind, n in by.items())
        table = [{_("question"): row, **{names[one]: by.get(one, 0) for one in names}} for row, by in counts.items()]
        fig = outcome_bars(counts, names, _("questions"))
        alt = _("How the answers compare with the references. {listed}.").format(listed=listed)
        figure(fig, alt, key=f"{key}-spans", data=table)
        surest = sorted(asked, key=lambda pair: -pair[1]["probability"])
        items = [mistake(example, said) for example, said in least_right(surest)]
        order = _("the least right first, of these the surest")
        return wrong_of(len(items), len(pairs), order, partly=True), items


def squad_words() -> str:
    return _("JSON as SQuAD has it: `data` → `paragraphs` → `context`, and `qas` with `question` and `answers`")


def span_marks(answer: Mapping, offsets: Sequence[Place]) -> list[Highlight]:
    """Highlight of the predicted answer; if there is none, of the best span, labelled as not given."""
    best = next((one for one in answer["n_best"] if one["start"] is not None), None)
    drawn = answer if answer["start"] is not None else best
    if drawn is None:
        return []
    first, last = span_tokens(offsets, drawn["start"], drawn["end"])
    ends = _("S {s} · E {e}").format(
        s=f"{answer['start_probabilities'][first]:.1%}", e=f"{answer['end_probabilities'][last]:.1%}"
    )
    if drawn is answer:
        return [Highlight(drawn["start"], drawn["end"], ends, 2)]
    return [Highlight(drawn["start"], drawn["end"], f"{_('best span, not given')} · {ends}", 1, dashed=True)]


def span_tokens(offsets: Sequence[Place], start: int | None, end: int | None) -> Place | None:
    """(first, last) token of the characters start:end; None if start is None."""
    if start is None:
        return None
    from minibert.tasks.spans import token_span

    return token_span(offsets, (start, end))


def show_difference(answer: Mapping) -> None:
    """Compare the score difference of "no answer" and the best span with the threshold."""
    difference, threshold = answer["null_difference"], answer["null_threshold"]
    if answer["start"] is None:
        words = _("Score of “no answer” minus that of the best span: {difference}, above the threshold of {threshold}.")
    else:
        words = _(
            "Score of “no answer” minus that of the best span: {difference}; not above the threshold of {threshold}."
        )
    shown = (f"{value:+.2f}".replace("-", "−") for value in (difference, threshold))
    st.markdown(words.format(**dict(zip(("difference", "threshold"), shown, strict=True))))


def show_ends(context: str, offsets: Sequence[Place], answer: Mapping, key: str) -> None:
    """P(start) and P(end) of every token."""
    from plots.answers import span_probabilities

    span = span_tokens(offsets, answer["start"], answer["end"])
    tokens = [context[start:end] for start, end in offsets]
    starts, ends = list(answer["start_probabilities"]), list(answer["end_probabilities"])
    if "null_probabilities" in answer:
        null_start, null_end = answer["null_probabilities"]
        tokens, starts, ends = ["[CLS]", *tokens], [null_start, *starts], [null_end, *ends]
        span = (0, 0) if span is None else (span[0] + 1, span[1] + 1)
    if not tokens:
        return
    fig = span_probabilities(tokens, starts, ends, span, (_("P(start)"), _("P(end)")))
    likely = [max(range(len(tokens)), key=values.__getitem__) for values in (starts, ends)]
    alt = _(
        "The probability of each token to start the answer, above, and to end it, below. Likeliest start: "
        "{start}, {s}; likeliest end: {end}, {e}."
    ).format(start=tokens[likely[0]], s=f"{starts[likely[0]]:.1%}", end=tokens[likely[1]], e=f"{ends[likely[1]]:.1%}")
    figure(
        fig,
        alt,
        key=key,
        data=lambda: [
            {_("token"): token, _("P(start)"): s, _("P(end)"): e}
            for token, s, e in zip(tokens, starts, ends, strict=True)
        ],
    )


def show_best(answer: Mapping, key: str) -> None:
    """Bars for the n-best spans."""
    from plots.answers import probability_bars

    listed = answer["n_best"]
    if not listed:
        return
    st.markdown(_("**The best spans**, by S + E; the probability is a softmax over these:"))
    names = [f"{n}. {one['answer'] or _('no answer')}" for n, one in enumerate(listed, 1)]
    places = (answer["start"], answer["end"])
    chosen = {i for i, one in enumerate(listed) if (one["start"], one["end"]) == places}
    probs = [one["probability"] for one in listed]
    fig = probability_bars(names, probs, chosen, title=_("probability"))
    alt = _("The best spans: {listed}.").format(
        listed=_("; ").join(f"{name}{_(': ')}{p:.1%}" for name, p in zip(names, probs, strict=True))
    )
    rows = [{_("answer"): one["answer"] or _("no answer"), _("probability"): one["probability"]} for one in listed]
    figure(fig, alt, key=key, data=rows)


def mistake(example: Any, said: Mapping) -> str:
    """example: a SpanExample."""
    truth = example.place
    place = None if said["start"] is None else (said["start"], said["end"])
    part, start = excerpt(example.context, [one for one in (truth, place) if one])
    shift = [None if one is None else (one[0] - start, one[1] - start) for one in (truth, place)]
    marks = between(part, *shift, names=(_("truth"), _("answer"), _("truth and answer")))
    before, after = "… " if start else "", " …" if start + len(part) < len(example.context) else ""
    marks = [Highlight(m.start + len(before), m.end + len(before), m.label, m.hue, m.dashed) for m in marks]
    meant = " / ".join(dict.fromkeys(answer.text for answer in example.answers or ())) or _("no answer")
    told = said["answer"] or _("no answer")
    rows = [(_("truth"), safe(meant)), (_("answer"), f"{safe(told)} {WRONG} · {percent(said['probability'])}")]
    question = f"<strong>{safe(example.question)}</strong>"
    return case(question + marked_html(f"{before}{part}{after}", marks), rows)
