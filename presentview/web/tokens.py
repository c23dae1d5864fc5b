"""The secret that opens the web app, kept in the person's state folder.

It lives longer than the process, so that a tab restored after a restart shows its transcript again.
A browser never keeps the secret itself but a cookie derived from it. Cookies ignore ports: another
server on the same host name sees ours, so each port has a name and a value of its own.

The file must belong to the person and be closed to everybody else. If it is not, it may have been
read, so it is refused rather than tightened in silence. The folder is made with mode 0700; an
existing one is left as it is, but refused if others could replace the file in it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from presentview.errors import ConfigError

__all__ = ["TokenStore", "state_folder"]

_FILE: Final = "token"
_SECRET_BYTES: Final = 32
_TOKEN: Final = re.compile(rb"[A-Za-z0-9_-]{43}\n?")
_READ_BYTES: Final = 256
_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS})
_FLAGS: Final[int] = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


class TokenStore:
    """The token of this person's servers, and the cookies derived from it.

    A running server keeps the token it started with: `--new-token` elsewhere reaches it when it
    starts again.
    """

    def __init__(self, token: str) -> None:
        self.token = token
        self._key = token.encode()

    def __repr__(self) -> str:
        return "TokenStore(…)"

    @classmethod
    def open(cls, folder: Path | None = None, *, new: bool = False) -> TokenStore:
        """Read the token from folder (default: `state_folder`), or make one if there is none.

        With `new` the old one is thrown away: every browser has to sign in again. Raises
        `ConfigError` when the file or folder cannot be used or is open to other users.
        """
        folder = state_folder() if folder is None else folder
        path = folder / _FILE
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_folder(folder)
            if new:
                path.unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                return cls(_read(path))
            _create(path)
            return cls(_read(path))
        except OSError as error:
            raise ConfigError(
                f"the access token cannot be kept in {path}: {error.strerror or error}; "
                "set PRESENTVIEW_STATE to a folder of yours that can be written"
            ) from error

    def matches(self, candidate: str) -> bool:
        """Tell whether candidate is the token, in a time that says nothing about it."""
        return hmac.compare_digest(candidate.encode("utf-8", "replace"), self._key)

    def cookie_name(self, port: int) -> str:
        """Return the name of the cookie for a server that browsers reach at this port."""
        return f"presentview_{port}"

    def cookie_value(self, port: int) -> str:
        """Return what a browser keeps: 64 hexadecimal digits from which no token can be told."""
        return hmac.new(self._key, b"presentview cookie %d" % port, hashlib.sha256).hexdigest()

    def matches_cookie(self, port: int, candidate: str) -> bool:
        """Tell whether candidate is the cookie for this port."""
        return hmac.compare_digest(
            candidate.encode("utf-8", "replace"), self.cookie_value(port).encode()
        )


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for what must survive a restart.

    That is `$PRESENTVIEW_STATE`, else `$XDG_STATE_HOME/presentview`, else
    `~/.local/state/presentview`. A relative `$XDG_STATE_HOME` does not count. Raises `ConfigError`
    when there is no home folder either.
    """
    environ = os.environ if environ is None else environ
    base = Path(environ.get("XDG_STATE_HOME", ""))
    try:
        if own := environ.get("PRESENTVIEW_STATE"):
            return Path(own).expanduser().absolute()
        if not base.is_absolute():
            base = Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise ConfigError(
            "this user has no home folder; set PRESENTVIEW_STATE to a folder of yours"
        ) from error
    return base / "presentview"


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _FLAGS)
    try:
        _check_file(path, os.fstat(descriptor))
        content = os.read(descriptor, _READ_BYTES)
    finally:
        os.close(descriptor)
    if not _TOKEN.fullmatch(content):
        raise ConfigError(f"{path} holds no access token; --new-token writes a new one")
    return content.decode().strip()


def _create(path: Path) -> None:
    """Put a new token at path, whole or not at all; one made meanwhile by others stays."""
    content = secrets.token_urlsafe(_SECRET_BYTES).encode() + b"\n"
    draft = path.with_name(f".{_FILE}-{secrets.token_hex(8)}")
    try:
        _write_new(draft, content)
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with contextlib.suppress(FileExistsError):
            _write_new(path, content)
    finally:
        draft.unlink(missing_ok=True)


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def _check_folder(folder: Path) -> None:
    if sys.platform != "win32" and folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(
            f"other users can write in {folder}, where the access token is kept; "
            f"close it with: chmod go-w {folder}"
        )


def _check_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{path} is no regular file; remove it, and a new token is made")
    if sys.platform == "win32":
        return
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{path} belongs to another user; remove it, and a new token is made")
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(
            f"other users may have read the access token in {path}; start once with --new-token"
        )
