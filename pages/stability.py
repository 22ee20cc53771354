"""Why runs differ: seeds, epochs, learning rate and bias correction, recorded and live, and what they can tell."""

import statistics
import time

import streamlit as st

from minibert.experiments.comparisons import EPOCHS, RATES, cell
from minibert.experiments.results import by_arm
from ui.figures import figure
from ui.lesson import LESSONS, Lesson
from ui.recorded import command, comparison, recorded, start_choice, start_folder
from ui.runs import live, manager, own_runs, show_refusal, state_rows, stop, submit
from ui.source import show_source
from ui.text import literal
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

KIND = "stability"
MOST_RUNS = 12  # of one click: as many as one reader may have in the queue
SECONDS_AT_MOST = 300
LEARNED = 1.0  # points above the commonest class: what is less has learned nothing
MOST_SEEDS_DRAWN = 60

lesson = Lesson("stability")


def correction_names() -> dict[bool, str]:
    return {True: _("with bias correction"), False: _("without")}


def epochs_in_words(epochs: int) -> str:
    return ngettext("{n} epoch", "{n} epochs", epochs).format(n=epochs)


def rate_in_words(rate: float) -> str:
    return f"{rate:.0e}".replace("e-0", "e-")


def name_of(epochs: int, rate: float, corrected: bool) -> str:
    return f"{epochs_in_words(epochs)}, {rate_in_words(rate)}, {correction_names()[corrected]}"


# --- the first steps ------------------------------------------------------------------------------------------------


@st.fragment
def show_steps() -> None:
    columns = st.columns(3, gap="medium")
    with columns[0]:
        steps = st.slider(_("Steps of the run"), 20, 600, 100, 20, key="steps", bind="query-params")
    with columns[1]:
        warmup = st.slider(_("Warm-up, share of the run"), 0.0, 0.5, 0.1, 0.05, key="warmup", bind="query-params")
    with columns[2]:
        st.session_state.setdefault("peak", RATES[0])
        rate = st.select_slider(_("Learning rate"), RATES, format_func=rate_in_words, key="peak")
    from plots.stability import step_lengths

    with_it, without = lengths(steps, warmup, rate)
    names = correction_names()
    fig = step_lengths(
        with_it, without, (names[True], names[False]), (_("step"), _("length of the step"), _("times too long"))
    )
    factor = [b / a for a, b in zip(with_it, without, strict=True)]
    peak = max(range(steps), key=factor.__getitem__)
    area = sum(without) / sum(with_it)
    alt = _(
        "Without correction the first step is {first:.2f} times as long as it should be, step {at} {most:.2f} times, "
        "and step {n} still {last:.2f} times. All steps together go {area:.1f} times as far."
    ).format(first=factor[0], at=peak + 1, most=factor[peak], n=steps, last=factor[-1], area=area)
    figure(fig, alt, key="lengths")
    st.markdown(f"**{alt}** " + _("Measured on the optimizer itself, with a gradient that is always 1."), width=820)
    from minibert.finetune.learning_rates import step_lengths as measured
    from minibert.finetune.optimizer import UncorrectedAdamW

    show_source(UncorrectedAdamW.step, find="lerp_", label=_("Adam without the correction, as in the original code"))
    show_source(measured, label=_("How the lengths were measured"))


@st.cache_data(show_spinner=False, max_entries=200)
def lengths(steps: int, warmup: float, rate: float) -> tuple[list[float], list[float]]:
    from minibert.finetune.learning_rates import step_lengths
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    optimization = Optimization(learning_rate=rate, warmup=warmup)
    with_it, without = (
        step_lengths(FinetuneSettings(optimization=optimization, bias_correction=value), steps)
        for value in (True, False)
    )
    return with_it, without


# --- recorded runs --------------------------------------------------------------------------------------------------


def scores_of(records: list[dict]) -> dict[str, dict[int, float]]:
    return {
        arm: {seed: 100 * value for seed, value in sorted(seeds.items())}
        for arm, seeds in by_arm(records, "accuracy").items()
    }


