"""The text sets of our own: well-formed, of the stated sizes, balanced, and nothing of dev in train."""

import csv
import io
import json
import re
from collections import Counter
from itertools import chain

import numpy as np
import pytest

from tests.lessons import data_files
from tests.lessons.data_files import PARTS, bag, lines, longer, near_duplicates, readme, row_of, said_once, text

# Folder: the least number of questions in each part.
SQUAD = {"questions": (200, 70), "questions-or-none": (180, 60), "questions-zh": (90, 30)}
LENGTHS = {"questions": (60, 120), "questions-zh": (100, 150)}  # words and characters


def test_a_planted_near_duplicate_is_found():
    first, second = "The ferry arrives at noon, if it arrives at all.", "这家店的豆花又嫩又香。"
    copies = ["The ferry arrives at noon if it comes at all.", "他家的豆花又嫩又香。"]
    assert near_duplicates([first, second, "Nobody was hurt."]) == []
    assert near_duplicates([first, second, *copies]) == [(first, copies[0]), (second, copies[1])]


# Tokens and tags


def sentences(name: str) -> list[list[list[str]]]:
    """Blocks of lines between blank lines, each line split into its columns."""
    blocks = text(name).split("\n\n")
    assert blocks.pop() == ""  # a blank line ends the last sentence too
    return [[line.split(" ") for line in block.split("\n")] for block in blocks]


POS = r"CC|CD|DT|EX|IN|JJ[RS]?|MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|[.,:\"]"
CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "INTJ"}
ENTITIES = {"PER", "LOC", "ORG", "MISC"}


def entities(part: str) -> list[list[list[str]]]:
    return [rows for rows in sentences(f"entities/{part}.txt") if rows[0][0] != "-DOCSTART-"]


def names(rows: list[list[str]], space: str = " ") -> list[tuple[str, str]]:
    """(name, type) of each entity of a sentence in IOB1 or IOB2. space: what stands between words."""
    found, before = [], "O"
    for word, *_, tag in rows:
        if tag != "O":
            goes_on = tag[0] == "I" and before[2:] == tag[2:]
            found.append((found.pop()[0] + space + word if goes_on else word, tag[2:]))
        before = tag
    return found


@pytest.mark.parametrize("part", PARTS)
def test_entities_are_iob1_in_noun_chunks(part):
    for rows in entities(part):
        before = ("O", "O")
        for row in rows:
            word, pos, *tags = row
            assert word and re.fullmatch(POS, pos), row
            assert (pos == word) == (word in {",", ".", '"'}) and (pos in {",", '"', "."}) <= (tags == ["O", "O"]), row
            for last, tag, kinds in zip(before, tags, (CHUNKS, ENTITIES), strict=True):
                assert tag == "O" or (tag[:2] in {"I-", "B-"} and tag[2:] in kinds), row
                assert tag[0] != "B" or last[2:] == tag[2:], row  # B- only after a neighbour of its kind
            chunk, tag = before = tags
            inside = chunk.endswith("-NP") or pos in {"IN", "JJ"}  # “University of Leeds”, “is Italian”
            assert tag == "O" or inside, (word, rows)


