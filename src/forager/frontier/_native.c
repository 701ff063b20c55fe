/* The frontier's inner loops. The Python of the same names is the reference and the fall-back: `weave`, `recall`, `hear_plain` and
   `hear_marked` in lexemes.py, `find_known`, `put_known` and `take_known` in known_table.py, `join_links` in store.py. Same results, to the letter;
   property tests compare them. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "c/parse_lexemes.h"
#include "c/known.h"
#include "c/links.h"
#include "c/build_tsvector.h"

static PyMethodDef functions[] = {
    {"weave", (PyCFunction)(void (*)(void))weave, METH_FASTCALL, weave_doc},
    {"recall", (PyCFunction)(void (*)(void))recall_words, METH_FASTCALL, recall_doc},
    {"hear_plain", (PyCFunction)(void (*)(void))hear_plain, METH_FASTCALL, hear_plain_doc},
    {"hear_marked", (PyCFunction)(void (*)(void))hear_marked, METH_FASTCALL, hear_marked_doc},
    {"find_known", (PyCFunction)(void (*)(void))find_known, METH_FASTCALL, find_known_doc},
    {"put_known", (PyCFunction)(void (*)(void))put_known, METH_FASTCALL, put_known_doc},
    {"take_known", (PyCFunction)(void (*)(void))take_known, METH_FASTCALL, take_known_doc},
    {"join_links", (PyCFunction)(void (*)(void))join_links, METH_FASTCALL, join_links_doc},
    {NULL, NULL, 0, NULL},
};

static int
add_limits(PyObject *module)
{
    return PyModule_AddIntConstant(module, "MOST_WORDS", MOST_WORDS) < 0
                   || PyModule_AddIntConstant(module, "MOST_PLACES", MOST_PLACES) < 0
                   || PyModule_AddIntConstant(module, "PIECE_PLACES", PIECE_PLACES) < 0
                   || PyModule_AddIntConstant(module, "PAGE_PLACES", PAGE_PLACES) < 0
                   || PyModule_AddIntConstant(module, "LONGEST_REMEMBERED", LONGEST_REMEMBERED) < 0
                   || PyModule_AddIntConstant(module, "LAST_PLACE", LAST_PLACE) < 0
                   || PyModule_AddIntConstant(module, "FIRST_MARK", FIRST_MARK) < 0
                   || PyModule_AddIntConstant(module, "DEPTH_BITS", DEPTH_BITS) < 0
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_limits},
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.frontier._native",
    .m_doc = "The frontier's inner loops in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
