"""Training: what an update is the mean of, going on after a kill, and what is left in the folder."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llm_gym.errors import BadRecord, InvalidSetting, PlanMismatch
from llm_gym.training.fit import Fitted, fit
from llm_gym.training.schedule import Schedule

if TYPE_CHECKING:
    from tests.training.conftest import Choice, Toy

pytestmark = pytest.mark.train

SCHEDULE = Schedule(epochs=3, batch_size=4, accumulate=2, learning_rate=0.05, evaluate_every=2, seed=7)
"""Of 22 examples: 3 updates an epoch, the last with 6 examples in batches of 4 and 2."""


ENCODER = {"encoder": {"layers": 2}}


class Killed(BaseException):
    """What nothing catches, as a kill."""


def weights(model: Any) -> dict[str, np.ndarray[Any, Any]]:
    return {name: values.detach().numpy().copy() for name, values in model.state_dict().items()}


def trained(toy: Toy, out: Path, schedule: Schedule = SCHEDULE, **more: Any) -> tuple[Fitted, Any]:
    model = toy.model()
    return fit(model, toy.training, toy.held_out, toy.collate, schedule, out, **more), model


def same(one: Any, other: Any) -> bool:
    """Whether two models have equal weights, to the last bit."""
    return all((values == weights(other)[name]).all() for name, values in weights(one).items())


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Fitted, Any]:
    """Folder, report and model of a training that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole")
    return out, *trained(toy, out)


def dying(toy: Toy, calls: int, death: Any) -> Any:
    """A collate that calls `death` at one of its calls."""
    count = 0

    def collate(examples: list[Choice]) -> Mapping[str, Any]:
        nonlocal count
        count += 1
        if count == calls:
            death()
        return toy.collate(examples)

    return collate


def killed() -> None:
    raise Killed


@pytest.mark.parametrize(("batch_size", "accumulate"), [(8, 1), (2, 4), (3, 3)])
def test_an_update_is_that_of_the_mean_over_its_examples(
    toy: Toy, tmp_path: Path, batch_size: int, accumulate: int
) -> None:
    """Against the whole batch at once in plain torch; the number of actions differs between the states."""
    import torch

    schedule = Schedule(
        epochs=1,
        batch_size=batch_size,
        accumulate=accumulate,
        learning_rate=0.01,
        decay="constant",
        max_updates=1,
        seed=3,
    )
    model = toy.model()
    model.dropout.p = 0.0
    fit(model, toy.training, toy.held_out, toy.collate, schedule, tmp_path / "out")

    plain = toy.model()
    plain.dropout.p = 0.0
    order = np.random.default_rng((3, 0)).permutation(22)[: batch_size * accumulate]
    plain(**toy.collate([toy.training[number] for number in order]))["loss"].backward()
    torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
    torch.optim.AdamW(plain.parameters(), lr=0.01, weight_decay=0.0).step()
    for name, values in weights(plain).items():
        assert np.allclose(weights(model)[name], values, atol=1e-6)


def test_the_last_update_of_an_epoch_counts_only_the_examples_that_are_left(toy: Toy, tmp_path: Path) -> None:
    """Three examples after eight: their mean, not their sum over eight."""
    import torch

    schedule = Schedule(epochs=1, batch_size=2, accumulate=4, learning_rate=0.01, decay="constant", seed=3)
    examples = toy.training[:11]
    model = toy.model()
    model.dropout.p = 0.0
    fit(model, examples, toy.held_out, toy.collate, schedule, tmp_path / "out")

    plain = toy.model()
    plain.dropout.p = 0.0
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.01, weight_decay=0.0)
    order = np.random.default_rng((3, 0)).permutation(11)
    for part in (order[:8], order[8:]):
        optimizer.zero_grad()
        plain(**toy.collate([examples[number] for number in part]))["loss"].backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()
    for name, values in weights(plain).items():
        assert np.allclose(weights(model)[name], values, atol=1e-6)


def test_the_same_settings_give_the_same_weights_and_another_seed_others(
    toy: Toy, tmp_path: Path, whole: tuple[Path, Fitted, Any]
) -> None:
    _, _, one = whole
    _, two = trained(toy, tmp_path / "two")
    _, other = trained(toy, tmp_path / "other", dataclasses.replace(SCHEDULE, seed=8))
    assert same(one, two)
    assert not same(one, other)


