# SPDX-License-Identifier: BSD-3-Clause
"""search_names.py SEARCH PAGES: let the search of the manual find what readers type.

Doxygen's search compares the beginning of names, and every name begins with tsanom_, so that
`dtw_distance` and `barycenter` find nothing; of pages it knows the titles only. This adds
tsanom_dtw_distance as "dtw_distance", "dtw distance" and "distance", and each heading of PAGES by each of its
words. SEARCH is html/search of the manual; its files all_K.js have the names that begin with
the K-th character of a list in searchdata.js, so that all of them are written anew.
"""

import ast
import html
import re
import sys
from pathlib import Path

HEADING = re.compile(r"^(#+) (.+?) *\{#(\w+)\}$", re.MULTILINE)


def identifier(name):
    """As the page's convertToId()."""
    return re.sub(r"[^a-z0-9\u0080-\uffff]", lambda c: f"_{ord(c[0]):02x}", name.lower())


def endings(name, separator):
    """The name from each of its words on, without the whole name."""
    return [name[place.end() :] for place in re.finditer(separator, name)]


def doxygen_entries(search):
    """(key, name, places) of each entry, and its further keys."""
    for path in sorted(search.glob("all_*.js")):
        for _, (name, *places) in ast.literal_eval(path.read_text().split("=", 1)[1].rstrip(" ;\n")):
            plain = html.unescape(name)
            yield plain, name, places
            if plain.lower().startswith("tsanom_"):
                for key in endings(plain, "_"):
                    yield key, name, places
                    if "_" in key:
                        yield key.replace("_", " "), name, places


def heading_entries(search, pages):
    for path in sorted(pages.glob("*.md")):
        page = None
        for level, title, label in HEADING.findall(path.read_text()):
            page = page or (label if (search.parent / f"{label}.html").exists() else "index")
            if f'id="{label}"' not in (search.parent / f"{page}.html").read_text() and level != "#":
                sys.exit(f"{path}: no heading {label} in {page}.html")
            url = f"../{page}.html" + (f"#{label}" if level != "#" else "")
            title = title.replace("`", "")
            for key in [title, *endings(title, r"[^\w]+")]:
                yield key, html.escape(title), [[url, 1, ""]]


def write(search, entries):
    lists = {}
    for key, name, places in sorted(entries, key=lambda entry: (entry[0].lower(), entry[1])):
        if key and identifier(key)[0] != "_":
            found = lists.setdefault(key[0].lower(), {})
            found.setdefault((key.lower(), name), []).extend(p for p in places)
    letters = "".join(sorted(lists))
    page = (search / "all_0.html").read_text()
    for old in [*search.glob("all_*.js"), *search.glob("all_*.html")]:
        old.unlink()
    for place, letter in enumerate(letters):
        found = [
            [f"{identifier(key)}_{i}", [name, *({tuple(p): p for p in places}.values())]]
            for i, ((key, name), places) in enumerate(lists[letter].items())
        ]
        (search / f"all_{place:x}.js").write_text(f"var searchData={found!r};\n")
        (search / f"all_{place:x}.html").write_text(page.replace("all_0.js", f"all_{place:x}.js"))
    data = search / "searchdata.js"
    text, count = re.subn(r'(?m)^  0: "\w+"', f'  0: "{letters}"', data.read_text(), count=1)
    if count != 1:
        sys.exit(f"{data}: no list of first characters")
    data.write_text(text)


def main():
    search, pages = map(Path, sys.argv[1:])
    entries = [*doxygen_entries(search), *heading_entries(search, pages)]  # before files change
    write(search, entries)
    keys = {key.lower() for key, *_ in entries}
    for wanted in ("dtw_distance", "barycenter", "tsanom_dtw_distance", "memory leak"):
        if wanted not in keys:
            sys.exit(f"the search of the manual does not find {wanted}")


main()
