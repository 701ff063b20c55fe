/* A page's words, from memory, become its tsvector: `weave` of lexemes.py. */

#ifndef FORAGER_BUILD_TSVECTOR_H
#define FORAGER_BUILD_TSVECTOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

/* The limits of lexemes.py; a test compares them. */
#define MOST_WORDS 4000
#define MOST_PLACES 250
#define PIECES 4

/* By weight: title, headings, description, text; a position has fourteen bits, its weight two before them. */
static const int WEIGHTS[PIECES] = {3 << 14, 2 << 14, 1 << 14, 0};

/* A lexeme at a position; those of one lexeme are a chain. */
typedef struct {
    Py_ssize_t next; /* -1 ends the chain */
    int place;
    int weight;
} Sight;

typedef struct {
    PyObject *name; /* in UTF-8, borrowed from an answer in Page.heard */
    Py_hash_t hash;
    Py_ssize_t first, last; /* of its sights */
    Py_ssize_t count;
} Lexeme;

/* What is at hand while one page is woven. Everything lies in arrays that are as long as they can get. */
typedef struct {
    PyObject **heard; /* each word's answer; owned */
    Py_ssize_t words;
    Py_ssize_t ends[PIECES]; /* of each piece, in words */
    Sight *sights;
    Py_ssize_t sight_count;
    Lexeme *lexemes;
    Py_ssize_t lexeme_count;
    Py_ssize_t *table; /* of lexemes by hash, open addressing; 0 is free, others are one too high */
    size_t mask;
    int is_disordered; /* a lexeme does not go forward */
} Page;

static void
clear_page(Page *page)
{
    for (Py_ssize_t i = 0; i < page->words; i++) {
        Py_DECREF(page->heard[i]);
    }
    PyMem_Free(page->heard);
    PyMem_Free(page->sights);
    PyMem_Free(page->lexemes);
    PyMem_Free(page->table);
}

/* How many words a piece has; -1 where PostgreSQL has to look at the whole of it, or there are more than `room`. */
static Py_ssize_t
count_words(PyObject *piece, Py_ssize_t room)
{
    const int kind = PyUnicode_KIND(piece);
    const void *data = PyUnicode_DATA(piece);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(piece);
    Py_ssize_t words = 1;
    if (length > 0) {
        const Py_UCS4 first = PyUnicode_READ(kind, data, 0);
        if (first != ' ' && !Py_UNICODE_ISALNUM(first)) {
            return -1;
        }
    }
    for (Py_ssize_t at = 0; at < length; at++) {
        const Py_UCS4 letter = PyUnicode_READ(kind, data, at);
        if (letter == '<') {
            return -1;
        }
        words += letter == ' ';
    }
    return words <= room ? words : -1;
}

/* The answer for a word, owned, or NULL: with an exception, or because nobody knows the word. */
static PyObject *
recall(PyObject *word, PyObject *young, PyObject *more)
{
    PyObject *answer = PyDict_GetItemWithError(young, word);
    if (answer == NULL && !PyErr_Occurred()) {
        answer = PyDict_GetItemWithError(more, word);
    }
    return Py_XNewRef(answer);
}

