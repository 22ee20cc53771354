"""The family: parameters against FLOPs."""

from functools import partial

from minibert.count import Shape, flops, parameters
from plots.parameters import family, short
from sections.parameters.models import models
from sections.parameters.names import clicked_name
from sections.parameters.sizes import Sizes, load
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Sizes) -> None:
    known = models()
    tokens = min(inputs.tokens, *(m.config.max_position_embeddings for m in (inputs.model, *known.values())))

    def place(m: Shape) -> tuple[int, int]:
        return parameters(m).with_pooler, flops(m, 1, tokens, 0, training=False).forward

    points = {name: place(m) for name, m in known.items()}
    small, large = points["ALBERT-xxlarge"], points["BERT-large"]
    figure(
        partial(
            family,
            points,
            x_title=_("parameters (log scale)"),
            y_title=_("FLOPs for {tokens} tokens (log scale)").format(tokens=tokens),
            here=(inputs.title, *place(inputs.model)),
            title=_("ALBERT-xxlarge: {size} times BERT-large's parameters, {cost} times its arithmetic").format(
                size=f"{small[0] / large[0]:.1f}", cost=f"{small[1] / large[1]:.1f}"
            ),
        ),
        _("Parameters and forward FLOPs: {models}.").format(
            models=_("; ").join(f"{name} {short(x)}, {short(y)}" for name, (x, y) in points.items())
        ),
        key="family-figure",
        on_select=_load_clicked,
        wide=True,
        data=lambda: [{_("model"): name, _("parameters"): x, _("FLOPs"): y} for name, (x, y) in points.items()],
    )
    lesson.show("The family", title=False)


def _load_clicked() -> None:
    name = clicked_name("family-figure")
    if name in models():
        load(name)
