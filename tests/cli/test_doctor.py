"""`llm-gym doctor`."""

from __future__ import annotations

import pytest

from llm_gym.cli import doctor
from llm_gym.cli.doctor import Finding, Requirement, extras, package, parsed_requirement
from llm_gym.data import DATA_VARIABLE

FINE = Finding("embedded catalogue", "ok", "invented: 1,200 products")


@pytest.fixture
def world_is_fine(monkeypatch):
    monkeypatch.setattr(doctor, "world", lambda: FINE)


@pytest.mark.usefixtures("world_is_fine")
def test_a_working_base_is_exit_code_0(run):
    ran = run("doctor")
    assert ran.code == 0
    assert not ran.err
    for name in ("python", "gymnasium", "numpy", "tyro", "embedded catalogue", "data folder", "cache folder"):
        assert f"\n {name} " in ran.out


def test_a_broken_world_is_exit_code_1(run, monkeypatch):
    monkeypatch.setattr(doctor, "_FIRST_WORLD", "Nothing-v0")
    ran = run("doctor")
    assert ran.code == 1
    assert "Nothing-v0 cannot be opened" in ran.out
    assert ran.err.startswith("error: Broken: embedded catalogue.")


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("numpy>=2.0", Requirement("numpy", "2.0", None)),
        ("spacy<3.9,>=3.8; extra == 'spacy'", Requirement("spacy", "3.8", "spacy")),
        ('build; python_version > "3.8" and extra == "dev"', Requirement("build", None, "dev")),
        ("llm-gym[numba]; extra == 'all'", Requirement("llm-gym", None, "all")),
    ],
)
def test_requirements_are_read_from_the_metadata(text, requirement):
    assert parsed_requirement(text) == requirement


def test_a_package_that_is_missing_or_too_old_is_broken():
    assert package(Requirement("no-such-package", None, None)).state == "broken"
    assert package(Requirement("numpy", "999.0", None)).detail.endswith("is too old, 999.0 or later is needed")
    assert package(Requirement("numpy", "2.0", None)).state == "ok"


def test_a_missing_extra_is_told_with_what_it_adds_and_the_pip_line():
    found = extras([Requirement("no-such-package", "1", "lucene"), Requirement("nor-this", "1", "future")])
    assert [finding.state for finding in found] == ["missing", "missing"]
    assert found[0].detail == 'adds nor-this\npip install "llm-gym[future]"'
    assert found[1].detail.endswith('\npip install "llm-gym[lucene]"')
    assert "search_engine=lucene" in found[1].detail


def test_the_extra_of_the_original_engine_says_what_it_is_compiled_with():
    [found] = extras([Requirement("no-such-package", "1", "alfworld")])
    assert "engine=textworld" in found.detail
    assert "gcc, g++, make and cmake" in found.detail
    assert found.detail.endswith('\npip install "llm-gym[alfworld]"')


def test_extras_for_developers_are_not_offered():
    assert extras([Requirement("pytest", None, "dev"), Requirement("numpy", None, "all")]) == []


def test_the_data_folder_is_told(tmp_path, monkeypatch):
    (tmp_path / "webshop").mkdir()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert next(doctor.folders()).detail == f"{tmp_path} holds webshop"
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "not-there"))
    finding = next(doctor.folders())
    assert finding.state == "missing"
    assert DATA_VARIABLE in finding.detail
