"""A made-up session of any size, the same for the same seed."""

from __future__ import annotations

import difflib
import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson

from presentview.records import (
    Compaction,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Tool,
    Usage,
    encode,
    encode_header,
)
from presentview.transcript.fold import Transcript

__all__ = ["more_lines", "write_calls", "write_cards", "write_edits", "write_session"]

_WORDS = [
    *("guest", "lobby", "greet", "polite", "hour", "night", "session", "record", "card", "turn"),
    *("hunk", "token", "path", "value", "return", "import", "class", "test", "error", "retry"),
    *("notice", "stream", "index", "page", "server", "client", "queue", "lock", "file", "line"),
]
_SHARES = ("read_file", "grep", "bash", "edit_file", "write_file", "task", "web_fetch")


def write_session(path: Path, size: int, *, seed: int = 11) -> int:
    """Write a sidecar of at least `size` bytes and return how many records it holds."""
    return _write(path, seed, lambda written, _: written >= size)


def write_cards(path: Path, count: int, *, seed: int = 11) -> int:
    """Write a sidecar that shows at least `count` cards and return how many records it holds."""
    return _write(path, seed, lambda _, transcript: len(transcript.tree) >= count)


def write_calls(path: Path, count: int, *, timed: bool, seed: int = 11) -> None:
    """Write a sidecar of at least so many calls, whose records all have their time, or none."""
    made = _Session(random.Random(seed))
    with path.open("wb") as file:
        file.write(encode_header(Header()) + b"\n")
        while made.calls < count:
            for record in made.turn():
                kept = record if timed else msgspec.structs.replace(record, at=0)
                file.write(encode(kept) + b"\n")


def write_edits(path: Path, edits: int, lines: int, *, files: int = 50, seed: int = 11) -> None:
    """Write a sidecar of so many edits, each with a diff of about so many lines."""
    made = _Session(random.Random(seed))
    texts: dict[str, list[str]] = {}
    with path.open("wb") as file:
        file.write(encode_header(Header(started_at=made.at, workspace="/src")) + b"\n")
        for number in range(edits):
            if number % 20 == 0:
                file.write(encode(made.record(Kind.TURN_STARTED, text=made.words(6, 30))) + b"\n")
            name = f"src/pkg{number % files // 8}/mod{number % files}.py"
            for record in made.edited(f"call_{number:07x}", name, texts, lines):
                file.write(encode(record) + b"\n")


def more_lines(seed: int = 12) -> Iterator[bytes]:
    """Lines, without end, that a writer would add to a session made here."""
    made = _Session(random.Random(seed))
    made.calls = 1 << 24  # no call of the session has such an id
    for record in itertools.chain.from_iterable(made.turn() for _ in itertools.count()):
        yield encode(record) + b"\n"


def _write(path: Path, seed: int, is_enough: Callable[[int, Transcript], bool]) -> int:
    made = _Session(random.Random(seed))
    transcript = Transcript()
    written = count = 0
    with path.open("wb") as file:
        written += file.write(encode_header(Header(started_at=made.at, workspace="/src")) + b"\n")
        while not is_enough(written, transcript):
            for record in made.turn():
                count += 1
                length = file.write(encode(record) + b"\n")
                transcript.feed(record, written, length, count)
                written += length
    return count


