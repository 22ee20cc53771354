"""Size and cost: model sizes and training costs."""

from functools import partial

from sections.family.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.predict import predict
from ui.translations import _

NAMED = ("word2vec", "ELMo", "BERT large", "GPT-2 XL", "Megatron-LM", "T5 11B", "GPT-3", "ALBERT base")


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.family import costs, sizes

    lesson.show("Size and cost", title=False)
    points = [
        (member.name + f" {size.name}" * (len(member.sizes) > 1), member.date, size.weights, size.counted)
        for member in inputs.members.values()
        for size in member.sizes
    ]
    weights = {name: n for name, _date, n, _counted in points}
    times = round(weights["GPT-3"] / weights["BERT large"])
    figure(
        partial(
            sizes,
            points,
            _("weights"),
            NAMED,
            {True: _("counted here"), False: _("the paper’s number")},
            _("From BERT-large to GPT-3 in 19 months: {n} times as many weights").format(n=times),
        ),
        _(
            "Weights of {n} published sizes over the years, on a scale of tens: from {low:,} to {high:,}. Filled: "
            "counted here."
        ).format(n=len(points), low=min(weights.values()), high=max(weights.values())),
        "family-sizes",
        wide=True,
    )
    lesson.show("What it cost", title=False)
    known = [(one.name, one.sizes[-1].weights, one.tokens) for one in inputs.members.values() if one.tokens]
    least = [(one.name, one.sizes[-1].weights, one.least_tokens) for one in inputs.members.values() if one.least_tokens]
    work = {name: 6 * n * tokens for name, n, tokens in known}
    factor = work["RoBERTa"] / work["BERT"]
    options = [_("as much"), _("twice as much"), _("{n:.0f} times as much").format(n=factor)]
    question = _("RoBERTa has BERT’s network. How much arithmetic did it take to train?")
    if not predict("cost", question, options, 2, about="RoBERTa"):
        return
    figure(
        partial(
            costs,
            known,
            least,
            (_("tokens read in pre-training"), _("weights")),
            _("RoBERTa: BERT’s size, {n:.0f} times its work").format(n=factor),
        ),
        _("Weights against tokens read. Work, 6 · weights · tokens: {told}.").format(
            told=_(", ").join(f"{name} {n:.1e}" for name, n in sorted(work.items(), key=lambda one: one[1]))
        ),
        "family-costs",
        wide=True,
    )
    lesson.show("What BERT read", title=False)
