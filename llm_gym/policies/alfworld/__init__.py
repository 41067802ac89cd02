"""An expert of ALFWorld that sees what an agent sees."""
