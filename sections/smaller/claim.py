"""The claim: how much of the teacher's accuracy the papers' students keep, beside ours on SST-2."""

from collections import Counter
from collections.abc import Sequence

from sections.smaller import cut_claim
from sections.smaller.subject import Inputs
from ui.claim import explain, seconds_in_words, show_claim
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    claims = {
        "size": _("what the teacher brings"),
        "losses": _("a loss less"),
        "cut": _("cut away"),
        "search": _("search"),
    }
    claim = choice("claim", _("Which claim"), claims, wrap=True)
    if claim in ("cut", "search"):
        cut_claim.show(lesson, claim)
        return
    show_claim(f"smaller-{claim}", "accuracy", _("accuracy, SST-2 dev, %"), recorded)
    lesson.show("What they say, and what we find")
    lesson.show("What became of it")


def recorded(records: Sequence[dict]) -> None:
    scale = records[-1]["scale"]
    seeds = min(Counter(record["arm"] for record in records).values())  # of every arm, at least
    longer = max(record["pretraining"].get("times", 1.0) for record in records)
    words = _(
        "The teacher is {teacher}, the student {student}; {labelled:,} sentences of SST-2 have labels, {unlabelled:,} "
        "more have none, and the teacher judges them. Every student reads {rows:,} rows, “3 × as long” and “of 60,000” "
        "{more:,}; the dev set has 872 ({n}). Processor seconds: {seconds}."
    )
    explain(
        records,
        words,
        teacher=literal(scale["teacher"]),
        student=literal(scale["begins_with"]),
        labelled=scale["labelled"],
        unlabelled=scale["unlabelled"],
        rows=scale["epochs"] * (scale["labelled"] + scale["unlabelled"]),
        more=scale["labelled"] + round(longer * scale["unlabelled"]),
        n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
        seconds=seconds_in_words(sorted(records, key=lambda record: record["seconds"])),  # the slowest seed's
    )
