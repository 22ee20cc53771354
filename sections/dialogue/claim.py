"""The claim: the paper's statements beside our recorded experiment on ATIS and SNIPS, with paired seeds and seconds."""

import statistics

import streamlit as st

from sections.dialogue.subject import Subject
from ui.claim import PERCENT, made_with, records_of, signed
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def arms() -> dict[str, str]:
    return {
        "joint": _("BERT, joint head"),
        "both": _("DIET, both features"),
        "sparse": _("DIET, sparse alone"),
        "dense": _("DIET, dense alone"),
        "both-no-mask": _("both, no hidden words"),
        "sparse-no-mask": _("sparse, no hidden words"),
    }


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("The claim", title=False)
    records = records_of(lesson.name)
    if not records:
        st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
        st.code("python -m minibert experiment dialogue --seeds 3", "bash")
        return
    measures = {
        "atis_intent": _("ATIS, right intents"),
        "atis_entities": _("ATIS, entity F1"),
        "snips_intent": _("SNIPS, right intents"),
        "snips_entities": _("SNIPS, entity F1"),
    }
    measure = choice("measure", _("Measured"), measures, wrap=True)
    picture(records, measure, measures[measure])
    verdicts(records, measures)
    made(records)
    lesson.show("Why it comes out so")


def picture(records: list[dict], measure: str, title: str) -> None:
    from minibert.experiments.results import by_arm
    from plots.experiments import Score, scores

    found = by_arm(records, measure)
    rows = [Score(words, None, {seed: PERCENT * v for seed, v in found.get(arm, {}).items()}) for arm, words in
            arms().items()]  # fmt: skip
    means = {row.name: statistics.fmean(row.ours.values()) for row in rows if row.ours}
    told = "; ".join(f"{name} {mean:.1f}" for name, mean in means.items())
    summary = _("{title}: {told}").format(title=title, told=told)
    best = max(means, key=means.__getitem__)
    finding = _("{title}: highest is “{arm}”, {value:.1f}").format(title=title, arm=best, value=means[best])
    figure(
        scores(rows, ("", ""), ("", title), _("seed"), high=46, title=finding),
        _("A dot is a seed, the line their mean, the bar one standard deviation. {summary}.").format(summary=summary),
        "scores-claim",
        wide=True,
        data=[{_("arm"): row.name, _("seed"): seed, title: round(value, 2)} for row in rows
              for seed, value in row.ours.items()],
    )  # fmt: skip


def verdicts(records: list[dict], measures: dict[str, str]) -> None:
    """The differences that the paper reports, for each measure, with a verdict in words."""
    from minibert.experiments.results import by_arm, paired_difference

    questions = [
        (_("the best DIET against fine-tuned BERT: *it outperforms it*"), "both-no-mask", "joint", 1),
        (_("without anything pre-trained: *no clear benefit* of it"), "both", "sparse", 0),
        (_("guessing hidden words beside: part of it"), "both", "both-no-mask", 1),
    ]
    rows = []
    for words, arm, base, wanted in questions:
        row = {_("the paper"): words, _("ours"): f"{arms()[arm]} − {arms()[base]}"}
        verdict = set()
        for measure, title in measures.items():
            found = {
                name: {s: PERCENT * v for s, v in seeds.items()} for name, seeds in by_arm(records, measure).items()
            }
            if arm not in found or base not in found:
                row[title] = "–"
                continue
            gap = paired_difference(found[arm], found[base])
            half = gap.half if gap.half is not None else float("inf")
            row[title] = f"{signed(gap.mean)} ± {half:.1f}" if gap.half is not None else signed(gap.mean)
            clear = abs(gap.mean) > half
            verdict.add((gap.mean > 0) - (gap.mean < 0) if clear else 0)
        row[_("verdict")] = worded(verdict, wanted)
        rows.append(row)
    st.table(rows)
    seconds = {arm: statistics.fmean(r["seconds"] for r in records if r["arm"] == arm) for arm in
               dict.fromkeys(r["arm"] for r in records)}  # fmt: skip
    if {"joint", "both", "sparse"} <= seconds.keys():
        st.markdown(
            _("**Six times faster than BERT?** Here {joint:.0f} s of a core for the joint head on a BERT of 5.5 "
              "million weights, {both:.0f} s for DIET with both features, {sparse:.0f} s without the encoder, as many "
              "epochs each: {times:.1f} times. The paper’s BERT has 110 million.").format(
                joint=seconds["joint"], both=seconds["both"], sparse=seconds["sparse"],
                times=seconds["joint"] / seconds["both"])
        )  # fmt: skip


def worded(found: set[int], wanted: int) -> str:
    """The verdict in words. found: signs of the clear differences, 0 for those within the spread of the seeds."""
    if found <= {0}:
        return _("agrees: nothing clear") if wanted == 0 else _("unclear: within the spread of the seeds")
    if {1, -1} <= found:
        return _("both ways")
    if wanted == 0:
        return _("disagrees: it helps") if 1 in found else _("agrees: it does not help")
    return _("agrees") if wanted in found else _("disagrees")


def made(records: list[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _("Of each set {train:,} requests spread over its training file, {epochs} epochs, measured on {test} of its "
          "test file ({n}); ± is half a 95 % interval over the seeds, in pairs. Frozen encoder and start of the joint "
          "head: {start}. {processor}, torch {torch}, {date}. Made with: {command}").format(
            train=scale["examples"], epochs=scale["epochs"], test=scale["measured"],
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds), start=literal(scale["begins_with"]),
            **made_with(last))
    )  # fmt: skip
