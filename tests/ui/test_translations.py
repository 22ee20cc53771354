"""English is in the code; another language is a catalogue and belongs to one session only."""

import pytest
import streamlit as st

from tests.pages.driver import link
from tests.ui.driver import opened
from ui import translations
from ui.page import tabs
from ui.translations import _, english, first_language, language, language_picker, ngettext, pgettext

PO = r"""
# A comment
#, fuzzy
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

#: pages/home.py:3
msgid "Home"
msgstr "首页"

msgid "long "
"\"message\"\n"
msgstr "长"
"\"文\"\n"

#, fuzzy
msgid "Next"
msgstr "不确定"

msgid "Empty"
msgstr ""

msgctxt "of a text"
msgid "Home"
msgstr "出处"

msgid "{n} token"
msgid_plural "{n} tokens"
msgstr[0] "{n} 个词"
msgstr[1] "{n} 些词"

#~ msgid "Gone"
#~ msgstr "没了"
"""


@pytest.fixture
def chinese(tmp_path, monkeypatch):
    path = tmp_path / "zh" / "LC_MESSAGES" / "minibert.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO, "utf-8")
    monkeypatch.setattr(translations, "LOCALE", tmp_path)
    monkeypatch.setattr(translations, "OFFERED", ("en", "zh"))


def test_a_catalogue_is_read_and_what_is_not_translated_stays_english(chinese):
    def page():
        words = [_(text) for text in ("Home", 'long "message"\n', "Next", "Empty", "Unknown", "", "Gone")]
        return [*words, pgettext("of a text", "Home"), *(ngettext("{n} token", "{n} tokens", n) for n in (0, 1, 2))]

    said = opened(page, lang="zh").session_state["got"]
    assert said[:7] == ["首页", '长"文"\n', "Next", "Empty", "Unknown", "", "Gone"]
    assert said[7:] == ["出处", "{n} 个词", "{n} 个词", "{n} 些词"]
    assert english(said[0]) == "Home" and english("Next") == "Next"
    plain = opened(page).session_state["got"]
    assert plain[7:] == ["Home", "{n} tokens", "{n} token", "{n} tokens"]


def page():
    language_picker()
    return _("Home"), first_language()


def test_one_language_needs_no_picker_and_no_session_is_english(monkeypatch):
    monkeypatch.setattr(translations, "OFFERED", ("en",))
    run = opened(page)
    assert not run.selectbox and run.session_state["got"] == ("Home", "en")
    assert language() == "en" and _("Home") == "Home"


def test_the_link_chooses_and_the_session_remembers(chinese):
    reader = opened(page, lang="zh")
    assert reader.session_state["got"] == ("首页", "zh") and reader.selectbox[0].value == "zh"
    reader.query_params.clear()  # as a change of page does
    assert reader.run().session_state["got"] == ("首页", "zh")
    assert link(reader, "lang") == "zh"
    assert opened(page).session_state["got"] == opened(page, lang="../../etc").session_state["got"] == ("Home", "en")


def test_the_picker_changes_the_language(chinese):
    reader = opened(page)
    for chosen, word in (("zh", "首页"), ("en", "Home")):
        reader.selectbox[0].set_value(chosen).run()
        assert reader.session_state["got"] == (word, chosen) and ("lang" in reader.query_params) == (chosen == "zh")


def test_the_browser_s_language_is_taken_if_it_is_offered_until_the_reader_chooses(chinese, monkeypatch):
    monkeypatch.setattr(type(st.context), "locale", "zh-CN")
    reader = opened(page)
    assert reader.session_state["got"] == ("首页", "zh") and link(reader, "lang") == "zh"
    reader.selectbox[0].set_value("en").run()
    assert reader.session_state["got"] == ("Home", "en") and link(reader, "lang") == "en"  # after a reload, too
    shared = opened(page, layer="3")  # a link made in English: its words are Chinese, what it leaves out is not
    assert shared.session_state["got"] == ("首页", "en") and "lang" not in shared.query_params
    monkeypatch.setattr(translations, "OFFERED", ("en",))
    assert opened(page).session_state["got"] == ("Home", "en")
    assert opened(page, lang="zh").session_state["got"] == ("首页", "zh")  # who asks for it sees what there is


def test_a_part_has_its_english_name_in_the_link(chinese):
    def parts():
        language_picker()
        return [part for _tab, part in tabs({_("Next"): 1, _("Home"): 2})]

    for lang in ("en", "zh"):
        reader = opened(parts, lang=lang, part="Home")
        assert reader.session_state["got"] == [2] and link(reader, "part") == "Home"
        other = {"en": "zh", "zh": "en"}[lang]
        reader.selectbox[0].set_value(other).run()
        assert reader.session_state["got"] == [2] and link(reader, "part") == "Home"
        assert reader.session_state["part"] == {"en": "Home", "zh": "首页"}[other]
