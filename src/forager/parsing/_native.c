/* The inner loops of reading, in C: the same as the Python beside it to the letter, at a fraction of the cost.
 *
 * Python says what is right (`python_tree.py`, `text.py`, `simhash.py`), tests compare the two, and where this module was
 * not built Python does it all.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "c/language.h"
#include "c/simhash.h"
#include "c/tree.h"
#include "c/utf8.h"
#include "c/words.h"

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static bool is_text(PyObject *given)
{
    if (PyUnicode_Check(given))
        return true;
    PyErr_Format(PyExc_TypeError, "a text is expected, not %s", Py_TYPE(given)->tp_name);
    return false;
}

static PyObject *native_weigh(PyObject *Py_UNUSED(module), PyObject *text)
{
    return is_text(text) ? PyLong_FromSsize_t(weigh(text)) : NULL;
}

static PyObject *native_squeeze(PyObject *Py_UNUSED(module), PyObject *text)
{
    return is_text(text) ? squeeze(text) : NULL;
}

static PyObject *native_simhash(PyObject *Py_UNUSED(module), PyObject *text)
{
    return is_text(text) ? simhash(text) : NULL;
}

static PyObject *native_first_words(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *text;
    Py_ssize_t count, window;
    if (!PyArg_ParseTuple(given, "Unn:first_words", &text, &count, &window))
        return NULL;
    return first_words(text, count, window);
}

static PyObject *native_holds(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *page, *word;
    if (!PyArg_ParseTuple(given, "SS:holds", &page, &word))
        return NULL;
    return PyBool_FromLong(holds((const Byte *)PyBytes_AS_STRING(page), PyBytes_GET_SIZE(page),
                                 (const Byte *)PyBytes_AS_STRING(word), PyBytes_GET_SIZE(word)));
}

static PyObject *native_utf8_surplus(PyObject *Py_UNUSED(module), PyObject *page)
{
    if (!PyBytes_Check(page)) {
        PyErr_Format(PyExc_TypeError, "bytes are expected, not %s", Py_TYPE(page)->tp_name);
        return NULL;
    }
    return PyLong_FromSsize_t(utf8_surplus((const Byte *)PyBytes_AS_STRING(page), PyBytes_GET_SIZE(page)));
}

static PyObject *native_language_probabilities(PyObject *Py_UNUSED(module), PyObject *given)
{
    Py_buffer table, text;
    if (!PyArg_ParseTuple(given, "y*y*:language_probabilities", &table, &text))
        return NULL;
    PyObject *likely = language_probabilities(&table, &text);
    PyBuffer_Release(&table);
    PyBuffer_Release(&text);
    return likely;
}

/* ---- the module ----------------------------------------------------------------------------------------------- */

static PyMethodDef METHODS[] = {
    {"weigh", native_weigh, METH_O, "Bytes of UTF-8 that are no white space."},
    {"squeeze", native_squeeze, METH_O, "A text without white space, as bytes; see `text.py`."},
    {"simhash", native_simhash, METH_O, "The similarity hash of a text; None where there is too little."},
    {"first_words", native_first_words, METH_VARARGS,
     "first_words(text, count, window): the first words, if more than these begin in the window; else None."},
    {"set_names", set_names, METH_VARARGS,
     "set_names(words, tokens, beginnings, roles, passed_over, around, named): what names of elements say."},
    {"utf8_surplus", native_utf8_surplus, METH_O, "Bytes of UTF-8 beyond one for each letter; -1 if it is not valid."},
    {"language_probabilities", native_language_probabilities, METH_VARARGS,
     "language_probabilities(table, text): how likely each language is, by its column in the table."},
    {"holds", native_holds, METH_VARARGS, "holds(page, word): whether these bytes are in those."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    make_crc_table();
    make_byte_table();
    make_kind_table();
    if (load_entities() < 0)
        return -1;
#ifdef SQUEEZES_EIGHT
    make_squeeze_table();
#endif
    PyObject *type = PyType_FromModuleAndSpec(module, &TREE_SPEC, NULL);
    int done = type == NULL ? -1 : PyModule_AddObjectRef(module, "Tree", type);
    Py_XDECREF(type);
    return done;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.parsing._native",
    .m_doc = "The inner loops of reading.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&MODULE); }