class _Session:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.at = 1_760_000_000_000
        self.calls = 0

    def words(self, least: int, most: int) -> str:
        return " ".join(self.source.choices(_WORDS, k=self.source.randint(least, most)))

    def lines(self, least: int, most: int) -> str:
        count = self.source.randint(least, most)
        return "".join(f'    {self.words(2, 9)} <"{n}"> & \n' for n in range(count))

    def record(self, kind: Kind, **fields: object) -> Record:
        self.at += self.source.randint(1, 4000)
        return Record(kind=kind, at=self.at, **fields)  # type: ignore[arg-type]

    def turn(self) -> Iterator[Record]:
        yield self.record(Kind.TURN_STARTED, text=self.words(6, 30))
        yield self.record(Kind.REASONING, text=self.words(10, 60))
        for _ in range(self.source.randint(1, 5)):
            yield from self.call("")
        for _ in range(self.source.randint(0, 3)):
            yield self.record(Kind.TEXT, text=self.words(3, 20))
        answer = (
            f"## {self.words(2, 5)}\n\n{self.words(40, 110)}\n\n```python\n{self.lines(4, 14)}```"
        )
        yield self.record(Kind.MESSAGE, text=answer, reasoning=self.words(10, 40))
        yield self.record(Kind.USAGE, usage=Usage(12034, 902, 12936, 11000))
        if self.source.random() < 0.1:
            yield self.record(Kind.NOTICE, text=self.words(5, 12), level="warn")
        if self.source.random() < 0.01:
            done = Compaction("auto", 40, self.words(40, 80))
            yield self.record(Kind.COMPACTION_STARTED, compaction=Compaction("auto"))
            yield self.record(Kind.COMPACTION_DONE, compaction=done)
        yield self.record(Kind.TURN_DONE)

    def call(self, parent: str) -> Iterator[Record]:
        source = self.source
        self.calls += 1
        call = f"{parent}/call_{self.calls:07x}" if parent else f"call_{self.calls:07x}"
        name = source.choice(_SHARES if not parent else _SHARES[:5])
        args = orjson.dumps({"path": f"src/{self.words(1, 1)}.py", "command": self.words(2, 8)})
        dispatch = Tool(
            id=call,
            name=name,
            args=args.decode(),
            read_only=name in ("read_file", "grep"),
            parent_id=parent,
            profile=Profile("nano", "high") if name == "task" else None,
            file_diff=self.edit() if name in ("edit_file", "write_file") else None,
        )
        yield self.record(Kind.TOOL_DISPATCH, tool=dispatch)
        if name == "task":
            for _ in range(source.randint(1, 4)):
                yield from self.call(call)
        for _ in range(source.choice((0, 0, 0, 1, 3))):
            yield self.record(Kind.TOOL_PROGRESS, tool=Tool(id=call, output=self.lines(1, 2)))
        output = self.lines(3, 60)
        if name == "bash":
            colour = f"\x1b[3{source.randint(1, 7)}m"
            output = output.replace("<", colour).replace(">", "\x1b[0m")
        failed = source.random() < 0.05
        result = Tool(
            id=call,
            name=name,
            args=args.decode(),
            output=output,
            err="exit status 1" if failed else "",
            read_only=dispatch.read_only,
            truncated=source.random() < 0.05,
            duration_ms=source.randint(3, 90000),
            parent_id=parent,
        )
        yield self.record(Kind.TOOL_RESULT, tool=result)

    def edited(
        self, call: str, name: str, texts: dict[str, list[str]], lines: int
    ) -> Iterator[Record]:
        """A call that takes the place of half as many lines of a file by others."""
        old = texts.get(name, [])
        new = list(old) or self.code(2 * lines)
        if old:
            start = self.source.randrange(len(old) - lines // 2)
            new[start : start + lines // 2] = self.code(lines // 2)
        before = f"a/{name}" if old else "/dev/null"
        text = "".join(difflib.unified_diff(old, new, before, f"b/{name}"))
        texts[name] = new
        changed = FileDiff(text, text.count("\n+") - 1, text.count("\n-") - 1)
        args = orjson.dumps({"path": name}).decode()
        tool = Tool(id=call, name="edit_file", args=args, file_diff=changed)
        yield self.record(Kind.TOOL_DISPATCH, tool=tool)
        yield self.record(Kind.TOOL_RESULT, tool=Tool(id=call, name="edit_file", output="ok"))

    def code(self, lines: int) -> list[str]:
        """Lines of code that hardly stand twice."""
        source = self.source
        names = [f"{source.choice(_WORDS)}_{source.randrange(10**6)}" for _ in range(lines)]
        return [f"    {name} = {self.words(1, 1)}(self, {n})\n" for n, name in enumerate(names)]

    def edit(self) -> FileDiff:
        source = self.source
        body = [source.choice(" +-") + line for line in self.lines(5, 50).splitlines()]
        added = sum(line[0] == "+" for line in body)
        removed = sum(line[0] == "-" for line in body)
        head = ["--- a/src/mod.py", "+++ b/src/mod.py"]
        head.append(f"@@ -1,{len(body) - added} +1,{len(body) - removed} @@")
        return FileDiff("\n".join(head + body) + "\n", added, removed)
