"""The BERT tokenizer over a vocab.txt: loading, saving, and bulk encoding through `tokenizers`."""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

PAD, UNK, CLS, SEP, MASK = SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Tokenizer:
    """WordPiece tokenizer. `special_tokens` are extra ones: found in raw text, numbered after the vocabulary's end if new."""

    def __init__(
        self,
        vocab: Sequence[str],
        *,
        lowercase: bool = True,
        special_tokens: Sequence[str] = (),
        max_word_chars: int = 100,
    ):
        pieces = {piece: number for number, piece in enumerate(vocab)}
        missing = [token for token in SPECIAL_TOKENS if token not in pieces]
        if missing:
            raise ValueError(f"the vocabulary has no {', '.join(missing)}; BERT needs {' '.join(SPECIAL_TOKENS)}")
        if len(pieces) != len(vocab):
            twice = next(piece for number, piece in enumerate(vocab) if pieces[piece] != number)
            raise ValueError(f"the vocabulary holds {twice!r} twice")
        self.extra_special_tokens = tuple(dict.fromkeys(t for t in special_tokens if t not in SPECIAL_TOKENS))
        self.pieces = pieces
        self.vocab = [*vocab, *(token for token in self.extra_special_tokens if token not in pieces)]
        self.ids = {token: number for number, token in enumerate(self.vocab)}
        self.lowercase = lowercase
        self.max_word_chars = max_word_chars
        self.special_ids = frozenset(self.ids[token] for token in (*SPECIAL_TOKENS, *self.extra_special_tokens))
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[t] for t in SPECIAL_TOKENS)

    @property
    def vocab_size(self) -> int:
        return len(self.vocab)

    @classmethod
    def from_file(cls, path, lowercase: bool = True, **options) -> "Tokenizer":
        """Read a vocab.txt: one piece a line, its line number (from 0) its id."""
        return cls(read_vocab(path), lowercase=lowercase, **options)

    @classmethod
    def from_directory(cls, directory) -> "Tokenizer":
        """Read vocab.txt and, where present, tokenizer_config.json (`do_lower_case`, `extra_special_tokens`)."""
        config_file = Path(directory) / "tokenizer_config.json"
        config = json.loads(config_file.read_text("utf-8")) if config_file.exists() else {}
        return cls.from_file(
            Path(directory) / "vocab.txt",
            config.get("do_lower_case", True),
            special_tokens=config.get("extra_special_tokens", ()),
        )

    def save(self, directory) -> None:
        """Write vocab.txt, tokenizer_config.json, special_tokens_map.json and tokenizer.json."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        named = {"pad_token": PAD, "unk_token": UNK, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK}
        config = {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": self.lowercase,
            "strip_accents": None,
            "tokenize_chinese_chars": True,
            **named,
            "extra_special_tokens": list(self.extra_special_tokens),
        }
        files = {
            "vocab.txt": "".join(piece + "\n" for piece in self.pieces),
            "tokenizer_config.json": json.dumps(config, indent=2, ensure_ascii=False) + "\n",
            "special_tokens_map.json": json.dumps(named, indent=2) + "\n",
            "tokenizer.json": self.fast().to_str(pretty=True) + "\n",
        }
        for name, text in files.items():
            (directory / name).write_bytes(text.encode())

    def fast(self) -> tokenizers.Tokenizer:
        """The same tokenizer in Rust, for bulk work; built once."""
        return self._fast

    @cached_property
    def _fast(self) -> tokenizers.Tokenizer:
        model = models.WordPiece(self.pieces, unk_token=UNK, max_input_chars_per_word=self.max_word_chars)
        fast = tokenizers.Tokenizer(model)
        fast.normalizer = normalizers.BertNormalizer(lowercase=self.lowercase)
        fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        fast.decoder = decoders.WordPiece(prefix="##")
        fast.post_processor = processors.TemplateProcessing(
            single=f"{CLS} $A {SEP}",
            pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
            special_tokens=[(CLS, self.cls_id), (SEP, self.sep_id)],
        )
        fast.add_special_tokens([*SPECIAL_TOKENS, *self.extra_special_tokens])
        return fast

    def encode_bulk(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts, without [CLS] and [SEP], through `fast()`."""
        return [one.ids for one in self.fast().encode_batch_fast(list(texts), add_special_tokens=False)]


def read_vocab(path) -> list[str]:
    """The pieces of a vocab.txt. Raises ValueError naming file and line."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such vocabulary file")
    lines = path.read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    vocab, first = [], {}
    for number, line in enumerate(lines, 1):
        try:
            piece = line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
        if piece in first:
            raise ValueError(f"{path}, line {number}: {piece!r} is already on line {first[piece]}")
        first[piece] = number
        vocab.append(piece)
    return vocab
