"""The teacher's key: printed when the server starts, it unlocks the page *Class*."""

import base64
import hashlib
import hmac
import os
import re
import secrets
from functools import lru_cache
from pathlib import Path

from minibert.folders import runs_folder

FILE = "teacher-key"
BYTES = 10  # 80 random bits cannot be guessed


def announce() -> None:
    """Print the key to the server's console."""
    print(f"\n  For the teacher: the page /classroom opens with the key  {key()}\n", flush=True)


def key() -> str:
    """MINIBERT_TEACHER_KEY, else the key that the first server stored in the folder of runs: all servers share it, and
    a teacher stays logged in when a server restarts."""
    return os.environ.get("MINIBERT_TEACHER_KEY") or _kept(runs_folder() / FILE)


@lru_cache(maxsize=4)
def _kept(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    letters = base64.b32encode(secrets.token_bytes(BYTES)).decode().lower()
    drawn = path.with_name(f".{FILE}-{secrets.token_hex(8)}")
    descriptor = os.open(drawn, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write("-".join(re.findall("....", letters)))
    try:
        os.link(drawn, path)  # fails if another server was first; its key is then used
    except FileExistsError:
        pass
    finally:
        drawn.unlink()
    return path.read_text(encoding="ascii").strip()


def digest() -> str:
    """The digest of the key, which the store holds instead of the key."""
    return _digest(key())


def is_key(typed: str) -> bool:
    """Whether `typed` is the key; compared in constant time."""
    return hmac.compare_digest(_digest(typed).encode(), digest().encode())


def _digest(typed: str) -> str:
    plain = re.sub(r"[\s-]", "", typed[:200]).lower()
    return hashlib.sha256(plain.encode()).hexdigest()
