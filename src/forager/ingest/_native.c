/* The inner loop of selecting. `gather_in_python` of select.py is the reference and the fall-back: same results, to the
   letter; a property test compares them. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Where a Place has what; of select.py. */
#define PLACE_FIELDS 4
#define PLACE_URL 0
#define PLACE_KEY 1
#define PLACE_DOMAIN 2
#define PLACE_REFUSAL 3
/* Of a Discovery; of records/line.py. */
#define LINK_FIELDS 7

/* What is at hand while the links of one page are gathered. */
typedef struct {
    PyTypeObject *type; /* of what is gathered: Discovery */
    PyObject *depth;
    PyObject *redirects; /* a link is none */
    PyObject *seen;      /* keys */
    PyObject *links;
    PyObject *dropped; /* reason -> count */
} Basket;

static const char NOFOLLOW[] = "nofollow";
#define NOFOLLOW_LENGTH ((Py_ssize_t)sizeof(NOFOLLOW) - 1)

static int
is_nofollow(PyObject *rel)
{
    const Py_ssize_t start = PyUnicode_GET_LENGTH(rel) - NOFOLLOW_LENGTH;
    for (Py_ssize_t at = 0; start >= 0 && at < NOFOLLOW_LENGTH; at++) {
        if (PyUnicode_READ_CHAR(rel, start + at) != (Py_UCS4)NOFOLLOW[at]) {
            return 0;
        }
    }
    return start >= 0;
}

/* One more link that is left out, by the place's own reason or else by `reason`. */
static int
count_dropped(PyObject *dropped, PyObject *refusal, const char *reason)
{
    const int has_own = PyUnicode_CheckExact(refusal) && PyUnicode_GET_LENGTH(refusal) > 0;
    PyObject *name = has_own ? Py_NewRef(refusal) : PyUnicode_FromString(reason);
    if (name == NULL) {
        return -1;
    }
    PyObject *before = PyDict_GetItemWithError(dropped, name), *now = NULL;
    const Py_ssize_t count = before == NULL ? 0 : PyLong_AsSsize_t(before);
    int failed = PyErr_Occurred() != NULL || (now = PyLong_FromSsize_t(count + 1)) == NULL;
    failed = failed || PyDict_SetItem(dropped, name, now) < 0;
    Py_XDECREF(now);
    Py_DECREF(name);
    return failed ? -1 : 0;
}

static void
fill(PyObject *record, PyObject *const *fields)
{
    for (Py_ssize_t i = 0; i < LINK_FIELDS; i++) {
        PyTuple_SET_ITEM(record, i, Py_NewRef(fields[i]));
    }
}

/* A record as `tuple.__new__` makes it. */
static PyObject *
make_record(PyTypeObject *type, PyObject *const *fields)
{
#if PY_VERSION_HEX < 0x030E0000
    PyObject *record = type->tp_alloc(type, LINK_FIELDS);
    if (record != NULL) {
        fill(record, fields);
    }
    return record;
#else
    /* Tuples of 3.14 keep their hash, in a field that is CPython's own: it makes them itself. */
    PyObject *record = NULL, *arguments = NULL, *plain = PyTuple_New(LINK_FIELDS);
    if (plain != NULL) {
        fill(plain, fields);
        arguments = PyTuple_Pack(1, plain);
    }
    if (arguments != NULL) {
        record = PyTuple_Type.tp_new(type, arguments, NULL);
    }
    Py_XDECREF(plain);
    Py_XDECREF(arguments);
    return record;
#endif
}

/* It can be part of no cycle: the collector need not look at sixty of them a page. */
static PyObject *
make_link(const Basket *basket, PyObject *place, PyObject *anchor, PyObject *rel)
{
    PyObject *const fields[LINK_FIELDS] = {
        PyTuple_GET_ITEM(place, PLACE_URL),
        PyTuple_GET_ITEM(place, PLACE_KEY),
        PyTuple_GET_ITEM(place, PLACE_DOMAIN),
        basket->depth,
        basket->redirects,
        anchor,
        rel,
    };
    PyObject *link = make_record(basket->type, fields);
    if (link != NULL) {
        PyObject_GC_UnTrack(link);
    }
    return link;
}

