from __future__ import annotations

from collections import Counter
from pathlib import Path

from presentview.sessions import Roots, SessionRef, session_id
from presentview.web.app import create_app
from presentview.web.bodies import full_text
from presentview.web.feeds import Feed
from presentview.web.network import resolve_policy
from presentview.web.security import Guard
from tests.browser.payloads import PAYLOADS, hostile_session
from tests.web.asking import TOKENS, ask

# The kinds of cards whose text is the payload; a collab's and an unknown record's is the line.
_TEXTS = {
    *("prompt", "message", "reasoning", "notice", "phase", "steer", "turn_error"),
    *("tool", "compaction"),
}


def recorded(text: str) -> str:
    """A text as it stands in a file: no JSON in UTF-8 can hold half of a character."""
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def test_what_is_copied_of_a_card_is_what_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "s.present.jsonl").write_bytes(hostile_session())
    feed = Feed(SessionRef("5e551011", tmp_path / "s.jsonl"), "epoch")
    feed.look()
    seen: Counter[str] = Counter()
    for card in feed.transcript.walk():
        if card.kind in _TEXTS and "todo" not in getattr(card, "tool_face", ""):
            text = full_text(card, feed.follower.record)
            assert text == recorded(PAYLOADS[card.turn - 1]), card
            seen[card.kind] += 1
    feed.follower.close()
    assert seen.keys() == _TEXTS
    assert min(seen.values()) >= len(PAYLOADS)


def test_the_address_of_a_text_gives_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "s.present.jsonl").write_bytes(hostile_session(PAYLOADS[::9]))
    app = create_app(Roots((tmp_path.resolve(),), ()))
    guard = Guard(app, resolve_policy(host="127.0.0.1", port=8377), TOKENS)
    session = session_id(tmp_path.resolve() / "s.jsonl")
    assert ask(guard, f"/s/{session}").status == 200
    turns = app.state.hub._feeds[session].transcript.turns
    prompts = [turn.prompt for turn in turns if turn.number]
    for card, evil in zip(prompts, PAYLOADS[::9], strict=True):
        assert card is not None
        answer = ask(guard, f"/s/{session}/text/{card.id}")
        assert answer.body == recorded(evil).encode()
        assert answer.one("content-disposition").startswith("attachment")
    for feed in app.state.hub._feeds.values():
        feed.follower.close()
