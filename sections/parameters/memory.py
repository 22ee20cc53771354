"""Where the memory goes."""

from functools import partial

from minibert.count import by_group, memory
from plots.parameters import memory_bars, short_bytes
from sections.parameters import how
from sections.parameters.models import MASKED
from sections.parameters.names import group_names, part_table
from sections.parameters.sizes import Sizes, fits
from ui.figures import figure
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Sizes) -> None:
    how.choose()
    if fits(inputs):
        _bytes(inputs, how.now())
    lesson.show("Where the memory goes", title=False)
    lesson.show("Reading the memory", title=False)


def _bytes(inputs: Sizes, running: dict) -> None:
    model, batch, tokens = inputs.model, inputs.batch, inputs.tokens
    count = memory(model, batch, tokens, masked=MASKED, **running)
    if running["training"]:
        rows = {_("backward<br>starts"): count.start, _("backward<br>ends"): count.end}
    else:
        rows = {_("forward"): count.start}
    groups = by_group(count.parts)
    figure(
        partial(
            memory_bars,
            rows,
            names=group_names(),
            title=_("At most {peak} at one time, with {batch} × {tokens} tokens").format(
                peak=short_bytes(count.peak), batch=batch, tokens=tokens
            ),
        ),
        _("At most {peak} at one time. {groups}.").format(
            peak=short_bytes(count.peak),
            groups=_(", ").join(f"{group_names()[g]} {short_bytes(n)}" for g, n in groups.items() if n),
        ),
        key="memory-figure",
        data=lambda: part_table(count.parts),
    )
    show_source(memory)
