"""The paper's experiments in small: recorded results beside the paper's, and one arm to run now."""

import json
import os
import statistics
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from minibert.experiments.catalogue import EXPERIMENTS
from minibert.experiments.results import (
    Difference,
    ResultsError,
    by_arm,
    paired_difference,
    read_records,
    verdict,
)
from ui.figures import figure, legend
from ui.inputs import choice
from ui.lesson import LESSONS, Lesson
from ui.runs import live, own_runs, show_refusal, state_in_words, state_rows, submit
from ui.source import show_source
from ui.text import literal
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

KIND = "experiment"
RESULTS = Path(os.environ.get("MINIBERT_RESULTS") or LESSONS / "results")
CURVES = 6  # small runs drawn together

STYLE = """<style>
.stPlotlyChart :is([class$="tick"], .textpoint) text, .stPlotlyChart :is(.annotation-text, [class$="title"]) {
  fill: currentColor !important; }
</style>"""

lesson = Lesson("experiments")
papers = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))


def experiment_names() -> dict[str, str]:
    return {
        "objectives": _("Objectives"),
        "masking": _("Masking split"),
        "size": _("Model size"),
        "steps": _("Training steps"),
        "formats": _("Input formats"),
    }


def metric_names() -> dict[str, str]:
    return {
        "sst2": _("SST-2 accuracy"),
        "mrpc": _("MRPC accuracy"),
        "ner": _("CoNLL-2003 NER, F1"),
        "ner_features": _("CoNLL-2003 NER, F1, frozen encoder"),
        "mlm_perplexity": _("held-out MLM perplexity"),
    }


def task_names() -> dict[str, str]:
    return {
        "sst2": "SST-2",
        "mrpc": "MRPC",
        "ner": "CoNLL-2003 NER",
        "ner_features": _("CoNLL-2003 NER, frozen encoder"),
    }


def verdict_words() -> dict[str, str]:
    return {
        "agrees": _("same direction"),
        "disagrees": _("other direction"),
        "unclear": _("unclear: within the spread"),
        "no difference in the paper": _("no difference in the paper"),
        "not in the paper": _("no number in the paper"),
    }


def floor_words() -> dict[str, str]:
    tags = _(
        "Giving each word the tag it has most often in the training sentences, and O to a word not among them, has F1 "
        "{floor}."
    )
    return {
        "sst2": _("Always answering “positive” is right in {floor} %."),
        "mrpc": _("Always answering “paraphrase” is right in {floor} %."),
        "ner": tags,
        "ner_features": tags,
        "mlm_perplexity": _(
            "Guessing by how frequent each token is, whatever stands around it, has perplexity {floor}."
        ),
    }


# --- recorded results -----------------------------------------------------------------------------------------------


def recorded(name: str) -> list[dict]:
    """The records of the newest scale and text in the results file; where there are none, the page says so."""
    try:
        records = read_records(RESULTS / f"{name}.jsonl")
    except (ResultsError, OSError) as error:
        st.error(literal(error), icon=":material/error:")
        return []
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(
                _("**No results of this experiment have been recorded here yet.** This makes them, in an hour or more:")
            )
            st.code(f"python -m minibert experiment {name} --seeds 3", "bash")
    return [record for record in records if all(record[name] == records[-1][name] for name in ("scale", "data"))]


def in_points(metric: str, values: dict) -> dict:
    """Shares in percent, as the papers print them; perplexities as they are."""
    factor = 1 if metric.endswith("perplexity") else 100
    return {arm: {seed: factor * value for seed, value in seeds.items()} for arm, seeds in values.items()}


@dataclass(frozen=True)
class Compared:
    """An arm beside another: our difference, the paper's as printed, if it is, and one of VERDICTS."""

    arm: str
    other: str
    ours: Difference | None
    printed: float | None
    direction: float | None
    verdict: str


def compared(paper: dict, column: dict, found: dict) -> list[Compared]:
    """The arms that were run, each beside the base or those that paper.toml sets it against."""
    base, values, rows = next(iter(paper["arms"])), column.get("values", {}), []
    for arm in paper["arms"]:
        for other in paper.get("against", {}).get(arm, [base]):
            if arm == other or arm not in found or other not in found:
                continue
            ours = paired_difference(found[arm], found[other])
            printed = round(values[arm] - values[other], 2) if arm in values and other in values else None
            direction = column.get("signs", {}).get(arm) if printed is None else printed
            rows.append(Compared(arm, other, ours, printed, direction, verdict(ours, direction)))
    return rows


