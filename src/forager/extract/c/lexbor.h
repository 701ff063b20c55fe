/* Lexbor's tree inside selectolax: its own functions, looked up by name, and walks that leave parts out. */

#ifndef FORAGER_LEXBOR_H
#define FORAGER_LEXBOR_H

#include "growing.h"

#define MOST_NUMBERS 1024 /* of elements that HTML knows; the parser numbers others beyond */

/* Names whose elements are told apart. Those up to LOOKED_AT in the order of `boilerplate.LOOKED_AT`. */
enum {
    NAV, ASIDE, FOOTER, HEADER, FORM, DIALOG, DIV, SECTION, UL,
    LOOKED_AT,
    H1 = LOOKED_AT, H2, H3, MAIN, ARTICLE,
    LISTED,
    A = LISTED, AREA, IFRAME, FRAME, BODY, HTML,
    SCRIPT, STYLE, NOSCRIPT, BUTTON, SELECT, SVG,
    KINDS
};
#define FIRST_INVISIBLE SCRIPT /* from here on nobody sees what is inside */
#define FIRST_NEUTRAL DIV      /* before it, elements that are boilerplate by themselves */

static const char *const KIND_NAMES[KINDS] = {
    "nav", "aside", "footer", "header", "form", "dialog", "div", "section", "ul", "h1", "h2", "h3", "main", "article",
    "a", "area", "iframe", "frame", "body", "html", "script", "style", "noscript", "button", "select", "svg",
};

typedef struct {
    Node *(*first_child)(Node *);
    Node *(*next)(Node *);
    Node *(*parent)(Node *);
    uintptr_t (*tag_id)(Node *);
    void *(*first_attribute)(Node *);
    void *(*next_attribute)(void *);
    const Byte *(*attribute_name)(void *, size_t *);
    const Byte *(*attribute_value)(void *, size_t *);
    size_t text_at;             /* where a text node keeps its text, and behind it the length */
    uintptr_t text_id;          /* what text nodes are numbered */
    int8_t kinds[MOST_NUMBERS]; /* a number of the parser's -> one of ours, or -1 */
} Lexbor;

static inline int kind_of(const Lexbor *lexbor, Node *node)
{
    uintptr_t number = lexbor->tag_id(node);
    return number < MOST_NUMBERS ? lexbor->kinds[number] : -1;
}

static inline const Byte *text_of(const Lexbor *lexbor, Node *node, size_t *length)
{
    const Byte *text;
    memcpy(&text, (const char *)node + lexbor->text_at, sizeof text);
    memcpy(length, (const char *)node + lexbor->text_at + sizeof text, sizeof *length);
    return text;
}

/* The node that comes after all that is in this one, in the order of the page; NULL at the end of `root`. */
static inline Node *step_over(const Lexbor *lexbor, Node *root, Node *node)
{
    for (; node != NULL && node != root; node = lexbor->parent(node)) {
        Node *next = lexbor->next(node);
        if (next != NULL)
            return next;
    }
    return NULL;
}

static inline Node *step(const Lexbor *lexbor, Node *root, Node *node)
{
    Node *child = lexbor->first_child(node);
    return child != NULL ? child : step_over(lexbor, root, node);
}

/* A way to look at a tree: with everything, or without what nobody sees and what was cut. */
typedef struct {
    const Lexbor *lexbor;
    bool sees_all;
    Set cut;
} View;

static inline bool leaves_out(const View *view, Node *node, int kind)
{
    return !view->sees_all && (kind >= FIRST_INVISIBLE || set_has(&view->cut, node));
}

static bool is_cut(const View *view, Node *node)
{
    if (view->cut.used)
        for (; node != NULL; node = view->lexbor->parent(node))
            if (set_has(&view->cut, node))
                return true;
    return false;
}

/* All text below a node; `has_lines`: each run of it on a line of its own. */
static int gather_text(const View *view, Node *root, bool has_lines, Buffer *into)
{
    const Lexbor *lexbor = view->lexbor;
    bool is_first = true;
    Node *node = lexbor->first_child(root);
    while (node != NULL) {
        if (lexbor->tag_id(node) == lexbor->text_id) {
            size_t length;
            const Byte *text = text_of(lexbor, node, &length);
            if (text != NULL) {
                if (has_lines && !is_first && buffer_add(into, "\n", 1) < 0)
                    return -1;
                if (buffer_add(into, text, (Py_ssize_t)length) < 0)
                    return -1;
                is_first = false;
            }
            node = step_over(lexbor, root, node);
        }
        else if (leaves_out(view, node, kind_of(lexbor, node)))
            node = step_over(lexbor, root, node);
        else
            node = step(lexbor, root, node);
    }
    return 0;
}

static inline PyObject *decode(const Byte *bytes, Py_ssize_t length)
{
    return PyUnicode_DecodeUTF8((const char *)bytes, length, "replace"); /* as selectolax does */
}

static PyObject *text_below(const View *view, Node *root, bool has_lines)
{
    Buffer buffer = {0};
    PyObject *text = NULL;
    if (gather_text(view, root, has_lines, &buffer) == 0)
        text = decode(buffer.bytes, buffer.used);
    PyMem_Free(buffer.bytes);
    return text;
}

/* In characters; -1 with an exception. */
static Py_ssize_t text_length(const View *view, Node *root)
{
    PyObject *text = text_below(view, root, false);
    if (text == NULL)
        return -1;
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_DECREF(text);
    return length;
}

typedef struct {
    const char *name;
    size_t name_length;
    bool is_there;
    const Byte *value; /* NULL where it has none */
    size_t length;
} Attribute;

#define NAMED(text) {.name = text, .name_length = sizeof text - 1}

static void read_attributes(const Lexbor *lexbor, Node *node, Attribute *wanted, int count)
{
    for (void *each = lexbor->first_attribute(node); each != NULL; each = lexbor->next_attribute(each)) {
        size_t length = 0;
        const Byte *name = lexbor->attribute_name(each, &length);
        for (int at = 0; name != NULL && at < count; at++)
            if (wanted[at].name_length == length && memcmp(wanted[at].name, name, length) == 0) {
                wanted[at].is_there = true;
                wanted[at].length = 0;
                wanted[at].value = lexbor->attribute_value(each, &wanted[at].length);
            }
    }
}

static PyObject *value_or_none(const Attribute *attribute)
{
    if (attribute->value == NULL)
        Py_RETURN_NONE;
    return decode(attribute->value, (Py_ssize_t)attribute->length);
}

#endif
