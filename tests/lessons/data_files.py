"""What the tests of the data sets share: where they lie, what their READMEs state, and counting words as a baseline."""

from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

DATA = Path(__file__).parents[2] / "lessons" / "data"
PARTS = ("train", "dev")


def readme(folder: str) -> str:
    return (DATA / folder / "README.md").read_text(encoding="utf-8")


def row_of(*cells) -> str:
    """A row of a README's table."""
    return f"| {' | '.join(map(str, cells))} |"


def bag(model=None, **features) -> Pipeline:
    """A classifier that only counts words."""
    return make_pipeline(CountVectorizer(binary=True, **features), model or LogisticRegression(max_iter=1000))
