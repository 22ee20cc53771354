"""The tokenizer against `tokenizers` (ids, tokens, offsets, word numbers: no difference) and `transformers`."""

import itertools
import json
import pickle
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer
from tokenizers import Tokenizer as FastTokenizer
from transformers import AutoTokenizer

from minibert import tokenizer as steps
from minibert.text.truncation import TRUNCATIONS, keep
from minibert.tokenizer import SPECIAL_TOKENS, UNK, Span, Tokenizer, Try, basic_tokens

DATA = Path(__file__).parents[3] / "shared" / "data"
REAL = {"uncased": True, "cased": False, "chinese": True}
CORPORA = ["heldout-text/*.txt", "tasks/en/sst2/*.tsv", "tasks/zh/chnsenticorp/*.tsv"]
CATEGORY = "[CAT=CULTURE]"

# A vocabulary in which most characters are pieces, so that a wrong character, order or offset shows in the output.
BLOCKS = [
    *[(0x21, 0x17F), (0x1C0, 0x24F), (0x2B0, 0x5FF), (0x600, 0x6FF), (0x890, 0x97F), (0xE00, 0xEFF), (0x1100, 0x11FF)],
    *[(0x1AB0, 0x1AFF), (0x1D00, 0x1FFF), (0x2000, 0x206F), (0x2E00, 0x2E7F), (0x3000, 0x30FF), (0x4E00, 0x4EFF)],
    *[(0xA640, 0xA69F), (0xAC00, 0xACFF), (0xFE00, 0xFE2F), (0xFF00, 0xFFFF), (0x11900, 0x1195F)],
    *[(0x1E000, 0x1E02F), (0x1E900, 0x1E95F), (0x1F600, 0x1F64F), (0x20000, 0x2000F), (0x2F800, 0x2F81F)],
]
LETTERS = [c for first, last in BLOCKS for c in map(chr, range(first, last + 1)) if not c.isspace()]
WORDS = ["the", "hug", "pug", "un", "##aff", "##able", "play", "##ing", "##ed", "don", "straße", "ΣΑΣ", "ẹ", "中文"]
VOCAB = list(dict.fromkeys([*SPECIAL_TOKENS, *WORDS, *LETTERS, *("##" + c for c in LETTERS)]))

TEXT = """
It's a small-town story: the naïve café owner, Mr. O'Brien, isn't amused!  "Why?" he asks…

unaffable UNAFFABLE playing, played; don't plaaaaaay
ÀÉÎõü Ñandú Åse coöperate Zoë fiancée Škoda İstanbul ıssız Straße STRASSE ẞ ﬁne ﬂy
Σίσυφος ΟΔΥΣΣΕΥΣ τέλος ὈΔΥΣΣΕΎΣ
北京大学的学生喜欢BERT模型，也喜欢《红楼梦》。東京タワー、ひらがなとカタカナ。
한국어 문장은 어떻게 나뉘나요?
שָׁלוֹם עֲלֵיכֶם السَّلَامُ عَلَيْكُمْ
नमस्ते दुनिया สวัสดีชาวโลก
😀😃 👩‍👩‍👧‍👦 🇩🇪 ❤️ x² ½ № ™ €5 £3 $4 a=b+c < > ^ ~ ` | \\ / {} []
a\u00adb zero\u200bwidth bom\ufeffbom nul\0nul bad\ufffdbad tab\there ideo\u3000space line\u2028sep nel\u0085nel
[MASK] x[MASK]y [mask] [[SEP]] [CLS][SEP] [PAD] [UNK] [CAT=CULTURE] [CAT=CULTURE [cat=culture] [MASK
a\u0323\u0301 a\u0301\u0323 \u0301alone \u0344\u0323 \u1e69\u0323\u0307 q\u0307\u0323 \u0f73\u0301\u0f71 \u212b \u2126
\ue000private \U000f0000plane \U000e0001tag \U00011938 \U0001e000a\u0301 \u08d4\u0301\u0323 \u1734 \u166d \U000111c9
## ##ing a##b ＡＢＣ １２３ ｶﾞ \u1100\u1161\u11a8 각
"""


def outcome(encoding) -> tuple:
    return encoding.tokens, encoding.ids, encoding.offsets, encoding.words


def reference(encoding) -> tuple:
    return encoding.tokens, encoding.ids, encoding.offsets, encoding.word_ids


