/* The inner loops of selecting. `gather_in_python` and `recall_in_python` of select.py are the reference and the
   fall-back: same results, to the letter; property tests compare them. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

/* Where a Place has what; of select.py. */
#define PLACE_FIELDS 4
#define PLACE_URL 0
#define PLACE_KEY 1
#define PLACE_DOMAIN 2
#define PLACE_REFUSAL 3
/* Of a Discovery; of frontier/models.py. */
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

/* Links whose origin decides ------------------------------------------------------------------------------------- */

/* As in select.py, where it is said why. */
#define LONGEST_PLAIN 1300
#define LONGEST_ORIGIN 270
#define SHORTEST_ORIGIN 8
#define LONGEST_ENDING 6
#define ESCAPES_UP_TO 8

static int
is_printable(char letter)
{
    return letter > ' ' && letter <= '~';
}

static int
is_letter_for_letter(const char *one, const char *other, Py_ssize_t length)
{
    for (Py_ssize_t at = 0; at < length; at++) {
        const char small = one[at] >= 'A' && one[at] <= 'Z' ? (char)(one[at] + 32) : one[at];
        if (small != other[at]) {
            return 0;
        }
    }
    return 1;
}

/* Whether a path may be that of a file we do not read: it has an ending, and not one that we know as a page's. */
static int
may_be_binary(const char *path, Py_ssize_t length)
{
    static const char *const PAGES[] = {"html", "htm", "php", "asp", "aspx", "jsp", "shtml", NULL};
    const Py_ssize_t first = length > LONGEST_ENDING ? length - LONGEST_ENDING : 0;
    Py_ssize_t dot = length - 1;
    while (dot >= first && path[dot] != '.') {
        dot--;
    }
    if (dot < first) {
        return 0;
    }
    const Py_ssize_t size = length - dot - 1;
    for (const char *const *page = PAGES; *page != NULL; page++) {
        if ((Py_ssize_t)strlen(*page) == size && is_letter_for_letter(path + dot + 1, *page, size)) {
            return 0;
        }
    }
    return 1;
}

/* Whether a path stays what it is, as far as dots and its ending go, however it is normalised. */
static int
is_steady_path(const char *path, Py_ssize_t length)
{
    for (Py_ssize_t at = 0; at < length; at++) {
        const char letter = path[at], next = at + 1 < length ? path[at + 1] : ' ';
        if (!is_printable(letter) || letter == '\\' || (letter == '/' && next == '.')) {
            return 0;
        }
        if (letter == '%' && (length - at <= ESCAPES_UP_TO || (next == '2' && (path[at + 2] | 32) == 'e'))) {
            return 0;
        }
    }
    return !may_be_binary(path, length);
}

static Py_ssize_t
count_until(const char *text, Py_ssize_t length, const char *ends)
{
    Py_ssize_t at = 0;
    while (at < length && strchr(ends, text[at]) == NULL) {
        at++;
    }
    return at;
}

/* The length of the origin of a link that may be left out for it alone; 0 of others. */
static Py_ssize_t
deciding_origin(PyObject *href)
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(href);
    if (!PyUnicode_IS_COMPACT_ASCII(href) || length > LONGEST_PLAIN || length <= SHORTEST_ORIGIN) {
        return 0;
    }
    const char *text = (const char *)PyUnicode_1BYTE_DATA(href);
    if (memcmp(text, "http", 4) != 0) {
        return 0;
    }
    const Py_ssize_t end
        = SHORTEST_ORIGIN + count_until(text + SHORTEST_ORIGIN, length - SHORTEST_ORIGIN, "/?#");
    const Py_ssize_t path = count_until(text + end, length - end, "?#");
    if (end == SHORTEST_ORIGIN || end >= LONGEST_ORIGIN || !is_steady_path(text + end, path)) {
        return 0;
    }
    for (Py_ssize_t at = end + path; at < length; at++) {
        if (!is_printable(text[at])) {
            return 0;
        }
    }
    return end;
}

/* Whether an origin lies outside; -1 with an error. Whoever knows is asked once. */
static int
lies_outside(PyObject *outside, PyObject *ask, PyObject *origin)
{
    PyObject *known = PyDict_GetItemWithError(outside, origin);
    if (known != NULL) {
        return known == Py_True;
    }
    if (PyErr_Occurred() != NULL) {
        return -1;
    }
    PyObject *answer = PyObject_CallOneArg(ask, origin);
    const int failed = answer == NULL || PyDict_SetItem(outside, origin, answer) < 0;
    const int is_outside = answer == Py_True;
    Py_XDECREF(answer);
    return failed ? -1 : is_outside;
}

/* A new reference to the place of a link, or to None. The origin that was asked about last is mostly the next one's too. */
static PyObject *
recall_one(PyObject *href, PyObject *const *arguments, PyObject **last, int *is_last_outside)
{
    const Py_ssize_t end = deciding_origin(href);
    if (end > 0) {
        const char *text = (const char *)PyUnicode_1BYTE_DATA(href);
        if (*last == NULL || PyUnicode_GET_LENGTH(*last) != end
            || memcmp(PyUnicode_1BYTE_DATA(*last), text, (size_t)end) != 0) {
            Py_XDECREF(*last);
            *last = PyUnicode_Substring(href, 0, end);
            *is_last_outside = *last == NULL ? -1 : lies_outside(arguments[2], arguments[3], *last);
        }
        if (*is_last_outside < 0) {
            return NULL;
        }
        if (*is_last_outside) {
            return Py_NewRef(arguments[4]);
        }
    }
    PyObject *place = PyDict_GetItemWithError(arguments[1], href);
    return place != NULL ? Py_NewRef(place) : PyErr_Occurred() != NULL ? NULL : Py_NewRef(Py_None);
}

static int
recall_all(PyObject *hrefs, PyObject *const *arguments, PyObject *places)
{
    PyObject *last = NULL;
    int is_last_outside = 0, failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(hrefs); i++) {
        PyObject *href = PyTuple_GET_ITEM(hrefs, i), *place = NULL;
        if (!PyUnicode_CheckExact(href)) {
            PyErr_SetString(PyExc_TypeError, "links are recalled by their href, which is str");
        }
        else {
            place = recall_one(href, arguments, &last, &is_last_outside);
        }
        if (place == NULL) {
            failed = 1;
        }
        else {
            PyList_SET_ITEM(places, i, place);
        }
    }
    Py_XDECREF(last);
    return failed ? -1 : 0;
}

PyDoc_STRVAR(
    recall_doc, "recall(hrefs, known, outside, ask, foreign, /)\n--\n\nAs `select.recall_in_python`.");

static PyObject *
recall(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || !PyDict_CheckExact(arguments[1]) || !PyDict_CheckExact(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "recall takes hrefs, two dicts, a function and a place");
        return NULL;
    }
    PyObject *hrefs = PySequence_Tuple(arguments[0]);
    PyObject *places = hrefs == NULL ? NULL : PyList_New(PyTuple_GET_SIZE(hrefs));
    if (places != NULL && recall_all(hrefs, arguments, places) < 0) {
        Py_CLEAR(places);
    }
    Py_XDECREF(hrefs);
    return places;
}

static PyMethodDef functions[] = {
    {"recall", (PyCFunction)(void (*)(void))recall, METH_FASTCALL, recall_doc},
    {"gather", (PyCFunction)(void (*)(void))gather, METH_FASTCALL, gather_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.links._native",
    .m_doc = "The inner loops of selecting in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
