"""The other languages that we ship: nothing lost in them, nothing behind the English, the terms of the glossary."""

import json
import re
import tomllib
from collections import Counter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from bench.translations import (
    catalogue,
    done,
    examination,
    has_words,
    notebooks,
    prose,
    strings,
    template,
    twins,
    update,
)
from minibert.experiments.claims import tables
from minibert.folders import LESSONS
from minibert.toy.world import vocabulary
from tests.pages.driver import ROOT, link, open_page, whole
from ui import translations
from ui.claim import in_words, table_in_words
from ui.languages import language_of

LANGUAGES = translations.languages()[1:]
# What a translation must have as often as its English: what is filled in, where links lead, tags, icons, formulas.
PLACEHOLDERS = re.compile(r"\{[^{}\s]*\}|(?<=\]\()[^)]+(?=\))|</?\w[^<>]*>|:\w[\w/]*:|\$\$[^$]+\$\$|\$[^$]+\$")
HAN = "\u3400-\u9fff"
MARKS = "，。：；！？、（）《》“”…"
CODE_SPAN = re.compile(r"`[^`]*`")
CODE = re.compile(r"`[^`]*`|\$[^$]*\$|\{[^{}]*\}|<[^<>]*>|\]\([^)]*\)|\*")


def lost(english: str, other: str) -> set[str]:
    return set(PLACEHOLDERS.findall(english)) ^ set(PLACEHOLDERS.findall(other))


def against_the_glossary(english: str, other: str, glossary: dict[str, list[str]]) -> list[str]:
    """Wrong renderings of the terms that the English has. What a longer term is called is none of a shorter one."""
    found = []
    for term, (right, *others) in sorted(glossary.items(), key=lambda one: -len(one[0])):
        written = re.escape(term).replace(r"\ ", "[ -]")  # mixed-precision training
        if re.search(rf"(?i)\b{written}(s|es)?\b", CODE.sub("", english)):
            other = other.replace(right, " ")
            found += [f"{term}: {wrong} should be {right}" for wrong in others if wrong in other]
    return found


def typography(other: str) -> list[str]:
    """Half-width punctuation between Chinese characters, and no space between Chinese and Latin."""
    text = CODE.sub("", other)
    return re.findall(f"[{HAN}][,;:?!()](?=[{HAN}])|[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]", text)


