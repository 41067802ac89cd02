"""What is wrong is told in one sentence on standard error, with exit code 2 and nothing on standard output."""

from __future__ import annotations

import pytest

EVALUATE = ("evaluate", "Corridor-v0", "--policy", "random")

WRONG = [
    (("evalute", "Corridor-v0"), "Unknown command 'evalute'. Did you mean 'evaluate'?"),
    (("evaluate", "corrido-v0", "--policy", "random"), "Unknown environment 'corrido-v0'. Did you mean 'Corridor-v0'?"),
    (("evaluate", "Corrido", "--policy", "random"), "Did you mean 'Corridor-v0'?"),
    (("play", "Webshp-v1"), "Did you mean 'WebShop-v1' or 'WebShop-v0'?"),
    (("evaluate", "CartPole-v1", "--policy", "random"), "has no task panel"),
    (("evaluate", "nowhere.there:X-v0", "--policy", "random"), "nowhere.there cannot be imported"),
    (("evaluate", "Corridor-v0", "--policy", "randm"), "Unknown policy 'randm'. Did you mean 'random'?"),
    (("evaluate", "Corridor-v0", "--policy", "json:JSONDecoder"), "json:JSONDecoder is no policy"),
    (("evaluate", "Corridor-v0", "--policy", "json:JSONDecodr"), "Did you mean 'JSONDecoder'"),
    ((*EVALUATE, "--policy-set", "greedy=true"), "Unknown keyword of random 'greedy'. There are none."),
    (("play", "Corridor-v0", "--policy-set", "ask=print"), "Unknown keyword of human 'ask'."),
    (("evaluate", "WebShop-v1", "--policy", "random", "--set", "splt=dev"), "Did you mean 'split'?"),
    ((*EVALUATE, "--set", "length"), "'length' is not KEY=VALUE: write --set KEY=VALUE."),
    ((*EVALUATE, "--set", "length=four"), "length of Corridor-v0 must be a whole number, got 'four'."),
    ((*EVALUATE, "--set", "length=true"), "length of Corridor-v0 must be a whole number, got 'true'."),
    ((*EVALUATE, "--set", "length=1"), "A corridor needs 2 rooms"),
    ((*EVALUATE, "--set", "length=4", "--set", "length=5"), "--set gives length twice: '4' and '5'."),
    ((*EVALUATE, "--set", "max_episode_steps=0"), "Corridor-v0 cannot be made with these settings"),
    ((*EVALUATE, "--wrapper", "histori"), "Unknown wrapper 'histori'. Did you mean 'history'?"),
    ((*EVALUATE, "--wrapper", "history:observation=2"), "Did you mean 'observations'?"),
    ((*EVALUATE, "--wrapper", "history:2"), "'2' is not KEY=VALUE: write --wrapper history:KEY=VALUE."),
    ((*EVALUATE, "--wrapper", "history:observations=-1"), "must be 0 or more"),
    ((*EVALUATE, "-n", "0"), "-n must lie between 1 and 200"),
    ((*EVALUATE, "-n", "201"), "-n must lie between 1 and 200, or be all (the whole panel); got 201."),
    ((*EVALUATE, "--jobs", "0"), "jobs must be 1 or more"),
    ((*EVALUATE, "--concurrency", "0"), "concurrency must be 1 or more"),
    ((*EVALUATE, "--trials", "-1"), "trials must be 1 or more"),
    ((*EVALUATE, "--repeats", "0"), "repeats must be 1 or more"),
    (("play", "Corridor-v0", "--task", "corridor-1000"), "Did you mean 'corridor-100'"),
    (("compare", "nowhere", "nowhere"), "nowhere is no run folder"),
    (("report",), "one run folder at least"),
    (("report", "nowhere"), "nowhere is no run folder"),
    (("build", "webshop", "--to", "x"), "either --from DIR or --invented standard|hard"),
    (("build", "webshop", "--to", "x", "--from", "y", "--invented", "hard"), "either --from DIR or --invented"),
    (("build", "webshop", "--to", "x", "--from", "nowhere"), "nowhere is not a folder"),
    (("build", "webshop", "--to", "x", "--from", "y", "--seed", "3"), "--seed goes with --invented only."),
    (("build", "webshop", "--to", "x", "--invented", "hard", "--skip-bad"), "--skip-bad goes with --from only."),
    (("build", "webshop", "--to", "x", "--invented", "hard", "--num-products", "5"), "--num-products goes with --from"),
    (("build", "webshop", "--to", "x", "--invented", "hard", "--products", "0"), "products must be at least 1, got 0"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    ran = run(*words)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not ran.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate",),
        ("evaluate", "Corridor-v0"),
        (*EVALUATE, "-n", "some"),
        (*EVALUATE, "--polcy", "rule"),
        ("report", "x", "--format", "html"),
        ("list", "tasks"),
        ("build", "miniwob", "--to", "x"),
    ],
)
def test_words_that_fit_no_flag_are_answered_with_the_way_to_help(run, capsys, words):
    assert run(*words).code == 2
    told = capsys.readouterr()
    assert f"llm-gym {words[0]} --help" in told.err.replace("\n", " ")
    assert not told.out


def test_a_refusal_of_the_operating_system_is_told(run, tmp_path):
    (tmp_path / "file").write_text("")
    ran = run(*EVALUATE, "-n", "1", "--out", str(tmp_path / "file" / "run"))
    assert ran.code == 2
    assert str(tmp_path / "file") in ran.err


def test_a_bug_is_not_hidden(run, monkeypatch):
    def broken(self, terminal):
        raise KeyError("a bug")

    monkeypatch.setattr("llm_gym.cli.listing.List.run", broken)
    with pytest.raises(KeyError):
        run("list")
