"""Where the gradient misleads: the score on the path from the baseline, and the error of too few steps."""

from functools import partial

import numpy as np
import streamlit as st

from sections.attribution.subject import STEPS, USUAL_STEPS, Inputs
from sections.attribution.values import first_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.state import set_url
from ui.text import Signed
from ui.translations import _

RULES = ("riemann_middle", "gausslegendre")


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.attribution import completeness_error, score_on_the_path

    steps = st.select_slider(_("Steps of integrated gradients"), STEPS, key="steps", width=500)
    set_url("steps", steps, default=USUAL_STEPS)
    with st.spinner(_("Walking the way …")):
        scores, gradient, errors = _path_of(inputs.key, inputs, inputs.replacement)
    rules = {"riemann_middle": _("midpoints"), "gausslegendre": _("Gauss–Legendre")}
    error, way = errors["riemann_middle"][STEPS.index(steps)], Signed(scores[-1] - scores[0])
    slope = Signed(gradient)
    left, right = st.columns(2, gap="medium")  # a phone shows them below each other
    with left:
        figure(
            partial(
                score_on_the_path,
                scores,
                gradient,
                (_("share of the way"), _("log-odds")),
                (_("score"), _("slope at the text")),
            ),
            _(
                "On the way from the baseline to the text the score goes from {first:+.2f} to {last:+.2f}; the slope "
                "at the end alone would say {slope:+.2f} for the whole way."
            ).format(first=Signed(scores[0]), last=Signed(scores[-1]), slope=slope),
            "path",
            title=_("The score rises by {rise:+.2f}; its end slope says {slope:+.2f}").format(rise=way, slope=slope),
        )
    with right:
        lines = {rules[rule]: line for rule, line in errors.items()}
        figure(
            partial(completeness_error, STEPS, lines, steps, (_("steps"), _("error"))),
            _("Completeness error with {few} steps {most:.2g}, with {many} steps {least:.2g}.").format(
                few=STEPS[0],
                many=STEPS[-1],
                most=errors["riemann_middle"][0],
                least=errors["riemann_middle"][-1],
            ),
            "errors",
            data=lambda: [
                {_("steps"): n, **{name: line[i] for name, line in lines.items()}} for i, n in enumerate(STEPS)
            ],
            title=_("{steps} steps miss it by {error:.2g}").format(steps=steps, error=error),
        )
    st.markdown(
        _("With {steps} midpoints the sum misses by **{error:.2g}** of {wanted:+.3f}.").format(
            steps=steps, error=error, wanted=way
        )
    )
    lesson.show("Where the slope misleads")


@st.cache_data(show_spinner=False, max_entries=64)
def _path_of(key: tuple, _inputs: Inputs, replacement: str) -> tuple[np.ndarray, float, dict[str, list[float]]]:
    """(scores on the path, gradient at its end, rule → completeness error for each of STEPS)."""

    def compute() -> dict[str, np.ndarray]:
        from minibert.inside.explanations.attribution import along_the_path, completeness_errors, slope_at_the_end

        case = _inputs.case
        found = {rule: completeness_errors(case, replacement, STEPS, rule) for rule in RULES}
        path = {"scores": along_the_path(case, replacement), "slope": slope_at_the_end(case, replacement)}
        return {name: np.array(values) for name, values in (path | found).items()}

    stored = first_of(_inputs, "path", [replacement, STEPS], compute)
    return stored["scores"], stored["slope"].item(), {rule: stored[rule].tolist() for rule in RULES}
