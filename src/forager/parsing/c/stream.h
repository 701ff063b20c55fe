/* An element as a stream of what begins, ends and is said in it, in the order of the page: what Markdown is written of.
 */

#ifndef FORAGER_STREAM_H
#define FORAGER_STREAM_H

typedef struct {
    const Tables *tables;
    PyObject *events;
    PyObject *names[UINT8_MAX + 1]; /* of the wanted tags by kind, borrowed; NULL: not wanted */
    PyObject *others[MOST_NAMES];   /* those of no known kind */
    Py_ssize_t other_count;
    PyObject *cut, *plain, *spaced, *none;
    uint32_t run; /* the next run */
    uint32_t open[MOST_DEPTH + 2]; /* wanted elements that are open */
    uint32_t depth;
} Stream;

/* The name of an element's events; NULL where there are none. */
static PyObject *event_name(const Stream *stream, const Element *element)
{
    if (element->space != HTML_SPACE || element->kind != NO_KIND)
        return element->space == HTML_SPACE ? stream->names[element->kind] : NULL;
    for (Py_ssize_t at = 0; at < stream->other_count; at++) {
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(stream->others[at], &length);
        if (name != NULL && is_tag(stream->tables, element, name, (size_t)length))
            return stream->others[at];
    }
    return NULL;
}

static int add_event(Stream *stream, PyObject *name, PyObject *value)
{
    PyObject *event = value == NULL ? NULL : PyTuple_Pack(2, name, value);
    int done = event == NULL ? -1 : PyList_Append(stream->events, event);
    Py_XDECREF(value);
    Py_XDECREF(event);
    return done;
}

/* The runs before this one, as they are written. */
static int add_runs(Stream *stream, uint32_t end)
{
    for (; stream->run < end; stream->run++) {
        const Run *run = &stream->tables->runs[stream->run];
        if (run->flags & (RUN_UNSEEN | RUN_CONTROL | RUN_ALT) && !(run->flags & RUN_GAP))
            continue;
        PyObject *name = run->flags & RUN_SPACE ? stream->spaced : stream->plain;
        if (add_event(stream, name, text_at(stream->tables, run->at, run->length)) < 0)
            return -1;
    }
    return 0;
}

/* Ends the elements that do not reach to this one. */
static int close_events(Stream *stream, uint32_t at)
{
    while (stream->depth) {
        const Element *element = &stream->tables->elements[stream->open[stream->depth - 1]];
        if (element->end > at)
            return 0;
        if (add_runs(stream, element->run_end) < 0)
            return -1;
        if (add_event(stream, event_name(stream, element), Py_NewRef(stream->none)) < 0)
            return -1;
        stream->depth--;
    }
    return 0;
}

static int pass_over(Stream *stream, const Element *element, uint32_t number)
{
    if (stream->run < element->run_end)
        stream->run = element->run_end;
    return add_event(stream, stream->cut, PyLong_FromUnsignedLong(number));
}

static int add_events(Stream *stream, const Tree *tree, const Element *around, PyObject *without)
{
    const Tables *tables = stream->tables;
    Py_ssize_t next_cut = 0;
    stream->run = around->run_first;
    for (uint32_t at = (uint32_t)(around - tables->elements) + 1; at < around->end;) {
        const Element *element = &tables->elements[at], *cut = NULL;
        if (close_events(stream, at) < 0 || add_runs(stream, element->run_first) < 0)
            return -1;
        while (next_cut < PyList_GET_SIZE(without)) {
            cut = element_of(tree, PyList_GET_ITEM(without, next_cut));
            if (cut == NULL)
                return -1;
            if (cut >= element)
                break;
            next_cut++;
        }
        if (element->flags & (IS_UNSEEN | IS_CONTROL) || (cut == element && next_cut < PyList_GET_SIZE(without))) {
            if (pass_over(stream, element, at) < 0)
                return -1;
            at = element->end;
            continue;
        }
        PyObject *name = event_name(stream, element);
        if (name != NULL && add_event(stream, name, PyLong_FromUnsignedLong(at)) < 0)
            return -1;
        if (name != NULL && !(element->flags & IS_VOID) && stream->depth < MOST_DEPTH + 2)
            stream->open[stream->depth++] = at;
        at++;
    }
    return close_events(stream, around->end) < 0 ? -1 : add_runs(stream, around->run_end);
}

/* stream(number, without, tags): see `tree_types.py`. */
static PyObject *tree_stream(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    PyObject *number, *without, *tags;
    if (!PyArg_ParseTuple(given, "OO!O!:stream", &number, &PyList_Type, &without, &PyTuple_Type, &tags))
        return NULL;
    const Element *around = element_of(tree, number);
    if (around == NULL)
        return NULL;
    Stream stream = {.tables = &tree->tables, .none = Py_None};
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(tags); at++) {
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(tags, at), &length);
        if (name == NULL)
            return NULL;
        uint8_t kind = kind_of((const Byte *)name, (size_t)length);
        if (kind != NO_KIND)
            stream.names[kind] = PyTuple_GET_ITEM(tags, at);
        else if (stream.other_count == MOST_NAMES)
            return PyErr_Format(PyExc_ValueError, "more than %d tags of no known kind", MOST_NAMES);
        else
            stream.others[stream.other_count++] = PyTuple_GET_ITEM(tags, at);
    }
    stream.events = PyList_New(0);
    stream.cut = PyUnicode_FromString("cut");
    stream.plain = PyUnicode_FromString("");
    stream.spaced = PyUnicode_FromString(" ");
    if (stream.events != NULL && (stream.cut == NULL || stream.plain == NULL || stream.spaced == NULL ||
                                  add_events(&stream, tree, around, without) < 0))
        Py_CLEAR(stream.events);
    Py_XDECREF(stream.cut);
    Py_XDECREF(stream.plain);
    Py_XDECREF(stream.spaced);
    return stream.events;
}

#endif
