"""Everything that decides. One line of the table registers one policy; it is imported when asked for."""

from __future__ import annotations

from typing import Any

from llm_gym.policies.base import Advisor, Policy
from llm_gym.registry import policies

POLICIES = {
    "random": "llm_gym.policies.uniform:RandomPolicy",
    "rule": "llm_gym.policies.rule:RulePolicy",
    "first-hit": "llm_gym.policies.first_hit:FirstHitPolicy",
    "lexical": "llm_gym.policies.lexical:LexicalPolicy",
    "demonstrator": "llm_gym.policies.demonstrator:DemonstratorPolicy",
    "il": "llm_gym.policies.imitation.il:ILPolicy",
    "a2c": "llm_gym.policies.reinforcement.policy:A2CPolicy",
    "match": "llm_gym.policies.matching:MatchPolicy",
    "rnn": "llm_gym.policies.reinforcement.rnn_policy:RNNPolicy",
    "oracle": "llm_gym.policies.oracle:OraclePolicy",
    "expert": "llm_gym.policies.alfworld.expert:ALFWorldExpertPolicy",
    "memory": "llm_gym.policies.alfworld.memory:MemoryPolicy",
    "butler": "llm_gym.policies.butler.policy:ButlerPolicy",
    "history": "llm_gym.policies.alfworld.raw_history.policy:HistoryPolicy",
    "planner": "llm_gym.policies.planner:PlannerPolicy",
    "walkthrough": "llm_gym.policies.walkthrough:WalkthroughPolicy",
    "replay": "llm_gym.policies.replay:ReplayPolicy",
    "sb3": "llm_gym.policies.indexed.policy:SB3Policy",
    "human": "llm_gym.policies.human:HumanPolicy",
    "heeding": "llm_gym.policies.heeding:HeedingPolicy",
    "advised": "llm_gym.policies.advised:AdvisedPolicy",
    "autogpt": "llm_gym.policies.agents.autogpt:AutoGPTPolicy",
    "react": "llm_gym.policies.agents.react:ReActPolicy",
    "tools": "llm_gym.policies.agents.tool_calling:ToolCallingPolicy",
}

__all__ = ["POLICIES", "Advisor", "Policy", *sorted(target.partition(":")[2] for target in POLICIES.values())]  # noqa: PLE0604


def register() -> None:
    """Make every policy of the table known by name; imports none of them."""
    for name, target in POLICIES.items():
        policies.register(name, target)


def __getattr__(attribute: str) -> Any:
    return policies.lazy_attribute(__name__, attribute)