/* Look up one word; what nobody knows goes to `strange`, which is made when it is needed. */
static int
hear_word(Page *page, PyObject *word, PyObject *young, PyObject *more, PyObject **strange)
{
    PyObject *answer = recall(word, young, more);
    if (answer != NULL) {
        page->heard[page->words++] = answer;
        return 0;
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    if (*strange == NULL && (*strange = PyList_New(0)) == NULL) {
        return -1;
    }
    return PyList_Append(*strange, word);
}

static int
hear_piece(Page *page, PyObject *piece, PyObject *young, PyObject *more, PyObject **strange)
{
    const int kind = PyUnicode_KIND(piece);
    const void *data = PyUnicode_DATA(piece);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(piece);
    Py_ssize_t start = 0;
    for (Py_ssize_t at = 0; at <= length; at++) {
        if (at < length && PyUnicode_READ(kind, data, at) != ' ') {
            continue;
        }
        PyObject *word = PyUnicode_Substring(piece, start, at);
        if (word == NULL) {
            return -1;
        }
        const int failed = hear_word(page, word, young, more, strange);
        Py_DECREF(word);
        if (failed) {
            return -1;
        }
        start = at + 1;
    }
    return 0;
}

/* An answer of several lexemes: (positions it takes, ((lexeme, position), ...)). */
static int
open_answer(PyObject *answer, long *takes, PyObject **lexemes)
{
    if (!PyTuple_Check(answer) || PyTuple_GET_SIZE(answer) != 2 || !PyTuple_Check(PyTuple_GET_ITEM(answer, 1))) {
        PyErr_SetString(PyExc_TypeError, "a word's answer is bytes or (int, tuple)");
        return -1;
    }
    *lexemes = PyTuple_GET_ITEM(answer, 1);
    *takes = PyLong_AsLong(PyTuple_GET_ITEM(answer, 0));
    if (*takes == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (*takes < 0) {
        PyErr_SetString(PyExc_ValueError, "a word takes no position or some");
        return -1;
    }
    return 0;
}

/* How many sights there will be at most, so that arrays need not grow. */
static Py_ssize_t
count_sights(const Page *page)
{
    Py_ssize_t sights = 0;
    for (Py_ssize_t i = 0; i < page->words; i++) {
        Py_ssize_t more = 1;
        if (!PyBytes_Check(page->heard[i])) {
            long takes;
            PyObject *lexemes;
            if (open_answer(page->heard[i], &takes, &lexemes) < 0) {
                return -1;
            }
            more = PyTuple_GET_SIZE(lexemes);
        }
        if (more > PY_SSIZE_T_MAX / 4 - sights) {
            PyErr_NoMemory();
            return -1;
        }
        sights += more;
    }
    return sights;
}

static int
make_room(Page *page)
{
    const Py_ssize_t most = count_sights(page);
    if (most < 0) {
        return -1;
    }
    size_t size = 16;
    while (size < (size_t)most * 2) {
        size *= 2;
    }
    page->mask = size - 1;
    page->sights = PyMem_New(Sight, most);
    page->lexemes = PyMem_New(Lexeme, most);
    page->table = PyMem_Calloc(size, sizeof(Py_ssize_t));
    if (page->sights == NULL || page->lexemes == NULL || page->table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The lexeme of this name, which is added if it is new. */
static Lexeme *
find_lexeme(Page *page, PyObject *name)
{
    const Py_hash_t hash = PyObject_Hash(name);
    if (hash == -1) {
        return NULL;
    }
    const size_t size = (size_t)PyBytes_GET_SIZE(name);
    size_t slot = (size_t)hash & page->mask;
    for (; page->table[slot] != 0; slot = (slot + 1) & page->mask) {
        Lexeme *lexeme = &page->lexemes[page->table[slot] - 1];
        if (lexeme->name == name
            || (lexeme->hash == hash && (size_t)PyBytes_GET_SIZE(lexeme->name) == size
                && memcmp(PyBytes_AS_STRING(lexeme->name), PyBytes_AS_STRING(name), size) == 0)) {
            return lexeme;
        }
    }
    Lexeme *lexeme = &page->lexemes[page->lexeme_count++];
    *lexeme = (Lexeme){.name = name, .hash = hash, .first = -1, .last = -1, .count = 0};
    page->table[slot] = page->lexeme_count;
    return lexeme;
}

static int
add_sight(Page *page, PyObject *name, int place, int weight)
{
    Lexeme *lexeme = find_lexeme(page, name);
    if (lexeme == NULL) {
        return -1;
    }
    const Py_ssize_t here = page->sight_count++;
    page->sights[here] = (Sight){.next = -1, .place = place, .weight = weight};
    if (lexeme->last >= 0) {
        page->is_disordered |= page->sights[lexeme->last].place >= place;
        page->sights[lexeme->last].next = here;
    }
    else {
        lexeme->first = here;
    }
    lexeme->last = here;
    lexeme->count++;
    return 0;
}

/* A word that takes a position and has no lexeme. */
static int
is_stop(PyObject *answer)
{
    return PyBytes_GET_SIZE(answer) == 1 && PyBytes_AS_STRING(answer)[0] == '\0';
}

/* The lexemes of one answer, behind the position `at`. */
static int
place_several(Page *page, PyObject *lexemes, int at, int *highest, int weight)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lexemes); i++) {
        PyObject *pair = PyTuple_GET_ITEM(lexemes, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(pair, 0))) {
            PyErr_SetString(PyExc_TypeError, "a lexeme among several is (bytes, int)");
            return -1;
        }
        const long place = PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
        if (place == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (place < 0 || place > MOST_WORDS) {
            PyErr_SetString(PyExc_ValueError, "a lexeme's position is among those its word takes");
            return -1;
        }
        if (add_sight(page, PyTuple_GET_ITEM(pair, 0), at + (int)place, weight) < 0) {
            return -1;
        }
        *highest = Py_MAX(*highest, at + (int)place);
    }
    return 0;
}

/* Give every lexeme its positions. Each piece's go on where those of the pieces before end. 1: too far for us. */
static int
place_words(Page *page)
{
    int highest = 0;
    Py_ssize_t word = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        int at = highest;
        for (; word < page->ends[piece]; word++) {
            PyObject *answer = page->heard[word], *lexemes;
            long takes;
            if (PyBytes_Check(answer)) {
                at++;
                if (is_stop(answer)) {
                    continue;
                }
                highest = at;
                if (add_sight(page, answer, at, WEIGHTS[piece]) < 0) {
                    return -1;
                }
                continue;
            }
            if (open_answer(answer, &takes, &lexemes) < 0) {
                return -1;
            }
            if (takes > MOST_WORDS - at) {
                return 1;
            }
            if (place_several(page, lexemes, at, &highest, WEIGHTS[piece]) < 0) {
                return -1;
            }
            at += (int)takes;
        }
    }
    return 0;
}

