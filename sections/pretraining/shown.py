"""Which trainings are drawn: those chosen, those that go on, and before the first a model that ships."""

from collections.abc import Sequence

import streamlit as st

from sections.pretraining.trainings import SHOWN, Training, own_trainings, shipped_trainings, trainings_of
from ui.runs import settled


def everything() -> dict[str, Training]:
    """By key: this browser's, newest first, then those of models that ship."""
    return {training.key: training for training in (*own_trainings(), *shipped_trainings())}


def chosen(everything: dict[str, Training]) -> list[Training]:
    """Those the reader has chosen, else the newest; and all that go on."""
    keys = [key for key in st.session_state.get(SHOWN, []) if key in everything] or list(everything)[:1]
    going = [one for one in everything.values() if one.runs and not settled(one.runs[-1])]
    return list({one.key: one for one in (*(everything[key] for key in keys), *going)}.values())


def ids_of(trainings: Sequence[Training]) -> tuple[str, ...]:
    """Of their runs, in the order that `trainings_of` takes."""
    return tuple(run.id for training in trainings for run in reversed(training.runs))


def drawn(chosen: Sequence[Training], runs: list) -> list[Training]:
    """The chosen with their runs as they now are, as far as there is something to draw."""
    now = {training.key: training for training in trainings_of(runs)}
    trainings = [now.get(one.key, one) for one in chosen if one.key in now or not one.runs]
    return [one for one in trainings if one.latest("step") or one.latest("eval")]
