/* The links of a page, as `links.find_links` finds them where all are of `a`. */

#ifndef FORAGER_LINKS_H
#define FORAGER_LINKS_H

#include "state.h"
#include "words.h"

#define MOST_LINKS 20000
#define LONGEST_HREF 8192
#define LONGEST_ANCHOR 200
#define LONGEST_LOOKED_AT (20 * LONGEST_ANCHOR)
#define MOST_ANCHOR_TEXT (16 * 1024 * 1024)

typedef struct {
    PyObject *clean_href; /* asked about what has something to trim */
    PyObject *hrefs, *anchors, *kinds;
    Buffer text;
    Py_ssize_t room;
} Links;

/* Nothing to trim: it begins and ends as most links do, and all of it can be seen. */
static bool is_plain(const Byte *href, size_t length)
{
    if (length > LONGEST_HREF || href[length - 1] == ' ' || memchr("/?.h", href[0], 4) == NULL)
        return false;
    bool is_strange = false;
    for (size_t at = 0; at < length; at++)
        is_strange |= href[at] < ' ' || href[at] > '~';
    return !is_strange;
}

static PyObject *take_href(const Attribute *href, const Attribute *src, PyObject *clean_href, PyObject *empty)
{
    const Attribute *given = href->value != NULL && href->length ? href : src;
    if (given->value == NULL || !given->length)
        return Py_NewRef(empty);
    if (is_plain(given->value, given->length))
        return ascii_string(given->value, (Py_ssize_t)given->length);
    PyObject *text = decode(given->value, (Py_ssize_t)given->length);
    if (text == NULL)
        return NULL;
    PyObject *clean = PyObject_CallOneArg(clean_href, text);
    Py_DECREF(text);
    if (clean != NULL && !PyUnicode_Check(clean)) {
        Py_CLEAR(clean);
        PyErr_SetString(PyExc_TypeError, "clean_href answers with a text");
    }
    return clean;
}

static PyObject *take_anchor(const View *view, Node *node, Links *links, PyObject *empty)
{
    links->text.used = 0;
    if (links->room <= 0)
        return Py_NewRef(empty);
    if (gather_text(view, node, false, &links->text) < 0)
        return NULL;
    links->room -= characters_in(links->text.bytes, links->text.used);
    return collapse_bytes(links->text.bytes, links->text.used, LONGEST_LOOKED_AT, LONGEST_ANCHOR);
}

static bool says_nofollow(const Attribute *rel)
{
    static const char WORD[] = "nofollow";
    const size_t length = sizeof WORD - 1;
    for (size_t at = 0; rel->value != NULL && at + length <= rel->length; at++) {
        size_t same = 0;
        while (same < length && Py_TOLOWER(rel->value[at + same]) == WORD[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

static int add_link(const State *state, const View *view, Node *node, Links *links)
{
    Attribute given[] = {NAMED("href"), NAMED("src"), NAMED("rel")};
    read_attributes(view->lexbor, node, given, 3);
    PyObject *href = take_href(&given[0], &given[1], links->clean_href, state->empty);
    if (href == NULL)
        return -1;
    int status = 0;
    if (PyUnicode_GET_LENGTH(href)) {
        PyObject *anchor = take_anchor(view, node, links, state->empty);
        PyObject *kind = says_nofollow(&given[2]) ? state->nofollow : state->plain;
        bool is_added = anchor != NULL && PyList_Append(links->hrefs, href) == 0 &&
                        PyList_Append(links->anchors, anchor) == 0 && PyList_Append(links->kinds, kind) == 0;
        status = is_added ? 0 : -1;
        Py_XDECREF(anchor);
    }
    Py_DECREF(href);
    return status;
}

/* All `a` of a page in order. 1 where there are links of other elements too, -1 with an exception. */
static int find_anchors(const Lexbor *lexbor, Node *root, bool has_body, List *anchors)
{
    for (Node *node = root; node != NULL; node = step(lexbor, root, node)) {
        int kind = kind_of(lexbor, node);
        if (kind == AREA || kind == IFRAME || (kind == FRAME && !has_body))
            return 1;
        if (kind == A && list_add(anchors, node) < 0)
            return -1;
    }
    return 0;
}

static PyObject *find_links(const State *state, Node *root, bool has_body, PyObject *clean_href)
{
    View view = {.lexbor = &state->lexbor, .sees_all = true};
    List anchors = {0};
    Links found = {.clean_href = clean_href, .room = MOST_ANCHOR_TEXT};
    PyObject *columns = NULL;
    int has_others = find_anchors(&state->lexbor, root, has_body, &anchors);
    if (has_others > 0)
        columns = Py_NewRef(Py_None);
    if (has_others)
        goto end;
    found.hrefs = PyList_New(0), found.anchors = PyList_New(0), found.kinds = PyList_New(0);
    if (found.hrefs == NULL || found.anchors == NULL || found.kinds == NULL)
        goto end;
    for (Py_ssize_t at = 0; at < anchors.count && PyList_GET_SIZE(found.hrefs) < MOST_LINKS; at++)
        if (add_link(state, &view, anchors.nodes[at], &found) < 0)
            goto end;
    columns = PyTuple_Pack(3, found.hrefs, found.anchors, found.kinds);
end:
    PyMem_Free(anchors.nodes);
    PyMem_Free(found.text.bytes);
    Py_XDECREF(found.hrefs);
    Py_XDECREF(found.anchors);
    Py_XDECREF(found.kinds);
    return columns;
}

#endif