/* PostgreSQL leaves out positions behind the 255th. */
static int
has_too_many_places(const Page *page)
{
    for (Py_ssize_t i = 0; page->sight_count > MOST_PLACES && i < page->lexeme_count; i++) {
        if (page->lexemes[i].count > MOST_PLACES) {
            return 1;
        }
    }
    return 0;
}

/* As PostgreSQL sorts them. */
static int
compare_lexemes(const void *one, const void *other)
{
    PyObject *first = ((const Lexeme *)one)->name, *second = ((const Lexeme *)other)->name;
    const Py_ssize_t length = PyBytes_GET_SIZE(first), against = PyBytes_GET_SIZE(second);
    const int order = memcmp(PyBytes_AS_STRING(first), PyBytes_AS_STRING(second), (size_t)Py_MIN(length, against));
    return order != 0 ? order : (length > against) - (length < against);
}

static char *
put_short(char *at, int number)
{
    *at++ = (char)(unsigned char)(number >> 8);
    *at++ = (char)(unsigned char)number;
    return at;
}

/* As PostgreSQL receives it: how many lexemes; of each its name, a zero, how many positions, and these. */
static PyObject *
write_vector(Page *page)
{
    Py_ssize_t size = 4;
    for (Py_ssize_t i = 0; i < page->lexeme_count; i++) {
        const Py_ssize_t more = PyBytes_GET_SIZE(page->lexemes[i].name) + 3 + 2 * page->lexemes[i].count;
        if (more > PY_SSIZE_T_MAX - size) {
            return PyErr_NoMemory();
        }
        size += more;
    }
    PyObject *vector = PyBytes_FromStringAndSize(NULL, size);
    if (vector == NULL) {
        return NULL;
    }
    qsort(page->lexemes, (size_t)page->lexeme_count, sizeof(Lexeme), compare_lexemes);
    char *at = put_short(PyBytes_AS_STRING(vector), (int)(page->lexeme_count >> 16));
    at = put_short(at, (int)(page->lexeme_count & 0xFFFF));
    for (Py_ssize_t i = 0; i < page->lexeme_count; i++) {
        const Lexeme *lexeme = &page->lexemes[i];
        const size_t length = (size_t)PyBytes_GET_SIZE(lexeme->name);
        memcpy(at, PyBytes_AS_STRING(lexeme->name), length);
        at += length;
        *at++ = '\0';
        at = put_short(at, (int)lexeme->count);
        for (Py_ssize_t sight = lexeme->first; sight >= 0; sight = page->sights[sight].next) {
            at = put_short(at, page->sights[sight].place | page->sights[sight].weight);
        }
    }
    return vector;
}

/* From answers to the vector; None where PostgreSQL has to make it. */
static PyObject *
weave_answers(Page *page)
{
    if (make_room(page) < 0) {
        return NULL;
    }
    const int is_too_far = place_words(page);
    if (is_too_far < 0) {
        return NULL;
    }
    if (is_too_far || page->is_disordered || has_too_many_places(page)) {
        Py_RETURN_NONE;
    }
    return write_vector(page);
}

static PyObject *
weave_words(Page *page, PyObject *keywords, PyObject *young, PyObject *more)
{
    PyObject *strange = NULL;
    for (int piece = 0; piece < PIECES; piece++) {
        if (hear_piece(page, PyTuple_GET_ITEM(keywords, piece), young, more, &strange) < 0) {
            Py_XDECREF(strange);
            return NULL;
        }
        page->ends[piece] = page->words;
    }
    return strange != NULL ? strange : weave_answers(page);
}

PyDoc_STRVAR(weave_doc, "weave(keywords, young, more, /)\n--\n\nAs `lexemes.weave_in_python`.");

static PyObject *
weave(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyTuple_Check(arguments[0]) || PyTuple_GET_SIZE(arguments[0]) != PIECES
        || !PyDict_Check(arguments[1]) || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "weave takes a tuple of four str and two dicts");
        return NULL;
    }
    Py_ssize_t words = 0;
    int is_for_postgres = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        PyObject *text = PyTuple_GET_ITEM(arguments[0], piece);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "weave takes a tuple of four str and two dicts");
            return NULL;
        }
        const Py_ssize_t counted = is_for_postgres ? 0 : count_words(text, MOST_WORDS - words);
        is_for_postgres |= counted < 0;
        words += counted;
    }
    if (is_for_postgres) {
        Py_RETURN_NONE;
    }
    Page page = {.heard = PyMem_New(PyObject *, words)};
    if (page.heard == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *woven = weave_words(&page, arguments[0], arguments[1], arguments[2]);
    clear_page(&page);
    return woven;
}

#endif
