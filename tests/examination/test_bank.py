"""The bank is read and checked: a slip in a file is named with file, question and what to do."""

import pytest

from examination.__main__ import check
from examination.bank import BANK, ROOT, load_bank
from examination.computations import COMPUTATIONS
from examination.count import COUNTED
from examination.entry import BankError
from examination.input_rows import FORMS
from examination.kinds import KINDS, generate
from examination.masks import PATTERNS

CHOOSE = """
title = "A part"
[[question]]
id = "sum"
kind = "choose"
lesson = "attention"
text = "Two and {{other}}?"
[[question.choice]]
text = "Four"
correct = true
why = "Count."
[[question.choice]]
text = "Five"
why = "One too many."
[[question.variant]]
other = "two"
"""
KIND = 'title = "A part"\n[[question]]\nid = "one"\nlesson = "attention"\ntext = "?"\n'
MISTAKE = 'kind = "mistake"\ncode = "x = 1"\nshows = ["x"]\n'
MISTAKES = MISTAKE + "[[question.mistake]]\n"
PREDICT = """
kind = "predict"
[[question.experiment]]
higher = "first"
first = { text = "no blank", word = "a" }
second = { text = "[MASK]", word = "a" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "1-sums.toml").write_text(CHOOSE, "utf-8")
    return tmp_path


def test_a_file_is_a_part_and_its_name_stands_in_links(folder):
    (part,) = load_bank(folder)
    assert (part.name, part.title, [q.id for q in part.questions]) == ("sums", "A part", ["sum"])
    assert generate(part.questions[0], 1).text == "Two and two?"
    assert check(folder).splitlines()[1].split()[-1] == "1"


def test_another_language_stands_beside_a_part_with_the_questions_made_from_these(folder):
    twin = CHOOSE.replace("A part", "部分").replace("Two and", "二加")
    for made_from, text in ((load_bank(folder)[0].questions[0].mark, "二加two?"), ("00000000", "Two and two?")):
        marked = twin.replace("[[question]]", f'[[question]]\nmade_from = "{made_from}"')
        (folder / "1-sums.zh.toml").write_text(marked, "utf-8")
        assert [part.title for part in load_bank(folder)] == ["A part"]
        (part,) = load_bank(folder, "zh")
        assert part.title == "部分" and generate(part.questions[0], 1).text.replace(" ", "") == text.replace(" ", "")


SLIPS = [
    (("correct = true", ""), "question sum: exactly one choice must have `correct = true`, not 0"),
    (('why = "Count."', ""), "question sum, choice 1: needs `why"),
    (('"Five"', '"Four"'), "two choices say the same"),
    (('kind = "choose"', 'kind = "guess"'), "write one of compute, mask"),
    (('id = "sum"', 'id = "Sum!"'), "question 1: `id` is 'Sum!'; write small letters"),
    (('lesson = "attention"', 'lesson = "attentoin"'), "there is no pages/attentoin.py"),
    (('text = "Two and {{other}}?"', ""), "needs `text"),
    (('lesson = "attention"', 'lesson = "attention"\npionts = 3'), "unknown entries pionts; known here: "),
    (('lesson = "attention"', 'lesson = "attention"\npoints = 0'), "needs `points`, a whole number from 1 to 20"),
    (('lesson = "attention"', 'lesson = "attention"\nshow = 9'), "needs `show`, a whole number from 2 to 2"),
    (('title = "A part"', ""), "one.toml: needs `title"),
    (("[[question]]", "[[question]"), "one.toml: "),
    (("[[question.variant]]\nother", '[[question.variant]]\nx = "1"\n[[question.variant]]\nother'), "same names"),
]
SLIPS_IN_A_KIND = [
    ('kind = "compute"\nwhat = "nothing"', "`what` is 'nothing'; write one of attention_score"),
    ('kind = "compute"\nwhat = "sinusoid"\noptions = { size = [5] }', "`size` must be a list of some of 4, 6, 8"),
    ('kind = "compute"\nwhat = "span"\noptions = { siez = [4] }', "unknown entries siez"),
    ('kind = "order"\nsteps = ["a", "b"]', "a list of 3 texts or more"),
    ('kind = "order"\nsteps = ["a", "b", "a"]', "says the same twice"),
    ('kind = "count"\nof = "block"\nsizes = [{ H = 10, A = 3 }]', "does not divide evenly among A = 3 heads"),
    ('kind = "count"\nof = "blocks"', "write one of attention, feed_forward"),
    ('kind = "mask"\npattern = "causal"\npairs = [["a", "b c"]]', "has 1 words; write 2 to 7"),
    ('kind = "input"\nform = "bert"\npairs = ["a"]', "a list of pairs of texts"),
    (MISTAKE, "at least 1 [[question.mistake]]"),
    ('kind = "open"\nmodel = "m"\nrubric = ["one"]', "a list of 2 texts or more"),
    ('kind = "open"\nmodel = "m"\nrubric = ["one", "two"]\npoints = 2', "leave `points` out"),
    (MISTAKES + 'line = 1\ncode = "x = 1"\nwhy = "?"', "mistake 1: `code` is the right line; write the wrong one"),
    (MISTAKES + 'line = 2\ncode = "x = 2"\nwhy = "?"', "needs `line`, a whole number from 1 to 1"),
    (PREDICT, "experiment 1, first: `text` needs one [MASK]"),
]
WRONG_FILES = [(CHOOSE.replace(*change, 1), message) for change, message in SLIPS]
WRONG_FILES += [(KIND + entries, message) for entries, message in SLIPS_IN_A_KIND]


@pytest.mark.parametrize(("content", "message"), WRONG_FILES)
def test_a_slip_is_named(tmp_path, content, message):
    (tmp_path / "one.toml").write_text(content, "utf-8")
    with pytest.raises(BankError) as error:
        load_bank(tmp_path)
    where = "one.toml, question one" if content.startswith(KIND) else "one.toml"
    assert where in str(error.value) and message in str(error.value)


def test_what_cannot_be_filled_in_an_id_that_is_taken_and_a_folder_without_files(folder, tmp_path_factory):
    (folder / "1-sums.toml").write_text(CHOOSE.replace("{{other}}", "{{nothing}}"), "utf-8")
    with pytest.raises(BankError, match=r"question sum: there is no {{nothing}} to fill in; known here: {{other}}"):
        check(folder)
    (folder / "2-more.toml").write_text(CHOOSE, "utf-8")
    with pytest.raises(BankError, match=r"2-more.toml, question sum: the id is taken by 1-sums.toml"):
        load_bank(folder)
    with pytest.raises(BankError, match=r"no \*\.toml here"):
        load_bank(tmp_path_factory.mktemp("empty"))


def test_the_bank_we_ship_has_every_kind_and_its_readme_names_all_that_a_file_may_say():
    assert {question.kind for part in load_bank() for question in part.questions} == set(KINDS)
    text = (BANK / "README.md").read_text("utf-8")
    named = [*KINDS, *COMPUTATIONS, *COUNTED, *FORMS, *PATTERNS]
    assert not [name for name in named if f"`{name}`" not in text]
    options = {(what, name) for what, one in COMPUTATIONS.items() for name in one.options}
    rows = {line.split("|")[1].strip(" `"): line for line in text.splitlines() if line.startswith("| `")}
    assert not [(what, name) for what, name in options if f"`{name}`" not in rows[what]]


def test_a_part_that_a_question_s_link_opens_is_on_its_page():
    asked = {(q.lesson, q.query["part"]) for part in load_bank() for q in part.questions if "part" in q.query}
    assert len(asked) > 9
    for lesson, part in asked:
        assert f'"{part}"' in (ROOT / "pages" / f"{lesson}.py").read_text("utf-8"), part