/* Whether all is of the very types it should be: then no code of anybody else runs while we gather. */
static int
is_in_order(PyObject *place, PyObject *anchor, PyObject *rel)
{
    if (!PyTuple_Check(place) || PyTuple_GET_SIZE(place) != PLACE_FIELDS) {
        return 0;
    }
    PyObject *refusal = PyTuple_GET_ITEM(place, PLACE_REFUSAL);
    return PyUnicode_CheckExact(PyTuple_GET_ITEM(place, PLACE_URL))
           && PyBytes_CheckExact(PyTuple_GET_ITEM(place, PLACE_KEY))
           && PyUnicode_CheckExact(PyTuple_GET_ITEM(place, PLACE_DOMAIN))
           && (refusal == Py_None || PyUnicode_CheckExact(refusal)) && PyUnicode_CheckExact(anchor)
           && PyUnicode_CheckExact(rel);
}

/* 1 if the key is new, which it is not any more then. No key is that of places that are not worth knowing. */
static int
is_first_sight(PyObject *seen, PyObject *key)
{
    const Py_ssize_t before = PySet_GET_SIZE(seen);
    if (PyBytes_GET_SIZE(key) == 0) {
        return 0;
    }
    return PySet_Add(seen, key) < 0 ? -1 : PySet_GET_SIZE(seen) > before;
}

static int
put_link(Basket *basket, PyObject *place, PyObject *anchor, PyObject *rel)
{
    if (!is_in_order(place, anchor, rel)) {
        PyErr_SetString(PyExc_TypeError, "links are gathered from Places, with anchors and rels that are str");
        return -1;
    }
    PyObject *refusal = PyTuple_GET_ITEM(place, PLACE_REFUSAL);
    if (is_nofollow(rel)) {
        return count_dropped(basket->dropped, refusal, NOFOLLOW);
    }
    const int is_new = is_first_sight(basket->seen, PyTuple_GET_ITEM(place, PLACE_KEY));
    if (is_new <= 0) {
        return is_new < 0 ? -1 : count_dropped(basket->dropped, refusal, "duplicate");
    }
    PyObject *link = make_link(basket, place, anchor, rel);
    const int failed = link == NULL || PyList_Append(basket->links, link) < 0;
    Py_XDECREF(link);
    return failed ? -1 : 0;
}

static int
put_all(Basket *basket, PyObject *places, PyObject *anchors, PyObject *rels)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(places);
    if (PyTuple_GET_SIZE(anchors) != count || PyTuple_GET_SIZE(rels) != count) {
        PyErr_SetString(PyExc_ValueError, "places, anchors and rels are not equally many");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (put_link(basket, PyTuple_GET_ITEM(places, i), PyTuple_GET_ITEM(anchors, i), PyTuple_GET_ITEM(rels, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The columns as tuples, which nobody changes under our hands. */
static int
gather_columns(Basket *basket, PyObject *const *columns)
{
    PyObject *places = PySequence_Tuple(columns[0]);
    PyObject *anchors = places == NULL ? NULL : PySequence_Tuple(columns[1]);
    PyObject *rels = anchors == NULL ? NULL : PySequence_Tuple(columns[2]);
    const int failed = rels == NULL || put_all(basket, places, anchors, rels) < 0;
    Py_XDECREF(places);
    Py_XDECREF(anchors);
    Py_XDECREF(rels);
    return failed ? -1 : 0;
}

PyDoc_STRVAR(gather_doc, "gather(type, places, anchors, rels, own_key, depth, /)\n--\n\nAs `select.gather_in_python`.");

static PyObject *
gather(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 6 || !PyType_Check(arguments[0])
        || !PyType_IsSubtype((PyTypeObject *)arguments[0], &PyTuple_Type)
        || !PyBytes_CheckExact(arguments[4])
        || !PyLong_CheckExact(arguments[5])) {
        PyErr_SetString(PyExc_TypeError, "gather takes a class of tuples, three columns, a key and a depth");
        return NULL;
    }
    Basket basket = {.type = (PyTypeObject *)arguments[0], .depth = arguments[5]};
    PyObject *gathered = NULL;
    basket.redirects = PyLong_FromLong(0);
    basket.seen = PySet_New(NULL);
    basket.links = PyList_New(0);
    basket.dropped = PyDict_New();
    if (basket.redirects != NULL && basket.seen != NULL && basket.links != NULL && basket.dropped != NULL
        && PySet_Add(basket.seen, arguments[4]) == 0 && gather_columns(&basket, arguments + 1) == 0) {
        gathered = PyTuple_Pack(2, basket.links, basket.dropped);
    }
    Py_XDECREF(basket.redirects);
    Py_XDECREF(basket.seen);
    Py_XDECREF(basket.links);
    Py_XDECREF(basket.dropped);
    return gathered;
}

static PyMethodDef functions[] = {
    {"gather", (PyCFunction)(void (*)(void))gather, METH_FASTCALL, gather_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.ingest._native",
    .m_doc = "The inner loop of selecting in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