def open_bold(other: str) -> list[str]:
    """Bold that Markdown leaves between asterisks: a mark at its end, a character right beside it."""
    parts = CODE_SPAN.sub("", other).split("**")
    return [
        bold
        for before, bold, after in zip(parts[::2], parts[1::2], parts[2::2], strict=False)
        if re.match(f"[{HAN}][{MARKS}]", before[-1:] + bold) or re.match(f"[{HAN}][{MARKS}]", after[:1] + bold[-1:])
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_that_is_filled_in_is_lost_and_what_is_bold_is_drawn_so(lang):
    done = [one for one in twins(lang) if one.state == "done"]
    found = [
        (one.lesson, one.name, what) for one in done if (what := lost(one.english, one.other) or open_bold(one.other))
    ]
    assert done and not found


@pytest.mark.release
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_language_that_is_offered_is_whole_and_up_to_date(lang):
    if lang not in translations.OFFERED:
        pytest.skip(f"{lang} is not offered yet")
    behind = Counter((one.lesson, one.state) for one in twins(lang) if one.state != "done")
    assert not behind, f"python -m bench.translations lists them: {behind}"


@pytest.mark.release
def test_chinese_keeps_to_the_glossary_and_its_typography():
    glossary = tomllib.loads((LESSONS / "glossary.zh.toml").read_text("utf-8"))
    found = [
        (one.lesson, one.name, slips)
        for one in twins("zh")
        if one.other and (slips := against_the_glossary(one.english, one.other, glossary) + typography(one.other))
    ]
    assert not found


def test_the_checks_see_what_is_wrong_and_nothing_else():
    assert lost("**{n}** [here](a.md) <b>", "**{n}** [这里](b.md)") == {"a.md", "b.md", "<b>"}
    glossary = {"token": ["词元", "令牌"], "mask": ["掩码", "掩"]}
    assert against_the_glossary("Two tokens", "两个令牌", glossary) and not against_the_glossary(
        "Two", "令牌", glossary
    )
    assert not against_the_glossary("a mask", "掩码", glossary)
    precisions = {"precision": ["精确率", "精度"], "half precision": ["半精度"]}
    assert not any(against_the_glossary(term, "半精度", precisions) for term in ("half precision", "half-precision"))
    assert typography("词元,向量 BERT模型") == ["元,", "T模"]
    assert (
        open_bold("**词元。**向量") == ["词元。"]
        and open_bold("词元**“向量”** 是")
        and not open_bold("**词元**。**头**（“a”）")
    )
    assert not typography("词元，向量：BERT 的 `[CLS]` 向量有{n}个，**头**")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_example_of_the_toy_world_says_what_it_means(lang):
    known, toy = {*vocabulary(), "mask"}, set()
    for path in LESSONS.glob("*/examples.toml"):
        for texts in tomllib.loads(path.read_text("utf-8")).values():
            sentences = {text for text in texts if isinstance(text, str) and " " in text}
            lowered = {text for text in sentences if text.replace("[MASK]", "").islower()}
            toy |= {text for text in lowered if {*re.findall(r"\w+", text.lower())} <= known}
    assert toy and toy <= tomllib.loads((LESSONS / f"toy_sentences.{lang}.toml").read_text("utf-8")).keys()


ON_REAL_TEXT = ("home", "through", "input", "attention", "attention_explorer", "masking", "probes", "knowledge", "cone")
ON_REAL_TEXT += ("what_to_hide", "few_labels", "sentence_vectors", "encoder_decoder", "output_layer")


@pytest.mark.parametrize(
    "page",
    ["tokenization", "attribution", *(pytest.param(name, marks=pytest.mark.release) for name in ON_REAL_TEXT)],
)
def test_a_page_in_chinese_begins_with_a_chinese_text(page):
    page = open_page(page, lang="zh")
    texts = [re.sub(r"\[MASK\]|\{text\}", "", field.value) for field in page.text_input if field.value]
    models = [box.value for box in page.selectbox if box.key == "model"]
    assert {*map(language_of, texts)} == {"zh"} and {*models} <= {"mini-zh", "reviews-zh"}


# --- every page in a language made for the test -----------------------------------------------------------------------


@pytest.fixture
def brackets(tmp_path, monkeypatch):
    """A language, `xx`, in which every string is the English one in brackets."""
    catalogue = template()
    catalogue.locale = "zh"
    for message in catalogue:
        if message.id:
            message.string = (f"⟦{message.id[1]}⟧",) if message.pluralizable else f"⟦{message.id}⟧"
    path = tmp_path / "xx" / "LC_MESSAGES" / "minibert.po"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_po(file, catalogue)
    monkeypatch.setattr(translations, "LOCALE", tmp_path)


def test_all_that_is_shown_of_a_table_of_claims_is_in_the_reader_s_language(brackets, monkeypatch):
    monkeypatch.setattr(translations, "language", lambda: "xx")
    for name, plain in tables().items():
        if "source" in plain:
            table = table_in_words(name)
            said = [table["source"], *table["arms"].values(), *table["measures"].values()]
            said += [column["name"] for column in table["column"]]
            said += [in_words(one[field]) for one in plain.get("direction", ()) for field in ("what", "source")]
            assert [text for text in said if has_words(text) and not text.startswith("⟦")] == []
    assert not has_words("Devlin et al. 2019, §2") and not has_words("NEZHA, ±64") and has_words("GLUE, dev")


def test_a_link_opens_the_same_in_another_language(brackets):
    settings = {"text": "one two three", "next": "four", "blank": 2, "model": "mini-en", "stage": 3, "framed": 2}
    for part in ("Three models", "The code"):
        plain = open_page("through", part=part, **settings)
        other = open_page("through", part=part, lang="xx", **settings)
        assert other.session_state["part"] == f"⟦{part}⟧" and link(plain, "part") == link(other, "part") == part
        assert {name: link(plain, name) for name in settings} == {name: link(other, name) for name in settings}
        picked = other.radio[0].options[1]
        whole(other.radio[0].set_value(1).run())
        assert plain.radio[0].options[1] == picked and bool(other.success) != bool(other.error)


NAMES = {"BERT"}  # the same in every language
WORD = re.compile(r"(chip|hide|piece)-\d+$")  # the key of a button that bears a word of a text


@pytest.mark.release
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "pages").glob("*.py")))
def test_every_page_is_in_its_reader_s_language_after_one_of_another(brackets, name):
    open_page(name)  # what this keeps for all sessions must hold no words
    page = open_page(name, lang="xx")
    texts = {block.value for block in (*page.markdown, *page.caption)} | {tab.label for tab in page.tabs}
    texts |= {button.label for button in page.button if not WORD.search(button.key or "")}
    assert not (texts - NAMES) & {message.id for message in template() if message.id}


