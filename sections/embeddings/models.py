"""The models that this lesson compares with the chosen one."""

from pathlib import Path

import streamlit as st

from ui.model_cache import outline_of
from ui.model_registry import ModelInfo, available_models, peers


@st.cache_data(show_spinner=False, max_entries=48)
def made_for(name: str, directory: Path | None, version: int) -> str | None:
    """The language of a model's vocabulary; None if it cannot be read (whoever chooses that model sees why)."""
    from minibert.text.characters import mostly_cjk
    from minibert.tokenizer import Tokenizer

    try:
        tokenizer = Tokenizer.from_directory(directory) if directory else outline_of(name).tokenizer
    except (ValueError, OSError):
        return None
    return "zh" if mostly_cjk(tokenizer.vocab) else "en"


def comparable(model: str, language: str) -> list[ModelInfo]:
    """The other models with a vocabulary for this language: the original first, random weights last."""
    others = (info for info in [*peers(), *available_models()] if info.name != model)
    return [info for info in others if made_for(info.name, info.directory, info.version) == language]
