/* `Tree`: the tables of a page (tables.h) as Python asks for them, in bulk where it can.
 *
 * `tree.py` says what each answer is; `python_tree.py` gives the same ones without a compiler.
 */

#ifndef FORAGER_TREE_H
#define FORAGER_TREE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "growing.h"
#include "names.h"
#include "tag_index.h"
#include "tokenizer.h"

typedef struct {
    PyObject_HEAD
    Tables tables;
    TagIndex tags;
} Tree;

/* Of a page as text, or as bytes of UTF-8. */
static PyObject *tree_new(PyTypeObject *type, PyObject *given, PyObject *names)
{
    const char *page;
    Py_ssize_t length;
    if (names != NULL && PyDict_GET_SIZE(names)) {
        PyErr_SetString(PyExc_TypeError, "Tree() takes the page alone");
        return NULL;
    }
    if (!PyArg_ParseTuple(given, "s#:Tree", &page, &length))
        return NULL;
    if ((size_t)length >= UINT32_MAX / 8)
        return PyErr_Format(PyExc_ValueError, "the page is too long");
    Tree *tree = (Tree *)type->tp_alloc(type, 0);
    if (tree == NULL)
        return NULL;
    if (build_tables(&tree->tables, (const Byte *)page, (size_t)length) < 0) {
        Py_DECREF(tree);
        return PyErr_NoMemory();
    }
    return (PyObject *)tree;
}

static void tree_dealloc(PyObject *self)
{
    Tree *tree = (Tree *)self;
    PyTypeObject *type = Py_TYPE(self);
    forget_tables(&tree->tables);
    free(tree->tags.numbers);
    type->tp_free(self);
    Py_DECREF(type);
}

static Py_ssize_t tree_length(PyObject *self) { return ((Tree *)self)->tables.element_count; }

/* ---- what is given ------------------------------------------------------------------------------------------------ */

static Element *element_of(const Tree *tree, PyObject *number)
{
    Py_ssize_t at = PyLong_AsSsize_t(number);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    if (at < 0 || at >= (Py_ssize_t)tree->tables.element_count) {
        PyErr_Format(PyExc_IndexError, "there is no element %zd", at);
        return NULL;
    }
    return &tree->tables.elements[at];
}

typedef struct {
    const char *text;
    Py_ssize_t length;
} Name;

#define MOST_NAMES 64
#define MOST_RUNS 1000 /* looked at for a text that is cut, */
#define LOOKED_AT 4096 /* and bytes, besides those for its length */
#define LONGEST_TEXTS 1000000

/* A tuple of texts; they live as long as it does. */
static Py_ssize_t names_of(PyObject *given, Name *names)
{
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a tuple of names is expected");
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    if (count > MOST_NAMES) {
        PyErr_Format(PyExc_ValueError, "at most %d names", MOST_NAMES);
        return -1;
    }
    for (Py_ssize_t at = 0; at < count; at++) {
        names[at].text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(given, at), &names[at].length);
        if (names[at].text == NULL)
            return -1;
    }
    return count;
}

static int add_number(PyObject *list, uint32_t number)
{
    PyObject *value = PyLong_FromUnsignedLong(number);
    int done = value == NULL ? -1 : PyList_Append(list, value);
    Py_XDECREF(value);
    return done;
}

static PyObject *text_or_dropped(Buffer *buffer)
{
    PyObject *text = PyUnicode_DecodeUTF8((const char *)buffer->bytes, buffer->used, "replace");
    PyMem_Free(buffer->bytes);
    return text;
}

/* ---- texts and white space ----------------------------------------------------------------------------------------- */

static PyObject *text_at(const Tables *tables, uint32_t at, uint32_t length)
{
    return PyUnicode_DecodeUTF8((const char *)tables->page + at, length, "replace");
}

enum { NOTHING, SPACE, LINE };

typedef struct {
    Buffer buffer;
    uint8_t pending;
    char line; /* what stands between two lines */
} Prose;

static int flush(Prose *prose)
{
    int done = 0;
    if (prose->pending != NOTHING && prose->buffer.used)
        done = buffer_add(&prose->buffer, prose->pending == LINE ? &prose->line : " ", 1);
    prose->pending = NOTHING;
    return done;
}

