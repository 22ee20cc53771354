"""The sets that a lesson asks a few questions of – blanks, senses, the desk, documents –: whole, balanced, nothing said
twice, and as many as the README says."""

import re
from collections import Counter

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from minibert.inside.vectors import nearest_alike
from minibert.sentence_vectors.rows import questions_of
from minibert.text.characters import is_cjk
from minibert.text.documents import read_documents, split_sentences
from tests.lessons.data_files import DATA, alike, assert_clean, lines, readme, said_once, text

# --- fill in the blank -----------------------------------------------------------------------------------------------

KINDS = {"grammar", "agreement", "idiom", "fact", "world-knowledge", "coreference"}
KINDS_ZH = {"grammar", "measure-word", "word", "idiom", "fact", "world-knowledge"}


@pytest.mark.parametrize(("name", "expected"), [("cloze", KINDS), ("cloze-zh", KINDS_ZH)])
def test_one_blank_one_answer_and_kinds_and_answers_are_spread(name, expected):
    header, *rows = lines(f"{name}.tsv")
    assert header == ["sentence", "answer", "kind"]
    for sentence, answer, _kind in rows:
        rest = sentence.replace("[MASK]", " ")
        assert sentence.count("[MASK]") == 1 and "[" not in rest and sentence.isprintable(), sentence
        if name == "cloze":
            assert re.fullmatch("[a-z]+", answer) and answer not in re.findall("[a-z]+", rest.lower()), sentence
            assert 3 <= len(sentence.split()) <= 15 and sentence[-1] == "." and '"' not in sentence, sentence
            assert sentence == " ".join(sentence.split()), sentence
        else:
            assert len(answer) == 1 and is_cjk(answer) and 5 <= len(rest) <= 21 and sentence[-1] == "。", sentence
    kinds = Counter(kind for *_, kind in rows)
    assert len(rows) >= 40 and set(kinds) == expected and min(kinds.values()) >= 6
    assert len({sentence for sentence, *_ in rows}) == len(rows)
    assert max(Counter(answer for _, answer, _ in rows).values()) <= 3


# --- two senses of a word --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "count"), [("en", 12), ("zh", 6)])
def test_two_senses_of_eight_sentences_each(language, count):
    header, *rows = lines(f"senses/{language}.tsv")
    found = [dict(zip(header, row, strict=True)) for row in rows]
    senses = Counter((row["word"], row["sense"]) for row in found)
    assert set(senses.values()) == {8} and set(Counter(word for word, _ in senses).values()) == {2}
    assert f"| `{language}.tsv` | {len(senses) // 2} | 2 | 8 | {len(rows)} |" in readme("senses")
    assert len(senses) == 2 * count
    edge = r"\b" if language == "en" else ""
    for row in found:  # the word stands in its sentence once
        assert len(re.findall(f"{edge}{row['word']}{edge}", row["sentence"], re.IGNORECASE)) == 1, row
    texts = [row["sentence"] for row in found]
    assert all(sentence == sentence.strip() and sentence[-1] in ".。" for sentence in texts)
    assert said_once(texts)
    assert not [pair for pair in alike(texts, texts) if len(set(pair)) == 2]


# --- standard questions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count", "analyzer"), [("en", 100, "word"), ("zh", 60, "char")])
def test_a_desk_has_five_of_each_question_which_words_do_not_find(name, count, analyzer):
    assert text(f"desk/{name}.tsv")
    asked = questions_of(DATA / "desk" / f"{name}.tsv")
    groups = Counter(standard for _question, standard in asked)
    assert len(asked) == len({question for question, _standard in asked}) == count
    assert set(groups.values()) == {5} and all((standard, standard) in asked for standard in groups)
    assert f"| {count} | {len(groups)} | 5 |" in readme("desk")
    rows = TfidfVectorizer(analyzer=analyzer).fit_transform([question for question, _standard in asked]).toarray()
    assert nearest_alike(rows, [standard for _question, standard in asked]).mean() < 0.5


# --- documents for the next sentence ---------------------------------------------------------------------------------


def test_documents_are_seven_sentences_one_a_line():
    topics, again = (list(read_documents([DATA / "documents" / f"{name}.txt"])) for name in ("topics", "again"))
    assert (len(topics), len(again)) == (40, 12) and "52 short documents" in readme("")
    assert {len(document) for document in topics + again} == {7}
    sentences = [line for document in topics + again for line in document]
    for line in sentences:
        assert split_sentences(line) == [line] and line[0].isupper() and line[-1] == "." and line.isascii()
        assert 4 <= len(line.split()) <= 24
    assert_clean(sentences, least=1)
    assert len(set(sentences)) == len(sentences)
