/* A page's words, from memory, become its tsvector: `weave` of lexemes.py. */

#ifndef FORAGER_BUILD_TSVECTOR_H
#define FORAGER_BUILD_TSVECTOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The limits of lexemes.py; a test compares them. */
#define MOST_WORDS 65536
#define MOST_PLACES 250
#define PIECE_PLACES 255
#define PAGE_PLACES 256
#define LAST_PLACE 16383
#define PIECES 4

/* By weight: title, headings, description, text; a position has fourteen bits, its weight two before them. */
static const int WEIGHTS[PIECES] = {3 << 14, 2 << 14, 1 << 14, 0};

/* A lexeme at a position; those of one lexeme are a chain. */
typedef struct {
    int next; /* -1 ends the chain */
    int place; /* with its weight */
} Sight;

typedef struct {
    uint64_t beginning; /* of its name, as a number that sorts like it */
    PyObject *name; /* in UTF-8, borrowed from an answer in Page.distinct */
    Py_hash_t hash;
    int first, last; /* of its sights */
    int count, piece_count; /* of its sights; of those in `piece`, where `last_local` is the last position */
    int piece, last_local;
} Lexeme;

/* A word, however often it stands in the page. */
typedef struct {
    uint64_t hash;
    const void *letters; /* in its piece */
    Py_ssize_t length;
    int kind;
    int lexeme; /* one too high, of an answer that is a single lexeme; 0: not looked up yet */
    PyObject *answer; /* owned; NULL: nobody knows the word */
} Word;

/* What is at hand while one page is woven. Everything lies in arrays that are as long as they can get. */
typedef struct {
    int *occurrences; /* each word of the page, by its place in `distinct` */
    Py_ssize_t words;
    Py_ssize_t ends[PIECES]; /* of each piece, in words */
    Word *distinct;
    int distinct_count;
    int *word_table; /* of distinct words by hash, open addressing; 0 is free, others are one too high */
    size_t word_mask;
    Sight *sights;
    int sight_count;
    Lexeme *lexemes;
    int lexeme_count;
    int *table; /* of lexemes, likewise */
    size_t mask;
    int highest; /* the last position in use */
    int is_disordered; /* a lexeme does not go forward */
} Page;

