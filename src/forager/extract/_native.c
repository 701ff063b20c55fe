/* The inner loops of reading, in C: the same as the Python beside it to the letter, at a fraction of the cost.
 *
 * Python says what is right (`links.py`, `text.py`, `boilerplate.py`, `simhash.py`), tests compare the two, and where this
 * module was not built Python does it all. What a tree is asked for takes one walk instead of an object for each element:
 * the tree is Lexbor's, inside selectolax, whose functions `bind` looks up by name. It tries them on a page that is
 * known; where one is missing or answers otherwise, reading does without. Nothing here changes a tree.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

#include "c/content.h"
#include "c/links.h"
#include "c/simhash.h"
#include "c/stall.h"
#include "c/state.h"
#include "c/words.h"

#define MOST_COUNTED 64
#define FARTHEST_TEXT_AT 160 /* bytes into a text node, which is as large */

static State *state_of(PyObject *module) { return PyModule_GetState(module); }

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

static PyObject *native_overload(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *page;
    long long limits[LIMITS];
    if (!PyArg_ParseTuple(given, "S(LLLLL):overload", &page, &limits[0], &limits[1], &limits[2], &limits[3], &limits[4]))
        return NULL;
    Pass pass = {.page = (const Byte *)PyBytes_AS_STRING(page), .size = PyBytes_GET_SIZE(page)};
    for (int limit = 0; limit < LIMITS; limit++)
        pass.limits[limit] = limits[limit];
    int exceeded = run_pass(&pass);
    PyMem_Free(pass.stack);
    PyMem_Free(pass.formatting);
    return exceeded < 0 ? NULL : PyLong_FromLong(exceeded);
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static PyObject *native_count(PyObject *module, PyObject *given)
{
    const State *state = state_of(module);
    PyObject *node, *numbers;
    if (!PyArg_ParseTuple(given, "OO!:count", &node, &PyTuple_Type, &numbers))
        return NULL;
    Py_ssize_t kinds = PyTuple_GET_SIZE(numbers), found[MOST_COUNTED] = {0};
    if (kinds > MOST_COUNTED)
        return PyErr_Format(PyExc_ValueError, "at most %d kinds of elements are counted", MOST_COUNTED);
    Node *root = address_of(state, node);
    if (root == NULL)
        return NULL;
    int8_t places[MOST_NUMBERS];
    memset(places, -1, sizeof places);
    for (Py_ssize_t at = 0; at < kinds; at++) {
        size_t number = PyLong_AsSize_t(PyTuple_GET_ITEM(numbers, at));
        if (PyErr_Occurred())
            return NULL;
        if (number < MOST_NUMBERS)
            places[number] = (int8_t)at;
    }
    for (Node *each = root; each != NULL; each = step(&state->lexbor, root, each)) {
        uintptr_t number = state->lexbor.tag_id(each);
        if (number < MOST_NUMBERS && places[number] >= 0)
            found[places[number]]++;
    }
    PyObject *counts = PyTuple_New(kinds);
    for (Py_ssize_t at = 0; counts != NULL && at < kinds; at++) {
        PyObject *number = PyLong_FromSsize_t(found[at]);
        if (number == NULL)
            Py_CLEAR(counts);
        else
            PyTuple_SET_ITEM(counts, at, number);
    }
    return counts;
}

static PyObject *native_first_has(PyObject *module, PyObject *given)
{
    const State *state = state_of(module);
    PyObject *node;
    Attribute wanted = {0};
    Py_ssize_t name_length;
    const char *kind_name;
    if (!PyArg_ParseTuple(given, "Oss#:first_has", &node, &kind_name, &wanted.name, &name_length))
        return NULL;
    wanted.name_length = (size_t)name_length;
    int kind = 0;
    while (kind < KINDS && strcmp(KIND_NAMES[kind], kind_name) != 0)
        kind++;
    if (kind == KINDS)
        return PyErr_Format(PyExc_ValueError, "%s is no kind that is told apart", kind_name);
    Node *root = address_of(state, node);
    if (root == NULL)
        return NULL;
    for (Node *each = root; each != NULL; each = step(&state->lexbor, root, each))
        if (kind_of(&state->lexbor, each) == kind) {
            read_attributes(&state->lexbor, each, &wanted, 1);
            break;
        }
    return PyBool_FromLong(wanted.is_there);
}

static PyObject *native_links(PyObject *module, PyObject *given)
{
    const State *state = state_of(module);
    PyObject *node, *clean_href;
    int has_body;
    if (!PyArg_ParseTuple(given, "OpO:links", &node, &has_body, &clean_href))
        return NULL;
    Node *root = address_of(state, node);
    return root == NULL ? NULL : find_links(state, root, has_body, clean_href);
}

static PyObject *native_content(PyObject *module, PyObject *given)
{
    const State *state = state_of(module);
    PyObject *node, *body_node;
    Judges judges;
    if (!PyArg_ParseTuple(given, "OO(OOO(OOO)):content", &node, &body_node, &judges.judge_names, &judges.is_hiding,
                          &judges.choose_dominant, &judges.around, &judges.likely_around, &judges.content))
        return NULL;
    Node *root = address_of(state, node), *body = NULL;
    if (root == NULL || (body_node != Py_None && (body = address_of(state, body_node)) == NULL))
        return NULL;
    return take_content(&state->lexbor, &judges, root, body);
}

/* ---- binding -------------------------------------------------------------------------------------------------- */

static int look_up(void *library, const char *name, void *into)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        PyErr_Format(PyExc_ImportError, "the parser has no %s", name);
        return -1;
    }
    memcpy(into, &found, sizeof found);
    return 0;
}

