"""The matching expert: trees over how well instruction, page and action agree."""