def floor_of(measure: str, record: dict) -> float | None:
    """What needs no understanding; None where it was not counted on what the record was measured on."""
    floor = papers["floor"].get(measure)
    if floor is None or "--tasks" in record["command"] or "--heldout" in record["command"]:
        return None
    facts = {"data": record["data"], **record["scale"]}
    facts |= {name: record[name].get(measure) for name in ("measured_on", "examples") if measure in record[name]}
    return floor["value"] if all(facts.get(name) == fact for name, fact in floor["of"].items()) else None


def show_results(name: str, records: list[dict]) -> None:
    paper = papers[name]
    columns = {
        column["ours"]: column
        for column in paper["column"]
        if any(column["ours"] in record["metrics"] for record in records)
    }
    if not columns:
        st.warning(_("The recorded results hold none of the measures this page draws."))
        return
    show_summary(
        [row for key in columns for row in compared(paper, columns[key], in_points(key, by_arm(records, key)))]
    )
    measure = choice(f"measure-{name}", _("Measure"), {key: metric_names()[key] for key in columns})
    column = columns[measure]
    found = in_points(measure, by_arm(records, measure))
    arms = [arm for arm in paper["arms"] if arm in found]
    floor = floor_of(measure, records[-1])
    if name == "steps":
        draw_steps(records, column, measure, found)
    else:
        draw_scores(paper, column, measure, found, arms, floor)
    if floor is not None:
        show_floor(column, measure, floor, {arm: found[arm] for arm in arms})
    if rows := compared(paper, column, found):
        draw_differences(paper, column, measure, rows)
    elif next(iter(paper["arms"])) in found:
        st.info(_("Only the base arm has been run yet."))
    else:
        st.info(_("The base arm has not been run yet, so there is no difference to show."))


def show_summary(rows: list[Compared]) -> None:
    """All comparisons of an experiment in one sentence."""
    counts = Counter(row.verdict for row in rows)
    n = sum(counts[said] for said in ("agrees", "disagrees", "unclear"))
    if n:
        st.markdown(
            _(
                "**All measures together: in {n} comparisons the paper tells a direction. Ours point the same way in "
                "{same}, the other way in {other}, and are unclear in {open}**: other seeds could give the other sign."
            ).format(n=n, same=counts["agrees"], other=counts["disagrees"], open=counts["unclear"]),
            width=820,
        )


def show_floor(column: dict, measure: str, floor: float, found: dict) -> None:
    """What is had without any understanding, and how far the arms get beyond it."""
    sign = -1 if column.get("lower") else 1
    gains = [sign * (statistics.fmean(seeds.values()) - floor) for seeds in found.values()]
    better = sum(gain > 0 for gain in gains)
    if better:
        arms = _("On average over the seeds, {n} of {all} arms do better, the best by {gain:,.1f}.").format(
            n=better, all=len(gains), gain=max(gains)
        )
    else:
        arms = _("On average over the seeds, no arm does better.")
    words = floor_words()[measure].format(floor=f"{floor:,.1f}")
    st.markdown("**" + _("Without understanding the sentence:") + f"** {words} {arms}", width=820)


def draw_scores(paper: dict, column: dict, measure: str, found: dict, arms: list[str], floor: float | None) -> None:
    from plots.experiments import Score, scores

    values = column.get("values", {})
    rows = [Score(paper["arms"][arm], values.get(arm), found[arm]) for arm in arms]
    ours = metric_names()[measure]
    fig = scores(rows, (_("The paper"), _("Ours")), (column["name"], ours), _("seed"), floor)
    table = []
    for row in rows:
        seeds = list(row.ours.values())
        sd = f"{statistics.stdev(seeds):.2f}" if len(seeds) > 1 else "–"
        table.append(
            {
                _("arm"): row.name,
                _("paper"): "–" if row.paper is None else f"{row.paper:g}",
                _("ours, mean"): f"{statistics.fmean(seeds):.2f}",
                _("sd"): sd,
                _("seeds"): len(seeds),
            }
        )
    words = "; ".join(
        _("{arm}: paper {paper}, ours {ours} ± {sd}").format(
            arm=row[_("arm")], paper=row[_("paper")], ours=row[_("ours, mean")], sd=row[_("sd")]
        )
        for row in table
    )
    alt = _("{theirs} in the paper beside {ours} here, by arm. {words}.").format(
        theirs=column["name"], ours=ours, words=words
    )
    figure(fig, alt, key="scores", data=table)
    if values:
        caption = _(
            "Left: {source}. Right: a dot is a seed; the line is their mean, the bar one standard deviation. "
            "The two scales differ."
        )
    else:
        caption = _(
            "A dot is a seed; the line is their mean, the bar one standard deviation. This measure is not in {source}; "
            "the directions below are those of {theirs} there."
        )
    if fig.layout.shapes:
        caption += " " + _("The dotted line is what needs no understanding.")
    st.caption(caption.format(source=literal(paper["source"]), theirs=literal(column["name"])))


