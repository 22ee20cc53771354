"""What a fine-tuned model answers, drawn: in words, then as a picture; for every task. A page calls these five."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui.answer_form import answer_form
from ui.cases import LETTERS, choices_html
from ui.figures import figure
from ui.marked import Mark, hues, marked_html, placed
from ui.review import show_review
from ui.task_input import show_input
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext

__all__ = ["answer_form", "headline", "show_answer", "show_input", "show_review"]

IN_ORDER = 6  # so many classes stay in their order; more are sorted by probability
BARS = 30  # bars at most


def headline(task: Any, answer: Mapping) -> tuple[str, float | None]:
    """What was answered, in a few words (plain text), and its probability or score.

    Of several labels the probability is that of the likeliest, of tags that of the least sure one. Without an answer
    (see `minibert.finetune.evaluation.answered`) the reason, and None.
    """
    if "error" in answer:
        return str(answer["error"]), None
    return _HEADLINES[task.name](answer)


def show_answer(task: Any, given: Any, answer: Mapping, key: str) -> None:
    """Draw a Predictor's answer to `given`: in words, then in the text or as a figure."""
    if "error" in answer:
        st.warning(literal(answer["error"]), icon=":material/error:")
        return
    _ANSWERS[task.name](given, answer, key)
    if beside := answer.get("metadata"):
        unseen = _("nothing that training has seen")
        listed = ", ".join(f"{literal(name)} = {literal(value or unseen)}" for name, value in beside.items())
        st.caption(_("Read beside the text: {listed}.").format(listed=listed))


# --- a few words ------------------------------------------------------------------------------------------------------


def _class_words(answer) -> tuple[str, float]:
    return answer["label"], answer["probabilities"][answer["label"]]


def _score_words(answer) -> tuple[str, float]:
    return _("{score} of 5").format(score=f"{answer['score']:.2f}"), answer["score"]


def _labels_words(answer) -> tuple[str, float]:
    return ", ".join(answer["labels"]) or _("no label"), max(answer["probabilities"].values())


def _entities_words(answer) -> str:
    found = [f"{entity['text']} ({entity['type']})" for entity in answer["entities"]]
    return shorten(", ".join(found), 120) or _("no entity")


def _tags_words(answer) -> tuple[str, float | None]:
    return _entities_words(answer), min(answer["probabilities"], default=None)


def _span_words(answer) -> tuple[str, float]:
    return shorten(answer["answer"], 120) or _("no answer"), answer["probability"]


def _choice_words(answer) -> tuple[str, float]:
    letter = LETTERS[answer["label"]]
    return f"{letter} · {shorten(answer['answer'], 120)}", answer["probabilities"][answer["label"]]


def _intent_words(answer) -> tuple[str, float]:
    return f"{answer['intent']} · {_entities_words(answer)}", answer["probabilities"][answer["intent"]]


_HEADLINES: dict[str, Callable[[Mapping], tuple[str, float | None]]] = {
    "classification": _class_words,
    "pair": _class_words,
    "similarity": _score_words,
    "multilabel": _labels_words,
    "tagging": _tags_words,
    "span": _span_words,
    "span-or-none": _span_words,
    "choice": _choice_words,
    "intent": _intent_words,
}

# --- pictures ---------------------------------------------------------------------------------------------------------


def _bars(probabilities: Mapping[str, float], chosen: str, key: str) -> None:
    """Class probabilities; many classes sorted, the likeliest first."""
    from plots.answers import probability_bars

    names = list(probabilities)
    if len(names) > IN_ORDER:
        names = sorted(names, key=lambda name: -probabilities[name])[:BARS]
    fig = probability_bars(
        names, [probabilities[name] for name in names], {names.index(chosen)}, title=_("probability")
    )
    listed = "; ".join(f"{name}: {probabilities[name]:.1%}" for name in names[:IN_ORDER])
    figure(fig, _("The probability of each class: {listed}.").format(listed=listed), key=key, data=lambda: [
        {_("class"): name, _("probability"): p} for name, p in probabilities.items()
    ])  # fmt: skip


