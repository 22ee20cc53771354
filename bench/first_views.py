"""Makes the stored results of first views again (`ui.first_views`): opens every page with each model that ships.

python -m bench.first_views
"""

from __future__ import annotations

import shutil
import time

import streamlit as st
from streamlit.testing.v1 import AppTest

from minibert.folders import LESSONS, ROOT
from minibert.sentence_vectors.packaged import PACKAGED
from ui import first_views
from ui.lesson import Lesson

# Page → what its links set: nothing, a part that is dear, and what leads to the model of the other language.
MODELS = ({}, {"model": "mini-zh"})
PAGES = {
    "albert": ({"part": "Order or topic"},),
    "attention": tuple({"part": "Weights and reasons"} | link for link in MODELS),
    "attention_explorer": tuple(
        {"part": part} | model for part in ("Kinds of heads", "Switch heads off") for model in MODELS
    ),
    "attribution": tuple(
        part | model
        for part in ({}, {"part": "Where the slope misleads"})
        for model in ({}, {"model": "blank-mini-zh"})
    ),
    "cone": tuple(part | model for part in ({}, {"part": "Whitening"}) for model in MODELS),
    "embeddings": tuple(
        {"part": part} | model
        for part in (
            "Two meanings",
            "A vector for a sentence",
            "Sentences beside each other",
            "Sums",
            "What to believe",
        )
        for model in MODELS
    ),
    "electra": ({"part": "The generator’s size"},),
    "few_labels": ({"language": "en"}, {"language": "zh"}),
    "knowledge": (*MODELS, {"part": "The graph"}),
    "masking": tuple({"part": "Epoch after epoch"} | model for model in MODELS),
    "next_sentence": tuple({"part": "Topic against coherence"} | model for model in MODELS),
    "sentence_vectors": tuple(part | model for part in ({}, {"part": "Which pooling"}) for model in MODELS),
    "stability": ({"part": "The first steps"},),
    "tokenization": ({"part": "Words or characters?"},),
    "through": ({}, {"lang": "zh"}),
    "what_to_hide": ({}, {"text": Lesson("what_to_hide").examples_called("zh")[0]}),
}


def open_all(mode: str) -> None:
    """Open every page that stores something. mode: of `ui.first_views`."""
    st.cache_data.clear()  # what a page has already asked for in this process it would not ask again
    st.cache_resource.clear()
    first_views.mode = mode
    try:
        for page, links in PAGES.items():
            for link in links:
                app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=600)
                for name, value in link.items():
                    app.query_params[name] = value
                app.run()
                for button in [one for one in app.button if (one.key or "").endswith("-show")]:  # ui.predict asks first
                    button.click().run()
                if app.exception:
                    raise RuntimeError(f"{page}: {app.exception[0].message}")
    finally:
        first_views.mode = "read"


def main() -> None:
    for model in PACKAGED.values():
        model.directory()  # raises PackageError where it is not installed: some results are of it
    for folder in LESSONS.glob(f"*/{first_views.FOLDER}"):
        shutil.rmtree(folder)
    begun = time.perf_counter()
    open_all("write")
    for file in sorted(first_views.used):
        print(f"{file.stat().st_size:9,} {file.relative_to(LESSONS)}")
    print(f"{sum(file.stat().st_size for file in first_views.used):9,} bytes, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
