"""How long a student is taught, by whom its games are played, and when it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from llm_gym.errors import InvalidSetting


@dataclass(frozen=True, kw_only=True)
class DaggerSchedule:
    """A round is a number of games that are played side by side from beginning to end."""

    rounds: int
    games: int
    """Of a round; each is another one until all were played."""
    steps: int = 50
    """Commands after which a game is given up."""
    assistance: tuple[float, float] = (1.0, 0.01)
    """Chance that the teacher's command is played instead of the student's, in the first round and after annealing."""
    annealed: float = 0.5
    """Share of the rounds in which it falls, in a line, from the one to the other."""
    random: float = 0.0
    """Chance that a random command is played."""
    learn_every: int = 1
    """Parallel steps between two times of learning."""
    updates: int = 1
    """Of each time."""
    look_every: int = 10
    """Rounds between two looks at the held-out games, each with a checkpoint."""
    looked_at: int = 70
    """Held-out games of a look, the first of their panel."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises InvalidSetting, with the names of the fields whose values cannot work."""
        counts = ("rounds", "games", "steps", "learn_every", "updates", "look_every", "looked_at")
        wrong = [f"{name}={getattr(self, name)} (must be 1 or more)" for name in counts if getattr(self, name) < 1]
        shares = {"assistance": self.assistance, "annealed": (self.annealed,), "random": (self.random,)}
        wrong += [
            f"{name}={value} (must be from 0 to 1)"
            for name, values in shares.items()
            for value in values
            if not 0 <= value <= 1
        ]
        if wrong:
            raise InvalidSetting(f"Nothing can be taught with {', '.join(wrong)}.")

    def assistance_in(self, number: int) -> float:
        """Chance that the teacher plays, in a round.

        >>> schedule = DaggerSchedule(rounds=10, games=1, assistance=(1.0, 0.2), annealed=0.4)
        >>> [round(schedule.assistance_in(number), 3) for number in (0, 1, 2, 4, 9)]
        [1.0, 0.8, 0.6, 0.2, 0.2]
        """
        first, last = self.assistance
        passed = number / (self.annealed * self.rounds) if self.annealed else 1.0
        return first + (last - first) * min(1.0, passed)
