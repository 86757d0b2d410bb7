"""Reports the share of lines with a comment in each public header. The aim is 30-45 %; this rule
never fails."""

from rules.tree import without_comments


def comment_share(text):
    """Returns the percentage of non-empty lines with a comment, alone or after code."""
    pairs = zip(text.split("\n"), without_comments(text).split("\n"))
    filled = [(line.strip(), bare.strip()) for line, bare in pairs if line.strip()]
    return 100 * sum(line != bare for line, bare in filled) // max(len(filled), 1)


def check(tree):
    for path in tree.public_headers:
        share = comment_share(tree.text(path))
        print(f"{path}: {share} % comment" + ("" if 30 <= share <= 45 else " (aim: 30-45 %)"))
    return []
