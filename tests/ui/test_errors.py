"""Errors are raised in English and shown in the reader's language, with the same values in them."""

import re
from pathlib import Path

import pytest

from minibert.checkpoint import load
from minibert.config import BertConfig
from minibert.tasks import TASKS
from minibert.tasks.pattern import Pattern
from minibert.text.documents import read_documents
from minibert.text.vocab import read_vocab
from ui import translations
from ui.errors import PART, translated
from ui.translations import in_context

MARKUP = "**<b>x</b>** :red[$y$] {2} is empty: the text is blank"


@pytest.fixture(autouse=True)
def chinese(monkeypatch):
    monkeypatch.setattr(translations, "language", lambda: "zh")


def raised(call, *arguments, **settings) -> str:
    with pytest.raises(ValueError) as caught:
        list(call(*arguments, **settings))
    return str(caught.value)


def file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def table(text: str, name: str = "mine.tsv"):
    return TASKS["classification"].parse(text.encode(), name)


def test_an_error_is_in_the_reader_s_language_and_has_the_same_values(tmp_path):
    lines = file(tmp_path, "a.jsonl", '{"text": "One."}\n{"text": \n')
    pieces = file(tmp_path, "vocab.txt", "[PAD]\nis empty\nis empty\n")
    config = file(tmp_path, "config.json", '{"hidden_size": 10, "num_attention_heads": 3}')
    pattern = f"{{text}} {MARKUP} [MASK]"
    for error, values in (
        (raised(BertConfig, hidden_size=10, num_attention_heads=3), ["hidden_size", "10", "3"]),
        (raised(table, "sentence\tscore\nx\t1\n"), ["mine.tsv", "1", "label", "'sentence', 'score'"]),
        (raised(Pattern.of, pattern), [f"'{pattern}'", "{2}", "{text}"]),
        (raised(read_vocab, pieces), [pieces, "3", "'is empty'", "2"]),
        # errors within errors
        (raised(table, "just a line\nanother\n", "a b.txt"), ["a b.txt", "1", "sentence", "label", "TAB", "text"]),
        (raised(table, f"sentence\tlabel\n{MARKUP}\t\n"), ["mine.tsv", "2", "2", "label"]),
        (raised(read_documents, [lines]), [lines, "2", "text", "JSON", "Expecting value"]),
        ("CheckpointError: " + raised(load, tmp_path), ["CheckpointError", config, "hidden_size", "10", "3"]),
    ):
        shown = translated(error)
        rest = shown
        for value in sorted(values, key=len, reverse=True):
            assert value in rest, (shown, value)
            rest = rest.replace(value, "", 1)
        assert re.search("[\u3400-\u9fff]", rest) and not re.search("[a-z]{2} [a-z]{2}", rest), shown


def test_what_is_no_message_of_ours_stays_as_it_is(monkeypatch):
    for text in ("[Errno 28] No space left on device: '/x'", MARKUP.replace("is empty: the text ", ""), "a: b; c"):
        assert translated(text) == text
    error = raised(Pattern.of, "no hole")
    monkeypatch.setattr(translations, "language", lambda: "en")
    assert translated(error) == error


def test_every_message_is_read_by_its_own_template_and_its_values_stay_in_their_places():
    every = in_context("an error")
    assert every
    for english, words in every.items():
        values = {name: f"<{name}>" for name in PART.findall(english)}
        english, words = (PART.sub(lambda part, values=values: values[part[1]], text) for text in (english, words))
        assert {translated(english.replace("(s)", s)) for s in ("", "s")} == {words}
