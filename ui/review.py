"""What a model gets right and wrong on a dev set: a picture of all, then the mistakes, the surest or worst first."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui import cases
from ui.figures import figure
from ui.text import visible
from ui.translations import _, ngettext

PAGE = 12  # cases that are drawn at once
WORST = 5  # marked in the scatter
CLASSES = 24  # in a confusion matrix that can still be read


def show_review(task: Any, examples: Sequence[Mapping], evaluation: Mapping, key: str) -> None:
    """Draw how a model did on its dev set. examples: `dev_examples` of a run's Started details · evaluation: the
    details of its last Eval (see `minibert.finetune.evaluation.evaluate`), with a prediction for each example."""
    pairs = list(zip(examples, evaluation["predictions"], strict=True))
    if not pairs:
        st.info(_("There is nothing that was measured."))
        return
    measured = evaluation.get("measured_on", len(pairs))
    if measured > len(pairs):
        st.caption(
            _("Measured on {all:,} examples; an even sample of {n:,} of them was kept, and is drawn here.").format(
                all=measured, n=len(pairs)
            )
        )
    title, items = _REVIEWS[task.name](task, pairs, evaluation, key)
    st.markdown("**" + title + "**")
    if len(items) > PAGE:
        names = {"few": _("the first {n}").format(n=PAGE), "all": _("all {n}").format(n=len(items))}
        shown = st.segmented_control(
            _("How many"), list(names), format_func=names.get, default="few", required=True, key=f"{key}-page",
            label_visibility="collapsed",
        )  # fmt: skip
        items = items[:PAGE] if shown == "few" else items
    if items:
        st.html(cases.cases_html(items))


Review = tuple[str, list[str]]  # a heading, and the mistakes as HTML


def _wrong(count: int, total: int, order: str, partly: bool = False) -> str:
    """partly: an answer may be right in part."""
    if not count:
        return _("All {total} are right.").format(total=total)
    words = (
        ngettext("{n} of {total} is not entirely right", "{n} of {total} are not entirely right", count)
        if partly
        else ngettext("{n} of {total} is wrong", "{n} of {total} are wrong", count)
    )
    return words.format(n=count, total=total) + f", {order}:"


def _confusion(matrix: Sequence[Sequence[int]], labels: Sequence[str], key: str) -> None:
    from plots.attention import literal
    from plots.confusion import confusion

    right, total = sum(matrix[i][i] for i in range(len(labels))), sum(map(sum, matrix))
    rows = [{_("truth"): labels[i], **dict(zip(labels, row, strict=True))} for i, row in enumerate(matrix)]
    if len(labels) > CLASSES:
        st.caption(_("Of {all} classes, the {n} with the most mistakes are drawn.").format(all=len(labels), n=CLASSES))
        mistakes = [sum(row) + sum(other[i] for other in matrix) - 2 * row[i] for i, row in enumerate(matrix)]
        drawn = sorted(sorted(range(len(labels)), key=lambda i: -mistakes[i])[:CLASSES])
        labels, matrix = [labels[i] for i in drawn], [[matrix[i][j] for j in drawn] for i in drawn]
    fig = confusion(matrix, [literal(label) for label in labels], (_("answer"), _("truth")))
    alt = _("Confusion matrix, a row for each true class, a column for each answer: {right} of {total} right.")
    figure(fig, alt.format(right=right, total=total), key=key, data=rows)


def _classes(task, pairs, evaluation, key) -> Review:
    _confusion(evaluation["confusion"], evaluation["labels"], f"{key}-confusion")
    wrong = [(example, said) for example, said in pairs if not said["grade"]]
    wrong.sort(key=lambda pair: -pair[1]["probabilities"][pair[1]["label"]])
    items = [cases.class_case(example, said) for example, said in wrong]
    return _wrong(len(items), len(pairs), _("the surest mistakes first")), items


def _scores(task, pairs, evaluation, key) -> Review:
    from minibert.tasks.similarity import HIGHEST
    from plots.answers import similarity_scatter

    order = sorted(range(len(pairs)), key=lambda i: pairs[i][1]["grade"])
    truth, said = [example["score"] for example, _said in pairs], [said["score"] for _example, said in pairs]
    texts = [visible(f"{example['text']} | {example['pair']}", spaces=False) for example, _said in pairs]
    worst = order[:WORST]
    fig = similarity_scatter(truth, said, texts, worst, (_("truth"), _("answer")), HIGHEST)
    alt = _(
        "Truth against answer, a point a pair. Diamonds, with their distance: the {n} answers furthest from the truth."
    )
    rows = [
        {_("texts"): text, _("truth"): meant, _("answer"): told}
        for text, meant, told in zip(texts, truth, said, strict=True)
    ]
    figure(fig, alt.format(n=len(worst)), key=f"{key}-scatter", data=rows)
    return _("The answers furthest from the truth first:"), [cases.score_case(*pairs[i]) for i in order]


def _several(task, pairs, evaluation, key) -> Review:
    from plots.answers import label_scores

    scores = evaluation["by_label"]
    fig = label_scores(scores, (_("threshold"), "n = {n}"), _("F1 of each label"))
    rows = [{_("label"): label, **values} for label, values in scores.items()]
    listed = "; ".join(f"{label}: {values['f1']:.0%}" for label, values in scores.items())
    alt = _("F1 of each label, with its threshold and how often it occurs. {listed}.").format(listed=listed)
    figure(fig, alt, key=f"{key}-labels", data=rows)
    wrong = sorted((pair for pair in pairs if pair[1]["grade"] < 1), key=lambda pair: pair[1]["grade"])
    items = [cases.labels_case(example, said) for example, said in wrong]
    return _wrong(len(items), len(pairs), _("the least right first"), partly=True), items


def _entities(rows: Sequence[tuple[Sequence[str], Sequence[str]]], by_type: Mapping, key: str) -> None:
    """rows: (true tags, said tags). How each type's entities fared, and its scores."""
    from minibert.tasks.entity_errors import count_outcomes
    from plots.answers import outcome_bars

    counts = count_outcomes(rows)
    if not counts:
        st.markdown(_("There is no entity, neither meant nor found."))
        return
    names = cases.outcome_names()
    fig = outcome_bars(counts, names, _("entities"))
    total = {kind: sum(by[kind] for by in counts.values()) for kind in names}
    listed = "; ".join(f"{names[kind]}: {count}" for kind, count in total.items())
    table = [{_("type"): kind, **{names[one]: by[one] for one in names}} for kind, by in counts.items()]
    alt = _("What became of the entities of each type; an invented one counts for the type it was given. {listed}.")
    figure(fig, alt.format(listed=listed), key=f"{key}-entities", data=table)
    if by_type:
        share = st.column_config.NumberColumn(format="%.1f %%")
        st.dataframe(
            [
                {
                    _("type"): visible(kind, spaces=False),
                    _("precision"): 100 * values["precision"],
                    _("recall"): 100 * values["recall"],
                    _("F1"): 100 * values["f1"],
                    _("entities"): int(values["count"]),
                }
                for kind, values in by_type.items()
            ],
            hide_index=True,
            column_config={_("precision"): share, _("recall"): share, _("F1"): share},
        )


