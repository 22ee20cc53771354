"""What papers claim beside our recorded experiments: scores, differences and verdicts in words."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.claims import Judged
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS, REQUIRED
from minibert.experiments.results import ResultsError, read_records
from ui.errors import translated
from ui.figures import figure
from ui.text import literal, one_by_one
from ui.translations import _, ngettext, pgettext

NAMED = 44  # columns of a row's name, as many as a phone has; the list below the figure has all of it
JUDGED = ("agrees", "disagrees", "unclear")


def verdict_words() -> dict[str, str]:
    return {
        "agrees": _("agrees"),
        "disagrees": _("disagrees"),
        "unclear": _("unclear: the seeds do not decide it"),
        "no difference in the paper": _("no difference in the paper"),
        "not in the paper": _("the paper does not say"),
        **{verdict: _("no verdict: {reason}").format(reason=reason) for verdict, reason in reasons().items()},
    }


def reasons() -> dict[str, str]:
    """Why there is no verdict."""
    return {
        "too little learned": _("too little learned"),
        "nothing left to gain": _("nothing left to gain"),
        "same in every seed": _("every seed gives the same number"),
        "not for this reason": _("not clearly ahead of a control, so the reason may be another"),
    }


def floor_words(metric: str) -> tuple[str, str]:
    """(what scores the floor of a metric, in a few words; in a sentence with a place for {floor})."""
    listed = _("a word list")
    named = (
        listed,
        _("Taking the person or thing of the story that the question’s words ask for most often has F1 {floor}."),
    )
    frequent = _("Guessing by how frequent each token is, whatever stands around it, has perplexity {floor}.")
    between = _("The word seen most often between the same two neighbours is right in {floor} %.")
    neighbours = _("the two neighbours alone"), between
    last = _("Whoever takes every pronoun for the name said last before it has F1 {floor}.")
    half = _("a guess"), _("A guess is right in {floor} %.")
    tagged = _("Giving each word the tag it has most often in the training sentences has F1 {floor}.")
    spelled = _(
        "Putting, of a word and those it may be a slip of, the one seen most often between its two neighbours has F1 "
        "{floor}."
    )
    near = _("Phrases and names: the word seen most often beside the nearest visible one is right in {floor} %.")
    beside = _("Guessing each of the three by a count of what stands between the same two words is right in {floor} %.")
    shared = _("The share of words in common has a rank correlation of {floor} with the scores.")
    return {
        **dict.fromkeys(
            ("right_32", "right_64", "right_128", "right_256", "before", "here", "corrected", "determined.after"),
            neighbours,
        ),
        **dict.fromkeys(("f1", "atis_entities", "snips_entities"), (listed, tagged)),
        **dict.fromkeys(("detection_f1", "correction_f1"), (_("the two neighbours alone"), spelled)),
        **dict.fromkeys(("sop", "nsp", "strangers", "found", "names"), half),
        "chosen": neighbours,
        "span_boundary": (_("the two words around"), beside),
        "next_word": (
            _("the word before alone"),
            _("The word seen most often after the one before is right in {floor} %."),
        ),
        "spearman": (_("words in common"), shared),
        "loss": (_("frequencies alone"), _("Guessing by how frequent each word is costs {floor} nats.")),
        "mlm_perplexity": (_("frequencies alone"), frequent),
        "determined": neighbours,
        "words": (_("the nearest visible word alone"), near),
        "distance": (_("the commonest answer"), _("The distance: always the commonest answer is right in {floor} %.")),
        "meant": named,
        "meant_features": named,
        "who_is_meant": (_("the name said last"), last),
    }.get(metric, (_("no understanding"), _("Without any understanding {floor} % are right.")))


# --- in words --------------------------------------------------------------------------------------------------------


def in_words(text: str) -> str:
    """A text of `claims.toml`, of a lesson's table of a paper, or an experiment's title, in the reader's language."""
    return pgettext("of a paper", text)


def table_in_words(name: str) -> dict:
    """A table of claims with all that is shown of it in the reader's language."""
    table = claims.tables()[name]
    said = {field: in_words(table[field]) for field in ("source", "title", "axis") if field in table}
    for field in ("arms", "measures"):
        said[field] = {key: in_words(words) for key, words in table.get(field, {}).items()}
    columns = [{**column, "name": in_words(column["name"])} for column in table.get("column", ())]
    return {**table, **said, "column": columns}