def draw_steps(records: list[dict], column: dict, measure: str, found: dict) -> None:
    from plots.experiments import over_steps

    steps = {record["arm"]: record["steps"] for record in records}
    words = {"mlm": _("MLM + NSP"), "left-to-right": _("left-to-right")}
    lines: dict[str, dict] = {}
    for arm, seeds in found.items():
        line = words.get(arm.partition("@")[0], arm)
        lines.setdefault(line, {})[steps[arm]] = seeds
    fig = over_steps(lines, (_("steps of pre-training"), metric_names()[measure]))
    parts = [
        f"{line}: "
        + ", ".join(f"{step:,}: {statistics.fmean(seeds.values()):.1f}" for step, seeds in sorted(points.items()))
        for line, points in lines.items()
    ]
    alt = _("{measure} after so many steps of pre-training. {parts}.").format(
        measure=metric_names()[measure], parts="; ".join(parts)
    )
    figure(fig, alt, key="over-steps")
    st.caption(
        _(
            "A small dot is a seed; the line joins their means, the bars are one standard deviation. The directions "
            "below are those of {theirs} in {source}."
        ).format(theirs=literal(column["name"]), source=literal(papers["steps"]["source"]))
    )


def draw_differences(paper: dict, column: dict, measure: str, rows: list[Compared]) -> None:
    from plots.experiments import NO_DIRECTION, VERDICT_COLOUR, Gap, differences

    names, base = paper["arms"], next(iter(paper["arms"]))
    st.markdown("### " + _("Difference to {base}").format(base=literal(names[base])))
    if any(row.other != base for row in rows):
        st.markdown(_("Where a row names another arm, the difference is to that one."))
    gaps, sentences = [], []
    for row in rows:
        against = "" if row.other == base else _("against {other}").format(other=names[row.other])
        ours = row.ours
        label = "<br>".join(filter(None, (names[row.arm], against)))
        gaps.append(Gap(label, row.printed, ours.mean if ours else None, ours.half if ours else None, row.verdict))
        sentences.append("- " + sentence(", ".join(filter(None, (names[row.arm], against))), row))
    counts = Counter(row.verdict for row in rows)
    summary = _(
        "Of {n} directions in the paper, ours agree in {same}, disagree in {other}, and leave {open} open."
    ).format(
        n=len(rows) - sum(counts[said] for said in NO_DIRECTION),
        same=counts["agrees"],
        other=counts["disagrees"],
        open=counts["unclear"],
    )
    unit = _("points of {measure}") if not measure.endswith("perplexity") else _("{measure}, lower is better")
    fig = differences(
        gaps, (_("the paper"), _("ours, with 95 % interval")), unit.format(measure=metric_names()[measure])
    )
    alt = _("Differences between arms, the paper's and ours. {summary}").format(summary=summary)
    figure(fig, alt + " " + " ".join(line[2:] for line in sentences), key="differences")
    keys = [
        (VERDICT_COLOUR[said], symbol, verdict_words()[said])
        for said, symbol in (("agrees", "●"), ("disagrees", "✖"), ("unclear", "○"))
    ]
    if any(counts[said] for said in NO_DIRECTION):
        keys.append((VERDICT_COLOUR["not in the paper"], "□", _("the paper tells no direction")))
    legend(keys)
    st.markdown(f"**{summary}**\n\n" + "\n".join(sentences), width=820)
    if column.get("lower"):
        st.caption(_("Lower is better here: a difference below zero is an improvement."))


