/* The frontier's inner loops. The Python beside them is the reference: same results, to the letter. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyMethodDef functions[] = {
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
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
