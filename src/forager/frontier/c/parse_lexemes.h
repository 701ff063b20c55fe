/* Words nobody knows, and what PostgreSQL says of them: `recall`, `hear_plain` and `hear_marked` of lexemes.py. */

#ifndef FORAGER_PARSE_LEXEMES_H
#define FORAGER_PARSE_LEXEMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "build_tsvector.h"

/* The limits of lexemes.py; a test compares them. */
#define LONGEST_REMEMBERED 40
#define FIRST_MARK 7770000
#define MARK_DIGITS 7

/* Words ------------------------------------------------------------------------------------------------------------ */

static int
is_quote(Py_UCS4 sign)
{
    return sign == '"' || sign == '\'';
}

static int
is_behind(Py_UCS4 sign)
{
    return sign == ',' || sign == ';' || sign == ':' || sign == '!' || sign == '?' || sign == ')' || is_quote(sign);
}

static int
is_letter(Py_UCS4 sign)
{
    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

/* The letters of a word of plain ones, small, without the signs around them; None for another word. */
static PyObject *
find_core(PyObject *word)
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(word);
    if (!PyUnicode_IS_ASCII(word) || length > LONGEST_REMEMBERED + 5) {
        Py_RETURN_NONE;
    }
    const Py_UCS1 *letters = PyUnicode_1BYTE_DATA(word);
    Py_ssize_t start = 0, at;
    while (start < 2 && start < length && (letters[start] == '(' || is_quote(letters[start]))) {
        start++;
    }
    for (at = start; at < length && is_letter(letters[at]); at++) {
    }
    const Py_ssize_t size = at - start;
    at += at < length && is_behind(letters[at]);
    at += at < length && letters[at] == '.';
    at += at < length && is_behind(letters[at]);
    if (at < length || size == 0 || size > LONGEST_REMEMBERED) {
        Py_RETURN_NONE;
    }
    PyObject *core = PyUnicode_New(size, 127);
    for (Py_ssize_t i = 0; core != NULL && i < size; i++) {
        PyUnicode_1BYTE_DATA(core)[i] = (Py_UCS1)(letters[start + i] | 0x20);
    }
    return core;
}

/* What is remembered of a word, or of its core, borrowed; NULL: nothing, or an exception. */
static PyObject *
recall_either(PyObject *word, PyObject *core, PyObject *young, PyObject *old)
{
    PyObject *heard = PyDict_GetItemWithError(old, word);
    if (heard == NULL && !PyErr_Occurred()) {
        heard = PyDict_GetItemWithError(young, core);
    }
    if (heard == NULL && !PyErr_Occurred()) {
        heard = PyDict_GetItemWithError(old, core);
    }
    return heard;
}

/* One word goes where it belongs: what is known of it, its core, or among those without one. */
static int
recall_one(PyObject *word, PyObject *young, PyObject *old, PyObject *known, PyObject *cores, PyObject *odd)
{
    PyObject *core = find_core(word);
    if (core == NULL) {
        return -1;
    }
    PyObject *heard = recall_either(word, core == Py_None ? word : core, young, old);
    int failed = -1;
    if (heard != NULL) {
        failed = PyDict_SetItem(known, word, heard);
    }
    else if (!PyErr_Occurred()) {
        failed = core == Py_None ? PyList_Append(odd, word) : PyDict_SetItem(cores, word, core);
    }
    Py_DECREF(core);
    return failed;
}

PyDoc_STRVAR(recall_doc, "recall(words, young, old, /)\n--\n\nAs `lexemes.recall_in_python`.");

static PyObject *
recall_words(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyDict_Check(arguments[0]) || !PyDict_Check(arguments[1]) || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "recall takes three dicts");
        return NULL;
    }
    PyObject *known = PyDict_New(), *cores = PyDict_New(), *odd = PyList_New(0), *word, *result = NULL;
    int failed = known == NULL || cores == NULL || odd == NULL;
    for (Py_ssize_t at = 0; !failed && PyDict_Next(arguments[0], &at, &word, NULL);) {
        if (!PyUnicode_Check(word)) {
            PyErr_SetString(PyExc_TypeError, "a word is a str");
            failed = 1;
        }
        failed = failed || recall_one(word, arguments[1], arguments[2], known, cores, odd) < 0;
    }
    if (!failed) {
        result = PyTuple_Pack(3, known, cores, odd);
    }
    Py_XDECREF(known);
    Py_XDECREF(cores);
    Py_XDECREF(odd);
    return result;
}