def _tags(task, pairs, evaluation, key) -> Review:
    _entities([(example["tags"], said["tags"]) for example, said in pairs], evaluation["by_type"], key)
    wrong = sorted((pair for pair in pairs if pair[1]["grade"] < 1), key=lambda pair: pair[1]["grade"])
    items = [cases.tags_case(example, example["tags"], said) for example, said in wrong]
    return _wrong(len(items), len(pairs), _("the least right first"), partly=True), items


def _intents(task, pairs, evaluation, key) -> Review:
    from minibert.tasks.recorded import restored

    _confusion(evaluation["confusion"], evaluation["labels"]["intents"], f"{key}-confusion")
    tags = [restored(task, example).tags for example, _said in pairs]
    rows = [(truth, said["tags"]) for truth, (_example, said) in zip(tags, pairs, strict=True)]
    _entities(rows, evaluation["by_type"], key)
    wrong = [(example, truth, said) for truth, (example, said) in zip(tags, pairs, strict=True) if not said["grade"]]
    wrong.sort(key=lambda one: (one[2]["intent"] == one[0]["intent"], -one[2]["probabilities"][one[2]["intent"]]))
    items = [cases.intent_case(*one) for one in wrong]
    return _wrong(len(items), len(pairs), _("wrong intents first, the surest of them at the top"), partly=True), items


def _spans(task, pairs, evaluation, key) -> Review:
    from minibert.tasks.recorded import restored
    from minibert.tasks.spans import outcome
    from plots.answers import outcome_bars

    asked = [(restored(task, example), said) for example, said in pairs]
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
    listed = "; ".join(f"{names[kind]}: {n}" for by in counts.values() for kind, n in by.items())
    table = [{_("question"): row, **{names[one]: by.get(one, 0) for one in names}} for row, by in counts.items()]
    fig = outcome_bars(counts, names, _("questions"))
    alt = _("How the answers compare with the references. {listed}.").format(listed=listed)
    figure(fig, alt, key=f"{key}-spans", data=table)
    wrong = sorted(
        (pair for pair in asked if pair[1]["grade"] < 1), key=lambda pair: (pair[1]["grade"], -pair[1]["probability"])
    )
    items = [cases.span_case(example, said) for example, said in wrong]
    return _wrong(len(items), len(pairs), _("the least right first, of these the surest"), partly=True), items


def _choices(task, pairs, evaluation, key) -> Review:
    from plots.answers import sureness

    right, wrong = [], []
    for example, said in pairs:
        (right if said["grade"] else wrong).append((said["probabilities"][said["label"]], example, said))
    fig = sureness(
        [p for p, *_rest in right],
        [p for p, *_rest in wrong],
        (_("right"), _("wrong")),
        (_("probability of the choice"), _("examples")),
    )
    alt = _("How sure the model was of its choices: {right} right and {wrong} wrong ones, by their probability.")
    rows = [
        {_("probability"): p, _("right"): good}
        for group, good in ((right, True), (wrong, False))
        for p, *_rest in group
    ]
    figure(fig, alt.format(right=len(right), wrong=len(wrong)), key=f"{key}-sure", data=rows)
    wrong.sort(key=lambda one: -one[0])
    items = [cases.choice_case(example, said) for _p, example, said in wrong]
    return _wrong(len(items), len(pairs), _("the surest mistakes first")), items


_REVIEWS: dict[str, Callable[[Any, list, Mapping, str], Review]] = {
    "classification": _classes,
    "pair": _classes,
    "similarity": _scores,
    "multilabel": _several,
    "tagging": _tags,
    "span": _spans,
    "span-or-none": _spans,
    "choice": _choices,
    "intent": _intents,
}
