"""Our own scripts that run in a page, in an isolated world: what they read and do is not visible to the page's scripts.

They use only what the browser itself defines: the world has prototypes of its own, which the page cannot replace.
"""

import json

FIND = (
    "const find = selector => {"
    " const roots = [document];"
    " while (roots.length) {"
    "  const root = roots.shift(), found = root.querySelector(selector);"
    "  if (found) return found;"
    "  for (const each of root.querySelectorAll('*')) if (each.shadowRoot) roots.push(each.shadowRoot);"
    " }"
    " return null;"
    "};"
)
"""Finds an element also inside the open shadow roots of others."""
FLATTEN = (
    "const flatten = root => {"
    " const inert = document.implementation.createHTMLDocument('');"
    " const top = inert.importNode(root, false), open = [[root, top]];"
    " while (open.length) {"
    "  const [from, to] = open.pop();"
    "  const isSlot = from.localName === 'slot' && from.getRootNode() instanceof ShadowRoot;"
    "  const inside = from.shadowRoot ? from.shadowRoot.childNodes"
    "   : isSlot ? from.assignedNodes({flatten: true}) : from.childNodes;"
    "  for (const child of inside) {"
    "   const copy = inert.importNode(child, child.localName === 'template');"
    "   to.appendChild(copy);"
    "   if (child.nodeType === 1 && child.localName !== 'template') open.push([child, copy]);"
    "  }"
    " }"
    " return top;"
    "};"
)
"""Copies a page into a document without scripts, with the content of open shadow roots where people see it."""


def grab(most: int) -> str:
    """Returns an expression for the HTML of the page as people see it, at most `most` characters."""
    return (
        f"(() => {{ {FLATTEN}"
        " const html = document.documentElement;"
        " if (!html) return '';"
        " const has = [...document.querySelectorAll('*')].some(each => each.shadowRoot);"
        " const text = (has ? flatten(html) : html).outerHTML;"
        f" return text.length > {most} ? text.slice(0, {most}) : text;"
        "})()"
    )


def wait_for(selector: str) -> str:
    """Returns an expression that is fulfilled when an element matches; `invalid` at once for what is no selector."""
    return (
        f"(() => {{ {FIND}"
        f" const selector = {json.dumps(selector)};"
        " try { find(selector) } catch { return Promise.resolve('invalid') }"
        " return new Promise(done => {"
        "  const look = () => find(selector) ? done(true) : setTimeout(look, 100); look();"
        " });"
        "})()"
    )


def click(selector: str) -> str:
    """Returns an expression that clicks the first match; whether there was one."""
    return (
        f"(() => {{ {FIND}"
        f" let found; try {{ found = find({json.dumps(selector)}) }} catch {{ return 'invalid' }}"
        " if (!found) return false;"
        " found.scrollIntoView({block: 'center'});"
        " if (found.click) found.click();"
        " else found.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));"
        " return true;"
        "})()"
    )


SCROLL = (
    "(() => {"
    " const scrollable = [...document.querySelectorAll('*')].filter(each =>"
    "  each.scrollHeight > each.clientHeight + 100 && each.clientHeight > 200"
    "  && /auto|scroll/.test(getComputedStyle(each).overflowY));"
    " const page = document.scrollingElement || document.documentElement;"
    " for (const each of [page, ...scrollable.slice(0, 20)]) each.scrollTop = each.scrollHeight;"
    " window.dispatchEvent(new Event('scroll'));"
    " return page.scrollHeight + scrollable.reduce((sum, each) => sum + each.scrollHeight, 0);"
    "})()"
)
"""Scrolls the page, and the areas in it that scroll by themselves, to their ends; how high all of them are."""
HEIGHT_NOW = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
"""Fulfilled when the page has been laid out again, so that observers of what is visible have been called."""
IDLE = "new Promise(done => requestIdleCallback(() => done(true), {timeout: 1000}))"
FORGET_SESSION = "try { sessionStorage.clear() } catch {}"
FORGET_NAME = "window.name = ''; window.name === ''"
"""Clears what belongs to the tab and not to the site."""
