"""The claim: trained on rows of 32 tokens, evaluated on longer ones; recorded results, with verdicts."""

import statistics
from functools import partial

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from sections.nezha.subject import Inputs
from ui.claim import caption_records, mean_and_sd, recorded_or_hint, show_verdicts, table_in_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.nezha import over_lengths

    lesson.show("The claim", title=False)
    records, names = recorded_or_hint(lesson.name), table_in_words("nezha")["arms"]
    if not records:
        return
    scale = records[-1]["scale"]
    results = {length: by_arm(records, f"right_{length}") for length in scale["lengths"]}
    arms = {
        names[arm]: {length: list(results[length][arm].values()) for length in results if arm in results[length]}
        for arm in names
        if any(arm in values for values in results.values())
    }
    table = [
        {
            _("arm"): name,
            **{str(length): mean_and_sd(100 * value for value in values) for length, values in points.items()},
            _("seeds"): max(map(len, points.values())),
        }
        for name, points in arms.items()
    ]
    listed = _("; ").join(
        f"{name}{_(': ')}{_(', ').join(f'{n} {statistics.fmean(values):.0%}' for n, values in points.items())}"
        for name, points in arms.items()
    )
    figure(
        partial(
            over_lengths,
            arms,
            scale["max_length"],
            (_("tokens a row"), _("determined words ranked first")),
            _("longer than any row of training →"),
        ),
        _("The same questions at the end of longer and longer rows. {told}.").format(told=listed),
        "over-lengths",
        data=table,
        wide=True,
    )
    show_verdicts(claims.judged("nezha", records), names)
    words = _(
        "Each arm read the same {tokens:,} tokens ({steps:,} steps, rows of at most {length}, {masked:.0%} hidden, "
        "{n}) and was tested on the same questions about stories it had not read. Processor seconds: {seconds}."
    )
    caption_records(records, words, length=scale["max_length"], masked=scale["masked"])
    lesson.show("Why it comes out so")
