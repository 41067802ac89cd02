"""The network that scores every candidate with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra sb3")
pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
pytest.importorskip("sb3_contrib", reason="needs the extra sb3")

from llm_gym.policies.indexed.network import CandidatePolicy, MaskableCandidatePolicy  # noqa: E402
from llm_gym.policies.indexed.settings import IndexedSettings  # noqa: E402

pytestmark = pytest.mark.sb3

SETTINGS = IndexedSettings(k=5, dimensions=8)
both_policies = pytest.mark.parametrize("policy", [CandidatePolicy, MaskableCandidatePolicy])


def network(policy: Any, settings: IndexedSettings = SETTINGS, width: int = 8) -> Any:
    import gymnasium as gym

    torch.manual_seed(0)
    made = policy(settings.observation_space(), gym.spaces.Discrete(settings.k), lambda progress: 1e-2, width=width)
    with torch.no_grad():
        for parameter in made.parameters():  # SB3 begins with scores that hardly differ
            parameter.normal_(std=0.3)
    return made


def states(open_: int = 4, number: int = 3) -> dict[str, Any]:
    """So many random states with the first few places open; (B, …)."""
    generator = torch.Generator().manual_seed(1)
    text = torch.rand(number, SETTINGS.text_width, generator=generator)
    actions = torch.rand(number, SETTINGS.k, SETTINGS.candidate_width, generator=generator)
    mask = (torch.arange(SETTINGS.k) < open_).float().expand(number, -1)
    return {"text": text, "actions": (actions * mask.unsqueeze(-1)).flatten(1), "action_mask": mask}


def shares(policy: Any, seen: dict[str, Any]) -> Any:
    """Probabilities; (B, K)."""
    with torch.no_grad():
        return policy.get_distribution(seen).distribution.probs


@both_policies
def test_an_action_is_as_probable_in_any_place(policy: Any) -> None:
    made, seen = network(policy), states()
    order = torch.tensor([2, 0, 3, 1, 4])  # the closed place stays the last
    actions = seen["actions"].unflatten(1, (SETTINGS.k, -1))[:, order].flatten(1)
    moved = {**seen, "actions": actions}
    assert torch.allclose(shares(made, moved), shares(made, seen)[:, order], atol=1e-6)
    assert shares(made, seen)[0, :4].max() > 1.05 * shares(made, seen)[0, :4].min()
    with torch.no_grad():
        assert torch.allclose(made.predict_values(moved), made.predict_values(seen), atol=1e-6)


@both_policies
def test_a_place_without_an_action_is_never_chosen_and_the_others_share_all(policy: Any) -> None:
    probabilities = shares(network(policy), states(open_=2))
    assert (probabilities[:, 2:] == 0).all()
    assert torch.allclose(probabilities[:, :2].sum(1), torch.ones(3))


@both_policies
def test_what_an_empty_place_holds_and_how_many_there_are_does_not_matter(policy: Any) -> None:
    made, seen = network(policy), states(open_=3)
    wider = IndexedSettings(k=9, dimensions=8)
    larger = network(policy, wider)
    larger.load_state_dict(made.state_dict())  # no weight belongs to a place
    room = torch.zeros(3, 4, SETTINGS.candidate_width)
    actions = torch.cat([seen["actions"].unflatten(1, (SETTINGS.k, -1)), room], 1).flatten(1)
    mask = torch.cat([seen["action_mask"], torch.zeros(3, 4)], 1)
    probabilities = shares(larger, {"text": seen["text"], "actions": actions, "action_mask": mask})
    assert torch.allclose(probabilities[:, :5], shares(made, seen), atol=1e-6)


@both_policies
def test_the_score_depends_on_state_candidate_and_the_others(policy: Any) -> None:
    made, seen = network(policy), states()
    other_text = {**seen, "text": seen["text"].flip(0)}
    changed = seen["actions"].clone()
    changed[:, :10] += 1
    assert not torch.allclose(shares(made, other_text), shares(made, seen), atol=1e-4)
    mine, before = (shares(made, {**seen, "actions": actions}) for actions in (changed, seen["actions"]))
    # the ratio of two that stayed as they are changes as well
    assert not torch.allclose(mine[:, 1] / mine[:, 2], before[:, 1] / before[:, 2], atol=1e-4)


@both_policies
def test_the_loss_moves_every_parameter_and_the_optimiser_knows_all(policy: Any) -> None:
    made = network(policy)
    value, log_probability, entropy = made.evaluate_actions(states(), torch.tensor([0, 1, 2]))
    (value.sum() + log_probability.sum() + entropy.sum()).backward()
    own = dict(made.named_parameters())
    still = [name for name, values in own.items() if values.grad is None or not values.grad.any()]
    assert [name for name in still if not name.endswith("score.bias")] == []  # a constant to all scores says nothing
    known = {id(values) for group in made.optimizer.param_groups for values in group["params"]}
    assert known == set(map(id, own.values()))


@both_policies
def test_it_begins_with_all_actions_about_equally_likely(policy: Any) -> None:
    import gymnasium as gym

    fresh = policy(SETTINGS.observation_space(), gym.spaces.Discrete(5), lambda progress: 1e-2)
    assert torch.allclose(shares(fresh, states(open_=4))[:, :4], torch.full((3, 4), 0.25), atol=0.02)


@pytest.mark.parametrize("name", ["a2c", "maskable-ppo"])
def test_a_file_of_sb3_comes_back_with_its_width(
    corridor: Callable[..., Any], models: Callable[[str, Any], Any], name: str, tmp_path: Any
) -> None:
    model = models(name, corridor())
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model", env=corridor())
    assert again.policy.width == 8
    own, loaded = (dict(one.policy.named_parameters()) for one in (model, again))
    assert all(torch.equal(own[key], loaded[key]) for key in own)
