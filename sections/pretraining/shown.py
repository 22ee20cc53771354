"""Which trainings are drawn: the chosen ones, those in progress, and before the first a shipped model."""

from collections.abc import Sequence

import streamlit as st

from sections.pretraining.trainings import SHOWN, Training, own_trainings, shipped_trainings, trainings_of
from ui.runs import settled


def everything() -> dict[str, Training]:
    """By key: this browser's, newest first, then those of shipped models."""
    return {training.key: training for training in (*own_trainings(), *shipped_trainings())}


def chosen(everything: dict[str, Training]) -> list[Training]:
    """The trainings that the user has chosen, else the newest; plus all in progress."""
    keys = [key for key in st.session_state.get(SHOWN, []) if key in everything] or list(everything)[:1]
    going = [one for one in everything.values() if one.runs and not settled(one.runs[-1])]
    return list({one.key: one for one in (*(everything[key] for key in keys), *going)}.values())


def ids_of(trainings: Sequence[Training]) -> tuple[str, ...]:
    """The ids of their runs, in the order that `trainings_of` expects."""
    return tuple(run.id for training in trainings for run in reversed(training.runs))


def drawn(chosen: Sequence[Training], runs: list) -> list[Training]:
    """The chosen trainings with the current state of their runs, if there is something to draw."""
    now = {training.key: training for training in trainings_of(runs)}
    trainings = [now.get(one.key, one) for one in chosen if one.key in now or not one.runs]
    return [one for one in trainings if one.latest("step") or one.latest("eval")]
