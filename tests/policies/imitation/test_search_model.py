"""Queries of small search models that have learned nothing, or one thing by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData, MissingDependency
from llm_gym.policies.imitation.search_checkpoint import SearchSettings
from llm_gym.policies.imitation.search_model import SearchModel, draw_tokens, plain_query, respelled

pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra torch")
pytestmark = pytest.mark.torch

GOAL = "i am looking for a red shoe in size 7.5, and price lower than 40.00 dollars"
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
WORDS = ("red", "shoe", "in", "size", "7", ".", "5", "[", "]", "i", "am", "looking", "for", "a", ",", "##s")
PAD, START, END = 0, 2, 3


def tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    places = {word: at for at, word in enumerate([*SPECIAL.values(), *WORDS])}
    made = Tokenizer(models.WordPiece(places, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", END), ("[CLS]", START))
    made.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=made, **SPECIAL)


def bart(seed: int = 0) -> Any:
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 16))
    }
    config = BartConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        d_model=8,
        max_position_embeddings=24,
        init_std=1.0,
        pad_token_id=PAD,
        bos_token_id=START,
        eos_token_id=END,
        decoder_start_token_id=END,
        forced_eos_token_id=END,
        **sides,
    )
    torch.manual_seed(seed)
    return BartForConditionalGeneration(config)


def joined_encoder() -> Any:
    """An encoder that is joined with itself as the decoder."""
    import torch
    from transformers import BertConfig, BertLMHeadModel, BertModel, EncoderDecoderModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = {"vocab_size": len(SPECIAL) + len(WORDS), "max_position_embeddings": 24, **sizes}
    torch.manual_seed(0)
    encoder, decoder = BertConfig(**config), BertConfig(**config, is_decoder=True, add_cross_attention=True)
    model = EncoderDecoderModel(encoder=BertModel(encoder), decoder=BertLMHeadModel(decoder))
    for name, value in (("decoder_start_token_id", START), ("eos_token_id", END), ("pad_token_id", PAD)):
        setattr(model.config, name, value)
        setattr(model.generation_config, name, value)
    return model


def searcher(model: Any = None, **settings: int) -> SearchModel:
    read = SearchSettings(**{"goal_tokens": 24, "query_tokens": 6, **settings})
    return SearchModel(model or bart(), tokenizer(), read)


class Writes:
    """Stands for a model whose beams are these pieces, with these scores."""

    def __init__(self, *beams: tuple[str, float]) -> None:
        self.beams = beams
        self.config = self.generation_config = SimpleNamespace(
            decoder_start_token_id=END, eos_token_id=END, pad_token_id=PAD
        )

    def eval(self) -> Writes:
        return self

    def generate(self, **asked: Any) -> Any:
        import torch

        rows = [torch.tensor([*tokenizer().convert_tokens_to_ids(pieces.split()), END]) for pieces, _ in self.beams]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        return SimpleNamespace(sequences=padded, sequences_scores=torch.tensor([score for _, score in self.beams]))


def only(pieces: str) -> SearchModel:
    return searcher(Writes((pieces, -1.0)))


# -- queries -----------------------------------------------------------------------------------------------------


def test_the_probability_is_the_softmax_of_the_mean_log_probability_of_a_query() -> None:
    import torch

    model = searcher(bart(3))
    found = model.queries(GOAL, 5)
    goal = model.tokenizer("i am looking for a red shoe in size 7.5", return_tensors="pt")
    scores = []
    for query, _ in found:
        labels = torch.tensor([model.tokenizer.encode(query, add_special_tokens=False)])
        assert labels.shape[1] == 5, "these random weights write five words, and end where they must"
        labels = torch.cat([labels, torch.tensor([[END]])], dim=1)
        with torch.inference_mode():
            out = model.model(input_ids=goal["input_ids"], attention_mask=goal["attention_mask"], labels=labels)
        steps = torch.log_softmax(out.logits[0], dim=-1)
        chosen = steps[range(5), labels[0, :5]]
        scores.append(float(chosen.sum()) / 6)  # the last token is forced, so it costs nothing
    shares = np.exp(scores) / np.exp(scores).sum()
    assert [share for _, share in found] == pytest.approx(shares, abs=1e-4)


@pytest.mark.parametrize("made", [bart, joined_encoder])
def test_queries_are_different_and_the_best_comes_first(made: Callable[[], Any]) -> None:
    found = searcher(made()).queries(GOAL, 5)
    shares = [share for _, share in found]
    assert 1 <= len(found) <= 5
    assert len({query for query, _ in found}) == len(found)
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)


def test_fewer_queries_are_the_first_of_more() -> None:
    model = searcher()
    assert model.queries(GOAL, 2) == model.queries(GOAL, 5)[:2]
    assert model.best(GOAL) == model.queries(GOAL, 5)[0][0]


def test_the_price_and_the_headings_of_the_page_do_not_matter() -> None:
    model = searcher()
    page = f"WebShop\nInstruction: \n{GOAL.upper()}\n[button] Search [button_]"
    assert model.queries(page) == model.queries(GOAL) == model.queries(GOAL.partition(", and price")[0])


def test_nothing_is_replaced_by_the_goal_without_its_opening() -> None:
    model = searcher(Writes(("", 0.0), ("shoe", float(np.log(3)))))
    assert model.queries("i am looking for a red shoe") == [
        ("shoe", pytest.approx(0.75)),
        ("red shoe", pytest.approx(0.25)),
    ]
    assert only("").queries("") == [("product", 1.0)]


def test_a_draw_of_nothing_is_replaced_as_well() -> None:
    model = bart()
    model.final_logits_bias[0, END] = 1e6
    assert searcher(model).sampled("i am looking for a red shoe", np.random.default_rng(0), 2) == ["red shoe"] * 2


def test_beams_with_the_same_query_count_together() -> None:
    model = searcher(Writes(("red shoe", 0.0), ("shoe", 0.0), ("red shoe [PAD]", 0.0)))
    assert model.queries("a shoe") == [("red shoe", pytest.approx(2 / 3)), ("shoe", pytest.approx(1 / 3))]


def test_words_are_spelled_as_in_the_goal() -> None:
    assert tokenizer().decode(tokenizer().encode("size 7.5", add_special_tokens=False)) == "size 7. 5"
    assert only("red 7 . 5").best("a red shoe in size 7.5") == "red 7.5"


def test_a_word_without_its_beginning_is_made_whole() -> None:
    assert only("##s red").best("two red shoes") == "shoes red"


def test_brackets_never_come_into_a_query() -> None:
    assert only("red [ shoe ]").best("a shoe") == "red shoe"


def test_a_very_long_goal_is_read_as_far_as_the_model_reads() -> None:
    model = searcher()
    long = " ".join(["red shoe in size"] * 12_500)
    assert model.queries(long) == model.queries(" ".join(["red shoe in size"] * 6))
    assert len(only("").best(long).split()) == 6


def test_threads_find_what_one_finds() -> None:
    model, fresh = searcher(), searcher()
    goals = [f"a {word} shoe in size {size}" for word in WORDS[:4] for size in ("7", "5")] * 3
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(model.queries, goals)) == [fresh.queries(goal) for goal in goals]


def test_one_of_the_best_is_drawn_with_the_same_chance() -> None:
    model = searcher()
    among = [query for query, _ in model.queries(GOAL, 3)]
    rng = np.random.default_rng(0)
    drawn = [model.uniform(GOAL, rng, 3) for _ in range(600)]
    assert {query: drawn.count(query) / 600 for query in among} == pytest.approx(
        dict.fromkeys(among, 1 / len(among)), abs=0.07
    )


# -- drawing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [bart, joined_encoder])
def test_the_same_stream_draws_the_same_queries(made: Callable[[], Any]) -> None:
    model = searcher(made())
    first = model.sampled(GOAL, np.random.default_rng(5), 4)
    assert first == model.sampled(GOAL, np.random.default_rng(5), 4)
    assert first != model.sampled(GOAL, np.random.default_rng(6), 4)
    assert len(first) == 4


def test_drawing_among_one_token_writes_the_most_probable_ones() -> None:
    model = searcher()
    assert len(set(model.sampled(GOAL, np.random.default_rng(0), 3, top_k=1))) == 1


def test_tokens_are_drawn_in_proportion_to_their_probability() -> None:
    logits = np.log(np.tile([0.5, 0.3, 0.2], (20_000, 1)))
    shares = np.bincount(draw_tokens(logits, np.random.default_rng(0), 0)) / 20_000
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.02)
    best = np.bincount(draw_tokens(logits, np.random.default_rng(0), 2), minlength=3) / 20_000
    assert best == pytest.approx([0.625, 0.375, 0.0], abs=0.02)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"top_k": -1}, {"temperature": 0.0}])
def test_impossible_ways_of_drawing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match="takes k of 1 at least"):
        searcher().sampled(GOAL, np.random.default_rng(0), **wrong)


def test_at_least_one_query_is_asked_for() -> None:
    with pytest.raises(InvalidSetting, match="k must be 1 query at least, got 0"):
        searcher().queries(GOAL, 0)


# -- folders -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    searcher().save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("made", [bart, joined_encoder])
def test_a_saved_model_writes_the_same_queries(made: Callable[[], Any], tmp_path: Path) -> None:
    model = searcher(made(), beams=3)
    model.save(tmp_path / "model")
    loaded = SearchModel.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.queries(GOAL) == model.queries(GOAL)


def test_tied_weights_are_stored_once(folder: Path) -> None:
    from safetensors.numpy import load_file

    vectors = [name for name, values in load_file(folder / "model.safetensors").items() if values.shape == (20, 8)]
    assert len(vectors) == 1


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_smaller_weights_are_near_the_whole_ones(precision: Any, tmp_path: Path) -> None:
    model = searcher()
    model.save(tmp_path / "model", precision)
    loaded = SearchModel.from_pretrained(tmp_path / "model").model.state_dict()
    for name, values in model.model.state_dict().items():
        assert loaded[name].numpy() == pytest.approx(values.numpy(), abs=0.02)


def test_a_folder_of_transformers_is_read(tmp_path: Path) -> None:
    model = bart()
    model.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    loaded = SearchModel.from_pretrained(tmp_path)
    assert loaded.settings == SearchSettings()
    short = SearchModel(loaded.model, loaded.tokenizer, SearchSettings(24, 6))
    assert short.queries(GOAL) == searcher().queries(GOAL)


def edited(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda c: c.update(kind="webshop-choice"), DataMismatch, "webshop-choice"),
        (lambda c: c.update(format=7), DataMismatch, "format 7"),
        (lambda c: c["model"].update(model_type="nonsense"), BadRecord, "no sequence-to-sequence model"),
        (lambda c: c["model"].update(model_type="bert"), BadRecord, "no sequence-to-sequence model"),
        (lambda c: c["model"].update(d_model="wide"), BadRecord, "no sequence-to-sequence model"),
        (lambda c: c["model"].update(d_model=16), DataMismatch, "do not fit"),
        (lambda c: c.update(model=[]), BadRecord, '"model" should be an object'),
        (lambda c: c["settings"].update(beams=0), BadRecord, "beams .* got 0"),
        (lambda c: c["settings"].update(depth=3), BadRecord, "depth"),
        (lambda c: c["generation"].update(eos_token_id="x"), BadRecord, "eos_token_id"),
        (lambda c: c["generation"].update(max_length=1), BadRecord, "max_length"),
        (lambda c: c["special_tokens"].update(chat_template="x"), BadRecord, "special_tokens"),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_told(
    folder: Path, change: Callable[[dict[str, Any]], None], error: type[LLMGymError], told: str
) -> None:
    with pytest.raises(error, match=told):
        SearchModel.from_pretrained(edited(folder, change))


def test_code_that_a_configuration_names_is_never_run(folder: Path, tmp_path: Path) -> None:
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\nclass Evil: pass\n")
    edited(folder, lambda c: c["model"].update(auto_map={"AutoModelForSeq2SeqLM": "evil.Evil"}))
    SearchModel.from_pretrained(folder)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_truncated_file_is_told(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(BadRecord, match="model"):
        SearchModel.from_pretrained(folder)


def test_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is not a folder"):
        SearchModel.from_pretrained(tmp_path / "nothing")
    (tmp_path / "config.json").write_text('{"kind": "webshop-search"}')
    with pytest.raises(MissingData, match="has no tokenizer"):
        SearchModel.from_pretrained(tmp_path)


def test_a_model_that_only_encodes_is_told(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=8, **sizes)).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    with pytest.raises(MissingData, match="no sequence-to-sequence model"):
        SearchModel.from_pretrained(tmp_path)


def test_without_torch_the_pip_line_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_gym.extras.installed", lambda module: False)
    with pytest.raises(MissingDependency, match=r"llm-gym\[torch\]"):
        SearchModel.from_pretrained(folder)


# -- texts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "spellings", "expected"),
    [
        ("7. 5 shoe", {"7. 5": "7.5"}, "7.5 shoe"),
        ("27. 5", {"7. 5": "7.5"}, "27. 5"),
        ("1 / 4 zip 1 /", {"1 / 4": "1/4", "1 /": "1/"}, "1/4 zip 1/"),
        ("shoe", {}, "shoe"),
    ],
)
def test_only_whole_words_are_respelled(query: str, spellings: dict[str, str], expected: str) -> None:
    assert respelled(query, spellings) == expected


def test_a_plain_query_has_so_many_words_at_most() -> None:
    assert plain_query("i need a red wool shoe", 2) == "red wool"
