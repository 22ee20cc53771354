"""Translations: every visible string in code goes through `_()`.

The text in the code is English. Another language has a catalogue, `ui/locale/<lang>/LC_MESSAGES/minibert.po`, and
twins of the lessons' files (`ui.lesson`). The catalogue is read as the translator leaves it: nothing is compiled, and
an entry that is empty, fuzzy or missing shows English. The language is set per session: thirty students on one server
may use different languages.
"""

import gettext
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from minibert.text.json_values import json_value
from ui.state import VISIT, opened_by_link

LOCALE = Path(__file__).with_name("locale")
DEFAULT = "en"
# What the sidebar and the browser's preference choose from. A language joins once `python -m bench.translations` finds
# nothing missing; until then `?lang=` shows what there is of it.
OFFERED = (DEFAULT, "zh")
_NAMES = {"en": "English", "zh": "中文"}  # each language under its own name
_LANGUAGE = "_language"  # session_state key
_DECIDED = "minibert_language"  # of a run's context: (query string, language), as `_()` is called hundreds of times
_LINE = re.compile(r'^(?:(msg\S+) )?"(.*)"$', re.MULTILINE)
_FUZZY = re.compile(r"^#,.*\bfuzzy\b", re.MULTILINE)


class Translated(str):
    """A message in another language that knows its English, by which links and files name it (`english`)."""

    english: str

    def __reduce__(self):  # in a worker or a cache it is a plain text
        return str, (str(self),)


def english(text: str) -> str:
    """The English of what `_()` has returned: the same in every language."""
    return getattr(text, "english", text)


def languages() -> list[str]:
    """English, then the languages with a catalogue."""
    return [DEFAULT, *_languages(LOCALE)]


@cache
def _languages(locale: Path) -> list[str]:
    return sorted(path.parents[1].name for path in locale.glob("*/LC_MESSAGES/minibert.po"))


def language() -> str:
    """The language of this session: `?lang=` in the address, else what was chosen before, else what the browser
    prefers, if it is offered, else English."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return DEFAULT
    known = vars(context).get(_DECIDED, ("", ""))
    if known[0] != context.query_string or not known[1]:
        known = vars(context)[_DECIDED] = (context.query_string, _decide())
    return known[1]


def _decide() -> str:
    linked = st.query_params.get("lang", "")
    if linked in languages():
        return linked
    return st.session_state.get(_LANGUAGE) or _preferred()


def _preferred() -> str:
    """The browser's language, if it is offered."""
    locale = (st.context.locale or DEFAULT).lower()
    return next((one for one in OFFERED if one == locale.partition("-")[0]), DEFAULT)


def first_language() -> str:
    """The language of the model and the examples that a page starts with: the session's. But a link from elsewhere that
    names no language is an English one, and leaves out what is usual in English."""
    chosen = language()
    return DEFAULT if chosen != DEFAULT and _from_elsewhere() and "lang" not in st.query_params else chosen


def _from_elsewhere() -> bool:
    """Whether a link has opened this page with its content, and with it this session."""
    return st.session_state.get(VISIT, 0) <= 1 and opened_by_link()


def _(message: str) -> str:
    """The message in this session's language. Fill placeholders afterwards: `_("{n} tokens").format(n=n)`."""
    lang = language()
    return message if lang == DEFAULT else _catalogue(lang, LOCALE)[0].get(message, (message,))[0]


def ngettext(singular: str, plural: str, n: int) -> str:
    """`_()` for messages with singular and plural forms."""
    messages, form = _catalogue(language(), LOCALE)
    return messages.get(singular, (singular, plural))[form(n)]


def pgettext(context: str, message: str) -> str:
    """`_()` for a word of several meanings. context: which one, for the translator."""
    return _catalogue(language(), LOCALE)[0].get(f"{context}\x04{message}", (message,))[0]


def in_context(context: str) -> dict[str, str]:
    """All messages of a context that are translated into this session's language."""
    messages, start = _catalogue(language(), LOCALE)[0], f"{context}\x04"
    return {key.removeprefix(start): forms[0] for key, forms in messages.items() if key.startswith(start)}


def language_picker() -> None:
    """A choice of language in the sidebar, if there is more than one."""
    current = language()
    st.session_state[_LANGUAGE] = current
    if not _from_elsewhere():
        _write_link(current)  # changing the page clears the parameters, but shared links must have it
    available = list(dict.fromkeys((*OFFERED, current)))
    if len(available) == 1:
        return
    st.session_state["language-picker"] = current
    st.sidebar.selectbox(
        _("Language"),
        available,
        format_func=lambda code: _NAMES.get(code, code),
        key="language-picker",
        on_change=_choose_language,
    )


def _choose_language() -> None:
    chosen = st.session_state[_LANGUAGE] = st.session_state["language-picker"]
    _write_link(chosen)
    vars(get_script_run_ctx()).pop(_DECIDED, None)


def _write_link(lang: str) -> None:
    """English goes without saying, except in a browser that prefers another language."""
    said = None if lang == _preferred() == DEFAULT else lang
    if said is None:
        st.query_params.pop("lang", None)
    elif st.query_params.get("lang") != said:
        st.query_params["lang"] = said


@cache
def _catalogue(lang: str, locale: Path) -> tuple[dict[str, tuple[Translated, ...]], Callable[[int], int]]:
    """(message → its translation, or its plural forms, where they are whole; number → which form)."""
    path = locale / lang / "LC_MESSAGES" / "minibert.po"
    text = path.read_text(encoding="utf-8") if lang != DEFAULT else ""
    messages: dict[str, tuple[Translated, ...]] = {}
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for named, quoted in _LINE.findall(block):
            name = named or name
            fields[name] = fields.get(name, "") + quoted
        fields = {name: json_value(f'"{quoted}"') for name, quoted in fields.items()}
        forms = tuple(Translated(value) for name, value in fields.items() if name.startswith("msgstr"))
        if fields.get("msgid") and all(forms) and not ("fuzzy" in block and _FUZZY.search(block)):
            for form in forms:
                form.english = fields["msgid"]
            messages[f"{fields['msgctxt']}\x04{fields['msgid']}" if "msgctxt" in fields else fields["msgid"]] = forms
    plural = re.search(r'"Plural-Forms:.*plural=(.+?);?\\n"', text)
    return messages, gettext.c2py(plural[1] if plural else "n != 1")
