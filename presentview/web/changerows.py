"""What stands around the step that is shown: the list, the ticks, the tree of touched files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from presentview.limits import FILTER_CHOICES, STEP_ROWS, TREE_FILES
from presentview.transcript.changes.step import Step
from presentview.web.changed import Changed
from presentview.web.changeview import MAIN, ChangeView, Picked

__all__ = [
    "Choice",
    "Folder",
    "ListedStep",
    "StepList",
    "TickPath",
    "agents_of",
    "files_of",
    "shells_before",
    "step_list",
    "tick_paths",
    "tree_of",
]

_COLUMNS: Final = 1000
_WORST_LAST: Final = ("applied", "running", "interrupted", "blocked", "failed")


class ListedStep(NamedTuple):
    """A row of the list: the step, how many more `files` than the first it has, and how many
    `shells` ran since the row before.
    """

    step: Step
    files: int
    shells: int


class StepList(NamedTuple):
    """Rows around the step that is shown, and the steps to go on from, 0 where there are none."""

    rows: tuple[ListedStep, ...]
    earlier: int
    later: int


def step_list(found: Changed, chosen: Picked) -> StepList:
    """The list around the step that is shown."""
    steps = chosen.steps
    first = max(0, min(chosen.index - STEP_ROWS // 2, len(steps) - STEP_ROWS))
    end = min(len(steps), first + STEP_ROWS)
    rows = tuple(
        ListedStep(steps[n], len(steps[n].paths) - 1, shells_before(found, steps, n))
        for n in range(first, end)
    )
    earlier = steps[first - 1].number if first else 0
    return StepList(rows, earlier, steps[end].number if end < len(steps) else 0)


def shells_before(found: Changed, steps: Sequence[Step], index: int) -> int:
    """How many shell commands ran between a step of a list and the one in front of it there."""
    before = steps[index - 1].number if index else 0
    return sum(step.shells for step in found.steps[before : steps[index].number])


class TickPath(NamedTuple):
    """The ticks of all steps in one state, as one path in a drawing 1000 wide and 10 high."""

    state: str
    path: str


def tick_paths(steps: Sequence[Step]) -> list[TickPath]:
    """The ticks of the scrubber, those drawn last that must be seen. Where many steps share a
    column, each state has one tick in it.
    """
    width = _COLUMNS / max(1, len(steps))
    gap = min(2.0, width / 4) if width > 2 else 0.0
    columns: dict[str, dict[int, None]] = {}
    for index, step in enumerate(steps):
        columns.setdefault(step.state, {})[int(index * width)] = None
    shown = max(1.0, width - gap)
    return [
        TickPath(state, "".join(f"M{x} 0h{shown:.4g}v10h-{shown:.4g}z" for x in columns[state]))
        for state in _WORST_LAST
        if state in columns
    ]


class TouchedFile(NamedTuple):
    """A file that was touched: its `path` and `name`, how many `steps` were about it, the last of
    them, and whether the one that `is_shown` is.
    """

    path: str
    name: str
    steps: int
    last: int
    is_shown: bool


class Folder(NamedTuple):
    """A folder in which files were touched, and these."""

    path: str
    files: tuple[TouchedFile, ...]


class Tree(NamedTuple):
    """The folders, how many files there are in all, and how many of them are not named."""

    folders: tuple[Folder, ...]
    total: int
    more: int


def tree_of(found: Changed, step: Step | None) -> Tree:
    """The files touched up to and with a step; of too many those that were touched last."""
    if step is None:
        return Tree((), 0, 0)
    counts: dict[str, list[int]] = {}
    for each in found.steps[: step.number]:
        for path in each.paths if each.took_effect or each.in_flight else ():
            known = counts.pop(path, [0])
            counts[path] = [known[0] + 1, each.number]
    latest = list(counts)[-TREE_FILES:]
    folders: dict[str, list[TouchedFile]] = {}
    for path in sorted(latest):
        folder, _, name = path.rpartition("/")
        steps, last = counts[path]
        file = TouchedFile(path, name or path, steps, last, path in step.paths)
        folders.setdefault(folder, []).append(file)
    named = tuple(Folder(folder, tuple(files)) for folder, files in sorted(folders.items()))
    return Tree(named, len(counts), len(counts) - len(latest))


class Choice(NamedTuple):
    """A value to filter by, and the words for it."""

    value: str
    text: str


def files_of(found: Changed, view: ChangeView) -> list[Choice]:
    """The files to filter by: of too many those that most steps are about."""
    counts: dict[str, int] = {}
    for step in found.steps:
        for path in step.paths:
            counts[path] = counts.get(path, 0) + 1
    most = sorted(counts, key=lambda path: -counts[path])[:FILTER_CHOICES]
    if view.file and view.file not in most:
        most.append(view.file)
    return [Choice(path, path) for path in sorted(most)]


def agents_of(found: Changed, view: ChangeView) -> list[Choice]:
    """The sub-agents to filter by; none where there are none."""
    names = {step.agent: step.agent_name for step in found.steps if step.agent}
    if not names and not view.agent:
        return []
    choices = [Choice(card, name) for card, name in [*names.items()][:FILTER_CHOICES]]
    return [Choice(MAIN, "no sub-agent"), *choices, *_missing(view, names)]


def _missing(view: ChangeView, names: dict[str, str]) -> Iterator[Choice]:
    if view.agent and view.agent != MAIN and view.agent not in names:
        yield Choice(view.agent, view.agent)
