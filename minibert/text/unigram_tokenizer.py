"""SentencePiece's unigram model (Kudo 2018), ALBERT's tokenizer: of all ways to cut a text, the likeliest, where the
probability of a way is the product of its pieces'. A space is a ▁ before the piece that follows it.

Read from tokenizer.json, whose steps `tokenizers` runs: they differ from checkpoint to checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import tokenizers
from tokenizers import AddedToken

from minibert.text.json_values import json_object
from minibert.tokenizer import GENERIC, Section, Span, Token, Tokenizer, add_tokens, write_files

SPACE = "▁"
SPECIAL_TOKENS = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
NAMED = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL_TOKENS, strict=True))


class UnigramTokenizer(Tokenizer):
    """fast: with a Unigram model and ALBERT's special tokens · rows: as in `Tokenizer`.

    Raises ValueError for another vocabulary, or one that puts special tokens elsewhere than BERT does.
    """

    def __init__(self, fast: tokenizers.Tokenizer, rows: int = 0):
        self.ids = fast.get_vocab()
        self.vocab = sorted(self.ids, key=self.ids.__getitem__)
        if [self.ids[token] for token in self.vocab] != list(range(len(self.vocab))):
            raise ValueError("the ids of a vocabulary must be 0 to its length less one, each once")
        if missing := [token for token in SPECIAL_TOKENS if token not in self.ids]:
            raise ValueError(f"the vocabulary lacks {missing[0]}")
        self.pieces = fast.get_vocab(with_added_tokens=False)
        self.vocab += [f"[row {number}]" for number in range(len(self.vocab), rows)]
        self.added_tokens = {token.content: token for token in fast.get_added_tokens_decoder().values()}
        self.special_tokens = tuple(token for token, one in self.added_tokens.items() if one.special)
        self.longest = max(map(len, self.pieces))
        self.lowercase = self.strip_accents = self.chinese_chars = self.clean_text = False  # tokenizer.json says it
        self.max_word_chars = 0
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[token] for token in SPECIAL_TOKENS)
        self.special_ids = frozenset(self.ids[token] for token in (*SPECIAL_TOKENS, *self.special_tokens))
        self.__dict__["_fast"] = fast
        self.check_added()

    def check_added(self) -> None:
        """Raise ValueError unless a pair is read as [CLS] text [SEP] pair [SEP], with BERT's segments."""
        row = self._fast.encode("a", "a")
        ends = [(i, segment) for i, segment in zip(row.ids, row.type_ids, strict=True) if i in self.special_ids]
        if [end for end in ends if end[0] != self.unk_id] != [(self.cls_id, 0), (self.sep_id, 0), (self.sep_id, 1)]:
            raise ValueError("it does not put special tokens where this tokenizer does, [CLS] text [SEP] pair [SEP]")

    def __getstate__(self) -> dict:
        return self.__dict__

    @property
    def rules(self) -> list[str]:
        return [self._fast.to_str()]

    @staticmethod
    def goes_on(piece: str) -> bool:
        return not piece.startswith(SPACE) and piece not in SPECIAL_TOKENS

    def with_special_tokens(self, tokens: Iterable[str] = (), *, lowercase: bool = False) -> UnigramTokenizer:
        fast = tokenizers.Tokenizer.from_str(self._fast.to_str())
        add_tokens(fast, [AddedToken(token, special=True) for token in tokens])
        return UnigramTokenizer(fast)

    def sections(self, text: str) -> Iterator[Section | Token]:
        """The text as a whole: steps, added tokens and model are run in one go."""
        span = Span(text, range(len(text)))
        yield Section(span, span, span, [span])

    def tokens(self, sections: Iterable[Section | Token]) -> list[Token]:
        found: list[Token] = []
        for section in sections:
            found += [section] if isinstance(section, Token) else self.pieces_in(section.original.text)
        return found

    def pieces_in(self, text: str) -> Iterator[Token]:
        row = self._fast.encode(text, add_special_tokens=False)
        words, number = row.word_ids, -1
        for at, (i, (start, end)) in enumerate(zip(row.ids, row.offsets, strict=True)):
            number += at == 0 or words[at] is None or words[at] != words[at - 1]
            named = i in self.special_ids and text[start:end].strip() == self.vocab[i]  # not a word that became <unk>
            yield Token(self.vocab[i], i, (start, end), named, number)

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        return self._fast.decode(list(map(int, ids)), skip_special_tokens=skip_special)

    @classmethod
    def from_directory(cls, directory) -> UnigramTokenizer:
        """Read tokenizer.json, and the number of rows in config.json. Raises ValueError with the file's name."""
        file, config = Path(directory) / "tokenizer.json", Path(directory) / "config.json"
        rows = json_object(config).get("vocab_size") if config.is_file() else 0
        try:
            return cls(tokenizers.Tokenizer.from_file(str(file)), rows if isinstance(rows, int) else 0)
        except Exception as error:  # `tokenizers` raises no other class
            raise ValueError(f"{file}: {error}") from None

    def save(self, directory) -> None:
        """Write tokenizer.json and tokenizer_config.json, which transformers reads as they are."""
        config = {"tokenizer_class": GENERIC[-1], **NAMED}
        files = {
            "tokenizer.json": self._fast.to_str(pretty=True) + "\n",
            "tokenizer_config.json": json.dumps(config, indent=2) + "\n",
        }
        write_files(Path(directory), files)


def is_unigram(directory: Path) -> bool:
    """Whether the tokenizer.json of a directory describes a unigram model, and there is no WordPiece vocab.txt."""
    file = directory / "tokenizer.json"
    try:
        return not (directory / "vocab.txt").is_file() and json_object(file)["model"]["type"] == "Unigram"
    except (OSError, ValueError, KeyError, TypeError):
        return False
