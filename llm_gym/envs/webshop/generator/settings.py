"""Every knob of the invented catalogue, and the two presets that ship with the library.

The defaults are tuned so that scripted shoppers fare as they do in the original shop: the official 1,000 products
(titles, options, prices, texts) and the 12,087 human instructions were measured, and the numbers below follow them.
"""

from dataclasses import dataclass

from llm_gym.envs.webshop.generator.vocabulary import CATEGORIES


@dataclass(frozen=True)
class CatalogueSettings:
    """What to invent. Equal settings give equal bytes, on any machine."""

    name: str = "standard"  # part of the catalogue's name, which every result shows

    # -- size and structure
    products: int = 1200  # all products, odd ones included; the vocabulary serves 100,000 and more
    seed: int = 12  # everything random hangs on it
    queries: int = 43  # how many product families ("queries") are used, at most 47; fewer means denser competition
    odd_products: int = 50  # products whose query occurs once, like the long tail of a real shop
    query_skew: float = 0.45  # log-scale spread of the number of products per query
    kind_weights: tuple[float, ...] = (0.45, 0.30, 0.16, 0.09)  # share of a query's kinds, first kind first
    misplaced: float = 0.05  # share filed under a wrong query
    without_chain: float = 0.02  # share with an empty `product_category`
    family_products: float = 0.15  # share that comes as 2-4 siblings of one brand with near-equal titles
    shared_brand: float = 0.05  # share that uses a brand other products of the same query use too

    # -- hidden attributes
    own_pool: int = 14  # attributes of a query that no other query has
    shared_pool: int = 5  # attributes a query takes from its category
    zipf_slope: float = 1.15  # steepness of attribute frequency inside a pool
    extra_attributes: tuple[float, ...] = (0.5, 0.9, 1.6, 3.4, 0.3)  # mean beyond the first two, by category
    title_place: float = 0.27  # where an attribute is written first; the rest (`absent_place`) is nowhere
    first_bullet_place: float = 0.19
    later_bullet_place: float = 0.35
    description_place: float = 0.03
    variant_place: float = 0.08  # hyphenated or inflected, in a bullet
    apart_place: float = 0.06  # both words, not adjacent, in a bullet
    absent_place: float = 0.02
    repeat_mention: float = 0.4  # a title attribute is said again in a bullet

    # -- titles
    kind_words: float = 0.22  # share of filling words that come from the kind
    query_words: float = 0.24  # ... from the query; these make siblings look alike
    title_length: float = 1.0  # factor on the mean number of words of each category

    # -- texts, prices, options
    bullet_chatter: float = 1.1  # mean number of sentences about other things and colours, in each of two bullets
    description_chatter: float = 2.9  # ... and in a description: the noise in which search has to find its words
    keyword_lists: float = 0.12  # share of texts that end in a plain list of search words
    empty_description: float = 0.32
    glued_sentences: float = 0.41  # share of descriptions with no space between sentences
    price_spread: float = 0.7  # standard deviation of the log price inside a query
    missing_price: float = 0.09
    ranged_price: float = 0.68  # fashion with options only
    options_on_goal_products: float = 0.80
    options_elsewhere: float = 0.12
    two_groups: float = 0.55  # of products with options

    # -- goals
    goal_products: float = 0.83  # share of products that carry goals, with two or more attributes
    several_goals: float = 0.24  # of those: two to four goals
    synthetic_instructions: float = 0.40  # share of products with a template instruction ("Find me ...")
    goal_attributes: tuple[float, ...] = (0.68, 0.26, 0.06)  # one, two, three
    goal_options: tuple[float, ...] = (0.0, 0.66, 0.32, 0.02)  # none to three, on products with options
    attribute_forms: tuple[float, ...] = (0.79, 0.08, 0.02, 0.02, 0.03, 0.03, 0.03)  # see `AttributeForm`
    option_forms: tuple[float, ...] = (0.60, 0.19, 0.05, 0.04, 0.03, 0.05, 0.04)  # see `OptionForm`
    type_forms: tuple[float, ...] = (0.62, 0.15, 0.06, 0.09, 0.05, 0.03)  # see `TypeForm`
    short_type: float = 0.85  # only the last word of the product type is said
    title_words: tuple[float, ...] = (0.62, 0.25, 0.13)  # none, one, two more words of the title in the instruction
    loose_words: float = 0.8  # share of those words that merely suit the kind, whether the title has them or not
    own_purpose: float = 0.35  # the shopper says what it is for, which the product need not say
    brand_named: float = 0.08
    title_copied: float = 0.03
    plain_wording: float = 0.80  # of goals with one attribute and no option: the shortest possible text
    second_sentence: float = 0.30  # of options: said in a sentence of its own
    full_stop: float = 0.70
    typos: float = 0.06
    broken_grammar: float = 0.06

    def __post_init__(self) -> None:
        if self.products < 1:
            raise ValueError(f"products must be at least 1, got {self.products}")
        if not 1 <= self.queries <= 47:
            raise ValueError(f"queries must lie between 1 and 47, got {self.queries}")
        if len(self.extra_attributes) != len(CATEGORIES):
            raise ValueError(f"extra_attributes needs one mean for each of {CATEGORIES}")


STANDARD = CatalogueSettings()

# Fewer queries, so more rivals for each target; less of each product is indexed, and shoppers paraphrase more.
HARD = CatalogueSettings(
    name="hard",
    seed=11,
    queries=28,
    own_pool=11,
    title_place=0.22,
    first_bullet_place=0.13,
    later_bullet_place=0.46,
    attribute_forms=(0.68, 0.09, 0.03, 0.04, 0.04, 0.10, 0.02),
    option_forms=(0.50, 0.26, 0.07, 0.05, 0.04, 0.05, 0.03),
    type_forms=(0.50, 0.20, 0.08, 0.12, 0.07, 0.03),
    brand_named=0.05,
)
