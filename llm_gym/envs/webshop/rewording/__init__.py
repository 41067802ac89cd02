"""Goals in people's words for the products of any catalogue: two sets of templates that share no phrase.

`reworded` goals are for training, `reworded_heldout` goals tell whether an expert understands words that it was not
trained on. A goal is a function of the product and the task's id, so that a store needs to hold none of them.
"""

from llm_gym.envs.webshop.rewording.wishes import REWORDED_PER_PRODUCT, can_be_wished
from llm_gym.envs.webshop.rewording.writer import VERSION, reworded_goal

__all__ = ["REWORDED_PER_PRODUCT", "VERSION", "can_be_wished", "reworded_goal"]
