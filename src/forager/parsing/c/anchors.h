/* Links of the body in one pass: addresses, anchor texts and kinds as columns. `links.py` has the same in Python.
   Part of `tree.h`. */

#ifndef FORAGER_ANCHORS_H
#define FORAGER_ANCHORS_H

enum { ANCHOR, AREA, FRAME, LINK_KINDS };

static const char *const RELS[2 * LINK_KINDS] = {"a",          "area",          "iframe",
                                                 "a nofollow", "area nofollow", "iframe nofollow"};

typedef struct {
    PyObject *clean_href, *clean_anchor; /* for what is not plain */
    Py_ssize_t longest;
    Prose prose; /* its buffer serves all texts */
    PyObject *hrefs, *anchors, *rels;
    PyObject *rel_texts[2 * LINK_KINDS];
} Links;

/* Whether an address needs no trimming and may lead somewhere: no control sign or space at its ends, no sign that
   is dropped inside, no beginning of `javascript:` and the like. */
static bool is_plain_address(PyObject *text)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (length == 0 || length > LONGEST_SOURCE)
        return false;
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_UCS4 first = PyUnicode_READ(kind, data, 0);
    if (first <= ' ' || PyUnicode_READ(kind, data, length - 1) <= ' ')
        return false;
    if (first < 128 && strchr("#jmtdswabJMTDSWAB", (int)first) != NULL)
        return false;
    for (Py_ssize_t at = 0; at < length; at++)
        if (PyUnicode_READ(kind, data, at) < ' ')
            return false;
    return true;
}

/* The address of an element; empty where it leads nowhere. */
static PyObject *address_of(const Tables *tables, const Element *element, const Name *name, PyObject *clean)
{
    const Attribute *attribute = find_attribute(tables, element, name->text, (size_t)name->length);
    if (attribute == NULL || attribute->value_length == 0)
        return PyUnicode_FromStringAndSize(NULL, 0);
    PyObject *text = value_of(tables, attribute);
    if (text == NULL || is_plain_address(text))
        return text;
    bool is_fragment = PyUnicode_GET_LENGTH(text) && PyUnicode_READ_CHAR(text, 0) == '#';
    PyObject *cleaned = is_fragment ? PyUnicode_FromStringAndSize(NULL, 0) : PyObject_CallOneArg(clean, text);
    Py_DECREF(text);
    if (cleaned != NULL && !PyUnicode_Check(cleaned)) {
        PyErr_SetString(PyExc_TypeError, "an address must be a text");
        Py_CLEAR(cleaned);
    }
    return cleaned;
}

static PyObject *rel_text(Links *links, const Tables *tables, const Element *element, int kind)
{
    static const Name NOFOLLOW = {"nofollow", 8};
    const Attribute *attribute = find_attribute(tables, element, "rel", 3);
    for (uint32_t at = 0; attribute != NULL && at + (uint32_t)NOFOLLOW.length <= attribute->value_length; at++)
        if (begins_with(tables->page + attribute->value_at + at, attribute->value_length - at, &NOFOLLOW)) {
            kind += LINK_KINDS;
            break;
        }
    if (links->rel_texts[kind] == NULL)
        links->rel_texts[kind] = PyUnicode_InternFromString(RELS[kind]);
    return Py_XNewRef(links->rel_texts[kind]);
}

static PyObject *anchor_text(Links *links, const Tables *tables, const Element *element, int kind)
{
    if (kind == ANCHOR)
        return shown_text(&links->prose, tables, element, links->longest, true);
    PyObject *said = said_of(tables, element);
    if (said == NULL || PyUnicode_GET_LENGTH(said) == 0)
        return said;
    PyObject *cleaned = PyObject_CallOneArg(links->clean_anchor, said);
    Py_DECREF(said);
    return cleaned;
}

/* Appends what it takes over. */
static int append(PyObject *list, PyObject *value)
{
    int done = value == NULL ? -1 : PyList_Append(list, value);
    Py_XDECREF(value);
    return done;
}

static int add_link(Links *links, const Tables *tables, const Element *element, int kind)
{
    static const Name HREF = {"href", 4}, SRC = {"src", 3};
    PyObject *href = address_of(tables, element, kind == FRAME ? &SRC : &HREF, links->clean_href);
    if (href != NULL && PyUnicode_GET_LENGTH(href) == 0) {
        Py_DECREF(href);
        return 0;
    }
    if (append(links->hrefs, href) < 0 || append(links->anchors, anchor_text(links, tables, element, kind)) < 0)
        return -1;
    return append(links->rels, rel_text(links, tables, element, kind));
}

/* links(clean_href, clean_anchor, longest, most): addresses, anchor texts of at most so many characters, rels. */
static PyObject *tree_links(PyObject *self, PyObject *given)
{
    const Tables *tables = &((Tree *)self)->tables;
    Links links = {.prose = {.line = ' '}};
    Py_ssize_t most;
    if (!PyArg_ParseTuple(given, "OOnn:links", &links.clean_href, &links.clean_anchor, &links.longest, &most))
        return NULL;
    if (links.longest < 0 || links.longest > LONGEST_TEXTS)
        return PyErr_Format(PyExc_ValueError, "a text of %zd characters", links.longest);
    uint8_t anchor = kind_of((const Byte *)"a", 1), area = kind_of((const Byte *)"area", 4);
    uint8_t iframe = kind_of((const Byte *)"iframe", 6), frame = kind_of((const Byte *)"frame", 5);
    links.hrefs = PyList_New(0);
    links.anchors = PyList_New(0);
    links.rels = PyList_New(0);
    bool is_well = links.hrefs != NULL && links.anchors != NULL && links.rels != NULL;
    for (uint32_t at = 0; is_well && at < tables->element_count && PyList_GET_SIZE(links.hrefs) < most; at++) {
        const Element *element = &tables->elements[at];
        if (element->kind == anchor)
            is_well = add_link(&links, tables, element, ANCHOR) == 0;
        else if (element->kind == area)
            is_well = add_link(&links, tables, element, AREA) == 0;
        else if (element->kind == iframe || element->kind == frame)
            is_well = add_link(&links, tables, element, FRAME) == 0;
    }
    PyObject *columns = is_well ? PyTuple_Pack(3, links.hrefs, links.anchors, links.rels) : NULL;
    for (int kind = 0; kind < 2 * LINK_KINDS; kind++)
        Py_XDECREF(links.rel_texts[kind]);
    PyMem_Free(links.prose.buffer.bytes);
    Py_XDECREF(links.hrefs);
    Py_XDECREF(links.anchors);
    Py_XDECREF(links.rels);
    return columns;
}

#endif
