"""A long session that an agent might have had on a bad day, the same for each seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from presentview.events import Event, EventKind
from presentview.records import Attachment, Compaction, FileDiff, Profile, Tool, Usage

__all__ = ["random_events"]

_SAID = (
    "look at the failing test and **fix** it <b>now</b> & then `run` it again — naïve 😀 "
    "[a link](https://example.com) # not a heading"
)
_WORDS = _SAID.split(" ")
_DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1,2 +1,3 @@\n one\n-two {1}\n+two and {1}\n+three\n"


def random_events(seed: int, count: int) -> list[Event]:
    """The first `count` events of the session number `seed`."""
    session = _Session(Random(seed))
    events = session.events()
    return [next(events) for _ in range(count)]


class _Session:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.at = 1_700_000_000_000
        self.calls = 0
        self.open: list[str] = []
        self.closed: list[str] = []
        self.collabs = 0

    def events(self) -> Iterator[Event]:
        yield self.event(EventKind.NOTICE, text="before the first turn")
        while True:
            yield from self.turn()

    def turn(self) -> Iterator[Event]:
        random = self.random
        yield self.event(EventKind.TURN_STARTED, text=self.words(9))
        if self.open and random.random() < 0.5:
            self.open = random.sample(self.open, len(self.open) // 2)
        actions: list[tuple[int, Callable[[], Iterator[Event]]]] = [
            (7, self.dispatch),
            (7, self.result),
            (4, self.progress),
            (4, self.answer),
            (2, self.usage),
            (2, self.rows),
            (1, self.compaction),
            (1, self.collab),
            (1, self.late_parent),
        ]
        weights = [weight for weight, _ in actions]
        for _ in range(random.randint(6, 25)):
            (_, action), *_ = random.choices(actions, weights)
            yield from action()
        yield from self.answer()
        failed = random.choice([None, None, None, "the model did not answer"])
        yield self.event(EventKind.TURN_DONE, err=failed)

    def event(self, kind: EventKind, **fields: Any) -> Event:
        self.at += self.random.choice([0, 3, 40, 700, 12_000])
        return Event(kind=kind, at=self.at, **fields)

    def words(self, most: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=self.random.randint(1, most)))

    def lines(self) -> str:
        return "".join(self.words(7) + "\n" for _ in range(self.random.randint(0, 40)))

    # calls

    def dispatch(self) -> Iterator[Event]:
        self.calls += 1
        yield self.dispatched(self.nested(f"t{self.calls}"))

    def nested(self, name: str) -> str:
        """An id, perhaps of a call nested in an open one, in a lane of it, or in one that never
        was.
        """
        random = self.random
        outer = random.choice(["", "", "", *self.open, "nobody"])
        if not outer or outer.count("/") > 5:
            return name
        return random.choice([f"{outer}/{name}", f"{outer}/p{random.randint(1, 2)}/{name}"])

    def dispatched(self, call: str, **fields: Any) -> Event:
        random = self.random
        name = random.choice(["bash", "read_file", "edit_file", "todo_write", "task", "gadget"])
        path = random.choice(["src/app.py", "README.md", "a<b>.txt"])
        arguments: dict[str, dict[str, Any]] = {
            "bash": {"command": self.words(6)},
            "read_file": {"path": path},
            "edit_file": {"path": path, "old_string": "two", "new_string": "three"},
            "todo_write": {
                "todos": [
                    {"content": self.words(4), "status": state}
                    for state in random.sample(["completed", "in_progress", "pending"], 2)
                ]
            },
            "task": {"description": self.words(5), "prompt": self.lines()},
            "gadget": {"deep": [[{"er": self.words(3)}]], "n": random.random()},
        }
        args = arguments[name]
        if name == "bash" and random.random() < 0.2:
            args["run_in_background"] = True
        self.open.append(call)
        tool = Tool(
            id=call,
            name=name,
            args=json.dumps(args),
            read_only=name == "read_file",
            profile=Profile(model="small", effort="low") if name == "task" else None,
            **fields,
        )
        return self.event(EventKind.TOOL_DISPATCH, tool=tool)

    def late_parent(self) -> Iterator[Event]:
        """A call whose parent is recorded after it, under its id or by its parent id."""
        self.calls += 1
        outer = f"late{self.calls}"
        yield self.dispatched(f"{outer}/p1/x")
        yield self.dispatched(f"y{self.calls}", parent_id=outer)
        if self.random.random() < 0.7:
            yield self.dispatched(outer)

    def progress(self) -> Iterator[Event]:
        if self.open:
            tool = Tool(id=self.random.choice(self.open), output=self.words(6) + "\n")
            yield self.event(EventKind.TOOL_PROGRESS, tool=tool)

    def result(self) -> Iterator[Event]:
        random = self.random
        call = random.choice([*self.open, *self.closed[-1:], "never-dispatched"])
        if call in self.open:
            self.open.remove(call)
            self.closed.append(call)
        output = random.choice([self.lines(), "", "\x1b[31mred\x1b[0m\n", "error: not found"])
        diff = FileDiff(diff=_DIFF.format("src/app.py", random.random()), added=2, removed=1)
        tool = Tool(
            id=call,
            output=output,
            err=random.choice(["", "", "", "exit status 2", "blocked: not allowed"]),
            duration_ms=random.choice([0, 4, 1_900]),
            truncated=random.random() < 0.1,
            file_diff=random.choice([None, None, diff]),
            attachments=random.choice([(), (), (Attachment(path="a.png", kind="image"),)]),
        )
        yield self.event(EventKind.TOOL_RESULT, tool=tool)

    # everything else

    def answer(self) -> Iterator[Event]:
        random = self.random
        thought, said = self.words(8), self.words(20)
        if random.random() < 0.6:
            for piece in self.pieces(thought):
                yield self.event(EventKind.REASONING, text=piece)
        for piece in self.pieces(said):
            yield self.event(EventKind.TEXT, text=piece)
        if random.random() < 0.15:
            yield self.event(EventKind.RETRYING, retry_attempt=1, retry_max=3)
        elif random.random() < 0.8:
            yield self.event(EventKind.MESSAGE, text=said, reasoning=thought)

    def pieces(self, text: str) -> list[str]:
        cut = self.random.randint(0, len(text))
        return [piece for piece in (text[: cut // 2], text[cut // 2 : cut], text[cut:]) if piece]

    def usage(self) -> Iterator[Event]:
        used = Usage(input_tokens=self.random.randint(0, 9_000), output_tokens=7, total_tokens=9)
        yield self.event(EventKind.USAGE, usage=used)

    def rows(self) -> Iterator[Event]:
        random = self.random
        kind = random.choice(
            [EventKind.PHASE, EventKind.STEER, EventKind.PAUSED, EventKind.RESUMED]
        )
        yield self.event(kind, text=self.words(4))
        for _ in range(random.randint(0, 3)):
            yield self.event(EventKind.NOTICE, text="again and again", level="warn")

    def compaction(self) -> Iterator[Event]:
        done = Compaction(trigger="auto", messages=self.random.randint(0, 50), summary=self.lines())
        yield self.event(EventKind.COMPACTION_STARTED, compaction=Compaction(trigger="auto"))
        if self.random.random() < 0.8:
            yield self.event(EventKind.COMPACTION_DONE, compaction=done)

    def collab(self) -> Iterator[Event]:
        self.collabs += self.random.randint(0, 1)
        rounds = [[{"ExpertName": "DBA", "Text": self.words(9)}]] * self.random.randint(0, 2)
        run = {"RunID": f"r{self.collabs}", "TeamName": "team", "Task": "why", "Rounds": rounds}
        yield self.event(EventKind.EXPERT_COLLAB, collab=run)
