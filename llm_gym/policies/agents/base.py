"""What the agents share: a conversation with a model that gives one command after the other."""

# Annotations are evaluated here, so that a subclass in another module has the signature with its types.
import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from llm_gym.core import Decision, Info, derive_seed
from llm_gym.errors import ContextOverflow, InvalidSetting
from llm_gym.llm.chat import ChatClient, Completion, Message, Request
from llm_gym.llm.prompt import Assembled, Part, assemble
from llm_gym.llm.tokens import count_text, count_tokens
from llm_gym.llm.transcribed import Transcribed
from llm_gym.policies.agents.clients import client_of
from llm_gym.policies.agents.commands import ANY, MALFORMED, Parsed, Unparsed, World, world_of
from llm_gym.policies.agents.demonstrations import Demonstration, demonstrations
from llm_gym.policies.agents.exchange import LONGEST_REPLY, Exchange, shortened, total
from llm_gym.policies.base import Policy
from llm_gym.policies.suggestions import suggestion_text

SHORTEST_PAGE = 50
"""Tokens; a page that has to be shorter for the prompt to find room is an error."""
_NO_SETTINGS = ("model", "base_url", "key_variable", "prompts")
"""Arguments that the settings of the client say better."""


@dataclass(eq=False, repr=False)
class AgentPolicy(Policy):
    """Asks a model on every page; its answer is a command of the world, or ends the episode.

    An answer without a command is asked for again; if the next one has none either, the step is lost: the world refuses
    it (`invalid_actions` counts it), and the episode goes on. Errors of the client end the episode, but for a prompt
    that is too long: the page in it is shortened and older messages are left out.

    Opinions in `info["opinions"]` are put into words by the agent itself, which then reads the page of `info["page"]`.

    Args:
        model: a chat client; the name of a model at `base_url`; or "scripted".
        base_url: of an endpoint that speaks OpenAI's protocol; None: OpenAI's.
        key_variable: the environment variable with its key; None: no key.
        temperature: of the sampling.
        max_tokens: of an answer; None: as many as the model will.
        step_limit: commands, then the agent stops; None: 20 in the shop, 35 in the house, 100 elsewhere.
        prompt_tokens: of a prompt at most.
        page_tokens: of a page at most; its middle is left out where it is longer.
        history: messages of the past in a prompt at most.
        demonstrations: of each command at most; there are one to three.
        reasks: how often an answer without a command is asked for again.
        schema: ask for the answer by the JSON schema of what is possible on the page, where the client can; otherwise
            the prompt alone says it.
        prompts: a folder in which every prompt is kept whole, under the digest that the trace shows; None: none is.

    Attributes:
        exchanges: questions and answers of this episode.
    """

    model: ChatClient | str
    base_url: str | None = None
    key_variable: str | None = "OPENAI_API_KEY"
    temperature: float = 0.01
    max_tokens: int | None = None
    step_limit: int | None = None
    prompt_tokens: int = 3196
    page_tokens: int = 1500
    history: int = 10
    demonstrations: int = 3
    reasks: int = 1
    schema: bool = False
    prompts: str | None = None

    def __post_init__(self) -> None:
        if self.temperature < 0 or min(self.history, self.demonstrations, self.reasks) < 0:
            raise InvalidSetting("temperature, history, demonstrations and reasks must be 0 or more.")
        if (self.step_limit is not None and self.step_limit < 1) or self.page_tokens < SHORTEST_PAGE:
            raise InvalidSetting(f"step_limit must be 1 or more, and page_tokens {SHORTEST_PAGE} or more.")
        client = client_of(self.model, self.base_url, self.key_variable)
        self._client = client if self.prompts is None else Transcribed(client, self.prompts)
        self._count = partial(count_tokens, model=self._client.model)
        self.reset()

    def settings(self) -> dict[str, Any]:
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"client": self._client.settings()} | {k: v for k, v in own.items() if k not in _NO_SETTINGS}

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        """The model is asked with a seed of this episode, so that a cache tells repeats apart."""
        self._seed = None if seed is None else derive_seed(seed, "model")
        self._world: World = ANY
        self._goal = ""
        self._possible: Sequence[str] | None = None
        self._steps = 0
        self._last: Parsed | Unparsed | None = None
        self._past: list[Message] = []
        self.exchanges: list[Exchange] = []

    def note(self, observation: str, info: Info, action: str) -> None:
        if isinstance(self._last, Parsed) and action != self._last.action:
            self._last = self._world.command_of(action) or Parsed(action, {}, action)

    # -- what a kind of agent provides -------------------------------------------------------------------------

    @abstractmethod
    def _base(self) -> str:
        """The text of the system message."""

    @abstractmethod
    def _turn(self, page: str, suggestion: str) -> list[Message]:
        """What is said on this page, the question last; `self._last` is the command that led here."""

    @abstractmethod
    def _again(self, hint: str) -> str:
        """What is said to an answer without a command."""

    @abstractmethod
    def _command(self, completion: Completion) -> Parsed | Unparsed:
        """The command in an answer."""

    def _parts(self, past: Sequence[Message], turn: Sequence[Message]) -> list[Part]:
        """The prompt: what the agent is, what has been said, and the turn, which is never left out."""
        room = max(0, self.history - len(turn) + 1)  # the question itself is not of the past
        return [
            Part("base", (Message("system", self._base()),)),
            Part("history", tuple(past[-room:] if room else ()), keep="last"),
            Part("turn", tuple(turn)),
        ]

    def _request(self, messages: tuple[Message, ...]) -> Request:
        return Request(messages, self.temperature, self.max_tokens, seed=self._seed)

    def _kept(self, exchange: Exchange) -> Message:
        """An answer as it stays in the conversation."""
        return Message("assistant", shortened(exchange.completion.text, LONGEST_REPLY))

    # -- the policy --------------------------------------------------------------------------------------------

    def act(self, observation: str, info: Info) -> Decision:
        if self._steps == 0:
            self._world, self._goal = world_of(info), info.get("goal", "")
        if self._steps >= self._limit:
            return Decision(None, f"[no question: the limit of {self._limit} steps is reached]", out_of_steps=True)
        self._steps += 1
        self._possible = info.get("admissible_actions") if self.schema else None
        began = len(self.exchanges)
        said = self._converse(_page(observation, info, self._world), suggestion_text(info.get("opinions", ())))
        exchanges = self.exchanges[began:]
        self._last = exchanges[-1].result
        self._past = [*self._past, *said, self._kept(exchanges[-1])][-max(1, self.history) :]
        return Decision(
            self._last.action if isinstance(self._last, Parsed) else MALFORMED,
            "\n".join(map(str, exchanges)),
            total(exchange.completion.usage for exchange in exchanges),
        )

    def _converse(self, page: str, suggestion: str) -> list[Message]:
        """Ask until there is a command, or no question left; the turn as it was sent."""
        more: list[Message] = []
        for _ in range(self.reasks + 1):
            turn = self._ask(page, suggestion, more)
            result = self.exchanges[-1].result
            if isinstance(result, Parsed):
                break
            more = [self._kept(self.exchanges[-1]), Message("user", self._again(result.hint))]
        return turn

    def _ask(self, page: str, suggestion: str, more: list[Message]) -> list[Message]:
        """Ask, if need be with a shorter prompt; the turn as it was sent, without `more`.

        Raises:
            ContextOverflow: the prompt is too long even without a past and with hardly a page.
        """
        page_tokens, budget = self.page_tokens, self.prompt_tokens
        while True:
            turn = self._turn(self._cut(page, page_tokens), suggestion)
            parts = self._parts(self._past, [*turn, *more])
            least = self._count([message for part in parts if part.keep == "all" for message in part.messages])
            try:
                prompt = assemble(parts, budget, self._count)
                budget = prompt.tokens
                self._exchange(prompt)
                return turn
            except ContextOverflow:
                if least < budget:
                    budget = max(least, budget * 3 // 4)
                elif page_tokens >= 2 * SHORTEST_PAGE:
                    page_tokens //= 2
                else:
                    raise

    def _exchange(self, prompt: Assembled) -> None:
        request = self._request(prompt.messages)
        completion = self._client.complete(request)
        result = self._command(completion)
        self.exchanges.append(Exchange(self._steps, request, completion, result, prompt.dropped))

    # -- what the agents' texts are made of --------------------------------------------------------------------

    @property
    def _limit(self) -> int:
        return self.step_limit or self._world.steps

    @property
    def _told(self) -> dict[str, str]:
        """The slots that every system message has."""
        texts = self._world.texts
        goal = texts["goal"].format(steps=self._limit, goal=self._goal)
        return {"name": texts["name"], "role": texts["role"], "goal": goal}

    @property
    def _shown(self) -> list[Demonstration]:
        return demonstrations(self._world, self.demonstrations)

    def _cut(self, page: str, tokens: int) -> str:
        """The page with about so many tokens at most."""
        found = count_text(page, self._client.model)
        return page if found <= tokens else shortened(page, len(page) * tokens // found)


def _page(observation: str, info: Info, world: World) -> str:
    """What the agent reads of a page: the world's own where others have put opinions into the observation."""
    page = info.get("page", observation) if "opinions" in info else observation
    if "invalid_action" in info:
        page = f"{info['invalid_action']}\n{page}"
    if world.lists_actions and (actions := info.get("admissible_actions")):
        page = f"{page}\nPossible now: {'; '.join(actions)}"
    return page.strip()
