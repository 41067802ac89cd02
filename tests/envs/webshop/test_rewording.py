"""Goals in people's words for the products of any catalogue."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from llm_gym.envs.webshop.catalogue import EMBEDDED, Catalogue
from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.goals import (
    REWORDED_KINDS,
    RewordedKind,
    fixed_limit,
    fixed_price,
    parse_task_id,
    task_id,
)
from llm_gym.envs.webshop.panels import GOALS_PER_PRODUCT, GoalTable, product_fraction
from llm_gym.envs.webshop.product import NO_ATTRIBUTE, HumanInstruction, Product
from llm_gym.envs.webshop.reward import purchase_reward
from llm_gym.envs.webshop.rewording import REWORDED_PER_PRODUCT, reworded_goal
from llm_gym.envs.webshop.rewording.held_out import HELD_OUT
from llm_gym.envs.webshop.rewording.roles import flavour_of, role_of
from llm_gym.envs.webshop.rewording.training import TRAINING
from llm_gym.envs.webshop.rewording.wishes import draw_wish, obtainable
from llm_gym.errors import InvalidSetting


def product(**changes: object) -> Product:
    settings: dict[str, object] = {
        "asin": "B000000001",
        "title": "Acme Tunic Long Sleeve Top",
        "description": "",
        "bullets": (),
        "pricing": (20.0,),
        "options": {"color": ("red", "z2-dark blue"), "size": ("small", "x-large")},
        "option_images": {},
        "attributes": ("long sleeve", "machine wash", "easy clean"),
        "main_image": "",
        "category": "fashion",
        "query": "women's tops, tees & blouses",
        "product_category": "Clothing › Women",
        "title_nouns": ("acme", "tunic", "sleeve", "top"),
    }
    return Product(**{**settings, **changes})  # type: ignore[arg-type]


def unmet(catalogue: Catalogue, kind: RewordedKind) -> Iterator[str]:
    """Tasks whose own product with the wanted options, by any choice of groups, earns less than 1."""
    table = catalogue.goals(kind)
    for owner, ordinal in zip(table.owners.tolist(), table.ordinals.tolist(), strict=True):
        target = product_at(catalogue, owner)
        identity = task_id(target.asin, kind, ordinal)
        goal = reworded_goal(target, kind, ordinal, fixed_limit(target, identity))
        wanted = [value for value in goal.options if isinstance(value, str)]
        assert len(wanted) == len(goal.options), "options are plain strings, as in human goals"
        chosen = {name: value for value in wanted for name, values in target.options.items() if value in values}
        reward = purchase_reward(target, goal, fixed_price(target), chosen).reward
        if len(chosen) != len(wanted) or reward != 1.0:
            yield identity


@lru_cache(maxsize=1)
def product_at(catalogue: Catalogue, position: int) -> Product:
    return catalogue.store.product(position)


# -- templates ---------------------------------------------------------------------------------------------------


def test_no_phrase_of_the_training_set_occurs_in_the_held_out_set() -> None:
    frames = [phrase for phrase in TRAINING.phrases() if "{x}" in phrase]
    assert len(frames) > 50
    shared = [(one, other) for one in frames for other in HELD_OUT.phrases() if f" {one} " in f" {other} "]
    assert not shared
    assert not {*TRAINING.phrases()} & {*HELD_OUT.phrases()}


def test_no_opening_of_one_set_begins_like_one_of_the_other() -> None:
    training = [opening for opening, _ in TRAINING.openings]
    held_out = [opening for opening, _ in HELD_OUT.openings if opening]
    assert all(f"{one} ".startswith(f"{other} ") is False for one in held_out for other in training)
    assert all(f"{one} ".startswith(f"{other} ") is False for one in training for other in held_out)


def test_no_change_of_a_phrase_is_made_alike_in_both_sets() -> None:
    attributes = ("easy clean", "gluten free", "slip resistant", "rubber soles", "long sleeve")
    values = ("z2-dark blue", "12 ounce (pack of 2)", "pack of 3", "xx-large", "8 x 10 inches", "red | white")

    def changes(forms: object, phrases: tuple[str, ...]) -> set[str]:
        said = {form(phrase) for form, _ in forms for phrase in phrases}  # type: ignore[attr-defined]
        return said - {*phrases, ""}

    assert not changes(TRAINING.attribute_forms, attributes) & changes(HELD_OUT.attribute_forms, attributes)
    # Both may leave a bracket or a code away: there is but one way to do that.
    common = changes(TRAINING.option_forms, values) & changes(HELD_OUT.option_forms, values)
    assert common <= {"12 ounce", "dark blue"}


@pytest.mark.parametrize("templates", [TRAINING, HELD_OUT])
def test_shares_of_forms_are_those_that_were_measured(templates: object) -> None:
    shares = [weight for _, weight in templates.attribute_forms]  # type: ignore[attr-defined]
    assert (sum(shares), shares[0]) == (100, 79)
    shares = [weight for _, weight in templates.option_forms]  # type: ignore[attr-defined]
    assert (sum(shares), shares[:2]) == (100, [62, 18])


@pytest.mark.parametrize(
    ("attribute", "role"),
    [
        ("easy install", "ease"),
        ("non slip", "quality"),
        ("wall mounted", "quality"),
        ("long lasting", "quality"),
        ("stainless steel", "material"),
        ("hair growth", "purpose"),
        ("usb port", "part"),
        ("vegan", "quality"),
    ],
)
def test_role_of_an_attribute_is_guessed_from_its_words(attribute: str, role: str) -> None:
    assert role_of(attribute) == role


def test_flavour_of_an_option_is_guessed_from_its_name_and_value() -> None:
    assert flavour_of("flavor name", "mint") == "taste"
    assert flavour_of("scent", "rose") == "scent"
    assert flavour_of("size", "x-large") == "size"
    assert flavour_of("number of items", "3 pcs") == "pack"
    assert flavour_of("pattern name", "dots") == "style"


# -- goals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REWORDED_KINDS)
def test_own_product_with_own_options_earns_1_in_every_goal_of_the_embedded_catalogue(kind: RewordedKind) -> None:
    assert not list(unmet(Catalogue.open(), kind))


@pytest.mark.data
@pytest.mark.parametrize("kind", REWORDED_KINDS)
def test_own_product_with_own_options_earns_1_in_every_goal_of_the_official_products(
    kind: RewordedKind, webshop_folder: Path
) -> None:
    catalogue = Catalogue.open(webshop_folder)
    assert len(catalogue.goals(kind)) == 815 * REWORDED_PER_PRODUCT  # 18.5 % of the 1,000 products have no attribute
    assert not list(unmet(catalogue, kind))


@pytest.mark.parametrize("kind", REWORDED_KINDS)
def test_solution_is_a_success(kind: RewordedKind) -> None:
    world = WebShop(goals=kind)
    for identity in world.panel[:40]:
        world.reset(options={"task": identity})
        for action in world.solution():
            *_, info = world.step(action)
            assert "invalid_action" not in info
        assert info["success"], identity


def test_values_that_a_shopper_cannot_get_are_not_wanted() -> None:
    options = {"color": ("search", "features", "!!", "red", "red", "large", "é"), "size": ("large", "small")}
    assert obtainable(product(options=options), "color") == ["red"]  # `large` is in both groups
    assert obtainable(product(options=options), "size") == ["small"]


def test_attributes_that_say_nothing_are_not_wanted() -> None:
    one = product(attributes=(NO_ATTRIBUTE, "??", "long sleeve", "long sleeve"))
    assert {draw_wish(one, Dice(seed)).attributes for seed in range(50)} == {("long sleeve",)}


def test_wishes_have_the_numbers_of_attributes_and_options_of_people() -> None:
    wishes = [draw_wish(product(), Dice(seed)) for seed in range(4000)]
    attributes = Counter(len(wish.attributes) for wish in wishes)
    options = Counter(len(wish.options) for wish in wishes)
    assert attributes[1] / 4000 == pytest.approx(0.68, abs=0.03)
    assert attributes[2] / 4000 == pytest.approx(0.26, abs=0.03)
    assert options[0] / 4000 == pytest.approx(0.20, abs=0.03)
    assert options[1] / 4000 == pytest.approx(0.52, abs=0.03)
    assert options[2] / 4000 == pytest.approx(0.28, abs=0.03)  # only two groups: three of them are two
    assert all(len({name for name, _ in wish.options}) == len(wish.options) for wish in wishes)


def test_goals_of_a_product_differ_and_both_sets_wish_independently() -> None:
    goals = [reworded_goal(product(), kind, number, 40.0) for kind in REWORDED_KINDS for number in range(6)]
    assert len({goal.instruction for goal in goals}) == 12
    assert all(goal.instruction.endswith(", and price lower than 40.00 dollars") for goal in goals)
    assert [goal.task_id for goal in goals[::6]] == ["B000000001.r0", "B000000001.u0"]


def test_a_goal_is_the_same_in_another_process() -> None:
    world = WebShop(goals="reworded")
    world.reset(options={"task": world.panel[0]})
    script = (
        "from llm_gym.envs.webshop.env import WebShop\n"
        "world = WebShop(goals='reworded')\n"
        "world.reset(options={'task': world.panel[0]})\n"
        "print(world.goal.instruction)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert printed.stdout.strip() == world.goal.instruction.strip()


def test_texts_change_only_with_their_version() -> None:
    """A change here needs another `rewording.VERSION`: the same ids would say something else."""
    texts = [reworded_goal(product(), kind, number, 40.0).instruction for kind in REWORDED_KINDS for number in range(6)]
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16] == "53694a13213b4958"


@pytest.mark.parametrize(
    "changes",
    [
        {"query": ""},
        {"query": "(x)"},
        {"title_nouns": ()},
        {"options": {}},
        {"options": {"color": ()}},
        {"attributes": ("vegan",)},
        {"attributes": ("{x} in {y}",), "options": {"size": ("{x}", "{0}", "%s")}},
        {"options": {"": ("[wide]",), "größe": ("groß", "日本")}},
        {"human": (HumanInstruction("a", ("b",), ()),)},
    ],
)
def test_unusual_products_have_goals_too(changes: dict[str, object]) -> None:
    for kind in REWORDED_KINDS:
        for number in range(30):
            goal = reworded_goal(product(**changes), kind, number, 40.0)
            assert goal.attributes
            assert goal.query_text


# -- tables and panels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REWORDED_KINDS)
def test_every_product_with_an_attribute_has_the_same_number_of_goals(kind: RewordedKind) -> None:
    catalogue = Catalogue.open(EMBEDDED)
    products = [catalogue.store.product(position) for position in range(catalogue.size)]
    carriers = [position for position, one in enumerate(products) if {*one.attributes} - {NO_ATTRIBUTE}]
    table = catalogue.goals(kind)
    assert table.owners.tolist() == [position for position in carriers for _ in range(REWORDED_PER_PRODUCT)]
    assert table.ordinals.tolist() == list(range(REWORDED_PER_PRODUCT)) * len(carriers)
    assert sorted(table.order.tolist()) == list(range(len(table)))


def test_goals_of_the_first_products_are_a_part_of_all_goals() -> None:
    few, every = (Catalogue.open(num_products=number).goals("reworded") for number in (100, None))
    assert 0 < len(few) < len(every)
    assert all(few.task_id(goal) == every.task_id(goal) for goal in range(len(few)))


@pytest.mark.parametrize("kind", REWORDED_KINDS)
def test_ids_are_found_and_others_are_not(kind: RewordedKind) -> None:
    table = Catalogue.open().goals(kind)
    for goal in (0, 7, len(table) - 1):
        assert table.find(table.task_id(goal)) == goal
    asin = table.asin(0)
    assert parse_task_id(task_id(asin, kind, 3)) == (asin, kind, 3)
    for wrong in (task_id(asin, kind, REWORDED_PER_PRODUCT), f"{asin}.h0", f"{asin}.x0", "nothing", None):
        assert table.find(wrong) is None


@pytest.mark.data
@pytest.mark.parametrize("kind", ["synthetic", *REWORDED_KINDS])
def test_panels_for_validation_part_the_products_of_the_official_files(kind: str, webshop_folder: Path) -> None:
    bounds = {
        "train_products": (0.3, 1),
        "heldout_products": (0, 0.3),
        "training_products": (0.4, 1),
        "validation_products": (0.3, 0.4),
    }
    parts: dict[str, set[str]] = {}
    for split, (low, high) in bounds.items():
        panel = WebShop(webshop_folder, goals=kind, split=split).panel  # type: ignore[arg-type]
        owners = Counter(identity.rpartition(".")[0] for identity in panel)
        assert max(owners.values()) <= GOALS_PER_PRODUCT
        assert all(low <= product_fraction(asin) < high for asin in owners)
        parts[split] = set(panel)
    # Within a product the panels take the same goals, so that parts of a part add up.
    assert parts["training_products"] | parts["validation_products"] == parts["train_products"]
    assert not parts["training_products"] & parts["validation_products"]
    assert not parts["train_products"] & parts["heldout_products"]


def test_a_table_of_millions_of_goals_needs_no_product() -> None:
    """The attribute groups of the store are enough: nothing else of this one can be read."""

    class Groups:
        names = (NO_ATTRIBUTE, "long sleeve", "machine wash")
        starts = np.array([0, 1, 500_000, 1_000_000])
        members = np.arange(1_000_000, dtype=np.int32)

    class Store:
        def groups(self, field: str) -> Groups:
            assert field == "attributes"
            return Groups()

        def __len__(self) -> int:
            return 1_200_000

    table = GoalTable.of(Store(), "reworded", 1_200_000)  # type: ignore[arg-type]
    assert len(table) == 999_999 * REWORDED_PER_PRODUCT
    assert (table.owners[0], table.owners[-1], table.ordinals[-1]) == (1, 999_999, 5)


def test_the_original_refuses_goals_that_it_does_not_have() -> None:
    with pytest.raises(InvalidSetting, match=r"The original has no reworded goals: play them in WebShop-v1\."):
        WebShopV0(goals="reworded")


def test_description_names_the_version_of_the_texts_only_where_there_are_any() -> None:
    assert WebShop(goals="reworded").description()["rewording"] == 1
    assert "rewording" not in WebShop().description()


def test_reset_without_a_task_draws_every_goal_alike() -> None:
    world = WebShop(goals="reworded_heldout", num_products=3, split="all")
    drawn = Counter(world.reset(seed=seed)[1]["task_id"] for seed in range(600))
    assert set(drawn) == set(world.panel)
    assert min(drawn.values()) > 600 / len(world.panel) / 3