def assert_same(tokenizer: Tokenizer, texts: list[str]) -> None:
    for text, theirs in zip(texts, tokenizer.fast().encode_batch(texts), strict=True):
        assert outcome(tokenizer.encode(text)) == reference(theirs), repr(text)


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def own(request):
    return Tokenizer(VOCAB, lowercase=request.param, special_tokens=[CATEGORY])


@pytest.fixture(scope="module", params=REAL)
def real(request):
    file = DATA / "vocab" / f"bert-base-{request.param}-vocab.txt"
    if not file.is_file():
        pytest.skip(f"no {file}: the reference vocabularies are not part of the project")
    return Tokenizer.from_file(file, REAL[request.param], special_tokens=[CATEGORY])


def real_lines(step: int) -> list[str]:
    files = [file for pattern in CORPORA for file in sorted(DATA.glob(pattern))]
    if not files:
        pytest.skip(f"no {CORPORA} in {DATA}: the real texts are not part of the project")
    return [line for file in files for line in file.read_bytes().decode().split("\n")[::step]]


def test_own_text_as_tokenizers(own):
    lines = TEXT.split("\n")
    assert_same(own, [TEXT, *lines, *TEXT.split(), ""])
    assert own.encode_bulk(lines) == [own.encode(line, add_special=False).ids for line in lines]


def test_reference_really_is_berts_pipeline(own):
    """`fast()` is what the other tests compare with."""
    both = own.fast(), BertWordPieceTokenizer(lowercase=own.lowercase)
    ours, theirs = (json.loads(one.to_str()) for one in both)
    del ours["model"]["vocab"], theirs["model"]["vocab"]
    for part in ("normalizer", "pre_tokenizer", "model", "truncation", "padding"):
        assert ours[part] == theirs[part]
    assert own.fast() is own.fast()


ANY_TEXT = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.text(st.characters(categories=["Mn", "Mc", "Me", "Cf", "Co", "Cc", "Cn", "Zs", "Zl", "Zp"])),
        st.text(st.sampled_from(LETTERS)),
        st.text(st.sampled_from([chr(c) for c in range(0x110000) if unicodedata.combining(chr(c))])),
        st.sampled_from(["\0", "\ufffd", "İ", "ΑΣ", "ß", "é\u0323", "한글", "中", "😀", " ", "a" * 100, "a" * 101]),
        st.sampled_from([*SPECIAL_TOKENS, CATEGORY, "[CAT", "=CULTURE]", "[", "]", "[mask]", "##", "##ing"]),
    ),
    max_size=8,
).map("".join)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY_TEXT, pair=ANY_TEXT, add_special=st.booleans())
@example(text="\U0001e000\u0301\u0323\u0334a", pair="", add_special=True)
def test_any_text_as_tokenizers(own, text, pair, add_special):
    assert_same(own, [text])
    ours = own.encode(text, pair, add_special=add_special)
    theirs = own.fast().encode(text, pair, add_special_tokens=add_special)
    assert (*outcome(ours), ours.segments) == (*reference(theirs), theirs.type_ids)


@settings(max_examples=100)
@given(text=ANY_TEXT)
def test_any_text_as_tokenizers_with_real_vocabularies(real, text):
    assert_same(real, [text])


def normalized(text: str, uncased: bool) -> str:
    span = steps.space_out_cjk(steps.clean(Span(text, range(len(text)))))
    return steps.lowercase(steps.strip_marks(steps.decompose(span))).text if uncased else span.text


# Where Chinese characters begin, and where they end.
CJK = [0x3400, 0x4DC0, 0x4E00, 0xA000, 0xF900, 0xFB00, 0x20000, 0x2A6E0, 0x2A700, 0x2B820, 0x2CEB0, 0x2F800, 0x2FA20]