static int look_up_all(void *library, Lexbor *lexbor)
{
    return look_up(library, "lxb_dom_node_first_child_noi", &lexbor->first_child) < 0 ||
                   look_up(library, "lxb_dom_node_next_noi", &lexbor->next) < 0 ||
                   look_up(library, "lxb_dom_node_parent_noi", &lexbor->parent) < 0 ||
                   look_up(library, "lxb_dom_node_tag_id_noi", &lexbor->tag_id) < 0 ||
                   look_up(library, "lxb_dom_element_first_attribute_noi", &lexbor->first_attribute) < 0 ||
                   look_up(library, "lxb_dom_element_next_attribute_noi", &lexbor->next_attribute) < 0 ||
                   look_up(library, "lxb_dom_attr_qualified_name", &lexbor->attribute_name) < 0 ||
                   look_up(library, "lxb_dom_attr_value_noi", &lexbor->attribute_value) < 0
               ? -1
               : 0;
}

/* A text node keeps its text and the length of it side by side, behind what all nodes have. How much that is, no function
 * tells: it is found in a node whose text is known, and so long that no other number in a node is the same. */
static int find_text(Lexbor *lexbor, Node *node, const Byte *text, size_t length)
{
    for (size_t at = 0; at + sizeof text + sizeof length <= FARTHEST_TEXT_AT; at += sizeof(void *)) {
        size_t there;
        memcpy(&there, (const char *)node + at + sizeof text, sizeof there);
        if (there != length)
            continue;
        lexbor->text_at = at;
        const Byte *found = text_of(lexbor, node, &there);
        if (found != NULL && memcmp(found, text, length) == 0)
            return 0;
    }
    PyErr_SetString(PyExc_ImportError, "the parser keeps texts in a way that is not known");
    return -1;
}