static bool is_no_break_space(const Byte *at, const Byte *end) { return *at == 0xC2 && end - at > 1 && at[1] == 0xA0; }

static bool is_plain(const Byte *at, const Byte *end)
{
    return !(byte_kinds[*at] & (BYTE_GAP | BYTE_LEAD)) || (*at == 0xC2 && !is_no_break_space(at, end));
}

/* White space as one space, that at the ends left out; the no-break space is one too. */
static int add_collapsed(Prose *prose, const Byte *at, const Byte *end)
{
    while (at < end) {
        const Byte *word = at; /* with the next ones, where a single space is between them, as nearly always */
        while (at < end && (is_plain(at, end) || (*at == ' ' && at > word && end - at > 1 && is_plain(at + 1, end))))
            at++;
        if (at > word && ((prose->pending != NOTHING && flush(prose) < 0) ||
                          buffer_add(&prose->buffer, word, at - word) < 0))
            return -1;
        if (at == end)
            return 0;
        prose->pending = prose->pending == LINE ? LINE : SPACE;
        while (at < end && (is_gap(*at) || is_no_break_space(at, end)))
            at += is_gap(*at) ? 1 : 2;
    }
    return 0;
}

static int add_run_text(Prose *prose, const Tables *tables, const Run *run)
{
    if (run->flags & RUN_BREAK || run->flags & RUN_ALT)
        prose->pending = LINE;
    else if (run->flags & RUN_SPACE && prose->pending == NOTHING)
        prose->pending = SPACE;
    return add_collapsed(prose, tables->page + run->at, tables->page + run->at + run->length);
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

static PyObject *tree_tag(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Element *element = element_of(tree, number);
    return element ? PyUnicode_DecodeUTF8((const char *)tree->tables.page + element->tag_at, element->tag_length, "replace")
                   : NULL;
}

static PyObject *tree_parent(PyObject *self, PyObject *number)
{
    const Element *element = element_of((Tree *)self, number);
    return element ? PyLong_FromLong(element->parent == NOBODY ? -1 : (long)element->parent) : NULL;
}

static PyObject *tree_reopened(PyObject *self, PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLong(((Tree *)self)->tables.reopened);
}

static PyObject *tree_end(PyObject *self, PyObject *number)
{
    const Element *element = element_of((Tree *)self, number);
    return element ? PyLong_FromUnsignedLong(element->end) : NULL;
}

static PyObject *tree_block(PyObject *self, PyObject *number)
{
    const Element *element = element_of((Tree *)self, number);
    return element ? PyLong_FromUnsignedLong(element->block) : NULL;
}

/* By the kinds of the elements; those of no known kind, by their names. */
static PyObject *tree_tags(PyObject *self, PyObject *given)
{
    Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    Name names[MOST_NAMES];
    TagSpan spans[MOST_NAMES];
    bool is_wanted[UINT8_MAX + 1] = {false};
    Py_ssize_t count = names_of(given, names), unknown = 0;
    size_t span_count = 0;
    if (count < 0)
        return NULL;
    if (tree->tags.numbers == NULL && index_tags(&tree->tags, tables) < 0)
        return PyErr_NoMemory();
    for (Py_ssize_t name = 0; name < count; name++) {
        uint8_t kind = kind_of((const Byte *)names[name].text, (size_t)names[name].length);
        if (kind == NO_KIND)
            names[unknown++] = names[name];
        if (!is_wanted[kind]) {
            const uint32_t *numbers = tree->tags.numbers, *starts = tree->tags.starts + kind;
            spans[span_count++] = (TagSpan){numbers + starts[0], numbers + starts[1]};
        }
        is_wanted[kind] = true;
    }
    PyObject *found = PyList_New(0);
    for (uint32_t at; found != NULL && (at = next_tag(spans, span_count)) != NOBODY;) {
        const Element *element = &tables->elements[at];
        bool is_found = element->kind != NO_KIND;
        for (Py_ssize_t name = 0; !is_found && name < unknown; name++)
            is_found = is_tag(tables, element, names[name].text, (size_t)names[name].length);
        if (is_found && add_number(found, at) < 0)
            Py_CLEAR(found);
    }
    return found;
}

static Byte lower(Byte byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; }

#define PAIRS 4096
#define LONGEST_WINDOW 9

/* Words that are looked for together, by the pairs of bytes they have in a window at their beginning, which is as long
   as the shortest of them. A text is looked at once in each window; at a pair that no word has, none lies across it. */
typedef struct {
    Name words[MOST_NAMES];
    Py_ssize_t count;
    size_t shortest, window;
    uint8_t places[PAIRS]; /* where in a word the pair may be, a bit for each place */
} Wanted;

static size_t pair_of(Byte first, Byte second)
{
    return ((size_t)(first | 0x20) << 5 ^ (second | 0x20)) % PAIRS;
}

static void note_pairs(Wanted *wanted)
{
    wanted->shortest = 200;
    for (Py_ssize_t word = 0; word < wanted->count; word++) {
        size_t length = (size_t)wanted->words[word].length;
        if (length && length < wanted->shortest)
            wanted->shortest = length;
    }
    wanted->window = wanted->shortest < LONGEST_WINDOW ? wanted->shortest : LONGEST_WINDOW;
    memset(wanted->places, 0, sizeof wanted->places);
    for (Py_ssize_t word = 0; word < wanted->count; word++)
        for (size_t at = 0; wanted->words[word].length && at + 2 <= wanted->window; at++) {
            const char *text = wanted->words[word].text + at;
            wanted->places[pair_of((Byte)text[0], (Byte)text[1])] |= (uint8_t)(1 << at);
        }
}

static bool begins_with(const Byte *text, size_t length, const Name *word)
{
    size_t wanted = (size_t)word->length, same = 0;
    if (wanted == 0 || wanted > length)
        return false;
    while (same < wanted && lower(text[same]) == (Byte)word->text[same])
        same++;
    return same == wanted;
}

static bool begins_with_word(const Byte *text, size_t length, const Wanted *wanted)
{
    for (Py_ssize_t word = 0; word < wanted->count; word++)
        if (begins_with(text, length, &wanted->words[word]))
            return true;
    return false;
}

/* Whether a word begins at one of these places before the pair at `at`. */
static bool has_word_around(const Byte *text, size_t length, size_t at, unsigned places, const Wanted *wanted)
{
    for (size_t place = 0; places >> place; place++) {
        const Byte *begin = text + at - place;
        if (places >> place & 1 && wanted->places[pair_of(begin[0], begin[1])] & 1 &&
            begins_with_word(begin, length - (at - place), wanted))
            return true;
    }
    return false;
}

static bool holds_word(const Byte *text, size_t length, const Wanted *wanted)
{
    if (wanted->window < 2) {
        for (size_t at = 0; at < length; at++)
            if (begins_with_word(text + at, length - at, wanted))
                return true;
        return false;
    }
    size_t step = wanted->window - 1;
    for (size_t at = step - 1; at + 1 < length; at += step) {
        unsigned places = wanted->places[pair_of(text[at], text[at + 1])];
        if (places && has_word_around(text, length, at, places, wanted))
            return true;
    }
    return false;
}

/* Names of attributes, and their lengths as bits: most attributes have none of these. */
typedef struct {
    Name names[MOST_NAMES];
    Py_ssize_t count;
    uint32_t lengths;
} Names;

static uint32_t length_bit(size_t length) { return UINT32_C(1) << (length < 31 ? length : 31); }

static int attribute_names(PyObject *given, Names *names)
{
    names->count = names_of(given, names->names);
    names->lengths = 0;
    for (Py_ssize_t name = 0; name < names->count; name++)
        names->lengths |= length_bit((size_t)names->names[name].length);
    return names->count < 0 ? -1 : 0;
}

static bool is_one_of(const Tables *tables, const Attribute *attribute, const Names *names)
{
    if (!(names->lengths & length_bit(attribute->name_length)))
        return false;
    const Byte *given = tables->page + attribute->name_at;
    for (Py_ssize_t at = 0; at < names->count; at++) {
        const Name *name = &names->names[at];
        if (name->length == attribute->name_length && *given == (Byte)*name->text &&
            memcmp(given, name->text, attribute->name_length) == 0)
            return true;
    }
    return false;
}

static bool has_one_of(const Tables *tables, const Element *element, const Names *names)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++)
        if (is_one_of(tables, attribute, names))
            return true;
    return false;
}

