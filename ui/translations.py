"""Translations: every visible string in code goes through `_()`.

The text in the code is English. Another language has `lessons/<name>/<lang>.md` and a catalogue,
`ui/locale/<lang>/LC_MESSAGES/minibert.mo`, which `msgfmt` or `pybabel compile` makes from a translator's .po file. The
language is set per session: thirty students on one server may use different languages.
"""

import gettext
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

DOMAIN = "minibert"
LOCALE = Path(__file__).with_name("locale")
DEFAULT = "en"
_NAMES = {"en": "English", "zh": "中文"}  # each language under its own name
_LANGUAGE = "_language"  # session_state key


def languages() -> list[str]:
    """English, then the languages with a catalogue."""
    return [DEFAULT, *_catalogues(LOCALE)]


@cache  # called for every message
def _catalogues(locale: Path) -> list[str]:
    return sorted(path.parents[1].name for path in locale.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))


def language() -> str:
    """The language of this session: `?lang=` in the address, else what was chosen before, else English."""
    if len(languages()) == 1 or get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULT
    candidates = (st.query_params.get("lang"), st.session_state.get(_LANGUAGE))
    return next((known for one in candidates for known in languages() if known == one), DEFAULT)


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


@cache
def _catalogue(lang: str) -> gettext.NullTranslations:
    return gettext.NullTranslations() if lang == DEFAULT else gettext.translation(DOMAIN, LOCALE, [lang])