@pytest.mark.parametrize("call", [1, 12, 24])
def test_a_killed_training_goes_on_to_the_same_weights(
    toy: Toy, tmp_path: Path, whole: tuple[Path, Fitted, Any], call: int
) -> None:
    folder, undisturbed, model = whole
    with pytest.raises(Killed):
        fit(toy.model(), toy.training, toy.held_out, dying(toy, call, killed), SCHEDULE, tmp_path)
    resumed, continued = trained(toy, tmp_path)
    assert same(model, continued)
    assert dataclasses.replace(resumed, seconds=0.0) == dataclasses.replace(undisturbed, seconds=0.0)
    untimed = [{**row, "seconds": 0} for row in rows(tmp_path)]
    assert untimed == [{**row, "seconds": 0} for row in rows(folder)]


def test_half_a_checkpoint_is_passed_over(toy: Toy, tmp_path: Path, whole: tuple[Path, Fitted, Any]) -> None:
    _, _, model = whole
    out = tmp_path
    with pytest.raises(Killed):
        fit(toy.model(), toy.training, toy.held_out, dying(toy, 17, killed), SCHEDULE, out)
    half = out / "checkpoints" / "checkpoint-99"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"cut")
    _, continued = trained(toy, out)
    assert same(model, continued)


def test_ctrl_c_ends_after_the_update_and_the_same_call_goes_on(
    toy: Toy, tmp_path: Path, whole: tuple[Path, Fitted, Any]
) -> None:
    _, _, model = whole
    out = tmp_path
    press = dying(toy, 8, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt, match="after update 3"):
        fit(toy.model(), toy.training, toy.held_out, press, SCHEDULE, out)
    assert (out / "curves.png").stat().st_size
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _, continued = trained(toy, out)
    assert same(model, continued)


def test_ctrl_c_in_the_last_update_changes_nothing(toy: Toy, tmp_path: Path, whole: tuple[Path, Fitted, Any]) -> None:
    _, fitted, model = whole
    last = (
        30  # of 33: two for each of 9 updates, and three for each of 5 looks, one of which comes after the last update
    )
    press = dying(toy, last, lambda: os.kill(os.getpid(), signal.SIGINT))
    continued = toy.model()
    again = fit(continued, toy.training, toy.held_out, press, SCHEDULE, tmp_path / "interrupted")
    assert (again.updates, again.best) == (fitted.updates, fitted.best)
    assert same(model, continued)


def test_ctrl_c_twice_ends_at_once(toy: Toy, tmp_path: Path) -> None:
    def twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fit(toy.model(), toy.training, toy.held_out, dying(toy, 8, twice), SCHEDULE, tmp_path)
    assert (tmp_path / "curves.png").stat().st_size


def test_the_weights_of_the_best_look_are_kept_and_what_was_measured_there_is_told(toy: Toy, tmp_path: Path) -> None:
    import torch

    def correct(examples: Sequence[Choice], logits: Any) -> list[dict[str, float]]:
        found = logits.argmax(1)
        return [{"accuracy": float(best == example.label)} for best, example in zip(found, examples, strict=True)]

    schedule = dataclasses.replace(SCHEDULE, best_by="accuracy", learning_rate=0.5, epochs=4)
    fitted, model = trained(toy, tmp_path, schedule, measures=correct)
    looks = {row["step"]: row["held_out"] for row in rows(tmp_path) if "held_out" in row}
    assert sorted(looks) == [2, 4, 6, 8, 10, 12]
    assert fitted.measures == looks[fitted.best]
    assert fitted.measures["accuracy"] == max(look["accuracy"] for look in looks.values())
    model.eval()
    with torch.no_grad():
        outputs = model(**toy.collate(toy.held_out))
    assert float(outputs["loss"]) == pytest.approx(fitted.measures["loss"], abs=1e-4)
    hits = [int(row.argmax()) == choice.label for row, choice in zip(outputs["logits"], toy.held_out, strict=True)]
    assert np.mean(hits) == pytest.approx(fitted.measures["accuracy"], abs=1e-4)


def test_a_measure_is_the_mean_over_the_examples_that_have_it(toy: Toy, tmp_path: Path) -> None:
    def many(examples: Sequence[Choice], logits: Any) -> list[dict[str, float]]:
        return [{"five or more": len(example.actions)} if len(example.actions) > 4 else {} for example in examples]

    fitted, _ = trained(toy, tmp_path, dataclasses.replace(SCHEDULE, max_updates=1), measures=many)
    counts = [len(example.actions) for example in toy.held_out]
    assert fitted.measures["five or more"] == pytest.approx(np.mean([count for count in counts if count > 4]))


def test_training_stops_when_nothing_better_comes(toy: Toy, tmp_path: Path) -> None:
    schedule = dataclasses.replace(SCHEDULE, learning_rate=1e-12, patience=2, epochs=50)
    fitted, model = trained(toy, tmp_path, schedule)
    assert fitted.updates < 150
    again, read = trained(toy, tmp_path, schedule)
    assert again == fitted
    assert same(model, read)


