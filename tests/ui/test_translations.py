"""English is in the code; another language is a catalogue and belongs to one session only."""

from io import BytesIO

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from tests.ui.driver import opened
from ui import translations
from ui.translations import _, language, language_picker

PO = r"""
# A comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

#: pages/home.py:3
msgid "Home"
msgstr "首页"

msgid "long "
"message\n"
msgstr "长"
"文\n"

#, fuzzy
msgid "Next"
msgstr "不确定"

msgid "Empty"
msgstr ""

msgid "{n} token"
msgid_plural "{n} tokens"
msgstr[0] "{n} 个词"
msgstr[1] "{n} 些词"
"""


@pytest.fixture
def chinese(tmp_path, monkeypatch):
    path = tmp_path / "zh" / "LC_MESSAGES" / "minibert.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, read_po(BytesIO(PO.encode())))
    monkeypatch.setattr(translations, "LOCALE", tmp_path)
    translations._catalogue.cache_clear()
    yield
    translations._catalogue.cache_clear()


def test_a_catalogue_is_read_and_what_is_not_translated_stays_english(chinese):
    assert translations.languages() == ["en", "zh"]
    catalogue = translations._catalogue("zh")
    assert catalogue.gettext("Home") == "首页"
    assert catalogue.gettext("long message\n") == "长文\n"
    assert [catalogue.ngettext("{n} token", "{n} tokens", n) for n in (0, 1, 2)] == ["{n} 个词", "{n} 个词", "{n} 些词"]
    assert [catalogue.gettext(text) for text in ("Next", "Empty", "Unknown")] == ["Next", "Empty", "Unknown"]
    assert catalogue.ngettext("a", "b", 1) == "a" and catalogue.ngettext("a", "b", 2) == "b"


def page():
    language_picker()
    return _("Home")


def test_one_language_needs_no_picker_and_no_session_is_english():
    run = opened(page)
    assert not run.selectbox and run.session_state["got"] == "Home"
    assert language() == "en" and _("Home") == "Home"


def test_the_link_chooses_and_the_session_remembers(chinese):
    reader = opened(page, lang="zh")
    assert reader.session_state["got"] == "首页" and reader.selectbox[0].value == "zh"
    reader.query_params.clear()  # as a change of page does
    assert reader.run().session_state["got"] == "首页"
    assert reader.query_params["lang"] == "zh"
    assert opened(page).session_state["got"] == opened(page, lang="../../etc").session_state["got"] == "Home"


def test_the_picker_changes_the_language(chinese):
    reader = opened(page)
    for chosen, word, in_link in (("zh", "首页", "zh"), ("en", "Home", None)):
        reader.selectbox[0].set_value(chosen).run()
        assert reader.session_state["got"] == word and reader.query_params.get("lang") == in_link
