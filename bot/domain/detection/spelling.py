"""How a written word is read: contractions taken apart, spellings made one, identifiers as names."""

from __future__ import annotations

from functools import lru_cache

NAME = "<name>"
"""Stands for a word that is a name of the code."""

_SPLIT: dict[str, tuple[str, ...]] = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "let's": ("let", "us"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "isnt": ("is", "not"),
    "wasnt": ("was", "not"),
    "arent": ("are", "not"),
    "wont": ("will", "not"),
    "cant": ("can", "not"),
    "shouldnt": ("should", "not"),
    "wouldnt": ("would", "not"),
    "couldnt": ("could", "not"),
    "hasnt": ("has", "not"),
    "havent": ("have", "not"),
    "thats": ("that", "is"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "didn": ("did", "not"),
    "doesn": ("does", "not"),
    "imo": (),
    "imho": (),
    "afaict": (),
    "afaik": (),
    "afaics": (),
}
_ENDINGS = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_IS = frozenset({"it", "that", "this", "there", "here", "what", "he", "she", "who", "where", "how", "which"})


@lru_cache(maxsize=8192)
def expanded(written: str) -> tuple[str, ...]:
    """Return the words that a written word stands for: most often one, `don't` two, `IMHO` none."""
    word = written.lower()
    if word.isascii() and word.isalpha():
        return _SPLIT.get(word, (word,))
    if "_" in word or any(letter.isdigit() for letter in word):
        return (NAME,)
    word = word.replace("’", "'").replace("´", "'").replace("`", "'")
    if word in _SPLIT:
        return _SPLIT[word]
    for ending, meaning in _ENDINGS.items():
        if word.endswith(ending):
            return (word[: -len(ending)], meaning) if word != ending else (meaning,)
    stem = word.partition("'")[0]
    return (stem, "is") if stem in _IS else (stem,)


_CUT = ("ations", "ation", "ings", "ing", "ed", "es", "ly", "s")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Cut the ending of a word, so that its forms count as one."""
    if len(word) < 5 or word[0] in "<{":
        return word
    for ending in _CUT:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word
