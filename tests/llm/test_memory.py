"""What is remembered, and what comes back to mind."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.errors import EndpointDown, InvalidSetting, UnusableAnswer
from llm_gym.llm import EndpointEmbedder, HashingEmbedder, Message, VectorMemory, WindowMemory


class Flat:
    """Points of a plane: `3,4` is (3, 4)."""

    asked: list[list[str]]

    def __init__(self) -> None:
        self.asked = []

    def settings(self) -> dict[str, Any]:
        return {"embedder": "flat"}

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        return np.array([[float(number) for number in text.split(",")] for text in texts])


def test_a_window_holds_the_last_messages() -> None:
    memory = WindowMemory(2)
    for text in "abc":
        memory.add(Message("user", text))
    assert [message.content for message in memory.messages] == ["b", "c"]
    memory.clear()
    assert memory.messages == ()


def test_a_window_of_nothing_holds_nothing() -> None:
    memory = WindowMemory(0)
    memory.add(Message("user", "a"))
    assert memory.messages == ()
    with pytest.raises(InvalidSetting, match="0 or more"):
        WindowMemory(-1)


def test_the_smallest_angle_and_the_smallest_distance_are_different_things() -> None:
    # from (2, 0): (9, 0) has the same direction; (2, 1) is nearer
    def recalled(similarity: Any) -> list[str]:
        memory = VectorMemory(Flat(), similarity)
        for text in ("0,5", "2,1", "9,0"):
            memory.add(text)
        return memory.recall("2,0", k=2)

    assert recalled("cosine") == ["9,0", "2,1"]
    assert recalled("l2") == ["2,1", "0,5"]


def test_equal_memories_come_oldest_first() -> None:
    memory = VectorMemory(Flat())
    for text in ("1,1", "2,0", "3,0", "1,0", "0,0"):
        memory.add(text)
    assert memory.recall("7,0", k=5) == ["2,0", "3,0", "1,0", "1,1", "0,0"]


def test_a_memory_is_embedded_once() -> None:
    flat = Flat()
    memory = VectorMemory(flat)
    memory.add("1,0")
    memory.recall("1,0")
    memory.add("0,1")
    memory.recall("1,0")
    assert flat.asked == [["1,0"], ["1,0"], ["0,1"], ["1,0"]]


def test_the_first_memory_that_finds_no_room_ends_the_list() -> None:
    memory = VectorMemory(Flat())
    for text in ("1,0", "100,1", "1,1"):
        memory.add(text)
    assert memory.recall("1,0", tokens=7, count=len) == ["1,0"]  # 3, then 5 more are 8
    assert memory.recall("1,0", tokens=8, count=len) == ["1,0", "100,1"]
    with pytest.raises(InvalidSetting, match="counts them"):
        memory.recall("1,0", tokens=8)


def test_an_empty_memory_recalls_nothing_and_asks_nobody() -> None:
    flat = Flat()
    memory = VectorMemory(flat)
    assert memory.recall("1,0") == []
    memory.add("1,0")
    memory.clear()
    assert (memory.recall("1,0"), len(memory), flat.asked) == ([], 0, [])


def test_a_memory_that_could_not_be_embedded_is_embedded_later() -> None:
    class Down(Flat):
        def embed(self, texts: Sequence[str]) -> Any:
            if not self.asked:
                self.asked.append([])
                raise EndpointDown("no")
            return super().embed(texts)

    memory = VectorMemory(Down())
    memory.add("1,0")
    with pytest.raises(EndpointDown):
        memory.recall("1,0")
    assert memory.recall("1,0") == ["1,0"]


def test_an_unknown_similarity_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="Did you mean 'cosine'"):
        VectorMemory(similarity="cosin")  # type: ignore[arg-type]


def test_texts_that_share_words_are_nearest_without_a_model() -> None:
    memory = VectorMemory()
    for text in ("You open the fridge 1.", "I searched for red running shoes.", "The mug is on the desk."):
        memory.add(text)
    assert memory.recall("Look for running shoes in red", k=1) == ["I searched for red running shoes."]
    assert memory.recall("where is the mug?", k=1) == ["The mug is on the desk."]
    assert memory.settings() == {"similarity": "cosine", "embedder": "hashing", "dimensions": 1024}


def test_hashed_counts_are_as_worked_out_by_hand() -> None:
    # crc32("ab") = 0x9E83486D: odd, so +1, in box (0x9E83486D >> 1) % 4 = 2; a word of two letters has no triple
    assert HashingEmbedder(4).embed(["ab AB!"]).tolist() == [[0.0, 0.0, 1.0, 0.0]]


@given(st.lists(st.text(max_size=30), max_size=5), st.integers(1, 64))
def test_rows_have_length_one_or_nothing_and_do_not_depend_on_the_others(texts: list[str], dimensions: int) -> None:
    embedder = pickle.loads(pickle.dumps(HashingEmbedder(dimensions)))
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), dimensions)
    lengths = np.linalg.norm(vectors, axis=1)
    assert (np.isclose(lengths, 1.0) | (lengths == 0.0)).all()
    for text, vector in zip(texts, vectors, strict=True):
        assert (embedder.embed([text])[0] == vector).all()


def test_the_embeddings_of_an_endpoint_are_put_in_order(chat_server: Any) -> None:
    rows = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0.5]}]
    chat_server.next({"data": rows})
    embedder = EndpointEmbedder("vectors", chat_server.url, key_variable=None)
    assert embedder.embed(["a", "b"]).tolist() == [[1.0, 0.5], [0.0, 2.0]]
    path, _, body = chat_server.asked[0]
    assert path == "/v1/embeddings"
    assert body == {"model": "vectors", "input": ["a", "b"], "encoding_format": "float"}
    assert embedder.embed([]).shape == (0, 0)
    assert len(chat_server.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": "x"}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [None]}, {"index": 1, "embedding": [1]}]},
        {"data": [[], []]},
    ],
)
def test_what_is_no_embedding_is_said(chat_server: Any, answer: object) -> None:
    chat_server.next(answer)
    with pytest.raises(UnusableAnswer, match="answered"):
        EndpointEmbedder("vectors", chat_server.url, key_variable=None).embed(["a", "b"])
