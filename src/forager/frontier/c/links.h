/* Links of pages: those whose pages are in memory are answered (`take_known` of known_table.py), those of a page become three
   columns (`join_links` of store.py). */

#ifndef FORAGER_FRONTIER_LINKS_H
#define FORAGER_FRONTIER_LINKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "known.h"

/* Of known_table.py. */
#define DEPTH_BITS 10
#define DEEPEST ((1 << DEPTH_BITS) - 1)
/* Where a Discovery has what; of frontier/models.py. */
#define LINK_FIELDS 7
#define LINK_KEY 1
#define LINK_DEPTH 3
#define LINK_ANCHOR 5
#define LINK_REL 6
/* Links between one that is looked up and one that is announced. */
#define AHEAD 6
/* A sign and the digits of 64 bits. */
#define LONGEST_NUMBER 20

/* A field of a link, borrowed. */
static PyObject *
field_of(PyObject *link, Py_ssize_t field)
{
    if (!PyTuple_Check(link) || PyTuple_GET_SIZE(link) != LINK_FIELDS) {
        PyErr_SetString(PyExc_TypeError, "a link is a Discovery");
        return NULL;
    }
    return PyTuple_GET_ITEM(link, field);
}

/* A link that is looked up soon: a memory of millions of pages is not in the processor's, and waits for each otherwise. */
static void
expect_link(PyObject *link, PyObject *segments)
{
    if (!PyTuple_Check(link) || PyTuple_GET_SIZE(link) != LINK_FIELDS) {
        return;
    }
    PyObject *key = PyTuple_GET_ITEM(link, LINK_KEY);
    if (PyBytes_Check(key) && PyBytes_GET_SIZE(key) == KEY) {
        expect_key(segments, (const unsigned char *)PyBytes_AS_STRING(key));
    }
}

/* 1 if the memory knows the link's page and it is not nearer than it was, and `ids` has it then. 0: to be looked at. */
static int
take_link(PyObject *link, PyObject *segments, PyObject *ids)
{
    PyObject *key = field_of(link, LINK_KEY);
    const unsigned char *bytes = key == NULL ? NULL : key_bytes(key);
    PyObject *segment = bytes == NULL ? NULL : segment_of(segments, bytes);
    if (segment == NULL) {
        return -1;
    }
    const uint64_t packed = look_up(segment, bytes);
    if (packed == 0) {
        return 0;
    }
    if (!PyLong_Check(PyTuple_GET_ITEM(link, LINK_DEPTH))) {
        PyErr_SetString(PyExc_TypeError, "depths are int");
        return -1;
    }
    int is_beyond;
    const long long depth = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(link, LINK_DEPTH), &is_beyond);
    if (depth == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (is_beyond < 0 || (is_beyond == 0 && depth < (long long)(packed & DEEPEST))) {
        return 0;
    }
    /* Most links of a batch are on many of its pages. */
    const int has_it = PyDict_Contains(ids, key);
    if (has_it != 0) {
        return has_it;
    }
    PyObject *page = PyLong_FromUnsignedLongLong(packed >> DEPTH_BITS);
    if (page == NULL) {
        return -1;
    }
    const int failed = PyDict_SetItem(ids, key, page);
    Py_DECREF(page);
    return failed ? -1 : 1;
}

PyDoc_STRVAR(take_known_doc, "take_known(links, segments, ids, /)\n--\n\nAs `known_table.take_known_in_python`.");

static PyObject *
take_known(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "take_known takes links, segments and a dict");
        return NULL;
    }
    if (!are_segments(arguments[1])) {
        return NULL;
    }
    PyObject *links = PySequence_Fast(arguments[0], "take_known takes links, segments and a dict");
    PyObject *others = links == NULL ? NULL : PyList_New(0);
    if (others == NULL) {
        Py_XDECREF(links);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(links); i++) {
        if (i + AHEAD < PySequence_Fast_GET_SIZE(links)) {
            expect_link(PySequence_Fast_GET_ITEM(links, i + AHEAD), arguments[1]);
        }
        PyObject *link = Py_NewRef(PySequence_Fast_GET_ITEM(links, i));
        const int taken = take_link(link, arguments[1], arguments[2]);
        const int failed = taken < 0 || (taken == 0 && PyList_Append(others, link) < 0);
        Py_DECREF(link);
        if (failed) {
            Py_CLEAR(others);
            break;
        }
    }
    Py_DECREF(links);
    return others;
}

