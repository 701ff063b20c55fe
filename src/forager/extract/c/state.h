/* What the module keeps: the parser's functions, and words it writes again and again. */

#ifndef FORAGER_STATE_H
#define FORAGER_STATE_H

#include "lexbor.h"

typedef struct {
    bool is_bound;
    Lexbor lexbor;
    PyObject *mem_id, *empty, *plain, *nofollow;
} State;

/* The address behind one of selectolax's nodes; NULL with an exception. */
static Node *address_of(const State *state, PyObject *node)
{
    if (!state->is_bound) {
        PyErr_SetString(PyExc_RuntimeError, "the tree's functions were not looked up");
        return NULL;
    }
    PyObject *number = PyObject_GetAttr(node, state->mem_id);
    if (number == NULL)
        return NULL;
    Node *address = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    if (address == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a node without an address");
    return address;
}

#endif
