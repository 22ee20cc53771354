"""The set of senses: whole, balanced, each word once in its sentence, as the README says."""

import csv
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "lessons" / "data" / "senses"
WORDS = {"en": 12, "zh": 6}


def rows(language: str) -> list[dict[str, str]]:
    content = (FOLDER / f"{language}.tsv").read_bytes().decode("utf-8")
    assert content.endswith("\n") and "\r" not in content and unicodedata.is_normalized("NFC", content)
    return list(csv.DictReader(content.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("language", WORDS)
def test_two_senses_of_eight_sentences_each(language):
    counts = Counter((row["word"], row["sense"]) for row in rows(language))
    assert set(counts.values()) == {8}
    assert Counter(word for word, _ in counts) == dict.fromkeys({word for word, _ in counts}, 2)
    assert len({word for word, _ in counts}) == WORDS[language]


@pytest.mark.parametrize("language", WORDS)
def test_the_word_stands_in_its_sentence_once(language):
    for row in rows(language):
        edge = r"\b" if language == "en" else ""
        assert len(re.findall(f"{edge}{row['word']}{edge}", row["sentence"], re.IGNORECASE)) == 1, row


@pytest.mark.parametrize("language", WORDS)
def test_no_sentence_twice_nor_nearly(language):
    texts = [row["sentence"] for row in rows(language)]
    assert len(set(texts)) == len(texts)
    assert all(text == text.strip() and text[-1] in ".。" for text in texts)
    grams = []
    for text in texts:
        found = re.findall(r"[a-z']+|[\u4e00-\u9fff]", text.lower())
        grams.append({tuple(found[i : i + 4]) for i in range(len(found) - 3)})
    for i, one in enumerate(grams):
        for j in range(i):
            shared = len(one & grams[j])
            assert not shared or shared / len(one | grams[j]) < 0.25, (texts[i], texts[j])


@pytest.mark.parametrize("language", WORDS)
def test_the_readme_says_how_much_there_is(language):
    words = WORDS[language]
    assert f"| `{language}.tsv` | {words} | 2 | 8 | {len(rows(language))} |" in (FOLDER / "README.md").read_text(
        "utf-8"
    )
