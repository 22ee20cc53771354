"""Translations: every visible string in code goes through `_()`.

The text in the code is English. Another language has a catalogue, `ui/locale/<lang>/LC_MESSAGES/minibert.po`, read
directly (no compiled copy to keep in sync), and `lessons/<name>/<lang>.md`. The language is set per session: thirty
students on one server may use different languages.
"""

import ast
import gettext
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LOCALE = Path(__file__).with_name("locale")
DEFAULT = "en"
_NAMES = {"en": "English", "zh": "中文"}  # each language under its own name
_LANGUAGE = "_language"  # session_state key


def languages() -> list[str]:
    """English, then the languages with a catalogue."""
    return [DEFAULT, *_catalogues(LOCALE)]


@cache  # called for every message
def _catalogues(locale: Path) -> list[str]:
    return sorted(path.parents[1].name for path in locale.glob("*/LC_MESSAGES/minibert.po"))


def language() -> str:
    """The language of this session: `?lang=` in the address, else what was chosen before, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULT
    for wanted in (st.query_params.get("lang"), st.session_state.get(_LANGUAGE)):
        if wanted in languages():
            return wanted
    return DEFAULT


def _(message: str) -> str:
    """The message in this session's language. Fill placeholders afterwards: `_("{n} tokens").format(n=n)`."""
    return _catalogue(language()).gettext(message)


def ngettext(singular: str, plural: str, n: int) -> str:
    """`_()` for messages with singular and plural forms."""
    return _catalogue(language()).ngettext(singular, plural, n)


def language_picker() -> None:
    """A choice of language in the sidebar, if there is more than one."""
    available = languages()
    current = language()
    st.session_state[_LANGUAGE] = current
    if current != DEFAULT and st.query_params.get("lang") != current:
        st.query_params["lang"] = current  # changing the page clears the parameters, but shared links must have it
    if len(available) == 1:
        return
    st.session_state.setdefault("language-picker", current)
    st.sidebar.selectbox(
        _("Language"),
        available,
        format_func=lambda code: _NAMES.get(code, code),
        key="language-picker",
        on_change=_choose_language,
    )


def _choose_language() -> None:
    chosen = st.session_state["language-picker"]
    st.session_state[_LANGUAGE] = chosen
    if chosen == DEFAULT:
        st.query_params.pop("lang", None)
    else:
        st.query_params["lang"] = chosen


class _Catalogue(gettext.NullTranslations):
    """A .po file as gettext translations; a message without a translation stays English."""

    def __init__(self, messages: dict[str, list[str]], plural):
        super().__init__()
        self._messages, self._plural = messages, plural

    def gettext(self, message):
        return self._messages.get(message, [""])[0] or message

    def ngettext(self, singular, plural, n):
        forms = self._messages.get(singular, [])
        index = self._plural(n)
        return (forms[index] if index < len(forms) else "") or (singular if n == 1 else plural)


@cache
def _catalogue(lang: str) -> gettext.NullTranslations:
    path = LOCALE / lang / "LC_MESSAGES" / "minibert.po"
    return gettext.NullTranslations() if lang == DEFAULT else read_po(path.read_text(encoding="utf-8"))


def read_po(text: str) -> gettext.NullTranslations:
    """Read a gettext catalogue (msgid, msgid_plural, msgstr, msgstr[n]; comments and fuzzy entries are skipped)."""
    messages: dict[str, list[str]] = {}
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields: dict[str, str] = {}
        field = None
        lines = [line.strip() for line in block.splitlines()]
        if any(line.startswith("#,") and "fuzzy" in line for line in lines):
            continue
        for line in lines:
            if not line or line.startswith("#"):
                continue
            if not line.startswith('"'):
                field, _space, line = line.partition(" ")
            fields[field] = fields.get(field, "") + ast.literal_eval(line.strip())
        if "msgid" in fields:
            messages[fields["msgid"]] = [value for name, value in fields.items() if name.startswith("msgstr")]
    header = dict(line.split(": ", 1) for line in messages.pop("", [""])[0].splitlines() if ": " in line)
    rule = header.get("Plural-Forms", "nplurals=2; plural=(n != 1);").split("plural=")[-1].strip(" ;")
    return _Catalogue(messages, gettext.c2py(rule))
