"""Texts that break a page which trusts its input, by name: makers of figures and markup get all, pages EVERYTHING."""

import pytest

HOSTILE = {
    "empty": "",
    "spaces": " \t\u00a0 ",
    "long": "word " * 20_000,
    "long word": "x" * 100_000,
    "emoji": "😀🏳️‍🌈👩‍👩‍👧‍👦",
    "right to left": "שלום עולם \u202eمرحبا",
    "nul": "a\x00b\x00",
    "script": "</script><img src=x onerror=alert(1)>",
    "markup": "*bold* `code` $x^2$ :red[red] [link](http://example.com) | table | <b>b</b>",
    "chinese": "我喜欢自然语言处理，你呢？",
    "joiners": "\u200d\u200b\ufeff\u2060",
    "marks": "\u0301\u0302 a\u0301\u0323 Z\u0351\u0345\u030d",
    "folded": "한국어 ½ ﬁ İ ẞ",
    "special": "[CLS] the [MASK] barked [SEP][UNK][PAD]",
}
# All that could become markup, run, or be drawn otherwise, in one text: pages are shown this one.
EVERYTHING = " ".join(text for name, text in HOSTILE.items() if name not in ("empty", "spaces", "long", "long word"))
any_text = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
