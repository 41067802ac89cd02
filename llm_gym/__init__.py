"""Text worlds as Gymnasium environments, and everything that decides as a policy.

Importing the package registers the environments, policies and wrappers by name; nothing heavy is imported.
"""

from llm_gym import envs, evaluation, policies, wrappers

__version__ = "0.1.0"

envs.register()
policies.register()
wrappers.register()
evaluation.register()

__all__ = ["__version__"]
