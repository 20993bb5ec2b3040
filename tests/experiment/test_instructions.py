"""The words that people read."""

from typing import get_args

import pytest

from experiment.instructions import PLACEHOLDERS, PageName, parse_instructions, read_instructions
from stimuli.errors import InputError

VALUES = dict.fromkeys(PLACEHOLDERS, "X")


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_page_of_a_language_can_be_filled(language):
    words = read_instructions(language)
    for page in get_args(PageName):
        text = words.fill(page, VALUES)
        assert text
        assert "{" not in text


def test_both_languages_use_the_same_placeholders():
    en, de = read_instructions("en"), read_instructions("de")
    for page in get_args(PageName):
        for name in PLACEHOLDERS:
            assert (f"{{{name}}}" in en.pages[page]) == (f"{{{name}}}" in de.pages[page]), page


def make_text(**pages):
    texts = {page: f"text of {page}" for page in get_args(PageName)} | pages
    return "language: test\ndirection: RTL\nfont: Noto Sans\n\n" + "\n".join(
        f"== {name} ==\n{text}" for name, text in texts.items()
    )


def test_any_script_survives(tmp_path):
    path = tmp_path / "יפן 日本.txt"
    path.write_text(make_text(welcome="ようこそ\n\nไทย {same_key}"), encoding="utf-8-sig")
    words = read_instructions(str(path))
    assert words.fill("welcome", VALUES) == "ようこそ\n\nไทย X"
    assert (words.direction, words.font) == ("RTL", "Noto Sans")


def test_missing_pages_unknown_placeholders_and_other_faults_are_named(tmp_path):
    with pytest.raises(InputError, match=r"w\.txt: page 'debrief' is missing or empty"):
        parse_instructions(make_text(debrief=""), where="w.txt")
    with pytest.raises(InputError, match="page 'welcome': placeholder 'name' is unknown"):
        parse_instructions(make_text(welcome="Hello {name}"), where="w.txt")
    with pytest.raises(InputError, match="write a brace that is meant as one twice"):
        parse_instructions(make_text(welcome="a { b"), where="w.txt")
    with pytest.raises(InputError, match="direction is 'up'"):
        parse_instructions(make_text().replace("RTL", "up"), where="w.txt")
    path = tmp_path / "latin1.txt"
    path.write_bytes(make_text(welcome="Grüße").encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_instructions(str(path))
    with pytest.raises(InputError, match="neither a file nor one of 'de', 'en'"):
        read_instructions("fr")