/* A look at all attributes, without asking whose they are, takes a fifth of the time. */
static bool is_attribute_anywhere(const Tables *tables, const Names *names)
{
    const Attribute *attribute = tables->attributes;
    for (const Attribute *end = attribute + tables->attribute_count; attribute < end; attribute++)
        if (is_one_of(tables, attribute, names))
            return true;
    return false;
}

static PyObject *tree_having(PyObject *self, PyObject *given)
{
    const Tables *tables = &((Tree *)self)->tables;
    Names names;
    PyObject *found = attribute_names(given, &names) < 0 ? NULL : PyList_New(0);
    if (found == NULL || !is_attribute_anywhere(tables, &names))
        return found;
    for (uint32_t at = 0; found != NULL && at < tables->element_count; at++)
        if (has_one_of(tables, &tables->elements[at], &names) && add_number(found, at) < 0)
            Py_CLEAR(found);
    return found;
}

static bool says_word(const Tables *tables, const Element *element, const Names *names, const Wanted *wanted)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++)
        if (attribute->value_length >= wanted->shortest && is_one_of(tables, attribute, names) &&
            holds_word(tables->page + attribute->value_at, attribute->value_length, wanted))
            return true;
    return false;
}

static PyObject *tree_find(PyObject *self, PyObject *given)
{
    const Tables *tables = &((Tree *)self)->tables;
    PyObject *given_names, *given_words;
    Names names;
    Wanted wanted;
    if (!PyArg_ParseTuple(given, "OO:find", &given_names, &given_words))
        return NULL;
    wanted.count = attribute_names(given_names, &names) < 0 ? -1 : names_of(given_words, wanted.words);
    if (wanted.count < 0)
        return NULL;
    note_pairs(&wanted);
    PyObject *found = PyList_New(0);
    for (uint32_t at = 0; found != NULL && at < tables->element_count; at++)
        if (tables->elements[at].attribute_count &&
            says_word(tables, &tables->elements[at], &names, &wanted) && add_number(found, at) < 0)
            Py_CLEAR(found);
    return found;
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

static PyObject *value_of(const Tables *tables, const Attribute *attribute)
{
    return text_at(tables, attribute->value_at, attribute->value_length);
}

static PyObject *value_or_none(const Tables *tables, const Element *element, const Name *name)
{
    const Attribute *attribute = find_attribute(tables, element, name->text, (size_t)name->length);
    if (attribute == NULL)
        Py_RETURN_NONE;
    return value_of(tables, attribute);
}

static PyObject *tree_get(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Tree *tree = (Tree *)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "get() takes an element and a name");
        return NULL;
    }
    const Element *element = element_of(tree, given[0]);
    Name name;
    if (element == NULL || (name.text = PyUnicode_AsUTF8AndSize(given[1], &name.length)) == NULL)
        return NULL;
    return value_or_none(&tree->tables, element, &name);
}

