"""The set of pronouns: read whole, balanced so that no place gives the answer away, as its README says."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from minibert.inside.pronouns import FORM, MEANING, SETTLED_BY, read_pronouns
from minibert.tasks import TaskDataError

FOLDER = Path(__file__).parents[2] / "lessons" / "data" / "pronouns"
HEADER = "text\tpronoun\tantecedent\tothers\tsettled_by\n"
FITS = {
    "he": "singular", "him": "singular", "his": "singular", "himself": "singular", "she": "singular",
    "her": "singular", "herself": "singular", "it": "singular", "itself": "singular", "they": "plural",
    "them": "plural", "their": "plural", "themselves": "plural",
}  # fmt: skip
IRREGULAR = {"women", "children"}


@pytest.fixture(scope="module")
def rows():
    return read_pronouns((FOLDER / "en.tsv").read_bytes(), "en.tsv")


def test_the_file_is_clean():
    content = (FOLDER / "en.tsv").read_bytes().decode("utf-8")
    assert content.endswith("\n") and "\r" not in content and unicodedata.is_normalized("NFC", content)
    texts = [line.split("\t")[0] for line in content.splitlines()[1:]]
    assert len(set(texts)) == len(texts)
    assert all(text == text.strip() and text[-1] == "." and "  " not in text for text in texts)


def test_the_readme_says_how_much_there_is(rows):
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert f"# Pronouns: {len(rows)} short texts" in readme
    for kind in SETTLED_BY:
        assert f"| `{kind}` | {sum(row.settled_by == kind for row in rows)} |" in readme
    chance = sum(1 / len(row.candidates) for row in rows) / len(rows)
    nearest = sum(row.nearest == row.antecedent for row in rows) / len(rows)
    first = sum(row.candidates[0] == row.antecedent for row in rows) / len(rows)
    for rule, share in (
        ("drawn by chance", chance),
        ("the nearest candidate", nearest),
        ("the first candidate", first),
    ):
        assert re.search(rf"{rule} \| {100 * share:.1f} %", readme), (rule, share)
    assert max(nearest, first) <= 0.5


def test_an_antecedent_has_the_number_of_its_pronoun(rows):
    for row in rows:
        word = row.words[row.antecedent].lower()
        plural = word in IRREGULAR or (word.endswith("s") and word not in ("actress", "princess"))
        if word[0] != row.words[row.antecedent][0]:  # a name
            plural = False
        assert ("plural" if plural else "singular") == FITS[row.words[row.pronoun].lower()], row


def test_meaning_comes_in_pairs_with_the_same_beginning(rows):
    meaning = [row for row in rows if row.settled_by == MEANING]
    starts = Counter(row.words[:2] for row in meaning)
    assert sum(count for count in starts.values() if count > 1) >= 50
    assert Counter(row.settled_by for row in rows)[FORM] > 30


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("A cat saw a dog and it ran.\tit\tcat\tdog", "4 columns where 5"),
        ("A cat saw a dog and it ran.\tit\tcat\tdog\tluck", "settled_by is 'luck'; write form, grammar, meaning"),
        ("A cat saw a dog and it ran.\tit\tcat\t\tmeaning", "another candidate beside the antecedent 'cat'"),
        ("A cat saw a dog and it ran.\tit\tcow\tdog\tmeaning", "'cow' stands 0 times"),
        ("A cat saw a cat and it ran.\tit\tcat\ta\tmeaning", "'cat' stands 2 times in the text; it must stand"),
        ("A cat saw it and a dog ran.\tit\tcat\tdog\tmeaning", "'dog' does not stand before the pronoun 'it'"),
        ("A cat saw a dog and it ran.\tit\tcat\tdog Dog\tmeaning", "a candidate is named twice"),
    ],
)
def test_a_bad_line_is_named(line, why):
    with pytest.raises(TaskDataError, match=rf"^x\.tsv, line 3: .*{re.escape(why)}"):
        read_pronouns((HEADER + "\n" + line + "\n").encode(), "x.tsv")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "x.tsv is empty"),
        (b"text\tpronoun\n", "line 1: the first line must be text, pronoun, antecedent, others, settled_by"),
        (HEADER.encode(), "x.tsv holds no pronoun"),
        (b"\xff\xfe", "line 1: not UTF-8"),
    ],
)
def test_a_bad_file_is_refused(content, why):
    with pytest.raises(TaskDataError, match=re.escape(why)):
        read_pronouns(content, "x.tsv")
