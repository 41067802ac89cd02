"""Simple pictures of invented products, drawn from what the products are: the photographs that an invented shop lacks.

`look_of` reads a product into a `Look`; `draw` draws one; `picture_of` does both. As a photograph does, a picture shows
the kind of thing, its colour, pattern, material and visible parts, also where the texts say nothing of them, and
nothing of its price, sizes or uses. Equal products have equal pictures on every machine.
"""

from llm_gym.envs.webshop.pictures.drawing import SIZE, Picture, as_png, draw, picture_of
from llm_gym.envs.webshop.pictures.look import Look, look_of

__all__ = ["SIZE", "Look", "Picture", "as_png", "draw", "look_of", "picture_of"]
