"""One question to a model and what came of it: what a step's trace is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llm_gym.core import Usage
from llm_gym.llm.chat import Completion, Request
from llm_gym.llm.key import prompt_digest
from llm_gym.policies.agents.commands import Parsed, Unparsed

LONGEST_REPLY = 4_000
"""Characters of a reply that are kept, in the conversation and in the trace."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, its answer, and the command in it."""

    step: int
    """Number of the decision, from 1; a question that is asked again has the same."""
    request: Request
    completion: Completion
    result: Parsed | Unparsed
    dropped: Mapping[str, int]
    """Part of the prompt → messages that found no room."""

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that tell the request from others; `llm_gym.llm.Transcribed` keeps it under them."""
        return prompt_digest(self.request)

    @property
    def reply(self) -> str:
        """What the model wrote, with its tool calls; the middle of a very long reply is left out."""
        calls = (f"{call.name}({call.arguments})" for call in self.completion.tool_calls)
        return shortened("\n".join(filter(None, (self.completion.text, *calls))), LONGEST_REPLY)

    def __str__(self) -> str:
        """As it stands in a step's rationale."""
        left_out = "".join(f", without {number} of {part}" for part, number in sorted(self.dropped.items()))
        tokens = f"{self.completion.usage.prompt_tokens:,} tokens"
        error = f"\n[no command: {self.result.hint}]" if isinstance(self.result, Unparsed) else ""
        return f"[prompt {self.digest}, {tokens}{left_out}]\n{self.reply}{error}"


def shortened(text: str, characters: int) -> str:
    """The text without its middle, where it is longer; a note says how much is left out.

    >>> shortened("abcdefghij", 6)
    'abcd[… 4 characters …]ij'
    """
    if len(text) <= characters:
        return text
    tail = characters // 3
    head = characters - tail
    note = f"[… {len(text) - characters:,} characters …]"
    return f"{text[:head]}{note}{text[len(text) - tail :]}"


def total(usages: Iterable[Usage]) -> Usage:
    """The sum; its cost is unknown as soon as one is."""
    prompt = completion = 0
    cost: float | None = 0.0
    for usage in usages:
        prompt += usage.prompt_tokens
        completion += usage.completion_tokens
        cost = None if cost is None or usage.cost_usd is None else cost + usage.cost_usd
    return Usage(prompt, completion, cost)