def test_entities_are_as_many_as_the_readme_says():
    for part, least in zip(PARTS, (320, 100), strict=True):
        blocks = sentences(f"entities/{part}.txt")
        starts = [i for i, rows in enumerate(blocks) if rows == [["-DOCSTART-", "-X-", "O", "O"]]]
        assert starts == list(range(0, len(blocks), 11)) and len(blocks) % 11 == 0  # documents of ten
        rows = entities(part)
        kinds = Counter(kind for sentence in rows for _, kind in names(sentence))
        assert sum(tag[0] == "B" for sentence in rows for *_, tag in sentence) == 1  # as said there
        assert len(rows) >= least and min(kinds.values()) >= 0.1 * kinds.total()
        counts = [len(rows) // 10, len(rows), sum(map(len, rows)), *(kinds[k] for k in ("PER", "LOC", "ORG", "MISC"))]
        assert row_of(part, *counts, kinds.total()) in readme("entities")
    share = data_files.new_ones(*([name for rows in entities(part) for name in names(rows)] for part in PARTS))
    assert f"({share:.0%}, ".replace("%", " %") in readme("entities") and share > 0.5


def test_ambiguous_words_have_more_than_one_reading():
    readings: dict[str, set[str]] = {}
    for rows in entities("train") + entities("dev"):
        for word, *_, tag in rows:
            readings.setdefault(word.lower(), set()).add(tag[2:])
    table = re.findall(r"^\| ([A-Z][\w, ]+) \| (person|firm|place)", readme("entities"), re.M)
    listed = [word.lower() for line, _ in table for word in line.split(", ")]
    assert len(listed) > 30 and [word for word in listed if len(readings[word]) < 2] == []


# Questions on passages


def passages(folder: str, part: str) -> list[dict]:
    """The paragraphs of a SQuAD file."""
    loaded = json.loads(text(f"{folder}/{part}.json"))
    assert set(loaded) == {"version", "data"}
    assert all(set(article) == {"title", "paragraphs"} for article in loaded["data"])
    return [passage for article in loaded["data"] for passage in article["paragraphs"]]


def asked(folder: str, part: str) -> list[dict]:
    return [question for passage in passages(folder, part) for question in passage["qas"]]


def spans(question: dict) -> list[dict]:
    return question["answers"] + question.get("plausible_answers", [])


@pytest.mark.parametrize("folder", SQUAD)
def test_answers_stand_at_their_offsets(folder):
    for passage in (passage for part in PARTS for passage in passages(folder, part)):
        context = passage["context"]
        assert context == context.strip() and "\n" not in context and "  " not in context
        for question in passage["qas"]:
            assert question["question"] == question["question"].strip() and question["question"][-1] in "?\uff1f"
            assert spans(question), question
            for answer in spans(question):
                start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                assert answer["text"] and context[start:end] == answer["text"], question
                assert re.fullmatch(r"\w(.*[\w%])?", answer["text"]), question
                around = context[max(start - 1, 0) : start + 1], context[end - 1 : end + 1]
                assert not any(re.fullmatch("[A-Za-z0-9]{2}", edge) for edge in around), question  # whole words


@pytest.mark.parametrize("folder", SQUAD)
def test_questions_of_dev_have_passages_of_their_own_and_the_readme_counts_them(folder):
    contexts = {part: [passage["context"] for passage in passages(folder, part)] for part in PARTS}
    assert len(set(contexts["train"] + contexts["dev"])) == len(contexts["train"] + contexts["dev"])
    questions = [question for part in PARTS for question in asked(folder, part)]
    assert len({question["id"] for question in questions}) == len(questions)
    assert said_once([question["question"] for question in questions])
    for part, least in zip(PARTS, SQUAD[folder], strict=True):
        assert len(asked(folder, part)) >= least
        assert f"| {part} | {len(contexts[part])} | {len(asked(folder, part))} |" in readme(folder)
        if folder in LENGTHS:
            shortest, longest = LENGTHS[folder]
            sizes = [len(context if folder == "questions-zh" else context.split()) for context in contexts[part]]
            stated = f"| {min(sizes)} to {max(sizes)}, {sum(sizes) / len(sizes):.0f} on average |"
            assert shortest <= min(sizes) and max(sizes) <= longest and stated in readme(folder)


@pytest.mark.parametrize("folder", SQUAD)
def test_dev_questions_accept_more_than_one_answer(folder):
    for question in asked(folder, "dev"):
        texts = [answer["text"] for answer in question["answers"]]
        assert len(set(texts)) == len(texts) <= 3, question
        assert len(texts) >= 2 or question.get("is_impossible") or folder == "questions-zh", question
    assert all(len(spans(question)) == 1 for question in asked(folder, "train"))
    several = [len(question["answers"]) > 1 for question in asked(folder, "dev")]
    assert folder != "questions-zh" or f"{sum(several)} of the {len(several)} dev questions" in readme(folder)


def test_answers_lie_all_over_the_passages():
    quarters = Counter(
        4 * question["answers"][0]["answer_start"] // len(passage["context"])
        for passage in passages("questions", "train")
        for question in passage["qas"]
    )
    assert "{}, {}, {} and {} of train".format(*(quarters[i] for i in range(4))) in readme("questions")
    assert min(quarters.values()) > 0.2 * quarters.total()


# Chinese reviews

KINDS = ("plain", "negation", "contrast", "irony")


def reviews(*parts: str) -> list[tuple[str, str, str]]:
    """(text, label, kind)"""
    return [tuple(line) for part in parts for line in lines(f"reviews-zh/{part}.tsv")[1:]]


def test_chinese_reviews_are_clean_balanced_in_each_kind_and_counted_and_quoted_by_the_readme():
    for part in PARTS:
        counts = Counter((label, kind) for _, label, kind in reviews(part))
        assert lines(f"reviews-zh/{part}.tsv")[0] == ["text", "label", "kind"]
        assert set(counts) == {(label, kind) for label in ("positive", "negative") for kind in KINDS}
        assert all(counts["positive", kind] == counts["negative", kind] for kind in KINDS)
    for kind in (*KINDS, "all"):
        train, dev = (sum(kind in (k, "all") for _, _, k in reviews(part)) for part in PARTS)
        assert f"| {kind} | {train} | {dev} | {train + dev} |" in readme("reviews-zh")
    assert len(reviews("train")) >= 240 and len(reviews("dev")) >= 80
    quoted = re.findall(r"^\| (\w+) \| (positive|negative) \| (.+) \|$", readme("reviews-zh"), re.M)
    assert len(quoted) == 8 and {(s, label, kind) for kind, label, s in quoted} <= set(reviews(*PARTS))
    for sentence, _, _ in reviews(*PARTS):
        assert re.fullmatch("[\u4e00-\u9fff\uff0c\uff1a\u3001]{10,30}[\u3002\uff1f\uff01]", sentence), sentence


def test_no_character_gives_the_class_away():
    data_files.assert_none_gives_the_class_away((set(sentence), label) for sentence, label, _ in reviews(*PARTS))


def test_counting_characters_is_above_chance_and_far_from_perfect():
    train, dev = reviews("train"), reviews("dev")
    model = bag(analyzer="char", ngram_range=(1, 2)).fit([s for s, _, _ in train], [label for _, label, _ in train])
    right = [label == own for label, (_, own, _) in zip(model.predict([s for s, _, _ in dev]), dev, strict=True)]
    print(f"dev {sum(right) / len(dev):.3f}")
    for kind in KINDS:
        own = [hit for hit, (_, _, k) in zip(right, dev, strict=True) if k == kind]
        print(f"{kind} {sum(own) / len(own):.3f}")
    assert 0.5 < sum(right) / len(right) < 0.8


# Choices

SWAG = ["video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source"]
SWAG += [*(f"ending{i}" for i in range(4)), "label"]


def choices(part: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text(f"choices/{part}.csv")), strict=True)
    assert reader.fieldnames == SWAG
    return list(reader)