def arms_of(experiment: str) -> dict[str, str]:
    """What the tables of an experiment call its arms, in the reader's language."""
    tables = [table for name, table in claims.tables().items() if table.get("results", name) == experiment]
    return {arm: in_words(words) for table in tables for arm, words in table.get("arms", {}).items()}


# --- records ----------------------------------------------------------------------------------------------------------


def records_of(name: str, required: set[str] = REQUIRED) -> list[dict]:
    """The newest records of a table of claims or an experiment; [] if there are none or the file cannot be read."""
    return claims.recorded(name, records_at(claims.results_of(name), required))


def records_at(path: Path, required: set[str]) -> list[dict]:
    """All records of a file; [] if there is none, or with the reason on the page, if it cannot be read."""
    try:
        return _read_records(path, path.stat().st_mtime_ns if path.exists() else 0, required)
    except (ResultsError, OSError) as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return []


@st.cache_data(show_spinner=False, max_entries=32)
def _read_records(path: Path, changed: int, required: set[str]) -> list[dict]:
    return read_records(path, required)


def show_missing_results(name: str) -> None:
    """Say which command makes the results of an experiment."""
    show_missing(f"python -m minibert experiment {name} --seeds 3")


def show_missing(command: str) -> None:
    with st.container(border=True, key="no-results"):
        st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
        st.code(command, "bash")


def recorded_or_hint(name: str) -> list[dict]:
    """`records_of(name)`; if there are none, the command that makes them is shown."""
    if not (records := records_of(name)):
        show_missing_results(name)
    return records


def caption_records(records: Sequence[dict], words: str, **values: object) -> None:
    """`show_provenance` with `words` filled in: {n} (seeds), {seconds}, {tokens}, {steps} and `values`."""
    filled = {
        "n": seeds_in_words(records),
        "seconds": seconds_in_words(records),
        "tokens": max(record.get("tokens", 0) for record in records),
        "steps": records[-1].get("steps"),
    }
    show_provenance(records, words.format(**filled | values))


def show_provenance(records: Sequence[dict], words: str) -> None:
    """Caption: how the records were made, in `words`; on which machine, when, and by which command."""
    last = records[-1]
    machine = {name: literal(last["machine"][name]) for name in ("processor", "torch", "date")}
    made = _("{processor}, torch {torch}, {date}. Made with: {command}").format(
        **machine, command=f"`{last['command']}`"
    )
    st.caption(one_by_one(words, made))