def rates() -> list[float]:
    """Of the comparison from the chosen checkpoint."""
    return list(dict.fromkeys(rate for _epochs, rate, _corrected in every_cell()))


def every_cell() -> list[tuple[int, float, bool]]:
    made = comparison(KIND)
    values = (made.values(arm) for arm in made.arms)
    return [(one["epochs"], one["learning_rate"], one["bias_correction"]) for one in values]


def draw_grid(scores: dict[str, dict[int, float]], chance: float | None, key: str) -> None:
    """scores: arm → seed → accuracy in percent."""
    from plots.stability import Cell, grid

    cells = [
        Cell(epochs_in_words(e), rate_in_words(rate), corrected, scores.get(cell(e, rate, corrected), {}))
        for e, rate, corrected in every_cell()
    ]
    names = correction_names()
    table = []
    for epochs, rate, corrected in every_cell():
        values = list(scores.get(cell(epochs, rate, corrected), {}).values())
        if values:
            table.append(
                {
                    _("epochs"): epochs,
                    _("learning rate"): rate_in_words(rate),
                    _("bias correction"): names[corrected],
                    _("mean"): f"{statistics.fmean(values):.1f}",
                    _("sd"): f"{statistics.stdev(values):.1f}" if len(values) > 1 else "–",
                    _("worst"): f"{min(values):.1f}",
                    _("best"): f"{max(values):.1f}",
                    _("failed"): "–"
                    if chance is None
                    else f"{sum(v <= chance + LEARNED for v in values)} / {len(values)}",
                }
            )
    fig = grid(cells, (names[True], names[False]), _("dev accuracy"), chance, _("commonest class"), _("seed"))
    words = "; ".join(
        f"{row[_('epochs')]}, {row[_('learning rate')]}, {row[_('bias correction')]}: {row[_('mean')]} ± {row[_('sd')]}"
        for row in table
    )
    alt = _("Dev accuracy by epochs, learning rate and bias correction, a dot a seed. Means: {words}.").format(
        words=words
    )
    figure(fig, alt, key=key, data=table)


def show_recorded(records: list[dict]) -> None:
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this comparison have been recorded here yet.** This makes them:"))
            st.code(command(KIND), "bash")
        return
    last = records[-1]
    chance = 100 * last["majority"]
    scores = scores_of(records)
    draw_grid(scores, chance, "recorded")
    st.caption(
        _(
            "{n} runs of {train:,} reviews, measured on {dev:,}, from {model}; batch {batch}, warm-up 0.1. "
            "Made with: {command}"
        ).format(
            n=sum(map(len, scores.values())),
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            batch=comparison(KIND).base["batch_size"],
            command=f"`{last['command']}`",
        )
    )
    st.markdown(failures(scores, chance), width=820)


def failures(scores: dict[str, dict[int, float]], chance: float) -> str:
    """How many runs failed with and without correction, and how those that learned scatter within a cell."""
    sentences = []
    for corrected, name in correction_names().items():
        cells = [
            list(scores.get(cell(epochs, rate, corrected), {}).values())
            for epochs, rate, with_it in every_cell()
            if with_it == corrected
        ]
        learned = [[value for value in values if value > chance + LEARNED] for values in cells]
        spreads = [statistics.stdev(values) for values in learned if len(values) > 1]
        runs = sum(map(len, cells))
        sentence = _("**{name}**: {failed} of {n} runs failed").format(
            name=name, failed=runs - sum(map(len, learned)), n=runs
        )
        if spreads:
            sentence += _("; those that learned scatter by {sd:.1f} points within a cell, on average").format(
                sd=statistics.fmean(spreads)
            )
        sentences.append(sentence)
    sentences.append(
        _("A run counts as failed when it is at most {points:g} point above the commonest class.").format(
            points=LEARNED
        )
    )
    return ". ".join(sentences)


# --- runs of one's own ----------------------------------------------------------------------------------------------