/* The text of a vector ---------------------------------------------------------------------------------------------- */

/* A vector while it is read: 'lexeme':1,2 'another':3 */
typedef struct {
    PyObject *text;
    int kind;
    const void *data;
    Py_ssize_t length, at;
    Py_ssize_t start, end; /* of the last lexeme, with its quotes and its colon */
} Vector;

static Vector
open_vector(PyObject *text)
{
    return (Vector){.text = text,
                    .kind = (int)PyUnicode_KIND(text),
                    .data = PyUnicode_DATA(text),
                    .length = PyUnicode_GET_LENGTH(text)};
}

static Py_UCS4
sign_at(const Vector *vector, Py_ssize_t at)
{
    return at < vector->length ? PyUnicode_READ(vector->kind, vector->data, at) : 0;
}

static int
refuse_vector(void)
{
    PyErr_SetString(PyExc_ValueError, "this is no vector with positions");
    return -1;
}

/* Go to the next lexeme. 1: there is one; 0: there is none left; -1: this is not the text of a vector. */
static int
next_lexeme(Vector *vector)
{
    while (sign_at(vector, vector->at) == ' ') {
        vector->at++;
    }
    if (vector->at >= vector->length) {
        return 0;
    }
    vector->start = vector->at;
    if (sign_at(vector, vector->at++) != '\'') {
        return refuse_vector();
    }
    for (;; vector->at++) {
        const Py_UCS4 sign = sign_at(vector, vector->at);
        if (vector->at >= vector->length) {
            return refuse_vector();
        }
        if (sign == '\\' || (sign == '\'' && sign_at(vector, vector->at + 1) == '\'')) {
            vector->at++; /* it stands for the next one */
        }
        else if (sign == '\'') {
            break;
        }
    }
    vector->at++;
    if (sign_at(vector, vector->at++) != ':') {
        return refuse_vector();
    }
    vector->end = vector->at;
    return vector->end - vector->start > 3 ? 1 : refuse_vector();
}

/* The next position of the lexeme, from 1 on; 0: it has no more; -1: this is not the text of a vector. */
static int
next_place(Vector *vector)
{
    if (vector->at > vector->end) {
        if (sign_at(vector, vector->at) != ',') {
            return 0;
        }
        vector->at++;
    }
    int place = 0;
    const Py_ssize_t before = vector->at;
    for (Py_UCS4 sign = sign_at(vector, vector->at); sign >= '0' && sign <= '9'; sign = sign_at(vector, ++vector->at)) {
        place = place * 10 + (int)(sign - '0');
        if (place > LAST_PLACE) {
            return refuse_vector();
        }
    }
    return vector->at == before || place == 0 ? refuse_vector() : place;
}

/* The lexeme in UTF-8, without its quotes; inside, each of these and each backslash is there twice. */
static PyObject *
read_lexeme(const Vector *vector)
{
    PyObject *quoted = PyUnicode_Substring(vector->text, vector->start + 1, vector->end - 2);
    Py_ssize_t length = 0, size = 0;
    const char *letters = quoted != NULL ? PyUnicode_AsUTF8AndSize(quoted, &length) : NULL;
    PyObject *lexeme = letters != NULL ? PyBytes_FromStringAndSize(NULL, length) : NULL;
    if (lexeme != NULL) {
        char *out = PyBytes_AS_STRING(lexeme);
        for (Py_ssize_t at = 0; at < length; at++) {
            out[size++] = letters[at];
            at += letters[at] == '\'' || letters[at] == '\\';
        }
        if (size < length) {
            _PyBytes_Resize(&lexeme, size); /* NULL where that fails */
        }
    }
    Py_XDECREF(quoted);
    return lexeme;
}

/* Which mark the lexeme is, or -1. */
static int
mark_of(const Vector *vector, Py_ssize_t words)
{
    if (vector->end - vector->start != MARK_DIGITS + 3) {
        return -1;
    }
    int number = 0;
    for (Py_ssize_t at = vector->start + 1; at <= vector->start + MARK_DIGITS; at++) {
        const Py_UCS4 sign = sign_at(vector, at);
        if (sign < '0' || sign > '9') {
            return -1;
        }
        number = number * 10 + (int)(sign - '0');
    }
    number -= FIRST_MARK;
    return number >= 0 && number < words ? number : -1;
}

