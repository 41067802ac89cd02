"""Agents that ask a language model which command is next."""