@st.fragment
def run_grid(chance: float | None) -> None:
    columns = st.columns(3, gap="medium")
    with columns[0]:
        epochs = st.pills(
            _("Epochs"), EPOCHS, selection_mode="multi", default=EPOCHS[:1], format_func=str, key="epochs"
        )
        seeds = st.slider(_("Seeds"), 1, 5, 2, key="seeds")
    with columns[1]:
        chosen_rates = st.pills(
            _("Learning rate"), rates(), selection_mode="multi", default=rates()[1:2], format_func=rate_in_words,
            key="rates",
        )  # fmt: skip
    with columns[2]:
        names = correction_names()
        corrections = st.pills(
            _("Bias correction"), list(names), selection_mode="multi", default=list(names), format_func=names.get,
            key="corrections",
        )  # fmt: skip
    wanted = [(e, r, c, s) for s in range(seeds) for e in epochs for r in chosen_rates for c in corrections]
    with st.container(horizontal=True, vertical_alignment="center"):
        label = ngettext("Start {n} run", "Start {n} runs", len(wanted)).format(n=len(wanted))
        ready = 0 < len(wanted) <= MOST_RUNS
        if st.button(label, type="primary", icon=":material/play_arrow:", key="start", disabled=not ready):
            start(wanted)
        if len(wanted) > MOST_RUNS:
            st.markdown(_("At most {n} runs at once: choose fewer cells or seeds.").format(n=MOST_RUNS))
    show_refusal()
    runs = own_runs(KIND)
    if not runs:
        st.markdown(_("No run yet: the first dot appears some seconds after the click."))
        return
    newest = [run for run in runs if run.kind == runs[0].kind]
    live(tuple(run.id for run in reversed(newest)), lambda shown: draw_runs(shown, chance))


def start(wanted: list[tuple[int, float, bool, int]]) -> None:
    from jobs.files import Upload
    from minibert.experiments.compare import read_data, settings_of

    made = comparison(KIND)
    train, dev = read_data(made, LESSONS / "data")
    weights, kind = Upload(start_folder(), deep=False), f"{KIND}/{time.time_ns()}"
    for epochs, rate, corrected, seed in wanted:
        values = made.values(cell(epochs, rate, corrected))
        settings = settings_of(values, seed, max_seconds=SECONDS_AT_MOST)
        title = f"{name_of(epochs, rate, corrected)} · " + _("seed {n}").format(n=seed)
        run = submit("minibert.finetune.run:finetune", weights, made.task, train, dev, settings, title=title, kind=kind)
        if run is None:
            return