/* What became of words -------------------------------------------------------------------------------------------- */

/* A lexeme of a word, at one of the positions the word takes; those of one word are a chain. */
typedef struct {
    Py_ssize_t next; /* -1 ends the chain */
    PyObject *lexeme; /* borrowed from Answers.lexemes */
    int place;
} Part;

typedef struct {
    Py_ssize_t first, last; /* of its parts */
    Py_ssize_t count;
    int start, end; /* of its positions; its mark is at `end` */
} Asked;

typedef struct {
    Asked *words;
    Py_ssize_t word_count;
    Part *parts;
    Py_ssize_t part_count;
    PyObject *lexemes; /* a list that keeps them alive */
    short *owners; /* position → the word that takes it, or -1 */
    int places; /* how many positions have an owner */
} Answers;

static int
begin_answers(Answers *answers, Py_ssize_t words, Py_ssize_t length)
{
    *answers = (Answers){.word_count = words};
    answers->words = PyMem_New(Asked, words);
    answers->parts = PyMem_New(Part, length / 2 + 1); /* a position and the sign before it are two letters */
    answers->owners = PyMem_New(short, LAST_PLACE + 1);
    answers->lexemes = PyList_New(0);
    if (answers->words == NULL || answers->parts == NULL || answers->owners == NULL || answers->lexemes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < words; i++) {
        answers->words[i] = (Asked){.first = -1, .last = -1, .count = 0, .start = 0, .end = 0};
    }
    return 0;
}

static void
end_answers(Answers *answers)
{
    PyMem_Free(answers->words);
    PyMem_Free(answers->parts);
    PyMem_Free(answers->owners);
    Py_XDECREF(answers->lexemes);
}

static void
add_part(Answers *answers, Asked *word, PyObject *lexeme, int place)
{
    const Py_ssize_t here = answers->part_count++;
    answers->parts[here] = (Part){.next = -1, .lexeme = lexeme, .place = place};
    if (word->last >= 0) {
        answers->parts[word->last].next = here;
    }
    else {
        word->first = here;
    }
    word->last = here;
    word->count++;
}

/* Hand out the lexemes of a vector to the words that own their positions. 1: one lies behind all words. */
static int
hand_out(Answers *answers, PyObject *text)
{
    Vector vector = open_vector(text);
    int found, place;
    while ((found = next_lexeme(&vector)) > 0) {
        PyObject *lexeme = NULL;
        while ((place = next_place(&vector)) > 0) {
            if (place >= answers->places) {
                return 1;
            }
            const int number = answers->owners[place];
            if (number < 0) {
                continue;
            }
            if (lexeme == NULL) {
                lexeme = read_lexeme(&vector);
                if (lexeme == NULL || PyList_Append(answers->lexemes, lexeme) < 0) {
                    Py_XDECREF(lexeme);
                    return -1;
                }
                Py_DECREF(lexeme); /* the list keeps it */
            }
            add_part(answers, &answers->words[number], lexeme, place - answers->words[number].start);
        }
        if (place < 0) {
            return -1;
        }
    }
    return found;
}

static PyObject *
pack_several(const Answers *answers, const Asked *word, int takes)
{
    PyObject *lexemes = PyTuple_New(word->count);
    Py_ssize_t part = word->first;
    for (Py_ssize_t i = 0; lexemes != NULL && i < word->count; i++, part = answers->parts[part].next) {
        PyObject *pair = Py_BuildValue("(Oi)", answers->parts[part].lexeme, answers->parts[part].place);
        if (pair == NULL) {
            Py_DECREF(lexemes);
            return NULL;
        }
        PyTuple_SET_ITEM(lexemes, i, pair);
    }
    return lexemes == NULL ? NULL : Py_BuildValue("(iN)", takes, lexemes);
}

/* As `_hear` of lexemes.py. */
static PyObject *
pack_answer(const Answers *answers, const Asked *word)
{
    const int takes = word->end - word->start - 1;
    if (takes != 1 || word->count > 1) {
        return pack_several(answers, word, takes);
    }
    return word->count == 1 ? Py_NewRef(answers->parts[word->first].lexeme) : PyBytes_FromStringAndSize("\0", 1);
}