@pytest.mark.release
def test_code_points_of_every_kind_as_tokenizers(own):
    """Alone between letters, between marks of other classes, and at a word's end. Both sides of every border between
    categories, and of those between Chinese and other characters; and some of the rest."""
    kinds = [unicodedata.category(chr(code)) for code in range(0x110000)]
    borders = [*CJK, *(code for code in range(1, 0x110000) if kinds[code] != kinds[code - 1])]
    some = [*range(0x300), *range(0, 0x40000, 10), *range(0xE0000, 0xF0000, 10), *range(0, 0x110000, 997)]
    codes = {*some, *borders, *(code - 1 for code in borders)}
    letters = Tokenizer([*SPECIAL_TOKENS, "a", "b", "##b", "##c", "c"], lowercase=own.lowercase)
    normalize = own.fast().normalizer.normalize_str
    points = [chr(code) for code in sorted(codes) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(points), 2000):
        chunk = points[start : start + 2000]
        for form in ("a{0}b", "a\u0301{0}\u0334\u0345 A{0}"):
            text = " ".join(map(form.format, chunk))
            assert normalized(text, own.lowercase) == normalize(text)
        assert_same(letters, [" ".join(f"c{c}b" for c in chunk)])


def test_every_mark_is_ordered_and_dropped_as_tokenizers(own):
    normalize = own.fast().normalizer.normalize_str
    for c in (chr(code) for code in range(0x110000)):
        if unicodedata.combining(c) or unicodedata.category(c)[0] in "MP":
            text = f"x\u0301{c}\u0334{c}\u0345 é{c}"
            assert normalized(text, own.lowercase) == normalize(text), f"U+{ord(c):04X}"


@pytest.mark.parametrize("step", [50, pytest.param(5, marks=pytest.mark.release)])
def test_real_text_as_tokenizers(real, step):
    assert_same(real, real_lines(step))


def test_real_vocabularies_survive_saving(real, tmp_path):
    real.save(tmp_path)
    assert Tokenizer.from_directory(tmp_path).vocab == real.vocab
    assert AutoTokenizer.from_pretrained(tmp_path)(TEXT)["input_ids"] == real.encode(TEXT).ids


def test_special_tokens_in_text():
    tokenizer = Tokenizer(VOCAB, special_tokens=[CATEGORY, "[CAT=CULTURE]s"])
    encoding = tokenizer.encode(f"hug{CATEGORY}hug [MASK] [CAT=CULTURE]s [mask]")
    assert encoding.tokens[:6] == ["[CLS]", "hug", CATEGORY, "hug", "[MASK]", "[CAT=CULTURE]s"]  # the longest wins
    assert encoding.tokens[6:9] == ["[", "m", "##a"]  # exactly as written, or not at all
    assert encoding.special[:6] == [True, False, True, False, True, True]
    assert encoding.offsets[2] == (3, 16)
    assert tokenizer.special_ids == {*range(5), len(VOCAB), len(VOCAB) + 1}
    known = Tokenizer([*VOCAB, CATEGORY, "last"], special_tokens=[CATEGORY])
    assert tokenizer.ids[CATEGORY] == known.ids[CATEGORY] == len(VOCAB)
    assert tokenizer.vocab_size == known.vocab_size == len(VOCAB) + 2


def test_word_that_becomes_unk_is_not_special_and_surrogate_halves_are_dropped(letters):
    """`tokenizers` cannot take such halves; text from a careless JSON reader may hold them."""
    encoding = letters.encode("é ½ [UNK]")
    assert encoding.tokens == ["[CLS]", "e", UNK, UNK, "[SEP]"]
    assert encoding.special == [True, False, False, True, True]
    assert letters.encode("a\ud83db").tokens == letters.encode("ab").tokens


@pytest.mark.parametrize("add_special", [True, False])
def test_longest_first_as_tokenizers(letters, add_special):
    theirs = FastTokenizer.from_str(letters.fast().to_str())
    for first, second in itertools.product(range(7), [None, *range(7)]):
        texts = ["a " * first] + ([] if second is None else ["b " * second])
        for max_length in range(3 if add_special else 1, 16):
            theirs.enable_truncation(max_length)
            expected = theirs.encode(*texts, add_special_tokens=add_special).ids
            got = letters.encode(*texts, max_length=max_length, add_special=add_special).ids
            assert got == expected, (first, second, max_length)


def kept(tokenizer, truncation, max_length, text="abcdefgh", pair="", **options) -> str:
    texts = (" ".join(text), " ".join(pair) or None)
    tokens = tokenizer.encode(*texts, max_length=max_length, truncation=truncation, **options).tokens
    return "".join(tokens).replace("[CLS]", "<").replace("[SEP]", ">")