def sentence(name: str, row: Compared) -> str:
    """One comparison in words."""
    ours = row.ours
    if row.printed is not None:
        theirs = _("{gap} in the paper").format(gap=signed(row.printed))
    elif row.direction:
        theirs = _("higher in the paper") if row.direction > 0 else _("lower in the paper")
    else:
        theirs = _("not in the paper")
    if ours is None:
        here = _("no seed in common here")
    elif ours.half is None:
        here = _("{mean} here, from a single seed").format(mean=signed(ours.mean))
    else:
        here = _("{mean} ± {half:.1f} here, over {n} seeds").format(
            mean=signed(ours.mean), half=ours.half, n=ours.seeds
        )
    return _("{arm}: {theirs}, {here} – **{verdict}**").format(
        arm=literal(name), theirs=theirs, here=here, verdict=verdict_words()[row.verdict]
    )


def signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−") if value else "0.0"


# --- what was scaled down -------------------------------------------------------------------------------------------


def show_scale(records: list[dict]) -> None:
    """How much smaller, counted from the records."""
    from minibert.config import BertConfig
    from minibert.count import parameters

    paper = papers["paper"]
    theirs = parameters(BertConfig.preset(paper["preset"])).with_pooler
    scale = records[-1]["scale"]
    tokens = max(record["tokens"] for record in records)
    sizes = sorted({record["parameters"] for record in records})
    seconds = runtime(records)
    seeds = len({record["seed"] for record in records})
    st.markdown("### " + _("What was scaled down"))
    ours = f"{sizes[0]:,}" if len(sizes) == 1 else _("{low:,} to {high:,}").format(low=sizes[0], high=sizes[-1])
    less = f"{theirs / sizes[-1]:,.0f}" if len(sizes) == 1 else f"{theirs / sizes[-1]:,.0f} … {theirs / sizes[0]:,.0f}"
    rows = [
        {_("what"): _("encoder parameters"), _("paper"): f"{theirs:,}", _("ours"): ours, _("times fewer"): less},
        {
            _("what"): _("tokens of pre-training"),
            _("paper"): f"{paper['tokens']:,}",
            _("ours"): f"{tokens:,}",
            _("times fewer"): f"{paper['tokens'] / tokens:,.0f}",
        },
        {
            _("what"): _("vocabulary"),
            _("paper"): f"{BertConfig.preset(paper['preset']).vocab_size:,}",
            _("ours"): f"{scale['vocab_size']:,}",
            _("times fewer"): f"{BertConfig.preset(paper['preset']).vocab_size / scale['vocab_size']:.1f}",
        },
        {
            _("what"): _("longest input, tokens"),
            _("paper"): f"{BertConfig.preset(paper['preset']).max_position_embeddings:,}",
            _("ours"): f"{scale['max_length']:,}",
            _("times fewer"): f"{BertConfig.preset(paper['preset']).max_position_embeddings / scale['max_length']:.1f}",
        },
    ]
    st.table(rows)
    last = records[-1]
    examples = ", ".join(
        _("{task} {train:,} (measured on {dev:,})").format(
            task=task_names()[task], train=count, dev=last["measured_on"][task]
        )
        for task, count in last["examples"].items()
    )
    st.markdown(
        _(
            "Examples to fine-tune on: {examples}. Text: {data}. {starts} {n} with {seeds}, {hours:.1f} hours of "
            "computing, on {processor} ({device}, torch {torch}, {date})."
        ).format(
            examples=examples,
            data=", ".join(map(literal, last["data"])),
            starts=_(
                "Token vectors of every arm start from co-occurrence counts of that text, not from random numbers."
            )
            if scale["start"] == "counts"
            else "",
            n=ngettext("{n} run", "{n} runs", len(records)).format(n=len(records)),
            seeds=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            hours=seconds / 3600,
            processor=literal(last["machine"]["processor"]),
            device=literal(last["machine"]["device"]),
            torch=literal(last["machine"]["torch"]),
            date=literal(last["machine"]["date"]),
        ),
        width=820,
    )
    st.markdown(_("The command that made these numbers:"))
    st.code(last["command"], "bash")


def runtime(records: list[dict]) -> float:
    """Seconds of computing; arms that share a pre-training share its time."""
    shared: dict[str, float] = {}
    for record in records:
        key = json.dumps([record["seed"], record["pretraining"]])
        shared[key] = max(shared.get(key, 0.0), record["pretraining_seconds"])
    return sum(shared.values()) + sum(record["finetuning_seconds"] for record in records)