static PyObject *
pack_answers(const Answers *answers)
{
    PyObject *packed = PyList_New(answers->word_count);
    for (Py_ssize_t i = 0; packed != NULL && i < answers->word_count; i++) {
        PyObject *answer = pack_answer(answers, &answers->words[i]);
        if (answer == NULL) {
            Py_DECREF(packed);
            return NULL;
        }
        PyList_SET_ITEM(packed, i, answer);
    }
    return packed;
}

/* Each word takes one position. */
static int
place_plain(Answers *answers, PyObject *Py_UNUSED(text))
{
    answers->places = (int)answers->word_count + 1;
    answers->owners[0] = -1;
    for (int i = 0; i < (int)answers->word_count; i++) {
        answers->owners[i + 1] = (short)i;
        answers->words[i].start = i;
        answers->words[i].end = i + 2;
    }
    return 0;
}

/* Look for the marks. 1: one is hidden, or a lexeme has more positions than PostgreSQL tells. */
static int
find_marks(Answers *answers, PyObject *text)
{
    Vector vector = open_vector(text);
    const int is_alone = answers->word_count == 1;
    int found, place;
    while ((found = next_lexeme(&vector)) > 0) {
        const int mark = mark_of(&vector, answers->word_count);
        int places = 0, last = 0;
        while ((place = next_place(&vector)) > 0) {
            places++;
            last = Py_MAX(last, place);
        }
        if (place < 0) {
            return -1;
        }
        if (is_alone) {
            answers->words[0].end = Py_MAX(answers->words[0].end, last);
        }
        else if (places > MOST_PLACES || (mark >= 0 && places > 1)) {
            return 1;
        }
        else if (mark >= 0) {
            answers->words[mark].end = last;
        }
    }
    return found;
}

/* Each word takes the positions between the mark before it and its own. */
static int
place_marked(Answers *answers, PyObject *text)
{
    const int is_hidden = find_marks(answers, text);
    if (is_hidden != 0) {
        return is_hidden;
    }
    int place = 0;
    answers->owners[0] = -1;
    for (Py_ssize_t i = 0; i < answers->word_count; i++) {
        Asked *word = &answers->words[i];
        if (word->end <= place || (answers->word_count > 1 && word->end >= LAST_PLACE)) {
            return answers->word_count > 1 ? 1 : refuse_vector();
        }
        word->start = place;
        for (place++; place < word->end; place++) {
            answers->owners[place] = (short)i;
        }
        answers->owners[place] = -1;
    }
    answers->places = place + 1;
    return 0;
}

/* What a vector says of so many words; None where each has to be asked for alone. */
static PyObject *
hear(PyObject *const *arguments, Py_ssize_t count, int (*place_words)(Answers *, PyObject *))
{
    if (count != 2 || !PyUnicode_Check(arguments[0]) || !PyLong_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a vector and the number of its words are a str and an int");
        return NULL;
    }
    const Py_ssize_t words = PyLong_AsSsize_t(arguments[1]);
    if (words < 1 || words >= LAST_PLACE) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "so many words have no positions in one vector");
        }
        return NULL;
    }
    Answers answers;
    PyObject *heard = NULL;
    int is_hidden = begin_answers(&answers, words, PyUnicode_GET_LENGTH(arguments[0]));
    if (is_hidden == 0) {
        is_hidden = place_words(&answers, arguments[0]);
    }
    if (is_hidden == 0) {
        is_hidden = hand_out(&answers, arguments[0]);
    }
    if (is_hidden >= 0) {
        heard = is_hidden ? Py_NewRef(Py_None) : pack_answers(&answers);
    }
    end_answers(&answers);
    return heard;
}

PyDoc_STRVAR(hear_plain_doc, "hear_plain(vector, words, /)\n--\n\nAs `lexemes.hear_plain_in_python`.");

static PyObject *
hear_plain(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    return hear(arguments, count, place_plain);
}

PyDoc_STRVAR(hear_marked_doc, "hear_marked(vector, words, /)\n--\n\nAs `lexemes.hear_marked_in_python`.");

static PyObject *
hear_marked(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    return hear(arguments, count, place_marked);
}

#endif
