"""All sets through our own readers; and those that a lesson asks a few questions of – blanks, senses, the desk,
documents, Chinese words and pairs –: whole, balanced, nothing said twice, and as many as the README says."""

import re
from collections import Counter, defaultdict
from statistics import correlation

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from minibert.inside.geometry.vectors import nearest_alike
from minibert.inside.probes.tasks import part_of_speech, read_columns, usable
from minibert.sentence_vectors.rows import questions_of
from minibert.tasks import TASKS, guess_task
from minibert.text.characters import is_cjk
from minibert.text.documents import read_documents, split_sentences
from tests.lessons.data_files import DATA, PARTS, alike, assert_clean, lines, readme, row_of, said_once, text

# --- all sets --------------------------------------------------------------------------------------------------------

SETS = {
    "classification": ["animals", "verdicts", "reviews", "reviews-zh", "topics-zh", "answered"],
    "pair": ["pairs"],
    "similarity": ["similarity"],
    "multilabel": ["emotions", "hobbies-zh"],
    "tagging": ["entities", "entities-zh"],
    "span": ["questions", "questions-zh"],
    "span-or-none": ["questions-or-none"],
    "choice": ["choices", "stories"],
    "intent": ["intents", "intents-zh"],
    "next-utterance": ["dialogues"],
}
TASK_OF = {name: task for task, names in SETS.items() for name in names}


def test_every_folder_is_on_the_list_and_those_to_learn_from_are_sets_of_a_task():
    assert all(f"- `{folder.name}/`" in readme("") for folder in DATA.iterdir() if folder.is_dir())
    assert {folder.name for folder in DATA.iterdir() if list(folder.glob("train.*"))} == set(TASK_OF)
    assert set(SETS) == set(TASKS)


@pytest.mark.parametrize("name", TASK_OF)
def test_it_is_read_whole_and_its_task_is_guessed(name):
    task, folder = TASK_OF[name], DATA / name
    paths = [path for part in ("train", "dev") for path in folder.glob(f"{part}.*") if path.suffix != ".ans"]
    train, dev = map(TASKS[task].read, paths)
    assert train.problems == dev.problems == [] and min(len(train.examples), len(dev.examples)) >= 30
    assert set(dev.labels) <= set(train.labels)  # what is learned is what is asked
    assert guess_task(paths[0].read_bytes(), paths[0].name) == task


@pytest.mark.parametrize("name", ["topics-zh", "hobbies-zh", "answered"])
def test_a_set_of_few_rows_is_clean_said_once_and_counted_by_its_readme(name):
    columns, counts = {part: lines(f"{name}/{part}.tsv")[1:] for part in PARTS}, {}
    for part, rows in columns.items():
        assert_clean([sentence for *texts, _label in rows for sentence in texts], least=2)
        counts[part] = Counter(label for *_texts, labels in rows for label in filter(None, labels.split(",")))
    train, dev = ([sentence for *texts, _label in columns[part] for sentence in set(texts)] for part in PARTS)
    assert not set(train) & set(dev) and alike(train, dev) == []
    if name == "answered":
        for part, rows in columns.items():
            assert set(Counter(tuple(texts[:2]) for *texts, _label in rows).values()) == {2}, part
            assert set(Counter(answer for _title, _body, answer, _label in rows).values()) == {2}, part
        assert counts["train"] == {"yes": 22, "no": 22} and counts["dev"] == {"yes": 16, "no": 16}
        assert row_of("rows", 44, 32, 76) in readme(name)
    else:
        assert said_once(train + dev)
        for label in counts["train"] | counts["dev"]:
            n, m = (counts[part][label] for part in PARTS)
            assert row_of(label, n, m, n + m) in readme(name), label


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


