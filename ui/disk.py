"""Free space on the disk that holds the runs."""

import shutil

import streamlit as st

from minibert.folders import runs_folder
from ui.translations import _

LITTLE = 1_000_000_000  # bytes: about a dozen models of the sizes trained here


def free() -> int:
    """Free bytes."""
    folder = runs_folder()
    return shutil.disk_usage(next(one for one in (folder, *folder.resolve().parents) if one.is_dir())).free


def nearly_full() -> bool:
    return free() < LITTLE


def warn_if_nearly_full() -> None:
    """Warning, for use beside a button that starts a training run."""
    if nearly_full():
        st.warning(
            _(
                "The disk of this server is nearly full ({free:.1f} GB free): a model trained now may have to wait for "
                "room before it is kept. Ask the teacher to clear old runs."
            ).format(free=free() / 1e9),
            icon=":material/hard_drive:",
        )
