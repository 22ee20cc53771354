"""JSON that somebody else wrote: whatever it is, a value or one sentence; and there is one reader of it."""

import ast
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.text.json_values import DEEPEST, JsonError, check_kinds, fits, json_object, json_value, short

ROOT = Path(__file__).resolve().parents[3]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=4), inside, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_writes_comes_back(value):
    text = json.dumps(value)
    assert json_value(text) == json_value(text.encode()) == json.loads(text)


def test_what_cannot_be_read_is_said_in_a_sentence():
    for text, message in [
        ("[" * 100_000, "100 deep"),
        ("[" * 200 + "]" * 200, "100 deep"),  # less than Python itself can read
        ('{"a":' * DEEPEST + "[]" + "}" * DEEPEST, "100 deep"),
        ("[" + "1" * 5000 + "]", "digits"),
        ('{"a": "\\ud83d"}', "surrogate"),
        ("\ud83d", "not JSON"),
        (b'"\xff"', "not UTF-8"),
        ("{\n'a': 1}", r"not JSON: .*line 2, column 1"),
        ("", "not JSON"),
    ]:
        with pytest.raises(JsonError, match=message) as told:
            json_value(text)
        assert len(str(told.value)) < 120
    assert json_value("[" * DEEPEST + "]" * DEEPEST)
    assert json_value('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


def test_files_are_named(tmp_path):
    file = tmp_path / "a.json"
    for content, message in [(b"[]", "not a JSON object"), (b"[" * 100_000, "nested"), (b"{", "not JSON")]:
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"a\.json: .*{message}"):
            json_object(file)
    with pytest.raises(ValueError, match=r"b\.json: cannot be read"):
        json_object(tmp_path / "b.json")
    file.write_bytes(b"")
    with open(file, "r+b") as sparse:
        sparse.truncate(101 * 2**20)
    with pytest.raises(ValueError, match="has 101 MB"):
        json_object(file)


def test_kinds():
    numbers, table = tuple[int, ...], dict[str, list[str]]
    right = [(1, int), (1, float), ([1, 2], numbers), (None, numbers | None), ({"a": ["b"]}, table)]
    wrong = [(True, int), (float("inf"), float), (10**400, float), ([1, "2"], numbers), ({"a": "b"}, table)]
    for value, kind in right:
        assert fits(value, kind)
        check_kinds({"x": value}, {"x": kind})
    for value, kind in wrong:
        assert not fits(value, kind)
        check_kinds({"another": value}, {"x": kind})
        with pytest.raises(ValueError, match="x must be "):
            check_kinds({"x": value}, {"x": kind})
    assert short({"a": [1, None]}) == '{"a": [1, null]}'
    assert len(short("x" * 10_000)) == 61  # a value that is complained about


def test_nobody_else_reads_json():
    """Fifteen places that each forgot another thing are why there is one."""
    files = [file for folder in ("minibert", "ui", "sections", "pages") for file in (ROOT / folder).rglob("*.py")]
    sources = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    found = {
        name
        for name, source in sources.items()
        if "json" in source and "load" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in ("load", "loads") and ast.unparse(node.value) == "json"
    }
    assert found == {"minibert/text/json_values.py"}
