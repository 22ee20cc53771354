"""Makes the stored results of first views again (`ui.first_views`): opens every page with each model that ships.

python -m bench.first_views
"""

from __future__ import annotations

import shutil
import time

from streamlit.testing.v1 import AppTest

from minibert.folders import LESSONS, ROOT
from ui import first_views

MODELS = ("", "mini-zh")  # a page's own, and that of the other language
PAGES = {
    "attribution": ("", "blank-mini-zh"),
    "cone": MODELS,
    "knowledge": MODELS,
    "sentence_vectors": MODELS,
}


def open_all(mode: str) -> None:
    """Open every page that stores something. mode: of `ui.first_views`."""
    first_views.mode = mode
    try:
        for page, models in PAGES.items():
            for model in models:
                app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=600)
                if model:
                    app.query_params["model"] = model
                if (run := app.run()).exception:
                    raise RuntimeError(f"{page}: {run.exception[0].message}")
    finally:
        first_views.mode = "read"


def main() -> None:
    for folder in LESSONS.glob(f"*/{first_views.FOLDER}"):
        shutil.rmtree(folder)
    begun = time.perf_counter()
    open_all("write")
    for file in sorted(first_views.used):
        print(f"{file.stat().st_size:9,} {file.relative_to(LESSONS)}")
    print(f"{sum(file.stat().st_size for file in first_views.used):9,} bytes, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