def draw_runs(runs: list, chance: float | None) -> None:
    going = [run for run in runs if not run.over or run.error]
    ended = sum(run.state == "finished" for run in runs)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            statistics.fmean(run.progress for run in runs),
            text=_("{done} of {n} runs finished").format(done=ended, n=len(runs)),
        )
        if any(not run.over for run in runs):
            st.button(_("Stop all"), key="stop-all", icon=":material/stop:", on_click=stop_all, args=(runs,))
    scores: dict[str, dict[int, float]] = {}
    for run in runs:
        done, begun = run.latest("done"), run.latest("started")
        if run.state == "finished" and done and begun:
            settings = begun["settings"]
            name = cell(settings["epochs"], settings["optimization"]["learning_rate"], settings["bias_correction"])
            scores.setdefault(name, {})[settings["seed"]] = 100 * done["metrics"]["accuracy"]
    if scores:
        draw_grid(scores, chance, "live")
    state_rows(going[:4], lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"]))


def stop_all(runs: list) -> None:
    for run in runs:
        if not run.over:
            stop(run)


# --- how many seeds -------------------------------------------------------------------------------------------------


@st.fragment
def calculator(records: list[dict]) -> None:
    scores = {arm: seeds for arm, seeds in scores_of(records).items() if len(seeds) > 1}
    deviation, difference = 2.0, 1.5
    names = {cell(*one): name_of(*one) for one in every_cell()}
    if len(scores) > 1:
        arms = [arm for arm in names if arm in scores]
        left, right = st.columns(2, gap="medium")
        with left:
            a = st.selectbox(_("Setting A"), arms, 0, format_func=names.get, key="setting-a")
        with right:
            b = st.selectbox(_("Setting B"), arms, 1, format_func=names.get, key="setting-b")
        if a == b:
            st.info(_("Choose two settings that differ."))
        else:
            deviation, difference = compare(names, a, b, list(scores[a].values()), list(scores[b].values()))
    st.markdown("### " + _("How many runs would it take?"))
    left, right = st.columns(2, gap="medium")
    with left:
        wanted = st.slider(_("True difference, points"), 0.25, 10.0, clamp(difference, 0.25, 10.0), 0.25)
    with right:
        spread = st.slider(_("Standard deviation over seeds, points"), 0.25, 15.0, clamp(deviation, 0.25, 15.0), 0.25)
    from minibert.experiments.seeds import power, seeds_needed
    from plots.stability import power_curve

    needed = seeds_needed(wanted, spread)
    most = min(max(2 * (needed or MOST_SEEDS_DRAWN), 8), MOST_SEEDS_DRAWN)
    seeds = list(range(2, most + 1))
    chances = [power(wanted, spread, n) for n in seeds]
    if needed is None:
        alt = _("More than ten thousand runs of each setting would be needed.")
    else:
        alt = _(
            "To find a true difference of {gap:g} points with a chance of 80 %, where runs scatter by {sd:g} points, a "
            "t-test at 5 % needs {n} runs of each setting. With 5 runs of each the chance is {five:.0%}."
        ).format(gap=wanted, sd=spread, n=needed, five=power(wanted, spread, 5))
    fig = power_curve(seeds, chances, 0.8, (_("runs of each setting"), _("chance to find it")))
    figure(fig, alt, key="power")
    st.markdown(f"**{alt}**", width=820)
    from minibert.experiments.seeds import gap

    show_source(gap, label=_("Standard error, bootstrap and t-test"))
    show_source(power, label=_("The chance to find a difference"))


def clamp(value: float, low: float, high: float) -> float:
    """To the slider's steps of a quarter."""
    return min(max(round(value * 4) / 4, low), high)


def compare(names: dict[str, str], a: str, b: str, first: list[float], second: list[float]) -> tuple[float, float]:
    """Draw both and say what they tell; → (pooled standard deviation, size of the difference)."""
    from minibert.experiments.seeds import gap, standard_error
    from plots.stability import two_groups

    found = gap(first, second)
    labels = (_("A: {name}").format(name=names[a]), _("B: {name}").format(name=names[b]))
    groups = dict(zip(labels, (first, second), strict=True))
    intervals = {name: (statistics.fmean(values), standard_error(values)) for name, values in groups.items()}
    fig = two_groups(groups, intervals, _("dev accuracy"))
    means = "; ".join(
        _("{name}: {mean:.1f} ± {error:.1f}").format(name=name, mean=mean, error=error)
        for name, (mean, error) in intervals.items()
    )
    alt = _("Runs of two settings, with mean ± standard error. {means}.").format(means=means)
    figure(fig, alt, key="two")
    signed = f"{found.mean:+.1f}".replace("-", "−")
    low, high = (f"{value:+.1f}".replace("-", "−") for value in (found.low, found.high))
    said = (
        _("the interval leaves out zero: these runs tell the settings apart")
        if found.clear
        else _("zero is inside: these runs do not tell the settings apart")
    )
    welch = "" if found.welch is None else _(" Welch’s t-test: p = {p:.2g}.").format(p=found.welch)
    st.markdown(
        _("**B − A: {gap} points**, standard error {error:.1f}; bootstrap 95 %: {low} … {high} – {said}.").format(
            gap=signed, error=found.error, low=low, high=high, said=said
        )
        + welch,
        width=820,
    )
    pooled = ((statistics.variance(first) + statistics.variance(second)) / 2) ** 0.5
    return pooled, abs(found.mean)


# --- the page -------------------------------------------------------------------------------------------------------

lesson.open()
manager().warm_up()
lesson.show("What a seed decides")
lesson.show("The first steps")
show_steps()
lesson.show("What came out")
with st.container(width=360):
    start_choice(KIND)
found = recorded(KIND)
show_recorded(found)
lesson.show("Your own grid")
run_grid(100 * found[-1]["majority"] if found else None)
lesson.show("How many seeds")
calculator(found)
lesson.show("What helps")
lesson.close()
