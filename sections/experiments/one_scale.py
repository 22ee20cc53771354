"""The paper's table; beside it the paper's scores, ours, and what needs no understanding, on one scale."""

import statistics
import tomllib
from functools import cache, partial

import streamlit as st

from minibert.experiments.results import share_of_way
from minibert.folders import LESSONS
from sections.experiments.differences import both_say, headline
from sections.experiments.subject import Inputs, Measure, metric_names, own_scores
from ui.claim import floor_words, in_words, scores_in_words, show_missing_results, table_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.text import literal, one_by_one
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    """The paper's table, the scores of the chosen measure with the finding as title, and what both say. Scores that
    could not have decided anything are told, not drawn."""
    if inputs.chosen is None:
        _nothing(inputs)
        return
    draw = _tell if _undecidable(inputs) else _draw_steps if inputs.name == "steps" else _draw_scores
    with picture():
        table = papers_tables().get(inputs.name)
        left, right = st.columns([5, 6], gap="medium") if table else (None, st.container())
        if left:
            with left:
                _the_papers(table, inputs)
        with right:
            draw(inputs, inputs.chosen)
    if said := both_say(inputs, inputs.chosen):
        st.markdown(f"**{literal(said)}**", width=980)
    st.caption(_captions(inputs))
    lesson.show("What an ablation is", level=3)


@cache
def papers_tables() -> dict[str, dict]:
    """Experiment → the paper's own table: its source, columns and rows."""
    return tomllib.loads((LESSONS / "experiments" / "paper.toml").read_text(encoding="utf-8"))


def _the_papers(table: dict, inputs: Inputs) -> None:
    st.markdown(f"**{_('The paper')}**")
    columns = [in_words(name) for name in table["columns"]]
    rows = [
        {_("arm"): in_words(row["name"]), **dict(zip(columns, row["values"], strict=True))} for row in table["rows"]
    ]
    st.table(
        [{name: f"{value:g}" if isinstance(value, float) else value for name, value in row.items()} for row in rows]
    )
    st.caption(literal(in_words(table["source"])) + _("."))


def _nothing(inputs: Inputs) -> None:
    if inputs.records:
        st.warning(_("The recorded results hold none of the measures this page draws."))
        return
    show_missing_results(inputs.paper.get("results", inputs.name))


def _undecidable(inputs: Inputs) -> bool:
    rows = inputs.compared(inputs.chosen)
    return bool(rows) and all(row.verdict == "too little learned" for row in rows)


def _tell(inputs: Inputs, measure: Measure) -> None:
    st.markdown(f"**{literal(headline(inputs, measure))}**")
    st.markdown(
        _(
            "Ours were trained too briefly to test this claim, so their scores are not drawn beside the paper's. "
            "They stand under *What may be said*."
        )
    )


def _captions(inputs: Inputs) -> str:
    """Where the paper's numbers come from, and what ours measure."""
    measure = inputs.chosen
    parts = [
        _("The paper: {source}, {column}.").format(
            source=literal(inputs.paper["source"]), column=literal(measure.column["name"])
        )
        if measure.column.get("values")
        else _("Ours is another measure than those of {source}; of {column}, only the direction is compared.").format(
            source=literal(inputs.paper["source"]), column=literal(measure.column["name"])
        )
    ]
    if "paper_floor" in measure.column and measure.floor is not None:
        parts.append(
            _(
                "Numbers beside the marks are the scores. Without understanding, {paper:g} there, {ours:.1f} here."
            ).format(paper=measure.column["paper_floor"], ours=measure.floor)
        )
    hidden = _(
        "Ours: every word of a story that its other words determine is hidden alone and predicted; from left to right "
        "only what stands before it is seen."
    )
    later = _("Of these words only those that none before them determines.")
    parts.append(
        {
            "determined": hidden,
            "determined.after": one_by_one(hidden, later),
            "mlm_perplexity": _("Ours: of hidden words in stories that were not read."),
        }.get(
            measure.key,
            _(
                "Ours: a sentence with a gap (“soon … found it under the sofa”), and its story; the answer is the "
                "word of the story that is meant. Another language and task than the paper’s: what is judged is "
                "whether its claim holds here."
            ),
        )
    )
    return one_by_one(*parts)


def _draw_scores(inputs: Inputs, measure: Measure) -> None:
    from plots.experiments import on_one_scale

    rows = _rows(inputs, measure)
    ours = metric_names()[measure.key]
    keys = (
        _("the paper: {name}").format(name=measure.column["name"]),
        _("ours; a dot a seed, mean ± sd"),
        floor_words(measure.key)[0],
    )
    axis = _("{measure} (lower is better)") if measure.log else _("{measure}, %")
    finding, table, places = headline(inputs, measure), table_of(rows), _shares(measure)
    if places:
        axis = _("share of what can be gained, %")
    fig = partial(
        on_one_scale,
        rows,
        keys,
        axis.format(measure=ours),
        measure.floor,
        log=measure.log,
        title=finding,
        own=_("your run"),
        places=places,
    )
    alt = _("{title}. {told}.").format(title=finding, told=scores_in_words(table))
    figure(fig, alt, key="scores", data=table)


def _shares(measure: Measure) -> tuple | None:
    """How far a score of the paper's, and one of ours, has come from what needs no understanding to 100, in percent.
    None if that is not known of one of the tasks."""
    floors = measure.column.get("paper_floor"), measure.floor
    if measure.log or None in floors:
        return None
    return tuple(partial(_share_of_gain, floor) for floor in floors)


def _share_of_gain(floor: float, score: float) -> float:
    return 100 * share_of_way(score, floor, 100)


def _rows(inputs: Inputs, measure: Measure) -> list:
    from plots.experiments import Score

    values, names, own = measure.column.get("values", {}), inputs.paper["arms"], own_scores(inputs)
    return [Score(names[arm], values.get(arm), measure.found[arm], own.get(arm, ())) for arm in inputs.arms]


def _draw_steps(inputs: Inputs, measure: Measure) -> None:
    from plots.experiments import over_steps

    steps = {record["arm"]: record["steps"] for record in inputs.records}
    words = {"mlm": _("masked"), "left-to-right": _("left-to-right")}
    lines: dict[str, dict] = {}
    for arm, seeds in measure.found.items():
        line = words.get(arm.partition("@")[0], arm)
        lines.setdefault(line, {})[steps[arm]] = seeds
    parts = [
        f"{line}{_(': ')}"
        + _(", ").join(
            f"{step:,}{_(': ')}{statistics.fmean(seeds.values()):.1f}" for step, seeds in sorted(points.items())
        )
        for line, points in lines.items()
    ]
    name, finding = metric_names()[measure.key], headline(inputs, measure)
    alt = _("{measure} after so many steps of pre-training. {parts}.").format(measure=name, parts=_("; ").join(parts))
    floor = None if measure.floor is None else (measure.floor, floor_words(measure.key)[0])
    axes = (_("steps of pre-training"), _("{measure}, percent").format(measure=name))
    fig = partial(over_steps, lines, axes, floor, title=finding)
    figure(fig, f"{finding}. {alt}", key="over-steps", data=table_of(_rows(inputs, measure)))
    dots = _("A small dot is a seed; the line joins their means, the bars are one standard deviation.")
    st.caption(dots)
