"""A single-page app: every address answers with the same empty shell, and a script builds the page from JSON.

Its router writes links and the address bar; one page, `/about`, is written by the server as in the old days. The script
also asks for something robots.txt keeps from machines, and does without.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Link, Page, PageBuilder
from forager_playground.site import SitePage, list_page, show
from forager_playground.sites.numbered import find_number, path_of, read_number

NAME = "The Recipe Box"
FRAME = Frame(NAME, "#7a3b69", (("/about", "About"),), "Cooked in your browser.")
CHILDREN = 4
ROBOTS = "User-agent: *\nDisallow: /api/visitors\n"
SHELL = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>The Recipe Box</title><link rel="stylesheet" href="/app.css">
<script type="module" src="/app.js"></script></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="app"></div></body></html>
"""
SCRIPT = """const app = document.getElementById("app");

function element(name, text, href) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (href) made.setAttribute("href", href);
  return made;
}

async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

function draw(page) {
  document.title = page.title;
  const header = element("header"), main = element("main"), list = element("ul");
  header.append(element("a", "The Recipe Box", "/"), element("a", "About", "/about"));
  main.append(element("h1", page.heading), ...page.paragraphs.map(text => element("p", text)));
  for (const [href, text] of page.links) {
    const item = element("li");
    item.append(element("a", text, href));
    list.append(item);
  }
  main.append(list);
  app.replaceChildren(header, main);
}

async function show() {
  const number = location.pathname === "/" ? "0" : location.pathname.slice(3);
  const [recipe, notes] = await Promise.all([load(`/api/recipes/${number}`), load(`/api/notes/${number}`)]);
  draw({...recipe, paragraphs: [...recipe.paragraphs, ...notes]});
}

document.addEventListener("click", event => {
  const href = event.target.getAttribute && event.target.getAttribute("href");
  if (!href || href === "/about") return;
  event.preventDefault();
  history.pushState({}, "", href);
  show();
});
window.addEventListener("popstate", show);
load("/api/visitors").catch(() => 0);
show();
"""
JAVASCRIPT, JSON, CSS = "text/javascript; charset=utf-8", "application/json", "text/css"


@dataclass(frozen=True, slots=True)
class App:
    seed: int
    size: int = 24
    """Recipes, the list of them included."""
    name: str = "app"
    robots: str | None = ROBOTS
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        for recipe in range(self.size):
            yield list_page(path_of(recipe), self.drawn(recipe))
        yield list_page("/about", self._about())

    def answer(self, path: str, query: str) -> Answer:
        if query:
            return missing()
        if find_number(path, self.size) is not None:
            return Answer(body=SHELL.encode())
        match path:
            case "/about":
                return show(self._about())
            case "/app.js":
                return Answer(body=SCRIPT.encode(), content_type=JAVASCRIPT)
            case "/app.css":
                return Answer(body=b"body{font:16px sans-serif}", content_type=CSS)
            case "/api/visitors":
                return Answer(body=b"[1]", content_type=JSON)
        return self._data(path)

    def drawn(self, recipe: int) -> Page:
        """What the script makes of it."""
        links = (Link("/"), Link("/about"), *(Link(path_of(child)) for child in self._children(recipe)))
        return Page(self._title(recipe), "en", "en", links, "")

    def _data(self, path: str) -> Answer:
        kind, _, number = path.removeprefix("/api/").partition("/")
        recipe = 0 if number == "0" else read_number(number, self.size)
        if recipe is None or kind not in {"recipes", "notes"}:
            return missing()
        content = self._recipe(recipe) if kind == "recipes" else english().paragraphs(1, self.seed, "note", recipe)
        return Answer(body=json.dumps(content).encode(), content_type=JSON)

    def _recipe(self, recipe: int) -> dict[str, object]:
        return {
            "title": self._title(recipe),
            "heading": f"Recipe {recipe}" if recipe else "All recipes",
            "paragraphs": english().paragraphs(2, self.seed, "recipe", recipe),
            "links": [(path_of(child), f"Recipe {child}") for child in self._children(recipe)],
        }

    def _title(self, recipe: int) -> str:
        return f"{f'Recipe {recipe}' if recipe else 'All recipes'} · {NAME}"

    def _children(self, recipe: int) -> range:
        first = recipe * CHILDREN + 1
        return range(first, min(first + CHILDREN, self.size))

    def _about(self) -> Page:
        sheet = PageBuilder(FRAME, "About")
        sheet.add_text(*english().paragraphs(3, self.seed, "about"))
        return sheet.finish()
