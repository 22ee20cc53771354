"""The desk of standard questions: as many as its README says, five of each, none twice, not to be found by words."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from minibert.inside.vectors import nearest_alike
from minibert.sentence_vectors.rows import questions_of

DESK = Path(__file__).parents[2] / "lessons" / "data" / "desk"


@pytest.mark.parametrize(("name", "count"), [("en", 100), ("zh", 60)])
def test_it_is_as_the_readme_says(name, count):
    content = (DESK / f"{name}.tsv").read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", content) and content.endswith("\n")
    asked = questions_of(DESK / f"{name}.tsv")
    groups = Counter(standard for _question, standard in asked)
    assert len(asked) == len({question for question, _standard in asked}) == count
    assert set(groups.values()) == {5} and all((standard, standard) in asked for standard in groups)
    assert f"| {count} | {len(groups)} | 5 |" in (DESK / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "analyzer"), [("en", "word"), ("zh", "char")])
def test_counting_words_goes_wrong(name, analyzer):
    asked = questions_of(DESK / f"{name}.tsv")
    rows = TfidfVectorizer(analyzer=analyzer).fit_transform([question for question, _standard in asked]).toarray()
    assert nearest_alike(rows, [standard for _question, standard in asked]).mean() < 0.5