def _show_class(given, answer, key) -> None:
    words, p = _class_words(answer)
    st.markdown(_("The answer is **{label}**, with a probability of {p}.").format(label=literal(words), p=f"{p:.1%}"))
    _bars(answer["probabilities"], answer["label"], f"{key}-bars")


def _show_score(given, answer, key) -> None:
    from minibert.tasks.similarity import HIGHEST, LOWEST
    from plots.answers import similarity_scale

    score = answer["score"]
    words = _("The similarity of the two texts is **{score}**, on a scale from 0 (unrelated) to 5 (the same).").format(
        score=f"{score:.2f}"
    )
    if not LOWEST <= score <= HIGHEST:
        words += " " + _("(The layer gives any number: this one lies outside the scale.)")
    st.markdown(words)
    fig = similarity_scale(score, LOWEST, HIGHEST, (_("unrelated"), _("the same")))
    figure(
        fig,
        _("A scale from 0, unrelated, to 5, the same; the answer is {s}.").format(s=f"{score:.2f}"),
        key=f"{key}-scale",
    )


def _show_labels(given, answer, key) -> None:
    from plots.answers import probability_bars

    found = answer["labels"]
    if found:
        words = ngettext("The label is **{labels}**.", "The labels are **{labels}**.", len(found))
        st.markdown(words.format(labels=literal(", ".join(found))))
    else:
        st.markdown(_("**No label** reaches its threshold."))
    probabilities, thresholds = answer["probabilities"], answer["thresholds"]
    names = sorted(probabilities, key=lambda name: -probabilities[name])[:BARS]
    fig = probability_bars(
        names,
        [probabilities[name] for name in names],
        {i for i, name in enumerate(names) if name in found},
        thresholds=[thresholds[name] for name in names],
        title=_("probability, each label by itself"),
        threshold_name=_("threshold"),
    )
    listed = "; ".join(
        _("{label}: {p}, threshold {t}").format(label=name, p=f"{probabilities[name]:.1%}", t=f"{thresholds[name]:.1%}")
        for name in names
    )
    rows = [
        {_("label"): name, _("probability"): probabilities[name], _("threshold"): thresholds[name]}
        for name in probabilities
    ]
    figure(fig, _("The probability of each label. {listed}.").format(listed=listed), key=f"{key}-labels", data=rows)


def entity_marks(entities: Sequence[Mapping], offsets: Sequence[tuple[int, int]]) -> list[Mark]:
    """Marks for an answer's entities, whose words stand at `offsets`."""
    colours = hues(entity["type"] for entity in entities)
    return [Mark(offsets[e["start"]][0], offsets[e["end"] - 1][1], e["type"], colours[e["type"]]) for e in entities]


def _entities(answer, key: str) -> None:
    text, offsets = placed(answer)
    st.html(marked_html(text, entity_marks(answer["entities"], offsets), label=_("Entities in the text")))


def _tag_table(answer, probabilities: Sequence[float]) -> None:
    with st.expander(_("The tag of every word, with its probability"), icon=":material/table_rows:", type="compact"):
        st.dataframe(
            [
                {_("word"): visible(word, spaces=False), _("tag"): tag, _("probability"): 100 * p}
                for word, tag, p in zip(answer["words"], answer["tags"], probabilities, strict=True)
            ],
            hide_index=True,
            column_config={_("probability"): st.column_config.NumberColumn(format="%.1f %%")},
        )


def _found(answer) -> str:
    """The entities in a sentence of Markdown."""
    count = len(answer["entities"])
    if not count:
        return _("**No entity** was found.")
    words = ngettext("**{n} entity:** {which}", "**{n} entities:** {which}", count)
    return words.format(n=count, which=literal(_entities_words(answer)))


def _show_tags(given, answer, key) -> None:
    st.markdown(_found(answer))
    _entities(answer, key)
    _tag_table(answer, answer["probabilities"])


def _show_intent(given, answer, key) -> None:
    p = answer["probabilities"][answer["intent"]]
    intent = _("The intent is **{intent}**, with a probability of {p}.").format(
        intent=literal(answer["intent"]), p=f"{p:.1%}"
    )
    st.markdown(f"{intent} {_found(answer)}")
    _entities(answer, key)
    _bars(answer["probabilities"], answer["intent"], f"{key}-bars")
    _tag_table(answer, answer["tag_probabilities"])