def test_a_finished_training_is_read_and_not_made_again(toy: Toy, whole: tuple[Path, Fitted, Any]) -> None:
    out, fitted, model = whole
    again = toy.model()
    assert fit(again, toy.training, toy.held_out, dying(toy, 1, killed), SCHEDULE, out) == fitted
    assert same(model, again)


def test_similar_lengths_are_computed_together_in_the_same_updates(toy: Toy, tmp_path: Path) -> None:
    sizes: list[list[int]] = []

    def collate(examples: list[Choice]) -> Mapping[str, Any]:
        sizes.append([len(example.actions) for example in examples])
        return toy.collate(examples)

    schedule = dataclasses.replace(SCHEDULE, max_updates=1)
    fit(toy.model(), toy.training, toy.held_out, collate, schedule, tmp_path, length=lambda one: len(one.actions))
    order = np.random.default_rng((7, 0)).permutation(22)[:8]
    assert [*sizes[0], *sizes[1]] == sorted(len(toy.training[number].actions) for number in order)


def test_at_most_two_checkpoints_are_kept(whole: tuple[Path, Fitted, Any]) -> None:
    assert 1 <= len(list((whole[0] / "checkpoints").iterdir())) <= 2


def test_the_log_tells_every_update_and_the_curves_are_a_picture(whole: tuple[Path, Fitted, Any]) -> None:
    folder = whole[0]
    updates = [row for row in rows(folder) if "loss" in row]
    assert [row["step"] for row in updates] == list(range(1, 10))
    rates = [row["learning_rate"] for row in updates]
    assert rates == pytest.approx([0.05 * (9 - step) / 9 for step in range(9)])
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_loss_of_the_log_is_the_mean_of_an_update(toy: Toy, tmp_path: Path) -> None:
    schedule = Schedule(batch_size=3, accumulate=8, max_updates=1, learning_rate=0.1)
    model = toy.model()
    model.dropout.p = 0.0
    fit(model, toy.training, toy.held_out, toy.collate, schedule, tmp_path)
    plain = toy.model()
    plain.dropout.p = 0.0
    assert rows(tmp_path)[0]["loss"] == pytest.approx(plain(**toy.collate(toy.training))["loss"].item(), abs=1e-4)


def test_another_schedule_in_the_same_folder_is_refused(toy: Toy, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        fit(toy.model(), toy.training, toy.held_out, dying(toy, 1, killed), SCHEDULE, tmp_path, settings=ENCODER)
    with pytest.raises(PlanMismatch, match=r"schedule\.learning_rate: 0\.05 → 0\.1"):
        trained(toy, tmp_path, dataclasses.replace(SCHEDULE, learning_rate=0.1), settings=ENCODER)
    with pytest.raises(PlanMismatch, match=r"settings\.encoder\.layers: 2 → 3"):
        trained(toy, tmp_path, settings={"encoder": {"layers": 3}})


def test_a_folder_with_another_file_of_that_name_is_refused(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(BadRecord, match="no plan of a training"):
        trained(toy, tmp_path)


@pytest.mark.parametrize("empty", ["training", "held_out"])
def test_no_examples_are_refused(toy: Toy, tmp_path: Path, empty: str) -> None:
    with pytest.raises(InvalidSetting, match=r"no (training|held-out) example"):
        trained(dataclasses.replace(toy, **{empty: []}), tmp_path)


@pytest.mark.parametrize("field", ["epochs", "batch_size", "accumulate", "evaluate_every", "patience", "max_updates"])
def test_a_schedule_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(InvalidSetting, match=f"{field}=0"):
        Schedule(**{field: 0})


def test_a_measure_that_is_not_made_cannot_say_what_is_best(toy: Toy, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="accuracy"):
        trained(toy, tmp_path, dataclasses.replace(SCHEDULE, best_by="accuracy"))


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


def test_a_checkpoint_that_would_execute_something_is_refused(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    with pytest.raises(Killed):
        fit(toy.model(), toy.training, toy.held_out, dying(toy, 17, killed), SCHEDULE, out)
    for path in out.rglob("*.pt"):
        path.write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(BadRecord, match="cannot be read"):
        trained(toy, out)
    assert not (tmp_path / "executed").exists()


def test_a_finished_training_without_its_weights_says_what_to_do(toy: Toy, tmp_path: Path) -> None:
    trained(toy, tmp_path)
    for path in (tmp_path / "checkpoints").rglob("model.safetensors"):
        path.write_bytes(b"cut")
    with pytest.raises(BadRecord, match="train again"):
        trained(toy, tmp_path)
