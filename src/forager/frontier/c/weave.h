/* A page's words, from memory, become its tsvector: `weave` of lexemes.py. */

#ifndef FORAGER_WEAVE_H
#define FORAGER_WEAVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

/* The limits of lexemes.py; a test compares them. */
#define MOST_WORDS 4000
#define MOST_PLACES 250
#define PIECES 4

/* By weight: title, headings, description, text, which has none. */
static const char WEIGHTS[PIECES] = {'A', 'B', 'C', '\0'};

/* A lexeme at a position; those of one lexeme are a chain. */
typedef struct {
    Py_ssize_t next; /* -1 ends the chain */
    int place;
    char weight;
} Sight;

typedef struct {
    PyObject *text; /* borrowed from an answer in Page.heard */
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
        PyErr_SetString(PyExc_TypeError, "a word's answer is a str or (int, tuple)");
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
        if (!PyUnicode_Check(page->heard[i])) {
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

/* The lexeme with this text, which is added if it is new. */
static Lexeme *
find_lexeme(Page *page, PyObject *text)
{
    const Py_hash_t hash = PyObject_Hash(text);
    if (hash == -1) {
        return NULL;
    }
    size_t slot = (size_t)hash & page->mask;
    for (; page->table[slot] != 0; slot = (slot + 1) & page->mask) {
        Lexeme *lexeme = &page->lexemes[page->table[slot] - 1];
        if (lexeme->text == text || (lexeme->hash == hash && PyUnicode_Compare(lexeme->text, text) == 0)) {
            return lexeme;
        }
    }
    Lexeme *lexeme = &page->lexemes[page->lexeme_count++];
    *lexeme = (Lexeme){.text = text, .hash = hash, .first = -1, .last = -1, .count = 0};
    page->table[slot] = page->lexeme_count;
    return lexeme;
}

static int
add_sight(Page *page, PyObject *text, int place, char weight)
{
    Lexeme *lexeme = find_lexeme(page, text);
    if (lexeme == NULL) {
        return -1;
    }
    const Py_ssize_t here = page->sight_count++;
    page->sights[here] = (Sight){.next = -1, .place = place, .weight = weight};
    if (lexeme->last >= 0) {
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
    return PyUnicode_GET_LENGTH(answer) == 1 && PyUnicode_READ_CHAR(answer, 0) == ' ';
}

/* The lexemes of one answer, behind the position `at`. */
static int
place_several(Page *page, PyObject *lexemes, int at, int *highest, char weight)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lexemes); i++) {
        PyObject *pair = PyTuple_GET_ITEM(lexemes, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(pair, 0))) {
            PyErr_SetString(PyExc_TypeError, "a lexeme among several is (str, int)");
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
            if (PyUnicode_Check(answer)) {
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

static Py_ssize_t
count_commas(PyObject *text)
{
    Py_ssize_t commas = 0;
    for (Py_ssize_t at = 0; at < PyUnicode_GET_LENGTH(text); at++) {
        commas += PyUnicode_READ_CHAR(text, at) == ',';
    }
    return commas;
}

/* PostgreSQL leaves out positions behind the 255th. Commas are counted as the reference does it, also those in a lexeme. */
static int
has_too_many_places(const Page *page)
{
    for (Py_ssize_t i = 0; page->words > MOST_PLACES && i < page->lexeme_count; i++) {
        const Lexeme *lexeme = &page->lexemes[i];
        const Py_ssize_t between = lexeme->count - 1;
        if (between + PyUnicode_GET_LENGTH(lexeme->text) > MOST_PLACES
            && between + count_commas(lexeme->text) > MOST_PLACES) {
            return 1;
        }
    }
    return 0;
}

static int
count_digits(int number)
{
    int digits = 1;
    for (; number >= 10; number /= 10) {
        digits++;
    }
    return digits;
}

/* A str that is filled from its beginning. */
typedef struct {
    PyObject *text;
    int kind;
    void *data;
    Py_ssize_t at;
} Sheet;

static void
put_letter(Sheet *sheet, Py_UCS4 letter)
{
    PyUnicode_WRITE(sheet->kind, sheet->data, sheet->at, letter);
    sheet->at++;
}

static void
put_number(Sheet *sheet, int number)
{
    const int digits = count_digits(number);
    for (int at = digits - 1; at >= 0; at--, number /= 10) {
        PyUnicode_WRITE(sheet->kind, sheet->data, sheet->at + at, (Py_UCS4)('0' + number % 10));
    }
    sheet->at += digits;
}

static int
put_text(Sheet *sheet, PyObject *text)
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_KIND(text) == (unsigned int)sheet->kind) {
        memcpy((char *)sheet->data + sheet->at * sheet->kind, PyUnicode_DATA(text), (size_t)(length * sheet->kind));
    }
    else if (PyUnicode_CopyCharacters(sheet->text, sheet->at, text, 0, length) < 0) {
        return -1;
    }
    sheet->at += length;
    return 0;
}

/* What a lexeme takes of the sheet, with the separator before it; sums cannot wrap round, as texts lie in memory. */
static Py_ssize_t
measure_lexeme(const Page *page, const Lexeme *lexeme)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(lexeme->text);
    for (Py_ssize_t i = lexeme->first; i >= 0; i = page->sights[i].next) {
        length += 1 + count_digits(page->sights[i].place) + (page->sights[i].weight != '\0');
    }
    return length;
}

static PyObject *
new_sheet(const Page *page)
{
    Py_ssize_t length = 0;
    Py_UCS4 highest = 127;
    for (Py_ssize_t i = 0; i < page->lexeme_count; i++) {
        const Py_ssize_t more = measure_lexeme(page, &page->lexemes[i]);
        if (more > PY_SSIZE_T_MAX - length) {
            return PyErr_NoMemory();
        }
        length += more;
        highest = Py_MAX(highest, PyUnicode_MAX_CHAR_VALUE(page->lexemes[i].text));
    }
    return PyUnicode_New(length > 0 ? length - 1 : 0, highest);
}

static PyObject *
write_vector(const Page *page)
{
    PyObject *text = new_sheet(page);
    if (text == NULL || page->lexeme_count == 0) {
        return text;
    }
    Sheet sheet = {.text = text, .kind = (int)PyUnicode_KIND(text), .data = PyUnicode_DATA(text), .at = 0};
    for (Py_ssize_t i = 0; i < page->lexeme_count; i++) {
        if (i > 0) {
            put_letter(&sheet, ' ');
        }
        if (put_text(&sheet, page->lexemes[i].text) < 0) {
            Py_DECREF(text);
            return NULL;
        }
        for (Py_ssize_t at = page->lexemes[i].first; at >= 0; at = page->sights[at].next) {
            if (at != page->lexemes[i].first) {
                put_letter(&sheet, ',');
            }
            put_number(&sheet, page->sights[at].place);
            if (page->sights[at].weight != '\0') {
                put_letter(&sheet, (Py_UCS4)page->sights[at].weight);
            }
        }
    }
    return text;
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
    if (is_too_far || has_too_many_places(page)) {
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