# --- the command ------------------------------------------------------------------------------------------------------

QUESTION = '[[question]]\nid = "a"\ntext = "{}"\n[[question.choice]]\ntext = "x"\nwhy = "y"\ncorrect = true\n'
QUESTION += '[[question.choice]]\ntext = "z"\nwhy = "y"\n'


def test_the_command_finds_what_has_changed_and_marks_what_is_done(tmp_path, monkeypatch):
    folder = tmp_path / "examination"
    folder.mkdir()
    monkeypatch.setattr("bench.translations.LESSONS", tmp_path)
    (folder / "en.md").write_text("# Sums\n\nAdd.\n\n## First\n\nOne.\n\n## Second\n\nTwo.\n", "utf-8")
    (folder / "1-part.toml").write_text(QUESTION.format("More?"), "utf-8")
    (folder / "zh.md").write_text("# 加法\n\n加。\n\n## 第一\n\n一。\n", "utf-8")
    (folder / "1-part.zh.toml").write_text(QUESTION.format("更多？"), "utf-8")

    for name, text in (("exercise", "Add."), ("exercise.zh", "加。")):
        notebook = {"cells": [{"cell_type": "markdown", "source": [text]}], "metadata": {}}
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), "utf-8")

    def states() -> list[str]:
        return [one.state for one in (*prose("zh"), *examination("zh"), *notebooks("zh"))]

    assert states() == ["changed", "missing", "missing", "changed", "changed"]  # a section without a mark is nobody's
    done("zh", "examination")
    assert states() == ["done", "done", "missing", "done", "done"]
    (folder / "en.md").write_text("# Sums\n\nAdd.\n\n## Zero\n\n## First\n\nOne!\n\n## Second\n\nTwo.\n", "utf-8")
    (folder / "1-part.toml").write_text(QUESTION.format("Less?"), "utf-8")
    assert states() == ["done", "missing", "changed", "missing", "changed", "done"]
    done("zh", "examination")
    assert states() == ["done", "missing", "done", "missing", "done", "done"]


def test_a_string_that_has_changed_keeps_its_translation_as_fuzzy(tmp_path, monkeypatch):
    path = tmp_path / "zh" / "LC_MESSAGES" / "minibert.po"
    path.parent.mkdir(parents=True)
    path.write_text('msgid ""\nmsgstr ""\n\n#: course.py\nmsgid "The exam"\nmsgstr "考试"\n', "utf-8")
    monkeypatch.setattr(translations, "LOCALE", tmp_path)
    said = Catalog()
    said.add("The exams", locations=[("course.py", 0)])
    said.add("Home", locations=[("course.py", 0)])
    said.add("The head", locations=[("sections/attention/one_head.py", 0)])
    monkeypatch.setattr("bench.translations.template", lambda: said)
    update("zh", ["attention"])
    assert [one.id for one in catalogue("zh") if one.id] == ["The exam", "The head"]
    for _again in range(2):
        update("zh", ["shared"])
        assert [(one.id, one.string, one.fuzzy) for one in catalogue("zh") if one.id] == [
            ("The exams", "考试", True),
            ("Home", "", False),
            ("The head", "", False),
        ]
    assert sorted(one.state for one in strings("zh")) == ["changed", "missing", "missing"]