# --- a small run ----------------------------------------------------------------------------------------------------


def run_small(name: str) -> None:
    arms = {arm.name: papers[name]["arms"].get(arm.name, arm.name) for arm in EXPERIMENTS[name].arms if arm.at == 1.0}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.selectbox(_("Arm"), list(arms), format_func=arms.get, key=f"arm-{name}", width=380)
        seed = st.number_input(_("Seed"), 0, 99, 0, key="small-seed", width=140)
        if st.button(_("Pre-train it"), type="primary", icon=":material/play_arrow:", key="run-small"):
            title = f"{arms[picked]} · " + _("seed {n}").format(n=seed)
            submit(
                "minibert.experiments.toy_run:small_run", name, picked, int(seed), title=title, kind=f"{KIND}/{name}"
            )
    show_refusal()
    runs = own_runs(f"{KIND}/{name}")[:CURVES]
    if not runs:
        st.markdown(_("No run yet: the curve begins a few seconds after the click."))
        return
    live(tuple(run.id for run in reversed(runs)), partial(draw_runs, heldout=EXPERIMENTS[name].heldout))


def draw_runs(runs: list, heldout: bool) -> None:
    """heldout: whether the arms' losses on held-out stories compare."""
    from plots.experiments import loss_curves

    titles = {run.id: f"{number} · {run.title}" for number, run in enumerate(runs, 1)}
    state_rows([run for run in runs if not run.over or run.error], speed, title=lambda run: titles[run.id])
    curves, rows = {}, []
    for run in runs:
        title, steps = titles[run.id], [event for event in run.events() if event["event"] == "step"]
        if steps:
            curves[title] = [(event["step"], event["parts"].get("mlm_loss", event["loss"])) for event in steps]
        done = run.latest("eval")
        rows.append(
            {
                _("run"): title,
                _("state"): state_in_words(run),
                _("steps"): f"{steps[-1]['step']:,}" if steps else "–",
                _("last training loss"): f"{curves[title][-1][1]:.3f}" if steps else "–",
            }
        )
        if heldout:
            rows[-1][_("held-out loss")] = f"{done['metrics']['heldout_loss']:.3f}" if done else "–"
    if curves:
        fig = loss_curves(curves, (_("step"), _("loss, nats a token asked")))
        now = "; ".join(f"{title}: {points[-1][1]:.2f}" for title, points in curves.items())
        figure(fig, _("Training loss over steps, a line a run. Now: {now}.").format(now=now), key="loss", data=rows)
    st.table(rows)


def speed(step: dict) -> str:
    return _(" · {speed:,.0f} tokens/s").format(speed=step["tokens_per_second"])


# --- the page -------------------------------------------------------------------------------------------------------

st.html(STYLE)
lesson.open()
lesson.show("What is asked")
chosen = choice("experiment", _("Experiment"), experiment_names())
lesson.show(
    {
        "objectives": "Objectives",
        "masking": "Masking split",
        "size": "Model size",
        "steps": "Training steps",
        "formats": "Input formats",
    }[chosen]
)
if records := recorded(chosen):
    show_results(chosen, records)
    show_scale(records)
lesson.show("How to read a difference")
lesson.show("Why small models may disagree")
lesson.show("Run a small one now")
run_small(chosen)
lesson.show("The code")


def show_code() -> None:
    from minibert.experiments.catalogue import Pretraining
    from minibert.experiments.finetuning import finetuning_settings
    from minibert.experiments.results import paired_difference, verdict
    from minibert.heads import TaskHead
    from minibert.objectives import NextToken
    from minibert.relatives.left_to_right import earlier_tokens

    show_source(Pretraining, label=_("An arm's pre-training: one field differs"))
    show_source(earlier_tokens, find="causal_mask", label=_("Left-to-right: the same encoder under a causal mask"))
    show_source(NextToken, find="next_tokens", label=_("Left-to-right: the next token is asked at every position"))
    show_source(finetuning_settings, find="bilstm", label=_("How an arm is fine-tuned"))
    show_source(TaskHead.read, find="self.bilstm", label=_("What is put on top in fine-tuning"))
    show_source(paired_difference, label=_("The interval of a difference"))
    show_source(verdict, label=_("When a direction agrees"))


show_code()
lesson.close()