def endings(row: dict[str, str]) -> tuple[str, list[str]]:
    """The right ending, and the three wrong ones."""
    found = [row[f"ending{i}"] for i in range(4)]
    return found.pop(int(row["label"])), found


@pytest.mark.parametrize(("part", "least"), [("train", 200), ("dev", 70)])
def test_choices_are_whole_and_balanced_as_the_readme_says(part, least):
    rows = choices(part)
    for number, row in enumerate(rows):
        assert None not in row and row["gold-source"] == "gold" and row["fold-ind"] == str(number), row
        assert row["startphrase"] == f"{row['sent1']} {row['sent2']}"
        assert row["sent1"][0].isupper() and row["sent1"][-1] in ".!?" and row["sent2"][0].isupper()
        right, wrong = endings(row)
        assert len({right, *wrong}) == 4, row
        assert all(ending == ending.strip() and ending[-1] == "." for ending in (right, *wrong)), row
    labels = Counter(row["label"] for row in rows)
    rights, wrongs = zip(*map(endings, rows), strict=True)
    right, wrong = (np.mean([len(one.split()) for one in some]) for some in (rights, chain(*wrongs)))
    assert len(rows) >= least and len(set(labels.values())) == 1 and abs(right - wrong) < 0.2
    stated = [len(rows), *(labels[str(i)] for i in range(4)), f"{right:.1f}", f"{wrong:.1f}"]
    assert row_of(part, *stated) in readme("choices")


