"""The recurrent baseline of the WebShop paper (appendix B.2): word vectors and GRUs in place of BERT."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from llm_gym.errors import DataMismatch
from llm_gym.policies.imitation.bi_attention import BiAttention
from llm_gym.policies.imitation.checkpoint import (
    CONFIG,
    TOKENIZER,
    Checkpoint,
    Precision,
    fill,
    read_checkpoint,
    write_checkpoint,
)
from llm_gym.policies.imitation.choice_batch import padded, picture
from llm_gym.policies.imitation.choice_tokens import TextTokens, read_tokenizer
from llm_gym.policies.reinforcement.gru import BidirectionalGRU
from llm_gym.policies.reinforcement.network import RNN, Judgement, Situation
from llm_gym.policies.reinforcement.rnn_config import RecurrentConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_KEPT_TEXTS = 50_000
_PAD = 0


class Texts(NamedTuple):
    """N texts, read; T tokens of the longest."""

    words: Tensor
    """(N, T, E), their words' vectors."""
    encoded: Tensor
    """(N, T, D), each token among the others."""
    mask: Tensor
    """(N, T), True where there is a token."""


class RecurrentActorCritic(nn.Module):
    """One bidirectional GRU reads pages, instructions and actions; attention compares them; a second reads the page.

    The state: what each token of the page finds in the instruction (`BiAttention`), brought down to H, the picture as
    one more token before them, read by the second GRU. The value comes from the mean of its tokens; the score of an
    action from the mean, over the action's tokens, of what they find in the state and of what their words alone find
    in the words of the instruction, which helps to match options.

    The original gives the attention over words the width of the encoder, so that its layers fit together only where a
    word's vector is as wide as a GRU (its score reads 12·H: 4·2·H and 4·H), and it stops before a decision because an
    argument is missing. Here E and H are independent, and the score reads 8·H + 4·E. Pictures are zeros where a page
    has none. Padding takes part in nothing: a situation is judged alike whatever else is in the batch.

    Axes: B situations, A actions of a situation, N texts, T tokens of a text, M tokens of a state, E width of a word,
    H width of a GRU in one direction, D = 2·H.

    Args:
        config: settings.
        tokenizer: its token 0 is never read. Every text must have one token at least.

    Weights are drawn from torch's global generator; `create` draws them from a seed.
    """

    kind = RNN

    def __init__(self, config: RecurrentConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.config, self.tokenizer = config, tokenizer
        words, width, both = config.words, config.width, 2 * config.width
        self.words = nn.Embedding(tokenizer.get_vocab_size(), words, padding_idx=_PAD)
        self.reader = BidirectionalGRU(words, width)
        self.page_to_goal = BiAttention(both)
        self.found = nn.Linear(4 * both, width)
        self.image = nn.Linear(config.image_width, width) if config.image else None
        self.state_reader = BidirectionalGRU(width, width)
        self.value = nn.Sequential(nn.Linear(both, width), nn.LeakyReLU(), nn.Linear(width, 1))
        self.action_to_state = BiAttention(both)
        self.action_to_goal = BiAttention(words)
        self.action = nn.Linear(4 * both + 4 * words, both)
        self.score = nn.Sequential(nn.LeakyReLU(), nn.Linear(both, width), nn.LeakyReLU(), nn.Linear(width, 1))
        self._pages = TextTokens(tokenizer, config.page_tokens, _KEPT_TEXTS, config.head_tokens)
        self._goals = TextTokens(tokenizer, config.goal_tokens, _KEPT_TEXTS)
        self._actions = TextTokens(tokenizer, config.action_tokens, _KEPT_TEXTS)

    @classmethod
    def create(cls, config: RecurrentConfig, tokenizer: Tokenizer, seed: int = 0) -> RecurrentActorCritic:
        """A network to train, its weights drawn."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config, tokenizer)

    # -- in a folder -------------------------------------------------------------------------------------------

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> RecurrentActorCritic:
        """A network from a folder that `save` wrote.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or its files do not belong together.
        """
        folder = Path(folder)
        checkpoint = read_checkpoint(folder, RNN)
        config = RecurrentConfig.from_json(checkpoint.config, str(folder / CONFIG))
        tokenizer = read_tokenizer(checkpoint.tokenizer, str(folder / TOKENIZER))
        stored = sum(values.size for values in checkpoint.weights.values())
        with torch.device("meta"):  # counted before memory is asked for
            wanted = sum(values.numel() for values in cls(config, tokenizer).state_dict().values())
        if wanted != stored:
            raise DataMismatch(f"{folder}: its {CONFIG} is of a network of {wanted:,} weights; here are {stored:,}.")
        network = cls.create(config, tokenizer)
        fill(network, checkpoint, folder)
        return network.eval()

    def save(self, folder: str | Path, precision: Precision = "float32") -> None:
        """Write the network; `from_pretrained` reads it back.

        Args:
            folder: a new one.
            precision: of the weights in the file.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        weights = {name: values.detach().cpu().numpy() for name, values in self.state_dict().items()}
        checkpoint = Checkpoint(RNN, self.config.to_json(), weights, self.tokenizer.to_str())
        write_checkpoint(Path(folder), checkpoint, precision)

    # -- what it makes of situations ---------------------------------------------------------------------------

    def judge(self, situations: Sequence[Situation]) -> Judgement:
        """See `ActorCritic.judge`; equal instructions and actions are read once."""
        goals, goal_at = self._read([each.goal for each in situations], self._goals)
        actions, action_at = self._read([text for each in situations for text in each.actions], self._actions)
        pages, page_at = self._read([each.page for each in situations], self._pages)
        states, state_mask = self._states(situations, pages, page_at, goals, goal_at)  # (B, M, D), (B, M)
        values = self.value(_mean(states, state_mask)).squeeze(-1)  # (B,)
        own = torch.split(action_at, [len(each.actions) for each in situations])  # B × (A,)
        scores = [
            self._scores(_of(actions, places), state, mask, _of(goals, goal))
            for places, state, mask, goal in zip(own, states, state_mask, goal_at, strict=True)
        ]
        logarithms = [each.log_softmax(-1) for each in scores]  # B × (A,)
        return Judgement(pad_sequence(logarithms, batch_first=True, padding_value=-torch.inf), values)

    def _read(self, texts: Sequence[str], tokens: TextTokens) -> tuple[Texts, Tensor]:
        """The texts, each once, and where each of them is among these: (len(texts),)."""
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        batch = padded([tokens.ids(text) for text in places], _PAD)
        mask = torch.from_numpy(batch.mask).bool()  # (N, T)
        words = self.words(torch.from_numpy(batch.ids))  # (N, T, E)
        return Texts(words, self.reader(words, mask), mask), torch.tensor([places[text] for text in texts])

    def _states(
        self, situations: Sequence[Situation], pages: Texts, page_at: Tensor, goals: Texts, goal_at: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, M, D) and (B, M)."""
        page, mask = pages.encoded[page_at], pages.mask[page_at]  # (B, T, D), (B, T)
        memory, memory_mask = goals.encoded[goal_at], goals.mask[goal_at]  # (B, T', D), (B, T')
        rows = zip(page.unsqueeze(1), mask.unsqueeze(1), memory, memory_mask, strict=True)
        found = self.found(torch.cat([self.page_to_goal(*row) for row in rows]))  # (B, T, 4·D) → (B, T, H)
        if self.image is not None:
            numbers = [torch.tensor(picture(each.image, self.config.image_width)) for each in situations]
            found = torch.cat([self.image(torch.stack(numbers).to(found)).unsqueeze(1), found], dim=1)  # (B, M, H)
            mask = torch.cat([mask[:, :1], mask], dim=1)  # (B, M)
        return self.state_reader(found, mask), mask

    def _scores(self, actions: Texts, state: Tensor, state_mask: Tensor, goal: Texts) -> Tensor:
        """A actions, (M, D), (M,) and one instruction → (A,)."""
        in_state = self.action_to_state(actions.encoded, actions.mask, state, state_mask)  # (A, T, 4·D)
        in_goal = self.action_to_goal(actions.words, actions.mask, goal.words, goal.mask)  # (A, T, 4·E)
        pooled = _mean(torch.cat([in_state, in_goal], dim=-1), actions.mask)  # (A, 4·D + 4·E)
        scores: Tensor = self.score(self.action(pooled)).squeeze(-1)  # (A,)
        return scores


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """(N, T, W), (N, T) → (N, W), over the real tokens."""
    weights = mask.unsqueeze(-1)  # (N, T, 1)
    return (values * weights).sum(1) / weights.sum(1)


def _of(texts: Texts, places: Tensor) -> Texts:
    """Those at the places, no longer than they need to be; one without the axis N where `places` is a number."""
    mask = texts.mask[places]
    longest = int(mask.sum(-1).max())
    words, encoded = texts.words[places], texts.encoded[places]
    return Texts(words[..., :longest, :], encoded[..., :longest, :], mask[..., :longest])