def _show_choice(given, answer, key) -> None:
    from plots.answers import probability_bars

    chosen, probs = answer["label"], answer["probabilities"]
    st.markdown(
        _("The choice is **{letter}**, with a probability of {p} (softmax over the choices’ scores):").format(
            letter=LETTERS[chosen], p=f"{probs[chosen]:.1%}"
        )
    )
    st.html(choices_html(answer["choices"], chosen=chosen))
    letters = list(LETTERS[: len(probs)])
    fig = probability_bars(letters, probs, {chosen}, title=_("probability"))
    listed = "; ".join(f"{letter}: {p:.1%}" for letter, p in zip(letters, probs, strict=True))
    rows = [{_("choice"): choice, _("probability"): p} for choice, p in zip(answer["choices"], probs, strict=True)]
    figure(fig, _("The probability of each choice: {listed}.").format(listed=listed), key=f"{key}-choices", data=rows)


def _show_span(given, answer, key) -> None:
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
    span = _span_tokens(offsets, answer["start"], answer["end"])
    st.html(marked_html(context, _span_marks(answer, offsets), label=_("The passage with the answer")))
    if "null_difference" in answer:
        _no_answer(answer)
    _ends(context, offsets, answer, span, f"{key}-ends")
    _best(answer, f"{key}-best")


def _span_marks(answer: Mapping, offsets: Sequence[tuple[int, int]]) -> list[Mark]:
    """The answer; where none is given, the best span, as not given."""
    best = next((one for one in answer["n_best"] if one["start"] is not None), None)
    drawn = answer if answer["start"] is not None else best
    if drawn is None:
        return []
    first, last = _span_tokens(offsets, drawn["start"], drawn["end"])
    ends = _("S {s} · E {e}").format(
        s=f"{answer['start_probabilities'][first]:.1%}", e=f"{answer['end_probabilities'][last]:.1%}"
    )
    if drawn is answer:
        return [Mark(drawn["start"], drawn["end"], ends, 2)]
    return [Mark(drawn["start"], drawn["end"], f"{_('best span, not given')} · {ends}", 1, dashed=True)]


def _span_tokens(offsets: Sequence[tuple[int, int]], start: int | None, end: int | None) -> tuple[int, int] | None:
    """(first, last) token of an answer."""
    if start is None:
        return None
    from minibert.tasks.spans import token_span

    return token_span(offsets, (start, end))


def _no_answer(answer: Mapping) -> None:
    difference, threshold = answer["null_difference"], answer["null_threshold"]
    if answer["start"] is None:
        words = _("Score of “no answer” minus that of the best span: {difference}, above the threshold of {threshold}.")
    else:
        words = _(
            "Score of “no answer” minus that of the best span: {difference}; not above the threshold of {threshold}."
        )
    shown = (f"{value:+.2f}".replace("-", "−") for value in (difference, threshold))
    st.markdown(words.format(**dict(zip(("difference", "threshold"), shown, strict=True))))


def _ends(context: str, offsets, answer: Mapping, span, key: str) -> None:
    from plots.answers import span_probabilities

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
    figure(fig, alt, key=key, data=lambda: [
        {_("token"): token, _("P(start)"): s, _("P(end)"): e} for token, s, e in zip(tokens, starts, ends, strict=True)
    ])  # fmt: skip


def _best(answer: Mapping, key: str) -> None:
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
        listed="; ".join(f"{name}: {p:.1%}" for name, p in zip(names, probs, strict=True))
    )
    rows = [{_("answer"): one["answer"] or _("no answer"), _("probability"): one["probability"]} for one in listed]
    figure(fig, alt, key=key, data=rows)


_ANSWERS: dict[str, Callable[[Any, Mapping, str], None]] = {
    "classification": _show_class,
    "pair": _show_class,
    "similarity": _show_score,
    "multilabel": _show_labels,
    "tagging": _show_tags,
    "span": _show_span,
    "span-or-none": _show_span,
    "choice": _show_choice,
    "intent": _show_intent,
}