static int number_kinds(Lexbor *lexbor, PyObject *numbers)
{
    memset(lexbor->kinds, -1, sizeof lexbor->kinds);
    for (int kind = 0; kind < KINDS; kind++) {
        PyObject *given = PyDict_GetItemString(numbers, KIND_NAMES[kind]);
        size_t number = given ? PyLong_AsSize_t(given) : (size_t)-1;
        if (PyErr_Occurred())
            return -1;
        if (number >= MOST_NUMBERS) {
            PyErr_Format(PyExc_ImportError, "the parser has no number for %s", KIND_NAMES[kind]);
            return -1;
        }
        lexbor->kinds[number] = (int8_t)kind;
    }
    return 0;
}

static PyObject *native_bind(PyObject *module, PyObject *given)
{
    State *state = state_of(module);
    const char *path, *text;
    Py_ssize_t length;
    PyObject *numbers, *node;
    if (!PyArg_ParseTuple(given, "sO!Oy#:bind", &path, &PyDict_Type, &numbers, &node, &text, &length))
        return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD); /* stays for as long as the process does */
    if (library == NULL)
        return PyErr_Format(PyExc_ImportError, "the parser is not at %s", path);
    state->is_bound = look_up_all(library, &state->lexbor) == 0 && number_kinds(&state->lexbor, numbers) == 0;
    if (!state->is_bound)
        return NULL;
    Node *known = address_of(state, node);
    state->is_bound = known != NULL && find_text(&state->lexbor, known, (const Byte *)text, (size_t)length) == 0;
    if (!state->is_bound)
        return NULL;
    state->lexbor.text_id = state->lexbor.tag_id(known);
    Py_RETURN_NONE;
}

/* ---- the module ----------------------------------------------------------------------------------------------- */

static PyMethodDef METHODS[] = {
    {"weigh", native_weigh, METH_O, "Bytes of UTF-8 that are no white space."},
    {"squeeze", native_squeeze, METH_O, "A text of Latin-1 without white space, as bytes; None for other texts."},
    {"simhash", native_simhash, METH_O, "The similarity hash of a text; None where there is too little."},
    {"first_words", native_first_words, METH_VARARGS,
     "first_words(text, count, window): the first words, if more than these begin in the window; else None."},
    {"holds", native_holds, METH_VARARGS, "holds(page, word): whether these bytes are in those."},
    {"overload", native_overload, METH_VARARGS,
     "overload(page, limits): 0, or which of the limits the page exceeds first, counted from 1."},
    {"count", native_count, METH_VARARGS, "count(root, numbers): how many elements there are by each `tag_id`."},
    {"first_has", native_first_has, METH_VARARGS,
     "first_has(root, kind, attribute): whether the first element of this name has it."},
    {"links", native_links, METH_VARARGS,
     "links(root, has_body, clean_href): addresses, anchors, kinds of all `a`; None where other elements link too."},
    {"content", native_content, METH_VARARGS,
     "content(root, body, judges): text and list of headings; None for a page of nothing but boilerplate."},
    {"bind", native_bind, METH_VARARGS,
     "bind(library, numbers, node, text): look up the parser's functions; ImportError where they cannot be used."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    State *state = state_of(module);
    make_crc_table();
    make_name_table();
#ifdef SQUEEZES_EIGHT
    make_squeeze_table();
#endif
    state->mem_id = PyUnicode_InternFromString("mem_id");
    state->empty = PyUnicode_InternFromString("");
    state->plain = PyUnicode_InternFromString("a");
    state->nofollow = PyUnicode_InternFromString("a nofollow");
    return state->mem_id && state->empty && state->plain && state->nofollow ? 0 : -1;
}

static int module_clear(PyObject *module)
{
    State *state = state_of(module);
    Py_CLEAR(state->mem_id);
    Py_CLEAR(state->empty);
    Py_CLEAR(state->plain);
    Py_CLEAR(state->nofollow);
    state->is_bound = false;
    return 0;
}

static void module_free(void *module) { (void)module_clear(module); }

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.extract._native",
    .m_doc = "The inner loops of reading.",
    .m_size = sizeof(State),
    .m_methods = METHODS,
    .m_slots = SLOTS,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&MODULE); }