def test_no_situation_of_choices_is_told_twice_and_right_endings_are_borrowed_as_wrong_ones():
    rows = [row for part in PARTS for row in choices(part)]
    assert len({endings(row)[0] for row in rows}) == len({row["video-id"] for row in rows}) == len(rows)
    borrowed, total = 0, 3 * len(rows)
    for part in PARTS:
        rights = {endings(row)[0] for row in choices(part)}
        borrowed += sum(ending in rights for row in choices(part) for ending in endings(row)[1])
    assert f"{borrowed} of the {total} wrong endings" in readme("choices") and borrowed > total / 2


def test_choices_cannot_be_made_by_length_or_words_alone():
    for part in PARTS:
        rows = [([row[f"ending{i}"] for i in range(4)], int(row["label"]), row) for row in choices(part)]
        for pick in (max, min):
            share = data_files.alone([(list(map(len, some)), right) for some, right, _ in rows], pick)
            print(f"{part}: the right ending is the {pick.__name__} of its four in {share:.1%}")
            assert share < 0.3
        common = [[len(longer(row["startphrase"]) & longer(one)) for one in some] for some, _, row in rows]
        share = data_files.guessed(zip(common, (right for _, right, _ in rows), strict=True))
        print(f"{part}: most longer words shared with the situation {share:.1%}")
        assert share < 0.35

    train, dev = ([row[f"ending{i}"] for row in choices(part) for i in range(4)] for part in PARTS)
    right = [row["label"] == str(i) for row in choices("train") for i in range(4)]
    model = bag().fit(train, right)
    likely = model.predict_proba(dev)[:, 1].reshape(-1, 4).argmax(1)
    accuracy = (likely == [int(row["label"]) for row in choices("dev")]).mean()
    print(f"dev, words of the endings alone: {accuracy:.1%}")
    assert accuracy < 0.4


# Questions with and without an answer


@pytest.mark.parametrize("part", PARTS)
def test_a_third_of_the_questions_has_no_answer_in_each_passage(part):
    for passage in passages("questions-or-none", part):
        impossible = [question for question in passage["qas"] if question["is_impossible"]]
        assert len(impossible) * 3 == len(passage["qas"])
        assert all(not question["answers"] and question["plausible_answers"] for question in impossible)
        assert all("plausible_answers" not in q and q["answers"] for q in passage["qas"] if not q["is_impossible"])
    questions = asked("questions-or-none", part)
    without = sum(question["is_impossible"] for question in questions)
    assert f"| {len(questions)} | {len(questions) - without} | {without} |" in readme("questions-or-none")


def test_the_question_alone_does_not_tell_whether_there_is_an_answer():
    (train, fit), (dev, true) = (
        zip(*((q["question"], q["is_impossible"]) for q in asked("questions-or-none", part)), strict=True)
        for part in PARTS
    )
    accuracy = bag().fit(train, fit).score(dev, true)
    print(f"dev, words of the question alone: {accuracy:.1%}; always an answer: {1 - sum(true) / len(true):.1%}")
    assert accuracy < 0.72


# Chinese entities


def characters(part: str) -> list[list[list[str]]]:
    """Sentences of rows, each a character and its tag."""
    return sentences(f"entities-zh/{part}.txt")


@pytest.mark.parametrize("part", PARTS)
def test_chinese_entities_are_bio(part):
    for rows in characters(part):
        sentence, tags = "".join(c for c, _ in rows), [tag for _, tag in rows]
        assert re.fullmatch("[\u4e00-\u9fff\uff0c\uff1a\u3001]{8,40}[\u3002\uff1f\uff01]", sentence), sentence
        assert len(tags) == len(sentence)  # one character a line
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert tag == "O" or (tag[:2] in {"B-", "I-"} and tag[2:] in {"PER", "LOC", "ORG"}), sentence
            assert tag[0] != "I" or before[2:] == tag[2:], sentence


def test_chinese_entities_are_as_many_as_the_readme_says():
    said, found = readme("entities-zh"), {part: [names(rows, "") for rows in characters(part)] for part in PARTS}
    for part, least in zip(PARTS, (220, 70), strict=True):
        kinds = Counter(kind for some in found[part] for _, kind in some)
        letters = sum(map(len, characters(part)))
        numbers = [len(found[part]), letters, *(kinds[k] for k in ("PER", "LOC", "ORG")), kinds.total()]
        assert len(found[part]) >= least and row_of(part, *numbers) in said
    assert f"{sum(not some for part in PARTS for some in found[part])} sentences hold no name" in said
    share = data_files.new_ones(*(list(chain(*found[part])) for part in PARTS))
    assert f"({share:.0%}, compared with its type)".replace("%", " %") in said


