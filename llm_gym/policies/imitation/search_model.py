"""The search model of the WebShop paper (its section 5.1): a sequence-to-sequence model that writes queries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.goals import query_of
from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.llm.locks import one_at_a_time
from llm_gym.policies.imitation import search_checkpoint
from llm_gym.policies.imitation.checkpoint import Precision
from llm_gym.policies.imitation.search_checkpoint import SearchSettings
from llm_gym.policies.imitation.text import process_goal, process_query

Floats = npt.NDArray[np.float64]

_EXTRA = "torch"
_CACHED_GOALS = 4096
_WITHIN = "##"
"""Before a piece that does not begin a word, where WordPiece gives it back alone."""
_NO_BRACKETS = str.maketrans("[]", "  ")
"""They would end the action `search[…]`."""


class SearchModel:
    """Writes queries for an instruction; threads may share one.

    Args:
        model: a sequence-to-sequence model of transformers.
        tokenizer: the one it was trained with, of the fast kind.
        settings: how much is read and written.
    """

    def __init__(self, model: Any, tokenizer: Any, settings: SearchSettings | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.settings = settings or SearchSettings()
        self._lock = one_at_a_time()
        self._beam = lru_cache(maxsize=_CACHED_GOALS)(self._searched)

    @classmethod
    def from_pretrained(cls, source: str | Path) -> SearchModel:
        """A model of a folder that `save` made, or any sequence-to-sequence model by folder or name on the hub.

        Raises:
            MissingData: there is no such folder, and the hub has no such model or cannot be reached.
            BadRecord, DataMismatch: a file is truncated, malformed, or belongs to another kind of model.
            MissingDependency: the extra `torch` is not installed.
        """
        return cls(*search_checkpoint.read(source))

    def save(self, folder: str | Path, precision: Precision = "float32") -> None:
        """Write a folder for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in it already.
        """
        search_checkpoint.write(Path(folder), self.model, self.tokenizer, self.settings, precision)

    # -- queries -----------------------------------------------------------------------------------------------

    def best(self, goal: str) -> str:
        """The first query of the beam search, which the code of the paper uses."""
        return self.queries(goal, 1)[0][0]

    def queries(self, goal: str, k: int = 5) -> list[tuple[str, float]]:
        """Up to `k` different queries of one beam search, the best first; one at least.

        Args:
            goal: the instruction, or the first page of an episode.
            k: how many; with more than the settings' beams the search is as wide as that.

        Returns:
            Query and probability: the softmax of the scores of all beams, those with the same query together.
        """
        if k < 1:
            raise InvalidSetting(f"k must be 1 query at least, got {k}.")
        return list(self._beam(process_goal(goal), max(k, self.settings.beams))[:k])

    def uniform(self, goal: str, rng: np.random.Generator, k: int = 5) -> str:
        """One of the `k` best, each with the same chance, as the paper says (section 5.1)."""
        among = self.queries(goal, k)
        return among[int(rng.integers(len(among)))][0]

    def sampled(
        self, goal: str, rng: np.random.Generator, k: int = 1, top_k: int = 0, temperature: float = 1.0
    ) -> list[str]:
        """`k` queries drawn token by token, perhaps the same twice.

        Args:
            goal: the instruction, or the first page of an episode.
            rng: what they are drawn with.
            k: how many.
            top_k: of so many most probable tokens; 0: of all.
            temperature: below 1 the probable become more probable.
        """
        if k < 1 or top_k < 0 or temperature <= 0:
            raise InvalidSetting(
                "Drawing queries takes k of 1 at least, top_k of 0 at least and a temperature above 0, "
                f"got k={k}, top_k={top_k}, temperature={temperature}."
            )
        goal = process_goal(goal)
        torch = require("torch", _EXTRA)
        with self._lock, torch.inference_mode():
            rows = self._drawn(self._encoded(goal), rng, k, top_k, temperature)
        return self._written(goal, rows)

    # -- the model ---------------------------------------------------------------------------------------------

    def _searched(self, goal: str, beams: int) -> tuple[tuple[str, float], ...]:
        torch = require("torch", _EXTRA)
        with self._lock, torch.inference_mode():
            found = self.model.generate(**self._encoded(goal), generation_config=self._generation(beams))
        shares = softmax(found.sequences_scores.double().numpy())
        merged: dict[str, float] = {}
        for query, share in zip(self._written(goal, found.sequences), shares, strict=True):
            merged[query] = merged.get(query, 0.0) + float(share)
        return tuple(sorted(merged.items(), key=lambda pair: -pair[1]))

    def _encoded(self, goal: str) -> Mapping[str, Any]:
        """Ids and mask, (1, tokens) each."""
        encoded = self.tokenizer(goal, truncation=True, max_length=self.settings.goal_tokens, return_tensors="pt")
        return {name: encoded[name] for name in ("input_ids", "attention_mask")}

    def _generation(self, beams: int) -> Any:
        transformers = require("transformers", _EXTRA)
        return transformers.GenerationConfig(
            **search_checkpoint.generation_of(self.model),
            num_beams=beams,
            num_return_sequences=beams,
            max_new_tokens=self.settings.query_tokens,
            do_sample=False,
            early_stopping=True,
            return_dict_in_generate=True,
            output_scores=True,
        )

    def _drawn(
        self, encoded: Mapping[str, Any], rng: np.random.Generator, k: int, top_k: int, temperature: float
    ) -> Any:
        """Token ids, (k, tokens); after its end a row holds padding."""
        torch = require("torch", _EXTRA)
        given = search_checkpoint.generation_of(self.model)
        states = self.model.get_encoder()(**encoded)
        states.last_hidden_state = states.last_hidden_state.expand(k, -1, -1)  # (1, S, D) → (k, S, D)
        mask = encoded["attention_mask"].expand(k, -1)
        rows = torch.full((k, 1), given["decoder_start_token_id"])
        ended = np.zeros(k, bool)
        while rows.shape[1] <= self.settings.query_tokens and not ended.all():
            # Queries are short: without a cache of keys and values this is as fast, and the same for any model.
            out = self.model(encoder_outputs=states, attention_mask=mask, decoder_input_ids=rows, use_cache=False)
            drawn = draw_tokens(out.logits[:, -1].double().numpy() / temperature, rng, top_k)
            if rows.shape[1] == 1 and given.get("forced_bos_token_id") is not None:
                drawn[:] = given["forced_bos_token_id"]
            drawn[ended] = given["pad_token_id"]
            ended |= drawn == given["eos_token_id"]
            rows = torch.cat([rows, torch.from_numpy(drawn)[:, None]], dim=1)
        return rows

    def _written(self, goal: str, rows: Any) -> list[str]:
        """The query of each row of token ids; where the model wrote nothing, the goal itself."""
        spellings = self._spellings(goal)
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=True)
        queries = (" ".join(process_query(text).translate(_NO_BRACKETS).split()) for text in texts)
        return [respelled(query, spellings) or plain_query(goal, self.settings.query_tokens) for query in queries]

    def _spellings(self, goal: str) -> dict[str, str]:
        """How words of the goal come back that the tokenizer changes, "7. 5" → "7.5", or that lack their beginning."""
        found: dict[str, str] = {}
        for word in goal.translate(_NO_BRACKETS).split()[: self.settings.goal_tokens]:
            pieces = self.tokenizer.encode(word, add_special_tokens=False)
            rest = self.tokenizer.decode(pieces[1:])
            shown = self.tokenizer.decode(pieces).strip()
            found |= {shown: word} if shown else {}
            found |= {rest: word} if rest.startswith(_WITHIN) else {}
        return {shown: word for shown, word in found.items() if shown != word}


def respelled(query: str, spellings: Mapping[str, str]) -> str:
    """A query with words as the goal spells them, since a tokenizer may not give back what it was given.

    >>> respelled("shoe 7. 5 wide", {"7. 5": "7.5"})
    'shoe 7.5 wide'
    """
    padded = f" {query} "
    for shown in sorted(spellings, key=len, reverse=True):
        padded = padded.replace(f" {shown} ", f" {spellings[shown]} ")
    return padded.strip()


def plain_query(goal: str, words: int) -> str:
    """What is searched for when the model writes nothing: the goal without its opening, so many words at most.

    >>> plain_query("i am looking for a red shoe", 5)
    'red shoe'
    """
    return " ".join(query_of(goal).split()[:words])


def softmax(scores: Floats) -> Floats:
    """Probabilities over the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def draw_tokens(logits: Floats, rng: np.random.Generator, top_k: int) -> npt.NDArray[np.int64]:
    """One token a row, in proportion to its probability among the `top_k` most probable (0: all); (K, V) → (K,)."""
    if 0 < top_k < logits.shape[-1]:
        least = np.partition(logits, -top_k, axis=-1)[:, -top_k, None]
        logits = np.where(logits < least, -np.inf, logits)
    reached = np.cumsum(softmax(logits), axis=-1) > rng.random((len(logits), 1))
    tokens: npt.NDArray[np.int64] = np.argmax(reached, axis=-1)
    return tokens
