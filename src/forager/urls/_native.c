/* The inner loop of resolving links. `join_simple_in_python` of resolve.py is the reference and the fall-back: same
   results, to the letter; a property test compares them. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

/* As in resolve.py and domain.py, where it is said why. */
#define LONGEST_ORIGIN 270
#define SHORTEST_ORIGIN 8

typedef struct {
    const char *text;
    Py_ssize_t length;
} Piece;

/* What the links of one page are joined to, and the last foreign origin that was asked about: mostly the next one's. */
typedef struct {
    Piece origin;
    Piece scheme; /* with its colon */
    Piece directory;
    Py_ssize_t room;
    PyObject *is_canonical;
    char asked[LONGEST_ORIGIN];
    Py_ssize_t asked_length;
    int is_asked_canonical;
} Base;

static int
is_one_of(char letter, const char *letters)
{
    return letter != '\0' && strchr(letters, letter) != NULL;
}

/* Characters of a path that no step of normalising touches; a colon only where it can end no scheme. */
static int
is_plain(char letter, int is_rooted)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9')
           || is_one_of(letter, "_~!$&()*+,;=@./-") || (is_rooted && letter == ':');
}

/* Whether an escape, of which two digits are given, is needed, and written as it is normalised. */
static int
is_escaped(char high, char low)
{
    if (!is_one_of(low, "0123456789ABCDEF")) {
        return 0;
    }
    switch (high) {
    case '2':
        return is_one_of(low, "0234567BCF");
    case '3':
        return low >= 'A';
    case '4':
    case '6':
        return low == '0';
    case '5':
        return low >= 'B' && low <= 'E';
    case '7':
        return low >= 'B' && low != 'E';
    default:
        return is_one_of(high, "0189ABCDEF");
    }
}

static int
is_same(Piece one, Piece other)
{
    return one.length == other.length && memcmp(one.text, other.text, (size_t)one.length) == 0;
}

/* The length of the path in what follows the origin; -1 where it is not simple. */
static Py_ssize_t
measure_path(Piece rest)
{
    const int is_rooted = rest.length > 0 && rest.text[0] == '/';
    Py_ssize_t end = 0;
    while (end < rest.length && rest.text[end] != '#') {
        if (is_plain(rest.text[end], is_rooted)) {
            end++;
        }
        else if (end + 2 < rest.length && rest.text[end] == '%' && is_escaped(rest.text[end + 1], rest.text[end + 2])) {
            end += 3;
        }
        else {
            return -1;
        }
    }
    for (Py_ssize_t at = end; at < rest.length; at++) {
        if (rest.text[at] <= ' ' || rest.text[at] > '~' || rest.text[at] == '?') {
            return -1;
        }
    }
    for (Py_ssize_t at = 0; at + 1 < rest.length; at++) {
        if (rest.text[at] == '/' && rest.text[at + 1] == '.') {
            return -1;
        }
    }
    return end;
}

/* Whether an origin keeps its characters when it is normalised; -1 with an error. */
static int
ask_canonical(Base *base, Piece origin)
{
    if (is_same(origin, base->origin)) {
        return 1;
    }
    if (is_same(origin, (Piece){base->asked, base->asked_length})) {
        return base->is_asked_canonical;
    }
    PyObject *name = PyUnicode_FromStringAndSize(origin.text, origin.length);
    PyObject *answer = name == NULL ? NULL : PyObject_CallOneArg(base->is_canonical, name);
    const int is_canonical = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(name);
    Py_XDECREF(answer);
    if (is_canonical >= 0) {
        memcpy(base->asked, origin.text, (size_t)origin.length);
        base->asked_length = origin.length;
        base->is_asked_canonical = is_canonical;
    }
    return is_canonical;
}

/* The length of the origin that a link begins with, of which `before` letters are left out; 0 where it has none that
   may be looked at. */
static Py_ssize_t
measure_origin(Piece link, Py_ssize_t before)
{
    const Py_ssize_t start = before < SHORTEST_ORIGIN ? SHORTEST_ORIGIN - before : 0;
    const char *slash
        = link.length > start ? memchr(link.text + start, '/', (size_t)(link.length - start)) : NULL;
    const Py_ssize_t end = slash == NULL ? 0 : before + (slash - link.text);
    return end > SHORTEST_ORIGIN && end < LONGEST_ORIGIN ? end : 0;
}

