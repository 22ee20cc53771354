"""Scripts of a few lines that show one part of ui, run without a browser."""

from functools import partial

from streamlit.testing.v1 import AppTest

script = partial(AppTest.from_function, default_timeout=240)  # Streamlit's own 3 s are too short for a busy machine