static void
clear_page(Page *page)
{
    for (int i = 0; i < page->distinct_count; i++) {
        Py_XDECREF(page->distinct[i].answer);
    }
    PyMem_Free(page->occurrences);
    PyMem_Free(page->distinct);
    PyMem_Free(page->word_table);
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

/* Look up a word met for the first time; what nobody knows goes to `strange`, which is made when it is needed. */
static int
hear_word(Word *found, PyObject *word, PyObject *young, PyObject *more, PyObject **strange)
{
    found->answer = recall(word, young, more);
    if (found->answer != NULL) {
        return 0;
    }
    if (PyErr_Occurred() || (*strange == NULL && (*strange = PyDict_New()) == NULL)) {
        return -1;
    }
    return PyDict_SetItem(*strange, word, Py_None);
}

/* The word's place among the distinct ones, where it is added if it is new; -1 with an exception. Looking up half of a
   text's words again would cost more than all the rest. */
static int
find_word(Page *page, const Word *word, PyObject *piece, Py_ssize_t start, PyObject *young, PyObject *more,
          PyObject **strange)
{
    size_t slot = (size_t)word->hash & page->word_mask;
    for (; page->word_table[slot] != 0; slot = (slot + 1) & page->word_mask) {
        const Word *other = &page->distinct[page->word_table[slot] - 1];
        if (other->hash == word->hash && other->length == word->length && other->kind == word->kind
            && memcmp(other->letters, word->letters, (size_t)(word->length * word->kind)) == 0) {
            return page->word_table[slot] - 1;
        }
    }
    Word *added = &page->distinct[page->distinct_count++];
    *added = *word;
    page->word_table[slot] = page->distinct_count;
    PyObject *name = PyUnicode_Substring(piece, start, start + word->length);
    const int failed = name == NULL ? -1 : hear_word(added, name, young, more, strange);
    Py_XDECREF(name);
    return failed ? -1 : page->distinct_count - 1;
}

static int
hear_piece(Page *page, PyObject *piece, PyObject *young, PyObject *more, PyObject **strange)
{
    const int kind = PyUnicode_KIND(piece);
    const char *data = PyUnicode_DATA(piece);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(piece);
    Py_ssize_t start = 0;
    uint64_t hash = 14695981039346656037u;
    for (Py_ssize_t at = 0; at <= length; at++) {
        const Py_UCS4 letter = at < length ? PyUnicode_READ(kind, data, at) : ' ';
        if (letter != ' ') {
            hash = (hash ^ letter) * 1099511628211u;
            continue;
        }
        const Word word = {.hash = hash ^ (hash >> 29),
                           .letters = data + start * kind,
                           .length = at - start,
                           .kind = kind,
                           .lexeme = 0,
                           .answer = NULL};
        const int number = find_word(page, &word, piece, start, young, more, strange);
        if (number < 0) {
            return -1;
        }
        page->occurrences[page->words++] = number;
        start = at + 1;
        hash = 14695981039346656037u;
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

/* How many lexemes a word has; -1 with an exception. */
static Py_ssize_t
count_parts(const Word *word)
{
    long takes;
    PyObject *lexemes;
    if (PyBytes_Check(word->answer)) {
        return 1;
    }
    return open_answer(word->answer, &takes, &lexemes) < 0 ? -1 : PyTuple_GET_SIZE(lexemes);
}

/* How many sights there will be at most, so that arrays need not grow; -1 with an exception. */
static Py_ssize_t
count_sights(const Page *page, Py_ssize_t *names)
{
    Py_ssize_t sights = 0;
    for (int i = 0; i < page->distinct_count; i++) {
        const Py_ssize_t parts = count_parts(&page->distinct[i]);
        if (parts < 0) {
            return -1;
        }
        *names += parts;
    }
    for (Py_ssize_t i = 0; i < page->words; i++) {
        const Py_ssize_t parts = count_parts(&page->distinct[page->occurrences[i]]);
        if (parts > INT_MAX / 4 - sights) {
            PyErr_NoMemory();
            return -1;
        }
        sights += parts;
    }
    return sights;
}

static int
make_room(Page *page)
{
    Py_ssize_t names = 0;
    const Py_ssize_t most = count_sights(page, &names);
    if (most < 0) {
        return -1;
    }
    size_t size = 16;
    while (size < (size_t)names * 2) {
        size *= 2;
    }
    page->mask = size - 1;
    page->sights = PyMem_New(Sight, most);
    page->lexemes = PyMem_New(Lexeme, names);
    page->table = PyMem_Calloc(size, sizeof(int));
    if (page->sights == NULL || page->lexemes == NULL || page->table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The first eight letters as a number; of two names that differ there, the one with the higher number sorts later. */
static uint64_t
read_beginning(PyObject *name)
{
    uint64_t number = 0;
    const Py_ssize_t length = PyBytes_GET_SIZE(name);
    for (Py_ssize_t i = 0; i < 8; i++) {
        number = number << 8 | (i < length ? (unsigned char)PyBytes_AS_STRING(name)[i] : 0);
    }
    return number;
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
    *lexeme = (Lexeme){.beginning = read_beginning(name), .name = name, .hash = hash, .first = -1, .last = -1, .piece = -1};
    page->table[slot] = page->lexeme_count;
    return lexeme;
}

/* Add a position within a piece, as to_tsvector does, and then to those of the pieces before, as || does: both leave out
   what is too far or too much. */
static void
add_sight(Page *page, Lexeme *lexeme, int piece, int local, int base)
{
    local = Py_MIN(local, LAST_PLACE);
    if (lexeme->piece != piece) {
        lexeme->piece = piece;
        lexeme->piece_count = 0;
    }
    else if (lexeme->last_local == LAST_PLACE || local == lexeme->last_local || lexeme->piece_count >= PIECE_PLACES) {
        page->is_disordered |= local < lexeme->last_local;
        return;
    }
    else if (local < lexeme->last_local) {
        page->is_disordered = 1;
        return;
    }
    lexeme->last_local = local;
    lexeme->piece_count++;
    const int place = Py_MIN(local + base, LAST_PLACE);
    if (lexeme->count >= PAGE_PLACES
        || (lexeme->count > 0 && (page->sights[lexeme->last].place & LAST_PLACE) == LAST_PLACE)) {
        return;
    }
    const int here = page->sight_count++;
    page->sights[here] = (Sight){.next = -1, .place = place | WEIGHTS[piece]};
    if (lexeme->last >= 0) {
        page->sights[lexeme->last].next = here;
    }
    else {
        lexeme->first = here;
    }
    lexeme->last = here;
    lexeme->count++;
    page->highest = Py_MAX(page->highest, place);
}

/* A word that takes a position and has no lexeme. */
static int
is_stop(PyObject *answer)
{
    return PyBytes_GET_SIZE(answer) == 1 && PyBytes_AS_STRING(answer)[0] == '\0';
}

/* The lexemes of one answer, behind the position `at`. */
static int
place_several(Page *page, PyObject *lexemes, int piece, int at, int base)
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
        if (place < 1 || place > LAST_PLACE) {
            PyErr_SetString(PyExc_ValueError, "a lexeme's position is among those its word takes");
            return -1;
        }
        Lexeme *lexeme = find_lexeme(page, PyTuple_GET_ITEM(pair, 0));
        if (lexeme == NULL) {
            return -1;
        }
        add_sight(page, lexeme, piece, at + (int)place, base);
    }
    return 0;
}

/* Give the lexemes of one word their positions behind `at`. The number of positions it takes, or -1. */
static int
place_word(Page *page, Word *word, int piece, int at, int base)
{
    long takes;
    PyObject *lexemes;
    if (PyBytes_Check(word->answer)) {
        if (word->lexeme == 0 && !is_stop(word->answer)) {
            const Lexeme *found = find_lexeme(page, word->answer);
            if (found == NULL) {
                return -1;
            }
            word->lexeme = (int)(found - page->lexemes) + 1;
        }
        if (word->lexeme > 0) {
            add_sight(page, &page->lexemes[word->lexeme - 1], piece, at + 1, base);
        }
        return 1;
    }
    if (open_answer(word->answer, &takes, &lexemes) < 0 || place_several(page, lexemes, piece, at, base) < 0) {
        return -1;
    }
    return (int)Py_MIN(takes, LAST_PLACE);
}

/* Give every lexeme its positions. Each piece's go on where those of the pieces before end. */
static int
place_words(Page *page)
{
    Py_ssize_t number = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        const int base = page->highest;
        int at = 0;
        for (; number < page->ends[piece]; number++) {
            const int takes = place_word(page, &page->distinct[page->occurrences[number]], piece, at, base);
            if (takes < 0) {
                return -1;
            }
            at = Py_MIN(at + takes, LAST_PLACE);
        }
    }
    return 0;
}

/* As PostgreSQL sorts them. */
static int
compare_lexemes(const void *one, const void *other)
{
    const uint64_t beginning = ((const Lexeme *)one)->beginning, against_beginning = ((const Lexeme *)other)->beginning;
    if (beginning != against_beginning) {
        return beginning < against_beginning ? -1 : 1;
    }
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
    for (int i = 0; i < page->lexeme_count; i++) {
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
    char *at = put_short(PyBytes_AS_STRING(vector), page->lexeme_count >> 16);
    at = put_short(at, page->lexeme_count & 0xFFFF);
    for (int i = 0; i < page->lexeme_count; i++) {
        const Lexeme *lexeme = &page->lexemes[i];
        const size_t length = (size_t)PyBytes_GET_SIZE(lexeme->name);
        memcpy(at, PyBytes_AS_STRING(lexeme->name), length);
        at += length;
        *at++ = '\0';
        at = put_short(at, lexeme->count);
        for (int sight = lexeme->first; sight >= 0; sight = page->sights[sight].next) {
            at = put_short(at, page->sights[sight].place);
        }
    }
    return vector;
}

/* From answers to the vector; None where PostgreSQL has to make it. */
static PyObject *
weave_answers(Page *page)
{
    if (make_room(page) < 0 || place_words(page) < 0) {
        return NULL;
    }
    if (page->is_disordered) {
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
    if (strange == NULL) {
        return weave_answers(page);
    }
    PyObject *listed = PySequence_List(strange);
    Py_DECREF(strange);
    return listed;
}

static int
open_page(Page *page, Py_ssize_t words)
{
    size_t size = 16;
    while (size < (size_t)words * 2) {
        size *= 2;
    }
    page->word_mask = size - 1;
    page->occurrences = PyMem_New(int, words);
    page->distinct = PyMem_New(Word, words);
    page->word_table = PyMem_Calloc(size, sizeof(int));
    if (page->occurrences == NULL || page->distinct == NULL || page->word_table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
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
    Page page = {.words = 0};
    PyObject *woven = NULL;
    if (open_page(&page, words) == 0) {
        woven = weave_words(&page, arguments[0], arguments[1], arguments[2]);
    }
    clear_page(&page);
    return woven;
}

#endif