def test_ambiguous_chinese_words_have_both_readings():
    marked: dict[str, set[str]] = {}
    plain = ""
    for rows in (rows for part in PARTS for rows in characters(part)):
        for name, kind in names(rows, ""):
            marked.setdefault(name, set()).add(kind)
        plain += "".join(c if tag == "O" else "|" for c, tag in rows)
    table = re.findall(r"^\| ([\u4e00-\u9fff, ]+) \| (\w+), (.+) \|$", readme("entities-zh"), re.M)
    assert len(table) == 3
    for line, first, second in table:
        for word in line.split(", "):
            assert {"person": "PER", "firm": "ORG"}[first] in marked[word], word
            assert word in plain if second == "common word" else "LOC" in marked[word], word


# Stories


def stories(part: str) -> list[tuple[str, list[tuple[str, list[str], str]]]]:
    """(story, [(question, four options, letter of the right one)])"""
    rows, answers = (lines(f"stories/{part}.{ending}") for ending in ("tsv", "ans"))
    assert all(len(row) == 23 for row in rows) and all(len(answer) == 4 for answer in answers)
    assert [row[0] for row in rows] == [f"stories.{part}.{i}" for i in range(len(rows))]
    return [
        (row[2], [(row[i], row[i + 1 : i + 5], letter) for i, letter in zip(range(3, 23, 5), answer, strict=True)])
        for row, answer in zip(rows, answers, strict=True)
    ]


@pytest.mark.parametrize(("part", "least"), [("train", 16), ("dev", 6)])
def test_stories_have_four_questions_with_four_options_balanced_as_the_readme_says(part, least):
    for story, questions in stories(part):
        assert len({question for question, _, _ in questions}) == 4
        assert 100 <= len(story.replace("\\newline", " ").split()) <= 145 and "\\newline" in story
        for question, options, letter in questions:
            assert re.fullmatch(r"(one|multiple): [A-Z].*\?", question) and letter in "ABCD"
            assert len(set(options)) == 4 and all(option == option.strip() != "" for option in options), question
    questions = [question for _, each in stories(part) for question in each]
    letters = Counter(letter for _, _, letter in questions)
    assert len(stories(part)) >= least and len(set(letters.values())) == 1
    one = sum(question.startswith("one:") for question, _, _ in questions)
    numbers = [len(stories(part)), len(questions), one, len(questions) - one, *(letters[x] for x in "ABCD")]
    assert row_of(part, *numbers) in readme("stories")


def test_stories_cannot_be_answered_by_length_or_matching_words():
    for part in PARTS:
        lengths, matching = [], []
        for story, questions in stories(part):
            for _, options, letter in questions:
                right, kept = "ABCD".index(letter), [longer(option) for option in options]
                lengths.append(([len(option) for option in options], right))
                matching.append(([len(some & longer(story)) / max(len(some), 1) for some in kept], right))
        longest, shortest = (data_files.alone(lengths, best) for best in (max, min))
        words = data_files.guessed(matching)
        print(f"{part}: longest {longest:.1%}, shortest {shortest:.1%}, words {words:.1%}")
        assert longest < 0.3 and shortest < 0.3 and words < 0.6


# What holds for all

TOLD = {
    "entities": lambda: [" ".join(row[0] for row in rows) for part in PARTS for rows in entities(part)],
    "entities-zh": lambda: ["".join(c for c, _ in rows) for part in PARTS for rows in characters(part)],
    "reviews-zh": lambda: [sentence for sentence, _, _ in reviews(*PARTS)],
    "choices": lambda: [row["startphrase"] for part in PARTS for row in choices(part)],
    "stories": lambda: [story for part in PARTS for story, _ in stories(part)],
    "questions": lambda: [one["context"] for name in SQUAD for part in PARTS for one in passages(name, part)],
}


@pytest.mark.parametrize("name", TOLD)
def test_nothing_is_told_twice_nor_nearly(name):
    assert near_duplicates(TOLD[name]()) == []