/* Write a number; answers its length. */
static Py_ssize_t
spell_number(char *out, long long number)
{
    char backwards[LONGEST_NUMBER];
    Py_ssize_t length = 0;
    unsigned long long rest = number < 0 ? 0ULL - (unsigned long long)number : (unsigned long long)number;
    do {
        backwards[length++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        backwards[length++] = '-';
    }
    for (Py_ssize_t at = 0; at < length; at++) {
        out[at] = backwards[length - 1 - at];
    }
    return length;
}

/* The pages of links, with commas between, into `out`; answers the length, or -1. */
static Py_ssize_t
spell_pages(char *out, PyObject *links, PyObject *page_ids)
{
    Py_ssize_t length = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(links); i++) {
        PyObject *key = field_of(PyTuple_GET_ITEM(links, i), LINK_KEY);
        PyObject *page = key == NULL ? NULL : PyDict_GetItemWithError(page_ids, key);
        if (page == NULL) {
            if (!PyErr_Occurred()) {
                PyErr_SetObject(PyExc_KeyError, key);
            }
            return -1;
        }
        if (!PyLong_Check(page)) {
            PyErr_SetString(PyExc_TypeError, "pages are int");
            return -1;
        }
        const long long number = PyLong_AsLongLong(page); /* of a bigint: it fits */
        if (number == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (i > 0) {
            out[length++] = ',';
        }
        length += spell_number(out + length, number);
    }
    return length;
}

static PyObject *
join_pages(PyObject *links, PyObject *page_ids)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(links);
    if (count > PY_SSIZE_T_MAX / (LONGEST_NUMBER + 1)) {
        return PyErr_NoMemory();
    }
    char *out = PyMem_Malloc((size_t)count * (LONGEST_NUMBER + 1));
    if (out == NULL) {
        return PyErr_NoMemory();
    }
    const Py_ssize_t length = spell_pages(out, links, page_ids);
    PyObject *joined = length < 0 ? NULL : PyUnicode_FromStringAndSize(out, length);
    PyMem_Free(out);
    return joined;
}

static PyObject *
join_field(PyObject *links, Py_ssize_t field, const char *between)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(links);
    PyObject *parts = PyList_New(count), *joined = NULL, *separator = PyUnicode_FromString(between);
    for (Py_ssize_t i = 0; parts != NULL && i < count; i++) {
        PyObject *part = field_of(PyTuple_GET_ITEM(links, i), field);
        if (part == NULL) {
            Py_CLEAR(parts);
            break;
        }
        PyList_SET_ITEM(parts, i, Py_NewRef(part));
    }
    if (parts != NULL && separator != NULL) {
        joined = PyUnicode_Join(separator, parts);
    }
    Py_XDECREF(parts);
    Py_XDECREF(separator);
    return joined;
}

/* 1 if all are plain links, as on most pages. */
static int
are_plain(PyObject *links)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(links); i++) {
        PyObject *rel = field_of(PyTuple_GET_ITEM(links, i), LINK_REL);
        if (rel == NULL) {
            return -1;
        }
        if (!PyUnicode_Check(rel)) {
            PyErr_SetString(PyExc_TypeError, "a link's rel is a str");
            return -1;
        }
        if (PyUnicode_GET_LENGTH(rel) != 1 || PyUnicode_READ_CHAR(rel, 0) != 'a') {
            return 0;
        }
    }
    return 1;
}

static PyObject *
join_rels(PyObject *links)
{
    const int plain = are_plain(links);
    if (plain < 0) {
        return NULL;
    }
    return plain ? Py_NewRef(Py_None) : join_field(links, LINK_REL, ",");
}

PyDoc_STRVAR(join_links_doc, "join_links(links, page_ids, /)\n--\n\nAs `store.join_links_in_python`.");

static PyObject *
join_links(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyDict_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "join_links takes links and a dict");
        return NULL;
    }
    PyObject *links = PySequence_Tuple(arguments[0]); /* nobody changes it under our hands */
    if (links == NULL) {
        return NULL;
    }
    PyObject *joined = NULL, *pages = join_pages(links, arguments[1]), *rels = NULL, *anchors = NULL;
    if (pages != NULL && (rels = join_rels(links)) != NULL
        && (anchors = join_field(links, LINK_ANCHOR, "\x1f")) != NULL) {
        joined = PyTuple_Pack(3, pages, rels, anchors);
    }
    Py_XDECREF(pages);
    Py_XDECREF(rels);
    Py_XDECREF(anchors);
    Py_DECREF(links);
    return joined;
}

#endif
