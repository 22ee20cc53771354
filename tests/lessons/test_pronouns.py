"""The set of pronouns: read whole, balanced so that no place gives the answer away, as its README says."""

import re
from collections import Counter

import pytest

from minibert.inside.heads.pronouns import FORM, MEANING, SETTLED_BY, read_pronouns
from minibert.tasks import TaskDataError
from tests.lessons.data_files import lines, readme, text

HEADER = "text\tpronoun\tantecedent\tothers\tsettled_by\n"
SINGULAR = {"he", "him", "his", "himself", "she", "her", "herself", "it", "itself"}
PLURAL = {"they", "them", "their", "themselves"}
IRREGULAR = {"women", "children"}


@pytest.fixture(scope="module")
def rows():
    return read_pronouns(text("pronouns/en.tsv").encode(), "en.tsv")


def test_texts_are_clean_and_the_readme_says_how_much_there_is(rows):
    texts = [said for said, *_ in lines("pronouns/en.tsv")[1:]]
    assert len(set(texts)) == len(texts)
    assert all(said == said.strip() and said[-1] == "." and "  " not in said for said in texts)
    assert f"# Pronouns: {len(rows)} short texts" in readme("pronouns")
    for kind in SETTLED_BY:
        assert f"| `{kind}` | {sum(row.settled_by == kind for row in rows)} |" in readme("pronouns")
    shares = {
        "drawn by chance": sum(1 / len(row.candidates) for row in rows) / len(rows),
        "the nearest candidate": sum(row.nearest == row.antecedent for row in rows) / len(rows),
        "the first candidate": sum(row.candidates[0] == row.antecedent for row in rows) / len(rows),
    }
    for rule, share in shares.items():
        assert f"{rule} | {100 * share:.1f} %" in readme("pronouns"), (rule, share)
    assert max(shares["the nearest candidate"], shares["the first candidate"]) <= 0.5


def test_an_antecedent_has_the_number_of_its_pronoun(rows):
    for row in rows:
        word = row.words[row.antecedent].lower()
        name = word[0] != row.words[row.antecedent][0]
        plural = word in IRREGULAR or (word.endswith("s") and word not in ("actress", "princess") and not name)
        assert row.words[row.pronoun].lower() in (PLURAL if plural else SINGULAR), row


def test_meaning_comes_in_pairs_with_the_same_beginning(rows):
    meaning = [row for row in rows if row.settled_by == MEANING]
    starts = Counter(row.words[:2] for row in meaning)
    assert sum(count for count in starts.values() if count > 1) >= 50
    assert Counter(row.settled_by for row in rows)[FORM] > 30


WRONG_LINES = [
    ("A cat saw a dog and it ran.\tit\tcat\tdog", "4 columns where 5"),
    ("A cat saw a dog and it ran.\tit\tcat\tdog\tluck", "settled_by is 'luck'; write form, grammar, meaning"),
    ("A cat saw a dog and it ran.\tit\tcat\t\tmeaning", "another candidate beside the antecedent 'cat'"),
    ("A cat saw a dog and it ran.\tit\tcow\tdog\tmeaning", "'cow' stands 0 times"),
    ("A cat saw a cat and it ran.\tit\tcat\ta\tmeaning", "'cat' stands 2 times in the text; it must stand"),
    ("A cat saw it and a dog ran.\tit\tcat\tdog\tmeaning", "'dog' does not stand before the pronoun 'it'"),
    ("A cat saw a dog and it ran.\tit\tcat\tdog Dog\tmeaning", "a candidate is named twice"),
]
WRONG_FILES = [
    (b"", "x.tsv is empty"),
    (b"text\tpronoun\n", "line 1: the first line must be text, pronoun, antecedent, others, settled_by"),
    (HEADER.encode(), "x.tsv holds no pronoun"),
    (b"\xff\xfe", "line 1: not UTF-8"),
]


@pytest.mark.parametrize(
    ("content", "why"), [*WRONG_FILES, *((f"{HEADER}\n{line}\n".encode(), why) for line, why in WRONG_LINES)]
)
def test_a_bad_line_is_named_and_a_bad_file_refused(content, why):
    with pytest.raises(TaskDataError, match=re.escape(why)) as told:
        read_pronouns(content, "x.tsv")
    assert str(told.value).startswith("x.tsv, line 3: ") == (b"\n\n" in content)