def test_chinese_documents_are_seven_sentences_one_a_line():
    topics, again = (list(read_documents([DATA / "documents" / f"{name}-zh.txt"])) for name in ("topics", "again"))
    sentences = [line for document in topics + again for line in document]
    assert len(topics) == len(again) == 8 and {len(document) for document in topics + again} == {7}
    assert all(split_sentences(line) == [line] and line[-1] == "。" for line in sentences)
    assert len(set(sentences)) == len(sentences)


# --- Chinese words and pairs -----------------------------------------------------------------------------------------

TAGS = {"NOUN", "PROPN", "VERB", "AUX", "ADJ", "ADV", "PRON", "DET", "NUM", "CLF", "ADP", "PART", "CCONJ", "SCONJ"}
SENTENCES = read_columns(text("words-zh/sentences.txt").encode(), "sentences.txt")
PAIRS = TASKS["similarity"].read(DATA / "similarity-zh" / "pairs.tsv", strict=True).examples


def test_every_word_has_a_tag_and_every_sentence_an_end_and_the_readme_counts_them():
    tags = defaultdict(set)
    for words, of_them in SENTENCES:
        assert words[-1] in "。？！" and of_them[-1] == "PUNCT"
        for word, tag in zip(words, of_them, strict=True):
            tags[word].add(tag)
            assert (tag == "PUNCT") == (word in "，。？！")
    assert set.union(*tags.values()) == {*TAGS, "PUNCT"}
    assert len({"".join(words) for words, _ in SENTENCES}) == len(SENTENCES)
    several = sum(len(some) > 1 for some in tags.values())
    assert row_of(len(SENTENCES), sum(len(words) for words, _ in SENTENCES), len(tags), several) in readme("words-zh")


def test_they_are_a_task_for_a_probe():
    (task,) = usable([part_of_speech(SENTENCES)], 10_000)
    assert task.unit == "word" and {"NOUN", "VERB", "CLF"} <= set(task.labels)
    assert {item.label for item in task.items if task.type_of(item) == ("花",)} == {"NOUN", "VERB"}


def test_the_readme_counts_the_pairs_and_correlates_their_characters():
    bands = Counter(min(4, int(example.score)) for example in PAIRS)
    assert row_of("pairs", *(bands[band] for band in range(5)), len(PAIRS)) in readme("similarity-zh")
    assert len({frozenset((e.text, e.pair)) for e in PAIRS}) == len(PAIRS)
    rows = lines("similarity-zh/pairs.tsv")[1:]
    for kind, count in Counter(row[2] for row in rows).items():
        assert f"| {kind} | {count} |" in readme("similarity-zh")

    def measured(rows) -> str:
        shared = [[set(text) - set("，。") for text in row[7:9]] for row in rows]
        return f"{correlation([float(row[9]) for row in rows], [len(a & b) / len(a | b) for a, b in shared]):.2f}"

    ordinary = measured([row for row in rows if row[2] == "ordinary"])
    assert f"{measured(rows)} over all pairs, {ordinary} over the ordinary ones" in readme("similarity-zh")


def test_every_chinese_premise_has_one_hypothesis_of_each_label_and_the_readme_counts_them():
    found = TASKS["pair"].parse(text("pairs-zh/pairs.tsv").encode(), "pairs.tsv", strict=True).examples
    labels = ("entailment", "neutral", "contradiction")
    premises = Counter(one.text for one in found)
    assert set(premises.values()) == {3} and len({one.pair for one in found}) == len(found) >= 150
    assert {(one.text, one.label) for one in found} == {(text, label) for text in premises for label in labels}
    assert all(one.text.endswith("。") and one.pair.endswith("。") for one in found)
    said = readme("pairs-zh")
    assert f"# Pairs: {len(premises)} Chinese premises" in said
    for label in labels:
        some = [one for one in found if one.label == label]
        denied = sum(any(sign in one.pair for sign in "没不别") for one in some) / len(some)
        assert 0.2 < denied < 0.35 and f"| {label} | {len(some)} | {denied:.1%} |".replace("%", " %") in said
        assert sum(f"| {label} | {one.text} | {one.pair} |" in said for one in some) == 1
