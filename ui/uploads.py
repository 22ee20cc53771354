"""Files of the reader's own, given in a page: where they lie on this server, and why one was not taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ui.door.uploads import MB, PER_VISITOR, said_in
from ui.text import literal
from ui.translations import _

HEAD = 2 * MB  # bytes that tell what a file is


@dataclass(frozen=True)
class UploadedFile:
    """A file as a page reads it. path: where it lies; content: the file itself where it does not lie anywhere (in tests
    a file is handed to a page without a server)."""

    name: str
    file_id: str
    size: int
    path: Path | None = None
    content: bytes = b""

    @property
    def there(self) -> bool:
        return self.path is None or self.path.is_file()

    def getvalue(self) -> bytes:
        return self.content if self.path is None else self.path.read_bytes()

    def head(self) -> bytes:
        """Its first whole lines."""
        if self.size <= HEAD:
            return self.getvalue()
        if self.path is None:
            begun = self.content[:HEAD]
        else:
            with open(self.path, "rb") as file:
                begun = file.read(HEAD)
        return begun[: begun.rfind(b"\n") + 1] or begun


def uploader(label: str, types: Sequence[str] | None, key: str, **options) -> UploadedFile | None:
    """A place for one file, as st.file_uploader; None while there is none, or it was refused."""
    given = st.file_uploader(label, types, key=key, **options)
    taken = received([given] if given else [])
    return taken[0] if taken else None


def received(given: Sequence) -> list[UploadedFile]:
    """What st.file_uploader was given, without what this server has not taken; of that it says why."""
    files, refused = [], {}
    for file in given:
        content = file.getvalue()
        said = said_in(content)
        if said is None:
            files.append(UploadedFile(file.name, file.file_id, len(content), content=content))
        elif "refused" in said:
            refused.setdefault(said["refused"], []).append(file.name)
        elif (path := Path(said["path"])).is_file():
            files.append(UploadedFile(file.name, file.file_id, said["size"], path))
        else:
            refused.setdefault("gone", []).append(file.name)
    for why, names in refused.items():
        st.error(_in_words(why).format(names=", ".join(map(literal, names))), icon=":material/hard_drive:")
    return files


def _in_words(why: str) -> str:
    return {
        "visitor": _(
            "{names}: not taken. All files of one visitor may have {most} MB together: remove another one first (also "
            "in other windows), or give a part of this one."
        ).replace("{most}", str(PER_VISITOR // MB)),
        "server": _("{names}: not taken, the files of all visitors fill what this server keeps for them. Try again in "
                    "some minutes, or give a part of it."),
        "disk": _("{names}: not taken, the disk of this server is nearly full."),
        "gone": _("{names}: this server does not have it any more. Give it again."),
    }[why]  # fmt: skip
