"""What came of decisions: discounted rewards until the end of an episode, or until the end of what was played."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def discounted(rewards: Floats, ended: npt.NDArray[np.bool_], beyond: Floats, discount: float) -> Floats:
    """The return of each decision: R_t = r_t + γ·R_{t+1}, where nothing follows the end of an episode.

    Axes: T steps, N environments.

    Args:
        rewards: (T, N); where an episode was cut off, with the discounted value of the state that it had reached.
        ended: (T, N), True where the next step belongs to another episode.
        beyond: (N,), the value of the state after the last step.
        discount: γ.

    Returns:
        (T, N).
    """
    returns = np.empty_like(rewards)
    following = beyond
    for step in reversed(range(len(rewards))):
        following = rewards[step] + discount * np.where(ended[step], 0.0, following)
        returns[step] = following
    return returns
