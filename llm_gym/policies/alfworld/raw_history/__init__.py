"""A student that reads the bare history: what was done and what was seen, in order, and no belief made of it."""