static PyObject *attributes_of(const Tables *tables, const Element *element)
{
    PyObject *all = PyDict_New();
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; all != NULL && attribute < end; attribute++) {
        PyObject *name =
            PyUnicode_DecodeUTF8((const char *)tables->page + attribute->name_at, attribute->name_length, "replace");
        PyObject *value = name == NULL ? NULL : value_of(tables, attribute);
        if (value == NULL || PyDict_SetDefault(all, name, value) == NULL)
            Py_CLEAR(all);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return all;
}

static PyObject *tree_attributes(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Element *element = element_of(tree, number);
    return element ? attributes_of(&tree->tables, element) : NULL;
}

static PyObject *tree_column(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    PyObject *numbers;
    Name name;
    if (!PyArg_ParseTuple(given, "O!s#:column", &PyList_Type, &numbers, &name.text, &name.length))
        return NULL;
    PyObject *column = PyList_New(PyList_GET_SIZE(numbers));
    for (Py_ssize_t at = 0; column != NULL && at < PyList_GET_SIZE(column); at++) {
        const Element *element = at < PyList_GET_SIZE(numbers) ? element_of(tree, PyList_GET_ITEM(numbers, at)) : NULL;
        PyObject *value = element ? value_or_none(&tree->tables, element, &name) : NULL;
        if (value == NULL)
            Py_CLEAR(column);
        else
            PyList_SET_ITEM(column, at, value);
    }
    return column;
}

