"""`python -m llm_gym`: the command line."""

from llm_gym.cli import main

if __name__ == "__main__":
    main()
