"""What verdicts should be, worked out slowly from the definitions.

A file is a list of line objects. Which of them a later step touched is asked of the objects
themselves, and whether lines stand in a file by looking at every place of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from presentview.transcript.changes.edits import Lines, split_lines
from tests.unit.transcript.changes.world import Story, git_diff, unified

__all__ = ["Act", "Oracle", "Tree"]

Tree = dict[str, Lines]
ABSENT = "<absent>"
MANY = 2


class Line:
    """One line of a file, other than every other."""

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass
class Mark:
    """Lines that stand together after a step, or where (`at`) it left none."""

    lines: list[Line]
    at: int


@dataclass
class Act:
    """One step as it happened, and what its record tells."""

    number: int
    kind: str
    path: str
    in_flight: bool
    texts: Lines
    exists: bool
    full: bool = False
    sides: list[tuple[str | None, str | None]] = field(default_factory=list)
    enclosed: set[int] = field(default_factory=set)
    blocks: list[Mark] = field(default_factory=list)
    changed: list[Mark] = field(default_factory=list)
    then: list[Line] = field(default_factory=list)


@dataclass
class File:
    """One file under all its names: its lines, those a reader knows, and what happened to it."""

    lines: list[Line]
    known: set[Line] = field(default_factory=set)
    ends: bool = False
    exists: bool = True
    acts: list[Act] = field(default_factory=list)

    @property
    def texts(self) -> Lines:
        return tuple(line.text for line in self.lines)

    @property
    def full(self) -> bool:
        return self.exists and self.ends and self.known.issuperset(self.lines)


class Oracle:
    """A session that is recorded into `story`, and known better than that."""

    def __init__(self, base: Tree, context: int) -> None:
        self.story = Story()
        self.context = context
        self.files = {path: File([*map(Line, lines)]) for path, lines in base.items()}
        self.acts: list[tuple[Act, File]] = []
        self.trees: list[Tree] = [dict(base)]

    # what happens

    def act(
        self, kind: str, path: str, new: Lines = (), *, to: str = "", lost: bool = False
    ) -> None:
        """Do and record a step: the file at `path` becomes `new`, perhaps under another name;
        `lost`: no result of it was recorded.
        """
        file = self.files.setdefault(path, File([], exists=False))
        before = file.texts if file.exists else None
        whole = "".join(before) if before is not None and file.full else None
        exists = kind != "delete"
        act = Act(len(self.acts) + 1, kind, to or path, lost, new, exists)
        self._record(act, path if to else "", before)
        if kind in ("create", "write"):
            file.lines = [*map(Line, new)]
            file.known, file.ends = set(file.lines), True
            act.sides = [(ABSENT if kind == "create" else whole, "".join(new))]
            act.blocks = act.changed = [Mark(file.lines, 0)]
        elif kind == "delete":
            act.sides = [("".join(before or ()), None)]
        else:
            self._edit(file, act, before or ())
        file.exists = exists
        if to:
            self.files[to] = self.files.pop(path)
        act.full, act.then = file.full, file.lines
        file.acts.append(act)
        self.acts.append((act, file))
        self.trees.append({p: f.texts for p, f in self.files.items() if f.exists})

    def _record(self, act: Act, was: str, before: Lines | None) -> None:
        if act.kind == "write":
            args = {"path": act.path, "content": "".join(act.texts)}
            call = self.story.dispatch("", args, "write_file")
        else:
            old = None if act.kind == "create" else before
            new = act.texts if act.exists else None
            diff = git_diff(act.path, old, new, self.context, was=was)
            call = self.story.dispatch(diff, {"path": act.path})
        if not act.in_flight:
            self.story.result(call)

    def _edit(self, file: File, act: Act, before: Lines) -> None:
        old, new, done = file.lines, list[Line](), 0
        for text in ("\n" + unified(before, act.texts, self.context)).split("\n@@ -")[1:]:
            head, _, body = text.partition("\n")
            start, count = map(int, head.split()[0].split(","))
            at = start - (count > 0)
            new += old[done:at]
            rows = hunk_rows(body)
            if rows[0][0] == " " and rows[-1][0] == " ":
                act.enclosed.add(len(act.sides))
            act.sides.append((side(rows, "+"), side(rows, "-")))
            block, group, begun = list[Line](), list[Line](), False
            first = len(new)
            for sign, told in [*rows, (" ", "")]:
                if sign == " " and begun:
                    act.changed.append(Mark(group, len(new)))
                    group, begun = [], False
                if not told:
                    continue
                line = Line(told) if sign == "+" else old[at]
                at += sign != "+"
                if sign != "-":
                    new.append(line)
                    block.append(line)
                    file.known.add(line)
                    file.ends = file.ends or not told.endswith("\n")
                else:
                    file.ends = file.ends or not told.endswith("\n")
                if sign != " ":
                    begun = True
                    group += [line] * (sign == "+")
            act.blocks.append(Mark(block, first))
            done = at
        file.lines = new + old[done:]

    # what follows from it

    def verdict(self, number: int, tree: Tree) -> tuple[str, int]:
        """The verdict on a step, and for one that is overwritten by which."""
        act, file = self.acts[number - 1]
        applied = [other for other in file.acts if not other.in_flight]
        last = applied[-1] if applied and not act.in_flight else act
        disk = tree.get(last.path)
        content = None if disk is None else "".join(disk)
        in_last = bool(applied) and applied[-1].exists
        moving = act.kind == "rename" and act.in_flight
        if content is None and act.kind != "delete" and in_last and not moving:
            return "file gone", 0
        later = file.acts[file.acts.index(act) :]
        for other in later:
            same = other.full and content is not None and "".join(other.texts) == content
            if same and self._is_in(act, other, later):
                return "on disk", 0
        plain, kinds = self._plain(act, content, tree)
        if plain != "on disk":
            for other in later[1:]:
                if self._is_hit(act, other, later, narrow=False):
                    found = self.verdict(other.number, tree)[0]
                    hidden = found == "can't tell" and "before" not in kinds
                    if found in GOOD or hidden:
                        return "overwritten", other.number
                    return plain, 0
        return plain, 0

    def _plain(self, act: Act, content: str | None, tree: Tree) -> tuple[str, list[str]]:
        if act.kind == "delete" and content is None:
            return "on disk", []
        if not act.sides:
            old = self.acts[act.number - 1][1]
            source = previous_path(old, act)
            if (source in tree) == (content is not None):
                return "can't tell", []
            return ("on disk" if content is not None else "not on disk"), []
        if content is None:
            return ("not on disk" if act.kind != "modify" else "can't tell"), []
        stand = [
            how(before, after, content, enclosed=number in act.enclosed)
            for number, (before, after) in enumerate(act.sides)
        ]
        kinds = [kind for kind, _ in stand]
        at = [place for _, place in stand]
        if all(kind == "after" for kind in kinds):
            return ("on disk" if at == sorted(at) else "changed since"), kinds
        for kind, verdict in (("before", "not on disk"), ("neither", "changed since")):
            if all(one == kind for one in kinds):
                return verdict, kinds
        partly = "before" in kinds or ("after" in kinds and "neither" in kinds)
        return ("partly" if partly else "can't tell"), kinds

    def _is_in(self, act: Act, until: Act, later: list[Act]) -> bool:
        reached = later[: later.index(until) + 1]
        return not any(self._is_hit(act, other, later, narrow=True) for other in reached[1:])

    def _is_hit(self, act: Act, other: Act, later: list[Act], *, narrow: bool) -> bool:
        """Whether `other` is the first to change the lines that `act` changed, or, if not
        `narrow`, also those around them.
        """
        marks = [[*act.blocks], [*act.changed]]
        for before, now in pairwise(later):
            if now.kind in ("create", "write", "delete"):
                moved = found_again(act, marks, now)
                if moved is None:
                    return now is other
                marks = moved
                if now is other:
                    return False
                continue
            hits = [[touched(mark, before.then, now.then) for mark in group] for group in marks]
            hit = any(hits[1]) or (not narrow and any(hits[0]))
            if hit or now is other:
                return hit and now is other
            marks = [[follow(mark, before.then, now.then) for mark in group] for group in marks]
        return False


GOOD = ("on disk", "overwritten")


def previous_path(file: File, act: Act) -> str:
    """The name a file had before a step."""
    index = file.acts.index(act)
    return file.acts[index - 1].path if index else act.path.removesuffix("'")


def hunk_rows(body: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for line in (body.removesuffix("\n") + "\n").split("\n")[:-1]:
        if line.startswith("\\"):
            sign, told = rows.pop()
            rows.append((sign, told.removesuffix("\n")))
        else:
            rows.append((line[0], f"{line[1:]}\n"))
    return rows


def side(rows: list[tuple[str, str]], without: str) -> str:
    return "".join(told for sign, told in rows if sign != without)


def places(block: str, content: str) -> list[int]:
    """The lines at which a block stands."""
    wanted, lines = list(split_lines(block)), list(split_lines(content))
    return [n for n in range(len(lines)) if wanted and lines[n : n + len(wanted)] == wanted]


def tells(block: str | None) -> bool:
    return any(sum(not c.isspace() for c in line) >= 4 for line in (block or "").split("\n"))


def how(before: str | None, after: str | None, content: str, *, enclosed: bool) -> tuple[str, int]:
    """How a hunk stands in a file, and where."""
    old = places(before, content) if before and before != ABSENT else []
    new = places(after, content) if after else []
    old_size, new_size = len(split_lines(before or "")), len(split_lines(after or ""))
    if old and new and before != ABSENT and (after or "") in (before or ""):
        if enclosed:
            return "unclear", 0
        covers = [range(at, at + old_size) for at in old]
        new = [a for a in new if not any(a in r and a + new_size <= r.stop for r in covers)]
    if len(new) == 1 and tells(after):
        return "after", new[0]
    if new:
        return "unclear", 0
    if len(old) == 1 and tells(before):
        return "before", old[0]
    if old or not before or after == "":
        return "unclear", 0
    return "neither", 0


def touched(mark: Mark, old: list[Line], new: list[Line]) -> bool:
    """Whether the step from `old` to `new` reached into the lines of a mark."""
    if mark.lines:
        if any(line not in new for line in mark.lines):
            return True
        at = new.index(mark.lines[0])
        return new[at : at + len(mark.lines)] != mark.lines
    # Lines came to where none were left: between those that stand around that place.
    kept_before = next((n for n in range(mark.at - 1, -1, -1) if old[n] in new), -1)
    kept_after = next((n for n in range(mark.at, len(old)) if old[n] in new), len(old))
    start = new.index(old[kept_before]) + 1 if kept_before >= 0 else 0
    stop = new.index(old[kept_after]) if kept_after < len(old) else len(new)
    return stop > start


def follow(mark: Mark, old: list[Line], new: list[Line]) -> Mark:
    if mark.lines:
        gone = any(line not in new for line in mark.lines)
        return mark if gone else Mark(mark.lines, new.index(mark.lines[0]))
    kept = [line for line in old[: mark.at] if line in new]
    return Mark([], new.index(kept[-1]) + 1 if kept else 0)


def found_again(act: Act, marks: list[list[Mark]], now: Act) -> list[list[Mark]] | None:
    """The marks in a file that was written anew, None if not all of the step's lines stand there
    once, in order.
    """
    if not now.exists or act.kind == "delete" or not act.sides:
        return None
    content = "".join(now.texts)
    found = [places(after, content) if after else [] for _, after in act.sides]
    at = [one[0] for one in found if len(one) == 1]
    if len(at) != len(found) or at != sorted(at):
        return None
    blocks, changed = list[Mark](), list[Mark]()
    for place, block, (_, after) in zip(at, marks[0], act.sides, strict=True):
        size = len(split_lines(after or ""))
        blocks.append(Mark(now.then[place : place + size], place))
        for mark in marks[1]:
            if block.at <= mark.at and mark.at + len(mark.lines) <= block.at + size:
                start = place + mark.at - block.at
                changed.append(Mark(now.then[start : start + len(mark.lines)], start))
    return [blocks, changed]
