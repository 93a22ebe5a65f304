"""a or an, by a word's pronunciation, which its spelling does not always show."""

from __future__ import annotations

import re

VOWELS = tuple("aeiou")
# Letters whose names begin with a vowel: an X-ray, an MRI scan.
LETTERS_SPOKEN_AS_VOWEL = frozenset("AEFHILMNORSX")
# Capitals that are pronounced letter by letter: one alone, two or three, or several without a vowel.
SPELLED_OUT = re.compile(r"(?:[A-Z]|[A-Z]{2,3}|[B-DF-HJ-NP-TV-XZ]{4,})(?![A-Za-z])")
# Words that begin with a vowel and are pronounced with a consonant, or the reverse.
SPOKEN_AS_VOWEL = ("heir", "hones", "honor", "honour", "hour", "hvac ", "mri ", "x-ray", "fbi ", "nba ", "nfl ", "hr ")
SPOKEN_AS_CONSONANT = (
    "eu",
    "ewe",
    "one",
    "once",
    "ouija",
    "u-",
    "ubiq",
    "ufo",
    "ugan",
    "uk",
    "unanim",
    "uni",
    "ur",
    "us ",
    "use",
    "usab",
    "usag",
    "usu",
    "uta",
    "ute",
    "uti",
    "uto",
)
# Exceptions to these prefixes, which are pronounced as they are spelled.
SPOKEN_AS_SPELLED = ("onero", "unide", "unill", "unim", "unin", "urb", "urch", "urg", "urn")


def article(noun: str) -> str:
    """a or an, by the pronunciation of the noun's first word."""
    noun = noun.strip()
    if SPELLED_OUT.match(noun):
        return "an" if noun[0] in LETTERS_SPOKEN_AS_VOWEL else "a"
    word = noun.casefold() + " "
    if word.startswith(SPOKEN_AS_VOWEL):
        return "an"
    if word.startswith(SPOKEN_AS_CONSONANT) and not word.startswith(SPOKEN_AS_SPELLED):
        return "a"
    return "an" if word.startswith(VOWELS) else "a"