def test_truncations(letters):
    for expected, *asked in (
        ("<abcdef>>", "head", 9, "abcdefgh", "xy"),
        ("<efgh>xy>", "tail", 9, "abcdefgh", "xy"),
        ("<abefgh>xy>", "head_tail", 11, "abcdefgh", "xy"),
        ("<abc>xyz>", "none", 4, "abc", "xyz"),
    ):
        assert kept(letters, *asked) == expected
    assert kept(letters, "budget", None, budgets=(3, 9)) == "<abc>"
    assert kept(letters, "budget", 9, "abcdefgh", "xyz", budgets=(4, 2)) == "<abcd>xy>"
    for truncation in set(TRUNCATIONS) - {"budget"}:
        assert kept(letters, truncation, 10) == kept(letters, truncation, None) == "<abcdefgh>"  # what fits stays
    (stays,) = keep([1000], 510, "head_tail")  # the paper's 128 and 382
    assert list(stays) == [*range(128), *range(618, 1000)]


def test_truncation_keeps_offsets_words_and_segments(letters):
    encoding = letters.encode("ab cd ef", "gh ij", max_length=7, truncation="tail")
    assert encoding.tokens == ["[CLS]", "[SEP]", "g", "##h", "i", "##j", "[SEP]"]
    assert encoding.offsets == [(0, 0), (0, 0), (0, 1), (1, 2), (3, 4), (4, 5), (0, 0)]
    assert encoding.words == [None, None, 0, 0, 1, 1, None]
    assert encoding.segments == [0, 0, 1, 1, 1, 1, 1]


def test_bad_truncation_is_refused(letters):
    for options, message in (
        ({"max_length": 1}, "special"),
        ({"truncation": "middle"}, "longest_first, head, tail"),
        ({"truncation": "budget"}, "budgets"),
        ({"truncation": "budget", "budgets": (-1, 2)}, "budget"),
        ({"truncation": "budget", "budgets": (9, 2), "max_length": 10}, "9 .* 8 "),
    ):
        with pytest.raises(ValueError, match=message):
            letters.encode("abc", **options)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY_TEXT)
@example(TEXT)
def test_explanation_is_what_encode_does(own, text):
    explanation = own.explain(text, max_words=10**6)
    assert explanation.encoding == own.encode(text)
    told = [(token.token, token.offsets) for token in explanation.specials]
    for word in explanation.words:
        for part in word.parts:
            told += [(piece, part.span.part(start, end).offsets) for start, end, piece in part.pieces]
            found = [try_[:3] for try_ in part.tries if try_.found]
            assert part.pieces == (found if part.unknown is None else [(0, len(part.span.text), UNK)])
            assert all(try_.found == (try_.piece in own.pieces) for try_ in part.tries)
    encoded = zip(explanation.encoding.tokens[1:-1], explanation.encoding.offsets[1:-1], strict=True)
    assert sorted(told, key=lambda one: one[1]) == sorted(encoded, key=lambda one: one[1])
    assert explanation.word_count == len(explanation.words)
    changed = dict(enumerate(text)) | {change.position: change.became for change in explanation.changes}
    assert explanation.cleaned == "".join(changed.values())
    assert [text[position] for position, _ in explanation.cjk] == [c for _, c in explanation.cjk]


def test_explanation_step_by_step():
    tokenizer = Tokenizer([*SPECIAL_TOKENS, "un", "##aff", "##able", "naive", "中", "!"])
    explanation = tokenizer.explain("Unaffable\u00a0naï\u200bve!中\0 ½ [MASK]")
    clean_up = [(c.position, c.code_point, c.name, c.became, c.why) for c in explanation.changes]
    assert clean_up == [
        (9, "U+00A0", "NO-BREAK SPACE", " ", "another kind of white space"),
        (13, "U+200B", "ZERO WIDTH SPACE", "", "a format character"),
        (18, "U+0000", "", "", "the null character"),
    ]
    assert explanation.cleaned == "Unaffable naïve!中 ½ [MASK]"
    assert explanation.cjk == [(17, "中")]
    assert explanation.spaced == "Unaffable naïve! 中  ½ [MASK]"
    words = [("Unaffable", (0, 9)), ("naïve!", (10, 17)), ("中", (17, 18)), ("½", (20, 21))]
    assert [(word.split.text, word.split.offsets) for word in explanation.words] == words
    first, naive, _, half = explanation.words
    assert (naive.decomposed.text, naive.dropped) == ("nai\u0308ve!", ["\u0308"])
    assert (naive.stripped.text, first.stripped.text, first.lowered.text) == ("naive!", "Unaffable", "unaffable")
    assert [(part.span.text, part.span.offsets) for part in naive.parts] == [("naive", (10, 16)), ("!", (16, 17))]
    assert first.parts[0].tries == [
        *[Try(0, end, "unaffable"[:end], False) for end in range(9, 2, -1)],
        Try(0, 2, "un", True),
        *[Try(2, end, "##" + "unaffable"[2:end], False) for end in range(9, 5, -1)],
        Try(2, 5, "##aff", True),
        Try(5, 9, "##able", True),
    ]
    assert first.parts[0].pieces == [(0, 2, "un"), (2, 5, "##aff"), (5, 9, "##able")]
    assert half.parts[0].unknown == ("no_piece", 0)
    assert [(token.token, token.offsets) for token in explanation.specials] == [("[MASK]", (22, 28))]


