from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from presentview.errors import ConfigError
from presentview.web.tokens import TokenStore, state_folder


def test_a_new_token_has_256_bits_and_lies_in_a_file_of_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "presentview"
    store = TokenStore.open(folder)
    assert len(store.token) == 43
    assert (folder / "token").read_text() == f"{store.token}\n"
    assert stat.S_IMODE((folder / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [entry.name for entry in folder.iterdir()] == ["token"]


def test_the_token_is_the_same_after_a_restart(tmp_path: Path) -> None:
    assert TokenStore.open(tmp_path).token == TokenStore.open(tmp_path).token


def test_a_new_token_replaces_the_old_one_and_its_cookies(tmp_path: Path) -> None:
    old = TokenStore.open(tmp_path)
    new = TokenStore.open(tmp_path, new=True)
    assert not new.matches(old.token)
    assert not new.matches_cookie(8377, old.cookie_value(8377))
    assert TokenStore.open(tmp_path).token == new.token
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_servers_that_start_together_share_one_token(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: TokenStore.open(tmp_path), range(8)))
    assert len({store.token for store in stores}) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    store = TokenStore.open(tmp_path)
    assert TokenStore.open(tmp_path).token == store.token
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("candidate", ["", "x", "ä" * 43, "\ud800", "token\x00"], ids=ascii)
def test_nothing_but_the_token_matches(tmp_path: Path, candidate: str) -> None:
    store = TokenStore.open(tmp_path)
    assert store.matches(store.token)
    for wrong in (candidate, store.token + candidate + "x", store.token[:-1], store.token.upper()):
        assert not store.matches(wrong)
        assert not store.matches_cookie(8377, wrong)


def test_a_cookie_opens_only_its_port_and_does_not_hold_the_token(tmp_path: Path) -> None:
    store = TokenStore.open(tmp_path)
    value = store.cookie_value(8377)
    assert store.matches_cookie(8377, value)
    assert not store.matches_cookie(8378, value)
    assert not store.matches(value)
    assert store.token not in value
    assert store.cookie_name(8377) == "presentview_8377"


def test_the_secret_stays_out_of_what_is_printed_for_debugging(tmp_path: Path) -> None:
    store = TokenStore.open(tmp_path)
    assert store.token not in repr(store)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o610])
def test_a_token_others_could_read_is_refused_until_it_is_renewed(
    tmp_path: Path, mode: int
) -> None:
    old = TokenStore.open(tmp_path)
    (tmp_path / "token").chmod(mode)
    with pytest.raises(ConfigError, match="--new-token"):
        TokenStore.open(tmp_path)
    assert TokenStore.open(tmp_path, new=True).token != old.token


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_others_can_write_in_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod go-w"):
        TokenStore.open(tmp_path)
    assert not (tmp_path / "token").exists()


@pytest.mark.parametrize(
    "content", [b"", b"short\n", b"a" * 44, b"a" * 43 + b"\n\n", b"\xff" * 43, b"a" * 100_000]
)
def test_a_damaged_token_file_is_refused_until_it_is_renewed(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="--new-token"):
        TokenStore.open(tmp_path)
    assert TokenStore.open(tmp_path, new=True).token


def test_a_symlink_in_place_of_the_token_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("a" * 43)
    elsewhere.chmod(0o600)
    (tmp_path / "token").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match=r"cannot be kept in .*token"):
        TokenStore.open(tmp_path)


def test_a_fifo_in_place_of_the_token_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token", 0o600)
    with pytest.raises(ConfigError, match="no regular file"):
        TokenStore.open(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_token_of_another_user_is_refused(tmp_path: Path) -> None:
    TokenStore.open(tmp_path)
    os.chown(tmp_path / "token", 12345, -1)
    with pytest.raises(ConfigError, match="belongs to another user"):
        TokenStore.open(tmp_path)


def test_a_state_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="PRESENTVIEW_STATE"):
        TokenStore.open(tmp_path / "file" / "state")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PRESENTVIEW_STATE": "/own", "XDG_STATE_HOME": "/xdg"}, Path("/own")),
        ({"PRESENTVIEW_STATE": "", "XDG_STATE_HOME": "/xdg"}, Path("/xdg/presentview")),
        ({"XDG_STATE_HOME": "/xdg"}, Path("/xdg/presentview")),
        ({"XDG_STATE_HOME": "relative"}, Path("/home/me/.local/state/presentview")),
        ({}, Path("/home/me/.local/state/presentview")),
    ],
    ids=["own", "own is empty", "xdg", "xdg is relative", "neither"],
)
def test_the_state_folder_follows_the_environment(
    environ: dict[str, str], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert state_folder(environ) == expected


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(ConfigError, match="PRESENTVIEW_STATE"):
        state_folder({})