/* The same for several attributes at once: a tuple for each element. */
static PyObject *tree_rows(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    PyObject *numbers, *given_names;
    Name names[MOST_NAMES];
    if (!PyArg_ParseTuple(given, "O!O:rows", &PyList_Type, &numbers, &given_names))
        return NULL;
    Py_ssize_t count = names_of(given_names, names);
    PyObject *rows = count < 0 ? NULL : PyList_New(PyList_GET_SIZE(numbers));
    for (Py_ssize_t at = 0; rows != NULL && at < PyList_GET_SIZE(rows); at++) {
        const Element *element = at < PyList_GET_SIZE(numbers) ? element_of(tree, PyList_GET_ITEM(numbers, at)) : NULL;
        PyObject *row = element ? PyTuple_New(count) : NULL;
        for (Py_ssize_t name = 0; row != NULL && name < count; name++) {
            PyObject *value = value_or_none(&tree->tables, element, &names[name]);
            if (value == NULL)
                Py_CLEAR(row);
            else
                PyTuple_SET_ITEM(row, name, value);
        }
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, at, row);
    }
    return rows;
}

typedef uint8_t Judge(const Byte *, const Byte *);

static void judge_attribute(const Tables *tables, const Attribute *attribute, Judge *judge, uint8_t *verdict)
{
    const Byte *begin = tables->page + attribute->value_at;
    *verdict = larger(*verdict, judge(begin, begin + attribute->value_length));
}

