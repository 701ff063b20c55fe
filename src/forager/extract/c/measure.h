/* How large the tree of a page could become, from one look at its tags, as `tree.py` measures it. */

#ifndef FORAGER_MEASURE_H
#define FORAGER_MEASURE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST_FORMATTING 6

static const char *const FORMATTING[] = {"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong",
                                         "tt", "u"};

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t length;
} Letters;

static inline Py_ssize_t next_tag(const Letters *letters, PyObject *text, Py_ssize_t from)
{
    if (letters->kind != PyUnicode_1BYTE_KIND)
        return PyUnicode_FindChar(text, '<', from, letters->length, 1);
    const char *found = memchr((const char *)letters->data + from, '<', (size_t)(letters->length - from));
    return found == NULL ? -1 : found - (const char *)letters->data;
}

/* The name of a tag in lower case; 0 where it is longer than any that counts, or none of ASCII letters. */
static int name_at(const Letters *letters, Py_ssize_t at, char *name)
{
    int length = 0;
    for (; at < letters->length; at++) {
        Py_UCS4 letter = PyUnicode_READ(letters->kind, letters->data, at);
        if ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') {
            if (length == LONGEST_FORMATTING)
                return 0;
            name[length++] = (char)(letter | 0x20);
        } else {
            bool is_end = letter == '>' || letter == '/' || letter == ' ' || (letter >= '\t' && letter <= '\r');
            return is_end ? length : 0;
        }
    }
    return 0;
}

static bool is_formatting(const char *name, int length)
{
    for (size_t at = 0; at < sizeof FORMATTING / sizeof *FORMATTING; at++)
        if (FORMATTING[at][0] == name[0] && strlen(FORMATTING[at]) == (size_t)length &&
            memcmp(FORMATTING[at], name, (size_t)length) == 0)
            return true;
    return false;
}

static PyObject *measure(PyObject *text)
{
    Letters letters = {PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)};
    long long tags = 0, reopened = 0, bodies = 0, open = 0;
    Py_ssize_t at = 0;
    while (at < letters.length && (at = next_tag(&letters, text, at)) >= 0) {
        at++;
        tags++;
        bool is_end = at < letters.length && PyUnicode_READ(letters.kind, letters.data, at) == '/';
        char name[LONGEST_FORMATTING];
        int length = name_at(&letters, at + is_end, name);
        if (length && is_formatting(name, length))
            open = is_end ? (open ? open - 1 : 0) : open + 1;
        else if (length == 4 && !is_end && (memcmp(name, "body", 4) == 0 || memcmp(name, "html", 4) == 0))
            bodies++;
        reopened += open;
    }
    return Py_BuildValue("(LLL)", tags, reopened, bodies);
}

#endif