static PyObject *
concatenate(Piece origin, Piece directory, Piece path)
{
    PyObject *url = PyUnicode_New(origin.length + directory.length + path.length, 127);
    if (url == NULL) {
        return NULL;
    }
    char *to = (char *)PyUnicode_1BYTE_DATA(url);
    memcpy(to, origin.text, (size_t)origin.length);
    memcpy(to + origin.length, directory.text, (size_t)directory.length);
    memcpy(to + origin.length + directory.length, path.text, (size_t)path.length);
    return url;
}

/* A new reference to the URL, or to None where the link is not simple. */
static PyObject *
join_one(Base *base, PyObject *href)
{
    if (!PyUnicode_IS_COMPACT_ASCII(href)) {
        Py_RETURN_NONE;
    }
    Piece rest = {(const char *)PyUnicode_1BYTE_DATA(href), PyUnicode_GET_LENGTH(href)};
    const int has_host = rest.length >= 2 && memcmp(rest.text, "//", 2) == 0;
    const int is_absolute = rest.length >= 4 && memcmp(rest.text, "http", 4) == 0;
    const Py_ssize_t before = has_host ? base->scheme.length : 0;
    if (rest.length + before > base->room) {
        Py_RETURN_NONE;
    }
    Piece origin = base->origin;
    char named[LONGEST_ORIGIN];
    if (has_host || is_absolute) {
        const Py_ssize_t length = measure_origin(rest, before);
        if (length == 0) {
            Py_RETURN_NONE;
        }
        memcpy(named, base->scheme.text, (size_t)before);
        memcpy(named + before, rest.text, (size_t)(length - before));
        origin = (Piece){named, length};
        rest = (Piece){rest.text + (length - before), rest.length - (length - before)};
    }
    const Py_ssize_t length = measure_path(rest);
    if (length <= 0 || rest.text[0] == '.') {
        Py_RETURN_NONE;
    }
    const int is_canonical = ask_canonical(base, origin);
    if (is_canonical <= 0) {
        return is_canonical < 0 ? NULL : Py_NewRef(Py_None);
    }
    const Piece directory = rest.text[0] == '/' ? (Piece){"", 0} : base->directory;
    return concatenate(origin, directory, (Piece){rest.text, length});
}

static int
join_all(Base *base, PyObject *hrefs, PyObject *urls)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(hrefs); i++) {
        PyObject *href = PyTuple_GET_ITEM(hrefs, i), *url = NULL;
        if (PyUnicode_CheckExact(href)) {
            url = join_one(base, href);
        }
        else {
            PyErr_SetString(PyExc_TypeError, "links are joined by their href, which is str");
        }
        if (url == NULL) {
            return -1;
        }
        PyList_SET_ITEM(urls, i, url);
    }
    return 0;
}

static int
is_ascii(PyObject *text)
{
    return PyUnicode_CheckExact(text) && PyUnicode_IS_COMPACT_ASCII(text);
}

static Piece
piece_of(PyObject *text)
{
    return (Piece){(const char *)PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text)};
}

/* What stands before the two slashes of an origin. */
static Piece
scheme_of(Piece origin)
{
    const char *slashes = strstr(origin.text, "//");
    return (Piece){origin.text, slashes == NULL ? origin.length : slashes - origin.text};
}

PyDoc_STRVAR(
    join_simple_doc,
    "join_simple(origin, directory, room, hrefs, is_canonical, /)\n--\n\nAs `resolve.join_simple_in_python`.");

static PyObject *
join_simple(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || !is_ascii(arguments[0]) || !is_ascii(arguments[1]) || !PyLong_CheckExact(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "join_simple takes an origin, a directory, a length, hrefs and a function");
        return NULL;
    }
    Base base = {
        .origin = piece_of(arguments[0]),
        .directory = piece_of(arguments[1]),
        .room = PyLong_AsSsize_t(arguments[2]),
        .is_canonical = arguments[4],
    };
    base.scheme = scheme_of(base.origin);
    if (base.room == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    PyObject *hrefs = PySequence_Tuple(arguments[3]);
    PyObject *urls = hrefs == NULL ? NULL : PyList_New(PyTuple_GET_SIZE(hrefs));
    if (urls != NULL && join_all(&base, hrefs, urls) < 0) {
        Py_CLEAR(urls);
    }
    Py_XDECREF(hrefs);
    return urls;
}

static PyMethodDef functions[] = {
    {"join_simple", (PyCFunction)(void (*)(void))join_simple, METH_FASTCALL, join_simple_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "forager.urls._native",
    .m_doc = "The inner loop of resolving links in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