static bool hides(const Tables *tables, const Attribute *attribute)
{
    const Byte *name = tables->page + attribute->name_at, *value = tables->page + attribute->value_at;
    switch (attribute->name_length) {
    case 5:
        return memcmp(name, "style", 5) == 0 && is_hiding(value, value + attribute->value_length);
    case 6:
        return memcmp(name, "hidden", 6) == 0;
    case 11:
        return memcmp(name, "aria-hidden", 11) == 0 && attribute->value_length == 4 && memcmp(value, "true", 4) == 0;
    default:
        return false;
    }
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static PyObject *tree_raw(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    const Element *element = element_of(tree, number);
    if (element == NULL)
        return NULL;
    if (element->flags & IS_RAW)
        return text_at(tables, element->content_at, element->content_end - element->content_at);
    Buffer buffer = {0};
    for (uint32_t at = element->run_first; at < element->run_end; at++) {
        const Run *run = &tables->runs[at];
        if (run->flags & (RUN_ALT | RUN_GAP))
            continue;
        if (buffer_add(&buffer, tables->page + run->at, run->length) < 0) {
            PyMem_Free(buffer.bytes);
            return NULL;
        }
    }
    return text_or_dropped(&buffer);
}

/* A text as most are: printable ASCII in words with one space between them. */
static bool is_plain_text(const Byte *at, const Byte *end)
{
    bool is_word = false;
    for (; at < end; at++) {
        if (*at <= ' ' ? *at != ' ' || !is_word : *at > '~')
            return false;
        is_word = *at != ' ';
    }
    return is_word;
}

/* The text of a run that is plain but for white space around it; else NULL. */
static PyObject *plain_text(const Tables *tables, const Run *run)
{
    const Byte *at = tables->page + run->at, *end = at + run->length;
    while (at < end && is_gap(*at))
        at++;
    while (end > at && is_gap(end[-1]))
        end--;
    return is_plain_text(at, end) ? PyUnicode_FromStringAndSize((const char *)at, end - at) : NULL;
}

/* The text of an element that has one run, where that is plain and short enough; else NULL. */
static PyObject *only_text(const Tables *tables, const Element *element, Py_ssize_t longest)
{
    if (element->run_end != element->run_first + 1)
        return NULL;
    const Run *run = &tables->runs[element->run_first];
    if (run->flags & (RUN_UNSEEN | RUN_ALT) || (longest >= 0 && (Py_ssize_t)run->length > longest))
        return NULL;
    return plain_text(tables, run);
}

/* What a person reads of an element, on one line. At most `longest` characters, with `alt` where it is asked for.
   The buffer of `prose` is kept for the next one. */
static PyObject *shown_text(Prose *prose, const Tables *tables, const Element *element, Py_ssize_t longest,
                            bool with_alt)
{
    PyObject *only = only_text(tables, element, longest);
    if (only != NULL || PyErr_Occurred())
        return only;
    prose->buffer.used = 0;
    prose->pending = NOTHING;
    uint32_t end = element->run_end;
    if (longest >= 0 && end - element->run_first > MOST_RUNS) /* elements that lie in each other have the same text */
        end = element->run_first + MOST_RUNS;
    uint32_t left = longest < 0 ? UINT32_MAX : LOOKED_AT + 16 * (uint32_t)longest;
    for (uint32_t at = element->run_first; at < end; at++) {
        const Run *run = &tables->runs[at];
        if (run->flags & RUN_UNSEEN || (run->flags & RUN_ALT && !with_alt))
            continue;
        Run part = *run;
        if (part.length > left) { /* the last */
            part.length = left;
            while (part.length && (tables->page[part.at + part.length] & 0xC0) == 0x80)
                part.length--;
            end = at + 1;
        }
        left -= part.length;
        if (add_run_text(prose, tables, &part) < 0)
            return NULL;
        if (run->flags & RUN_ALT)
            prose->pending = LINE;
        if (longest >= 0 && prose->buffer.used / 4 > longest)
            break;
    }
    PyObject *text = PyUnicode_DecodeUTF8((const char *)prose->buffer.bytes, prose->buffer.used, "replace");
    if (text == NULL || longest < 0 || PyUnicode_GET_LENGTH(text) <= longest)
        return text;
    PyObject *cut = PyUnicode_Substring(text, 0, longest);
    Py_DECREF(text);
    return cut;
}

static PyObject *tree_text(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Element *element = element_of(tree, number);
    Prose prose = {.line = ' '};
    PyObject *text = element ? shown_text(&prose, &tree->tables, element, -1, false) : NULL;
    PyMem_Free(prose.buffer.bytes);
    return text;
}

static PyObject *tree_texts(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    PyObject *numbers;
    Py_ssize_t longest;
    if (!PyArg_ParseTuple(given, "O!n:texts", &PyList_Type, &numbers, &longest))
        return NULL;
    if (longest < 0 || longest > LONGEST_TEXTS)
        return PyErr_Format(PyExc_ValueError, "a text of %zd characters", longest);
    Prose prose = {.line = ' '};
    PyObject *texts = PyList_New(PyList_GET_SIZE(numbers));
    for (Py_ssize_t at = 0; texts != NULL && at < PyList_GET_SIZE(texts); at++) {
        const Element *element = at < PyList_GET_SIZE(numbers) ? element_of(tree, PyList_GET_ITEM(numbers, at)) : NULL;
        PyObject *text = element ? shown_text(&prose, &tree->tables, element, longest, true) : NULL;
        if (text == NULL)
            Py_CLEAR(texts);
        else
            PyList_SET_ITEM(texts, at, text);
    }
    PyMem_Free(prose.buffer.bytes);
    return texts;
}

/* ---- the text of a page, line by line ------------------------------------------------------------------------------ */

/* The runs of an element that are left when other elements are cut out of it. */
typedef struct {
    uint32_t at, end;
    const Tree *tree;
    PyObject *cut; /* a list of elements, in the order of the page */
    Py_ssize_t next_cut;
} Walk;

/* The next run that is shown; 0 at the end, -1 with an exception. `is_new` where something was passed over. */
static int next_run(Walk *walk, const Run **run, bool *is_new)
{
    const Tables *tables = &walk->tree->tables;
    *is_new = false;
    while (walk->at < walk->end) {
        while (walk->next_cut < PyList_GET_SIZE(walk->cut)) {
            const Element *cut = element_of(walk->tree, PyList_GET_ITEM(walk->cut, walk->next_cut));
            if (cut == NULL)
                return -1;
            if (cut->run_first > walk->at)
                break;
            if (cut->run_end > walk->at) {
                walk->at = cut->run_end;
                *is_new = true;
            }
            walk->next_cut++;
        }
        if (walk->at >= walk->end)
            return 0;
        *run = &tables->runs[walk->at++];
        if (!((*run)->flags & (RUN_UNSEEN | RUN_CONTROL | RUN_ALT)))
            return 1;
        *is_new |= ((*run)->flags & (RUN_CONTROL | RUN_BREAK)) != 0;
    }
    return 0;
}

static int begin_walk(Walk *walk, PyObject *self, PyObject *given)
{
    PyObject *number;
    if (!PyArg_ParseTuple(given, "OO!", &number, &PyList_Type, &walk->cut))
        return -1;
    walk->tree = (Tree *)self;
    const Element *element = element_of(walk->tree, number);
    if (element == NULL)
        return -1;
    walk->at = element->run_first;
    walk->end = element->run_end;
    return 0;
}

static PyObject *tree_lines(PyObject *self, PyObject *given)
{
    Walk walk = {0};
    if (begin_walk(&walk, self, given) < 0)
        return NULL;
    Prose prose = {.line = '\n'};
    const Run *run;
    bool is_new;
    int more;
    while ((more = next_run(&walk, &run, &is_new)) > 0) {
        if (is_new)
            prose.pending = LINE;
        if (add_run_text(&prose, &walk.tree->tables, run) < 0) {
            more = -1;
            break;
        }
    }
    if (more < 0) {
        PyMem_Free(prose.buffer.bytes);
        return NULL;
    }
    return text_or_dropped(&prose.buffer);
}

/* One more (element, text, bytes of links) of what is in the buffer. */
static int add_block(PyObject *blocks, Prose *prose, uint32_t element, uint32_t link)
{
    if (prose->buffer.used == 0)
        return 0;
    PyObject *block =
        Py_BuildValue("(Is#I)", element, (const char *)prose->buffer.bytes, prose->buffer.used, link);
    int done = block == NULL ? -1 : PyList_Append(blocks, block);
    Py_XDECREF(block);
    prose->buffer.used = 0;
    return done;
}

static PyObject *tree_blocks(PyObject *self, PyObject *given)
{
    Walk walk = {0};
    if (begin_walk(&walk, self, given) < 0)
        return NULL;
    const Tables *tables = &walk.tree->tables;
    Prose prose = {.line = '\n'};
    PyObject *blocks = PyList_New(0);
    const Run *run;
    bool is_new;
    int more = blocks == NULL ? -1 : 1;
    uint32_t element = NOBODY, link = 0;
    while (more > 0 && (more = next_run(&walk, &run, &is_new)) > 0) {
        uint32_t block = tables->elements[run->owner].block;
        if (block != element || is_new) {
            more = add_block(blocks, &prose, element, link) < 0 ? -1 : 1;
            element = block;
            link = 0;
            prose.pending = NOTHING;
        }
        Py_ssize_t before = prose.buffer.used;
        if (more > 0 && add_run_text(&prose, tables, run) < 0)
            more = -1;
        if (run->flags & RUN_LINK)
            link += (uint32_t)(prose.buffer.used - before);
    }
    if (more >= 0 && add_block(blocks, &prose, element, link) < 0)
        more = -1;
    PyMem_Free(prose.buffer.bytes);
    if (more < 0)
        Py_CLEAR(blocks);
    return blocks;
}

static PyObject *run_text(Prose *prose, const Tables *tables, const Run *run)
{
    PyObject *plain = plain_text(tables, run);
    if (plain != NULL || PyErr_Occurred())
        return plain;
    prose->buffer.used = 0;
    prose->pending = NOTHING;
    if (add_collapsed(prose, tables->page + run->at, tables->page + run->at + run->length) < 0)
        return NULL;
    return PyUnicode_DecodeUTF8((const char *)prose->buffer.bytes, prose->buffer.used, "replace");
}

static int add_pair(PyObject *found, Prose *prose, const Tables *tables, const Run *run)
{
    PyObject *text = run_text(prose, tables, run);
    PyObject *owner = text == NULL ? NULL : PyLong_FromUnsignedLong(run->owner);
    PyObject *pair = owner == NULL ? NULL : PyTuple_Pack(2, owner, text);
    int done = pair == NULL ? -1 : PyList_Append(found, pair);
    Py_XDECREF(owner);
    Py_XDECREF(text);
    Py_XDECREF(pair);
    return done;
}

/* Short runs with a digit that are shown: where a price may stand. */
static PyObject *tree_numbers(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    PyObject *number;
    Py_ssize_t longest;
    if (!PyArg_ParseTuple(given, "On:numbers", &number, &longest))
        return NULL;
    const Element *element = element_of(tree, number);
    PyObject *found = element == NULL ? NULL : PyList_New(0);
    Prose prose = {.line = ' '};
    for (uint32_t at = element ? element->run_first : 0; found != NULL && at < element->run_end; at++) {
        const Run *run = &tables->runs[at];
        if (run->flags & RUN_DIGIT && !(run->flags & (RUN_UNSEEN | RUN_ALT)) && (Py_ssize_t)run->length <= longest &&
            add_pair(found, &prose, tables, run) < 0)
            Py_CLEAR(found);
    }
    PyMem_Free(prose.buffer.bytes);
    return found;
}

/* Every text that is shown, up to so many bytes of them. */
static PyObject *tree_runs(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    PyObject *number;
    Py_ssize_t left;
    if (!PyArg_ParseTuple(given, "On:runs", &number, &left))
        return NULL;
    const Element *element = element_of(tree, number);
    PyObject *found = element == NULL ? NULL : PyList_New(0);
    Prose prose = {.line = ' '};
    for (uint32_t at = element ? element->run_first : 0; found != NULL && at < element->run_end && left > 0; at++) {
        const Run *run = &tables->runs[at];
        if (run->flags & (RUN_UNSEEN | RUN_ALT))
            continue;
        left -= (Py_ssize_t)run->length;
        if (add_pair(found, &prose, tables, run) < 0)
            Py_CLEAR(found);
    }
    PyMem_Free(prose.buffer.bytes);
    return found;
}

#include "content.h"
#include "stream.h"
#include "pictures.h"

#include "anchors.h"

/* ---- the type ------------------------------------------------------------------------------------------------- */

static PyMethodDef TREE_METHODS[] = {
    {"tag", tree_tag, METH_O, NULL},
    {"tags", tree_tags, METH_VARARGS, NULL},
    {"parent", tree_parent, METH_O, NULL},
    {"reopened", tree_reopened, METH_NOARGS, NULL},
    {"end", tree_end, METH_O, NULL},
    {"block", tree_block, METH_O, NULL},
    {"having", tree_having, METH_VARARGS, NULL},
    {"find", tree_find, METH_VARARGS, NULL},
    {"get", (PyCFunction)(void (*)(void))tree_get, METH_FASTCALL, NULL},
    {"attributes", tree_attributes, METH_O, NULL},
    {"column", tree_column, METH_VARARGS, NULL},
    {"rows", tree_rows, METH_VARARGS, NULL},
    {"above", tree_above, METH_O, NULL},
    {"children", tree_children, METH_O, NULL},
    {"next_marked", tree_next_marked, METH_O, NULL},
    {"saying", tree_saying, METH_O, NULL},
    {"linked", tree_linked, METH_VARARGS, NULL},
    {"raw", tree_raw, METH_O, NULL},
    {"text", tree_text, METH_O, NULL},
    {"texts", tree_texts, METH_VARARGS, NULL},
    {"weights", tree_weights, METH_O, NULL},
    {"lines", tree_lines, METH_VARARGS, NULL},
    {"blocks", tree_blocks, METH_VARARGS, NULL},
    {"numbers", tree_numbers, METH_VARARGS, NULL},
    {"runs", tree_runs, METH_VARARGS, NULL},
    {"stream", tree_stream, METH_VARARGS, NULL},
    {"pictures", tree_pictures, METH_VARARGS, NULL},
    {"links", tree_links, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot TREE_SLOTS[] = {
    {Py_tp_new, tree_new},           {Py_tp_dealloc, tree_dealloc},
    {Py_tp_methods, TREE_METHODS},   {Py_sq_length, tree_length},
    {Py_tp_doc, "A page as tables; see `tree.py`."}, {0, NULL},
};

static PyType_Spec TREE_SPEC = {"forager.parsing._native.Tree", sizeof(Tree), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, TREE_SLOTS};

#endif
