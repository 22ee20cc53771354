"""Models of fine-tuning runs, each loaded once per server for all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor

MOST = 6  # models in memory, up to 90 MB each


@st.cache_resource(show_spinner=False, max_entries=MOST)
def predictor_left(run_id: str, directory: str) -> Predictor:
    """The model of a run. Shared by all sessions: never modify it."""
    from minibert.finetune.predictor import Predictor

    return Predictor.from_directory(directory)