def test_why_unknown():
    tokenizer = Tokenizer([*SPECIAL_TOKENS, "a", "##a"])
    longest, too_long, stuck = (word.parts[0] for word in tokenizer.explain(f"{'a' * 100} {'a' * 101} aaxa").words)
    assert longest.unknown is None
    assert (too_long.unknown, too_long.tries) == (("too_long", 100), [])
    assert stuck.unknown == ("no_piece", 2) and stuck.tries[-1] == Try(2, 3, "##x", False)


def test_explanation_of_cased_text_and_of_what_is_left_out(letters):
    (word,) = Tokenizer(VOCAB, lowercase=False).explain("É").words
    assert word.split == word.decomposed == word.stripped == word.lowered and word.dropped == []
    explanation = letters.explain("a b c d", max_words=3)
    assert (len(explanation.words), explanation.word_count, len(explanation.encoding.tokens)) == (3, 4, 6)
    (word,) = letters.explain("!" * 50, max_words=20).words
    assert (len(word.parts), word.part_count) == (20, 50)


@pytest.mark.release  # a quadratic step would take hours
@pytest.mark.parametrize("part", ["x", "\u0301", "!", "\0", "中", "👩‍👩‍👧‍👦 ", "[MASK]", "z" * 99 + " "])
def test_hundred_thousand_characters(letters, part):
    text = "a" + part * (100_000 // len(part))
    letters.explain(text)
    assert_same(letters, [text])


def test_files_are_those_of_transformers_both_ways(own, tmp_path):
    ours = tmp_path / "new" / "folder"
    own.save(ours)
    names = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    assert sorted(file.name for file in ours.iterdir()) == names
    theirs = AutoTokenizer.from_pretrained(ours)
    assert len(theirs) == own.vocab_size
    theirs.save_pretrained(tmp_path / "theirs")
    loaded = [Tokenizer.from_directory(folder) for folder in (ours, tmp_path / "theirs")]
    for again in (*loaded, pickle.loads(pickle.dumps(own))):
        assert again.encode(TEXT) == own.encode(TEXT)
        for name in ("vocab", "lowercase", "special_tokens", "max_word_chars"):
            assert getattr(again, name) == getattr(own, name)
    (ours / "tokenizer.json").unlink()
    for text in [TEXT, *TEXT.split("\n")]:
        for reads in (theirs, AutoTokenizer.from_pretrained(ours)):
            assert reads(text, "and a pair")["input_ids"] == own.encode(text, "and a pair").ids


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


FIVE = "\n".join(SPECIAL_TOKENS).encode() + b"\n"


def test_only_the_line_feed_ends_a_line(tmp_path):
    pieces = ["\u2028", "##\u2028", "\u0085", "\x0b", " ", "x\u00a0"]
    file = write(tmp_path / "vocab.txt", FIVE + "\n".join(pieces).encode())
    assert Tokenizer.from_file(file).vocab[5:] == pieces
    write(file, FIVE.replace(b"\n", b"\r\n") + b"a\r\n")
    assert Tokenizer.from_file(file).vocab == [*SPECIAL_TOKENS, "a"]


def test_a_bad_vocabulary_is_refused_by_file_and_line(tmp_path):
    for content, message in (
        (FIVE + b"a\nb\na\n", r"line 8: 'a' .* line 6"),
        (FIVE + b"a\n\xff\xfe\n", r"line 7: .*UTF-8"),
        (FIVE.replace(b"[UNK]\n", b""), r"\[UNK\]"),
        (b"", r"\[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]"),
    ):
        with pytest.raises(ValueError, match=rf"vocab\.txt.*{message}"):
            Tokenizer.from_file(write(tmp_path / "vocab.txt", content))
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(ValueError, match=r"nowhere\.txt"):
        Tokenizer.from_file(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match=r"vocab\.txt"):
        Tokenizer.from_directory(tmp_path)
    for wrong, message in ((["a", "b", "a"], "'a' twice, as ids 5 and 7"), (["a\nb"], "no line")):
        with pytest.raises(ValueError, match=message):
            Tokenizer([*SPECIAL_TOKENS, *wrong])


def test_configuration_we_cannot_follow_is_refused(tmp_path):
    write(tmp_path / "vocab.txt", FIVE)
    for config, message in (
        ('{"strip_accents": 1}', "strip_accents"),
        ('{"tokenizer_class": "BertJapaneseTokenizer"}', "BertJapaneseTokenizer"),
        ('{"do_lower_case": "yes"}', 'do_lower_case .*"yes"'),
        ('{"tokenize_chinese_chars": "no"}', "tokenize_chinese_chars"),
        ('{"cls_token": "<s>"}', 'cls_token .*"<s>"'),
        ('{"cls_token": ', "JSON"),
        ("[1]", "JSON"),
        ('{"tokenizer_class": 5}', "tokenizer_class .*5"),
        ('{"additional_special_tokens": 5}', "additional_special_tokens"),
        ('{"additional_special_tokens": [{"content": 5}]}', "special token"),
        ('{"max_input_chars_per_word": "long"}', "max_input_chars_per_word"),
        ('{"max_input_chars_per_word": -1}', "-1"),
        ('{"max_input_chars_per_word": 1000000000000}', "1000000000000"),
    ):
        write(tmp_path / "tokenizer_config.json", config.encode())
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_directory(tmp_path)


def test_a_model_of_another_number_of_rows_is_refused(tmp_path):
    write(tmp_path / "vocab.txt", FIVE)
    for rows, message in ((10**12, "1000000000000 .* 5 "), (4, "5 .* 4 ")):  # before a table of so many is made
        write(tmp_path / "config.json", f'{{"vocab_size": {rows}}}'.encode())
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_directory(tmp_path)


def test_configuration_of_older_transformers(tmp_path):
    write(tmp_path / "vocab.txt", FIVE)
    older = {"do_lower_case": False, "cls_token": {"content": "[CLS]"}, "additional_special_tokens": [CATEGORY]}
    write(tmp_path / "tokenizer_config.json", json.dumps(older).encode())
    tokenizer = Tokenizer.from_directory(tmp_path)
    assert (tokenizer.lowercase, tokenizer.vocab) == (False, [*SPECIAL_TOKENS, CATEGORY])


def test_json_without_a_vocabulary_is_refused(tmp_path):
    for model in (
        {"type": "BPE", "vocab": {}},
        {"type": "WordPiece", "vocab": {"a": 7}},
        {"type": "WordPiece", "vocab": {"a": [0]}},
        None,
    ):
        with pytest.raises(ValueError, match=r"tokenizer\.json"):
            Tokenizer.from_file(write(tmp_path / "tokenizer.json", json.dumps({"model": model}).encode()))


def test_decode(letters, own):
    ids = letters.encode("Hi, you [MASK]!").ids
    assert letters.decode(ids) == "[CLS] hi , you [MASK] ! [SEP]"
    assert letters.decode(ids, skip_special=True) == "hi , you !"
    assert letters.decode([]) == ""
    for bad in (-1, letters.vocab_size):
        with pytest.raises(ValueError, match="outside the vocabulary"):
            letters.decode([bad])
    ids = own.encode("the unaffable hug, playing don't [MASK] pug 中文", add_special=False).ids
    assert own.encode(own.decode(ids), add_special=False).ids == ids


def test_basic_tokens_are_what_word_piece_gets():
    text = "Zoë’s\u00a0café, 北京!\x00"
    words = Tokenizer([*SPECIAL_TOKENS, "a"], lowercase=False).explain(text).words
    explained = [part.span.text for word in words for part in word.parts]
    assert basic_tokens(text) == explained == ["Zoë", "’", "s", "café", ",", "北", "京", "!"]
    assert basic_tokens(text + " [MASK]", uncased=True)[-3:] == ["[", "mask", "]"]
