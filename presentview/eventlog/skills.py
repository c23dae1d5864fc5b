"""Skills: instructions that an agent loads while it works."""

from __future__ import annotations

from typing import NamedTuple

from presentview.eventlog.gotext import trim
from presentview.eventlog.payloads import ModelMessage, SkillLoadData

__all__ = ["SkillContent", "render_skill_content", "skill_message"]


class SkillContent(NamedTuple):
    """A skill as it was loaded: its `body` holds the instructions, `path` the folder of its
    resources.
    """

    name: str
    description: str = ""
    body: str = ""
    path: str = ""


def render_skill_content(content: SkillContent) -> str:
    """The text that a model gets of a loaded skill."""
    name = content.name.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    folder = trim(content.path)
    resources = (
        f"The files of this skill lie in {folder}; paths it names are relative to that folder."
        if folder
        else "Read what this skill refers to only when it is needed."
    )
    return (
        f'<skill_content name="{name}">\n'
        f"<skill_resources>\n{resources}\n</skill_resources>\n\n"
        f"<skill_instructions>\n{content.body}\n</skill_instructions>\n"
        "</skill_content>"
    )


def skill_message(load: SkillLoadData) -> ModelMessage:
    """The message by which the model sees a skill that was loaded."""
    text = trim(load.rendered)
    if not text:
        content = SkillContent(load.name, load.description, load.body, load.resource_base)
        text = render_skill_content(content)
    return ModelMessage.of("user", text)