def seeds_by_arm(records: Iterable[dict]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for record in records:
        found.setdefault(record["arm"], set()).add(record["seed"])
    return found


def seeds_in_words(records: Iterable[dict]) -> str:
    """How many seeds an arm has: "3 seeds"; "3 to 8 seeds", if some have more."""
    found = seeds_by_arm(records).values()
    least, most = min(map(len, found)), max(map(len, found))
    n = str(most) if least == most else _("{least} to {most}").format(least=least, most=most)
    return ngettext("{n} seed", "{n} seeds", most).format(n=n)


def of_common_seeds(records: Iterable[dict]) -> list[dict]:
    """The records of seeds that every arm has, all if there is no such seed: seconds are only comparable between arms
    that ran side by side, and later seeds of some arms ran when the machine had more, or less, to do."""
    records = list(records)
    common = set.intersection(*seeds_by_arm(records).values())
    return [record for record in records if record["seed"] in common] or records


def seconds_in_words(records: Iterable[dict]) -> str:
    """Processor seconds of each arm's last record of a seed that all have; by processor if there are several, as those
    are not comparable."""
    found: dict[str, dict[str, float]] = {}
    for record in of_common_seeds(records):
        found.setdefault(record["machine"]["processor"], {})[record["arm"]] = record["seconds"]
    details = {
        processor: _("; ").join(f"{literal(arm)} {seconds:.0f}" for arm, seconds in arms.items())
        for processor, arms in found.items()
    }
    if len(details) == 1:
        return "".join(details.values())
    return _("; ").join(
        _("{arms} on {processor}").format(arms=arms, processor=literal(processor))
        for processor, arms in details.items()
    )


def show_toy_provenance(records: Sequence[dict]) -> None:
    """Caption of arms that were pre-trained on the toy world and learned whom pronouns mean."""
    last, scale = records[-1], records[-1]["scale"]
    tokens = sorted({f"{record['tokens']:,}" for record in records}, key=lambda number: (len(number), number))
    words = _(
        "{title}. Every arm reads the same stories, {tokens} tokens ({steps:,} steps, {masked:.0%} hidden; {n}), then "
        "learns from {train:,} stories whom each pronoun means and is measured on {test:,} others. Processor seconds "
        "of pre-training: {seconds}."
    ).format(
        title=literal(in_words(RELATIVE_EXPERIMENTS[last["experiment"]].title)),
        tokens=tokens[0] if len(tokens) == 1 else _("{least} to {most}").format(least=tokens[0], most=tokens[-1]),
        steps=last["steps"],
        masked=scale["masked"],
        n=seeds_in_words(records),
        train=scale["train"],
        test=scale["test"],
        seconds=seconds_in_words(records),
    )
    show_provenance(records, words)


# --- scores -----------------------------------------------------------------------------------------------------------


def mean_and_sd(values: Iterable[float], digits: int = 1) -> str:
    """Such as "61.2 ± 0.4"; the value alone if there is one, "–" if there is none."""
    values = list(values)
    if not values:
        return "–"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{spread}".replace("-", "−")


def table_of(rows: Sequence) -> list[dict]:
    """One row a `plots.experiments.Score` with the paper's number and ours."""
    return [
        {
            _("arm"): row.name,
            _("paper"): "–" if row.paper is None else f"{row.paper:g}",
            _("ours, mean"): f"{statistics.fmean(row.ours.values()):.2f}" if row.ours else "–",
            _("sd"): f"{statistics.stdev(row.ours.values()):.2f}" if len(row.ours) > 1 else "–",
            _("seeds"): len(row.ours),
        }
        for row in rows
    ]


def scores_in_words(table: Sequence[Mapping]) -> str:
    """The rows of `table_of` in words."""
    return _("; ").join(
        _("{arm}: paper {paper}, ours {ours} ± {sd}").format(
            arm=row[_("arm")], paper=row[_("paper")], ours=row[_("ours, mean")], sd=row[_("sd")]
        )
        for row in table
    )


def show_by_measure(
    values: Mapping[str, Mapping[str, Sequence[float]]], axis: str, key: str, floors: Mapping[str, float] | None = None
) -> None:
    """One panel per measure: a dot per seed of each arm, a line at the mean. values: measure → arm → shares · floors:
    measure → percent that need no understanding."""
    from plots.to_write import arms_by_measure

    details = _("; ").join(
        f"{words}{_(': ')}{_(', ').join(f'{arm} {statistics.fmean(some):.0%}' for arm, some in by.items() if some)}"
        for words, by in values.items()
    )
    table = [
        {
            _("measure"): words,
            _("arm"): arm,
            _("mean"): f"{statistics.fmean(some):.1%}",
            _("sd"): f"{statistics.stdev(some):.1%}" if len(some) > 1 else "–",
            _("seeds"): len(some),
        }
        for words, by in values.items()
        for arm, some in by.items()
        if some
    ]
    figure(
        partial(arms_by_measure, values, axis, floors),
        _("{axis}. {told}.").format(axis=axis, told=details),
        key,
        data=table,
    )
    if floors:
        st.caption(_("The dotted line: what needs no understanding."))


def floors_of(name: str, measures: Mapping[str, str], records: Sequence[dict]) -> dict[str, float]:
    """Measure in words → its floor, where it is known. measures: metric → words."""
    floors = {words: claims.levels(name, metric, records)[0] for metric, words in measures.items()}
    return {words: floor for words, floor in floors.items() if floor is not None}


def show_claim(
    name: str, metric: str, title: str, made: Callable[[Sequence[dict]], None] = show_toy_provenance
) -> None:
    """The paper's column of a table of claims beside our `metric`, shown as `title`, and the verdicts. made(records):
    writes how the records were made."""
    from plots.experiments import Score, scores

    table, records = table_in_words(name), records_of(name)
    names, found = table["arms"], claims.values(records, metric)
    column = claims.column_of(table, metric)
    theirs = column.get("values", {})
    rows = [Score(names[arm], theirs.get(arm), found.get(arm, {})) for arm in names]
    judged = [one for one in claims.judged(name, records) if one.claim.metric == metric or one.claim.what]
    floor = next((one.floor for one in judged if one.floor is not None and one.claim.metric == metric), None)
    details = scores_in_words(table_of(rows))
    figure(
        partial(scores, rows, (_("The paper"), _("Ours")), (column["name"], title), _("seed"), floor),
        _("{theirs} in the paper beside {ours} here, by arm. {told}.").format(
            theirs=column["name"], ours=title, told=details
        ),
        "scores-claim",
        data=table_of(rows),
    )
    parts = [_("A dot is a seed, the line their mean, the bar one standard deviation.")]
    if floor is not None:
        parts.append(_("The dotted line: {what}.").format(what=floor_words(metric)[0]))
    paper = _("The paper, on a scale of its own: {source}.") if theirs else _("The paper: {source}.")
    parts.append(paper.format(source=literal(table["source"])))
    st.caption(one_by_one(*parts))
    if not records:
        show_missing_results(table.get("results", name))
        return
    show_verdicts([one for one in judged if one.claim.sign is not None], names, _("points"))
    made([record for record in records if record["arm"] in names])


# --- verdicts ---------------------------------------------------------------------------------------------------------


def show_verdicts(
    judged: Sequence[Judged], names: Mapping[str, str], axis: str = "", finding: str | None = None
) -> None:
    """How many claims agree, and a table of them: the paper's difference, ours and the verdict. names: of the arms ·
    axis: with a figure of the differences, in this unit · finding: its title, by default how many agree."""
    if not judged:
        return
    summary = summary_of(judged) if finding is None else finding
    if axis:
        _draw(judged, names, axis, summary)
    elif summary:
        st.markdown(f"**{summary}**")
    with st.container(key="verdicts"):
        st.table([{"": number, **row(one, names)} for number, one in enumerate(judged, 1)], hide_index=True)
    if any(one.claim.metric in claims.LOWER for one in judged):
        st.caption(_("Of losses, perplexities, times, failed runs lower is better: a difference below zero is a gain."))
    floors: dict[str, dict[str, list[str]]] = {}  # its sentence → its number → the claims that it stops
    for number, one in enumerate(judged, 1):
        if one.verdict == "too little learned":
            of = floors.setdefault(floor_words(one.claim.metric)[1], {})
            of.setdefault(f"{one.floor:,.1f}", []).append(str(number))
    if details := one_by_one(*(words.format(floor=_floor(found)) for words, found in floors.items())):
        words = _(
            "**Too little learned:** {floors} The arm that is ahead in the paper has gained less than a third of the "
            "distance from there to the best to be expected."
        )
        st.caption(words.format(floors=details))


def _floor(found: Mapping[str, Sequence[str]]) -> str:
    """The number of a floor; if there are several, with the claims that each is about."""
    if len(found) == 1:
        return next(iter(found))
    named = (
        ngettext("{floor} (claim {numbers})", "{floor} (claims {numbers})", len(of)).format(
            floor=n, numbers=_(", ").join(of)
        )
        for n, of in found.items()
    )
    return _(", ").join(named)


def show_claims(name: str, records: Sequence[dict]) -> None:
    """`show_verdicts` of a table's claims on these records."""
    show_verdicts(claims.judged(name, claims.recorded(name, records)), table_in_words(name)["arms"])


def _draw(judged: Sequence[Judged], names: Mapping[str, str], axis: str, title: str) -> None:
    from plots.attention import cut
    from plots.experiments import Gap, differences

    told = [in_words(one.claim.what) if one.claim.what else _(", ").join(_arms(one, names)) for one in judged]
    gaps = [
        Gap(
            cut(f"{number}. {told[number - 1]}", NAMED),
            one.claim.paper,
            one.ours.mean,
            one.ours.half if one.ours.varies else None,
            one.verdict,
        )
        for number, one in enumerate(judged, 1)
    ]
    details = _("; ").join(
        f"{name} {signed(gap.ours)}{_(': ')}{verdict_words()[gap.verdict]}"
        for name, gap in zip(told, gaps, strict=True)
    )
    alt = _("Differences between arms, the paper's and ours. {summary} {told}.").format(summary=title, told=details)
    fig = differences(gaps, (_("the paper"), _("ours, with 95 % interval")), axis, title)
    figure(fig, alt, "differences")


def _arms(one: Judged, names: Mapping[str, str]) -> list[str]:
    """The arm, and what it is held against if that is not the first one."""
    claim = one.claim
    if claim.what or claim.base == next(iter(names)):
        return [names[claim.arm]]
    return [names[claim.arm], _("against {other}").format(other=names[claim.base])]


def summary_of(judged: Sequence[Judged]) -> str:
    """How many of the claims our results agree with, and why not the others; "" if there are not several."""
    counts = Counter(one.verdict for one in judged if one.claim.sign)
    n = sum(counts.values())
    if n < 2:
        return ""
    words = {"agrees": _("as claimed"), "disagrees": _("not as claimed"), "unclear": _("not decided by the seeds")}
    words |= {verdict: _("without a verdict ({reason})").format(reason=reason) for verdict, reason in reasons().items()}
    told = pgettext("between clauses", ", ").join(
        pgettext("of claims", "{n} {said}").format(n=counts[verdict], said=said)
        for verdict, said in words.items()
        if counts[verdict]
    )
    if n == len(judged):
        return _("Of {n} claims: {told}").format(n=n, told=told)
    return _("{n} of these {all} are the paper’s claims: {told}").format(all=len(judged), n=n, told=told)


def row(one: Judged, names: Mapping[str, str]) -> dict[str, str]:
    """A claim as a row of a table: what is compared, the paper's difference, ours, and the verdict."""
    from plots.experiments import VERDICT_MARK

    claim, verdict = one.claim, verdict_words()[one.verdict]
    if claim.what:
        what, theirs = in_words(claim.what), literal(in_words(claim.source))
    else:
        what = _("“{arm}” against “{other}”").format(arm=names[claim.arm], other=names[claim.base])
        directions = {1: _("higher"), -1: _("lower"), 0: _("no difference")}
        sign = None if claim.sign is None else (claim.sign > 0) - (claim.sign < 0)
        theirs = signed(claim.paper) if claim.paper is not None else directions.get(sign, "–")
    return {
        _("claim"): literal(what),
        _("paper"): theirs,
        _("here"): _here(one),
        _("verdict"): f"{VERDICT_MARK[one.verdict]} " + (f"**{verdict}**" if one.verdict in JUDGED[:2] else verdict),
    }


def _here(one: Judged) -> str:
    """Our difference, such as "+0.3 ± 4.5 points, 3 seeds", or "−0.29 ± 0.02 nats, better, 3 seeds"."""
    ours, metric = one.ours, one.claim.metric
    unit = claims.UNITS.get(metric, _("points"))
    unit = {"nats": _("nats"), "ms": _("ms")}.get(unit, unit)
    digits = 1 if metric not in claims.UNITS or metric.endswith("perplexity") else 2
    spread = f" ± {ours.half:.{digits}f}" if ours.half is not None and ours.varies else ""
    over = ngettext("{n} seed", "{n} seeds", ours.seeds).format(n=ours.seeds)
    if ours.pairs:
        over = _("draws of {n:,} test pairs").format(n=ours.pairs)
    elif not ours.varies:
        over = _("every seed")
    told = [f"{signed(ours.mean, digits)}{spread} {unit}".rstrip(), *_better(one), over]
    return pgettext("between clauses", ", ").join(told)


def _better(one: Judged) -> list[str]:
    """Which way our difference goes, where its sign does not say so: of losses less is better, of log-probabilities
    more, in the same unit. Nothing where the interval holds zero."""
    ours, metric = one.ours, one.claim.metric
    if not ours.clear or one.claim.base is None or not (metric in claims.LOWER or claims.UNITS.get(metric) == "nats"):
        return []
    better = (ours.mean < 0) == (metric in claims.LOWER)
    return [pgettext("of a difference", "better") if better else pgettext("of a difference", "worse")]


def signed(value: float, digits: int = 1) -> str:
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")  # + 0.0: no minus before a zero
