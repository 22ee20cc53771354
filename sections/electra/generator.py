"""A generator too good or too bad: what the discriminator can still detect as the temperature rises."""

from pathlib import Path

import numpy as np
import streamlit as st

from sections.electra.subject import SHIPPED, TEMPERATURES, Inputs, NetworkFolders, networks
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import Lesson
from ui.translations import _

STORIES = 24
SEED = 5_000_003  # of stories outside every pair's training data


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.electra import over_temperature
    from plots.theme import titled

    lesson.show("The generator’s size", title=False)
    if inputs.pair.further:
        words = _(
            "This is counted on stories of the toy world: choose the shipped networks above, or two trained here."
        )
        st.info(words, icon=":material/info:")
        lesson.show("Why a quarter", title=False)
        return
    counted = _counted(inputs.pair, inputs.pair.version, inputs.rate)
    lines = {
        _("samples that are right"): [shares["right"] for shares in counted],
        _("replaced tokens found"): [shares["found"] for shares in counted],
        _("original tokens suspected"): [shares["suspected"] for shares in counted],
    }
    here = TEMPERATURES.index(inputs.temperature) if inputs.temperature in TEMPERATURES else None
    names = [f"{t:g}" for t in TEMPERATURES]
    shares_in_words = _("; ").join(
        f"{name}{_(': ')}{_(', ').join(f'{t} {share:.0%}' for t, share in zip(names, shares, strict=True))}"
        for name, shares in lines.items()
    )
    title = _("From temperature 0 to 4: right samples {a:.0%} → {b:.0%}, found {c:.0%} → {d:.0%}").format(
        a=counted[0]["right"], b=counted[-1]["right"], c=counted[0]["found"], d=counted[-1]["found"]
    )
    figure(
        titled(over_temperature(lines, names, here, (_("temperature of the samples"), _("share"))), title),
        _("On {n} stories never trained on, {rate} % hidden. {told}.").format(
            n=STORIES, rate=inputs.rate, told=shares_in_words
        ),
        "temperatures",
        data=[
            {_("temperature"): t, **{name: f"{shares[i]:.1%}" for name, shares in lines.items()}}
            for i, t in enumerate(names)
        ],
    )
    st.caption(
        _(
            "{n} stories of the toy world that the shipped pair was not trained on, drawn once; the dotted line is the "
            "temperature set above."
        ).format(n=STORIES)
    )
    lesson.show("Why a quarter", title=False)


@st.cache_data(show_spinner=False, max_entries=16, hash_funcs={Path: str})
def _counted(pair: NetworkFolders, version: int, rate: int) -> list[dict[str, float]]:
    from minibert.inside.relatives.replaced import tally
    from minibert.toy import world

    def count() -> dict[str, np.ndarray]:
        discriminator, generator, tokenizer = networks(pair)
        texts = [story.text for story in world.stories(STORIES, SEED, "small")]
        shares = [
            tally(generator, discriminator, tokenizer, texts, temperature=t, rate=rate / 100).shares()
            for t in TEMPERATURES
        ]
        return {name: np.array([one[name] for one in shares]) for name in shares[0]}

    settings = [STORIES, SEED, TEMPERATURES, rate]
    stored = first_view("electra", "shares", "", settings, count) if pair.name == SHIPPED else count()
    return [{name: values[i].item() for name, values in stored.items()} for i in range(len(TEMPERATURES))]
