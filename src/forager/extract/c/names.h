/* What the class and id of an element say, by a table of words. `names.py` has the words and says the same in Python. */

#ifndef FORAGER_NAMES_H
#define FORAGER_NAMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tables.h"

#define LONGEST_NAMES 200 /* characters of a class or an id that are looked at */
#define LONGEST_KEY 32 /* letters of a word of the table */
#define MOST_TOKEN_WORDS 12
#define MOST_HYPHENS 3 /* an id with more is made of a heading */
#define NAME_SLOTS 2048 /* a power of two, several times as many as there are words */

typedef struct {
    char key[LONGEST_KEY];
    uint8_t length;
    uint8_t word, token, beginning, role; /* verdicts: for the word, a whole token, a word that begins so, a role */
    bool is_passed_over;            /* what follows it says nothing */
} NameEntry;

static NameEntry name_table[NAME_SLOTS];
static uint8_t name_bits[NAME_SLOTS]; /* a bit for each hash that is there: nearly all words are not */
static uint32_t name_count, longest_key;
static uint32_t shortest_beginning, longest_beginning;

#define HASH_BASE 16777619u
static uint32_t hash_powers[LONGEST_KEY + 1]; /* of the base */

/* Such that the hash of a part follows from those of what ends with it and of what comes before it. */
static uint32_t hash_letter(uint32_t hash, Byte letter) { return hash * HASH_BASE + letter; }

static uint32_t mix(uint32_t hash) { return hash * 2654435761u >> 16; }

static bool may_be_there(uint32_t hash)
{
    return name_bits[mix(hash) / 8 % NAME_SLOTS] >> mix(hash) % 8 & 1;
}

static NameEntry *name_slot(const char *key, size_t length, uint32_t hash)
{
    uint32_t at = mix(hash) % NAME_SLOTS;
    while (name_table[at].length && (name_table[at].length != length || memcmp(name_table[at].key, key, length) != 0))
        at = (at + 1) % NAME_SLOTS;
    return &name_table[at];
}

enum { FOR_WORD, FOR_TOKEN, FOR_BEGINNING, FOR_ROLE, FOR_PASSED_OVER };

static int add_name(PyObject *key, PyObject *value, int purpose)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(key, &length);
    long verdict = text == NULL ? -1 : PyLong_AsLong(value);
    if (PyErr_Occurred())
        return -1;
    if (length < 1 || length > LONGEST_KEY || verdict < 0 || verdict > UINT8_MAX || name_count > NAME_SLOTS / 2) {
        PyErr_Format(PyExc_ValueError, "the table has no room for %R", key);
        return -1;
    }
    uint32_t hash = 0;
    for (Py_ssize_t at = 0; at < length; at++)
        hash = hash_letter(hash, (Byte)text[at]);
    NameEntry *entry = name_slot(text, (size_t)length, hash);
    if (!entry->length) {
        memcpy(entry->key, text, (size_t)length);
        entry->length = (uint8_t)length;
        name_bits[mix(hash) / 8 % NAME_SLOTS] |= (uint8_t)(1u << mix(hash) % 8);
        name_count++;
        longest_key = longest_key > (uint32_t)length ? longest_key : (uint32_t)length;
    }
    switch (purpose) {
    case FOR_WORD:
        entry->word = (uint8_t)verdict;
        break;
    case FOR_TOKEN:
        entry->token = (uint8_t)verdict;
        break;
    case FOR_BEGINNING:
        entry->beginning = (uint8_t)verdict;
        if (shortest_beginning == 0 || shortest_beginning > (uint32_t)length)
            shortest_beginning = (uint32_t)length;
        if (longest_beginning < (uint32_t)length)
            longest_beginning = (uint32_t)length;
        break;
    case FOR_ROLE:
        entry->role = (uint8_t)verdict;
        break;
    default:
        entry->is_passed_over = true;
    }
    return 0;
}

/* set_names(words, tokens, beginnings, roles, passed over): dictionaries from words to verdicts. */
static PyObject *set_names(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *tables[FOR_PASSED_OVER + 1];
    if (!PyArg_ParseTuple(given, "O!O!O!O!O!:set_names", &PyDict_Type, &tables[FOR_WORD], &PyDict_Type,
                          &tables[FOR_TOKEN], &PyDict_Type, &tables[FOR_BEGINNING], &PyDict_Type, &tables[FOR_ROLE],
                          &PyDict_Type, &tables[FOR_PASSED_OVER]))
        return NULL;
    memset(name_table, 0, sizeof name_table);
    memset(name_bits, 0, sizeof name_bits);
    name_count = longest_key = shortest_beginning = longest_beginning = 0;
    hash_powers[0] = 1;
    for (int power = 1; power <= LONGEST_KEY; power++)
        hash_powers[power] = hash_powers[power - 1] * HASH_BASE;
    for (int purpose = FOR_WORD; purpose <= FOR_PASSED_OVER; purpose++) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(tables[purpose], &at, &key, &value))
            if (add_name(key, value, purpose) < 0)
                return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- words of a token --------------------------------------------------------------------------------------------- */

typedef struct {
    char letters[LONGEST_NAMES]; /* all words, in small letters */
    uint32_t hashes[LONGEST_NAMES + 1]; /* of all letters before one */
    uint8_t ends[MOST_TOKEN_WORDS];
    uint32_t count;
} TokenWords;

static bool is_small(Byte byte) { return byte >= 'a' && byte <= 'z'; }
static bool is_capital(Byte byte) { return byte >= 'A' && byte <= 'Z'; }
/* The end of the word that begins here: `share`, `Bar`, `HTML` of `HTMLBody`, `12`. */
static const Byte *word_end(const Byte *at, const Byte *end)
{
    const Byte *from = at;
    if (is_digit(*at)) {
        while (at < end && is_digit(*at))
            at++;
        return at;
    }
    while (at < end && is_capital(*at))
        at++;
    if (at - from > 1)
        return at < end && is_small(*at) ? at - 1 : at;
    while (at < end && is_small(*at))
        at++;
    return at;
}

static void split_token(TokenWords *words, const Byte *at, const Byte *end)
{
    uint32_t used = words->count = 0, hash = words->hashes[0] = 0;
    while (at < end && words->count < MOST_TOKEN_WORDS) {
        if (!is_small(*at) && !is_capital(*at) && !is_digit(*at)) {
            at++;
            continue;
        }
        const Byte *behind = word_end(at, end);
        for (; at < behind; at++) {
            Byte letter = is_capital(*at) ? *at + 32 : *at;
            words->letters[used++] = (char)letter;
            words->hashes[used] = hash = hash_letter(hash, letter);
        }
        words->ends[words->count++] = (uint8_t)used;
    }
}

static const NameEntry NOT_THERE;

static uint8_t larger(uint8_t one, uint8_t other) { return one > other ? one : other; }

/* What the table has for the letters from here to there. */
static const NameEntry *look_up(const TokenWords *words, uint32_t start, uint32_t end)
{
    uint32_t length = end - start;
    if (length > longest_key)
        return &NOT_THERE;
    uint32_t hash = words->hashes[end] - words->hashes[start] * hash_powers[length];
    return may_be_there(hash) ? name_slot(words->letters + start, length, hash) : &NOT_THERE;
}

static uint8_t judge_word(const TokenWords *words, uint32_t first, const NameEntry *alone)
{
    uint32_t start = first ? words->ends[first - 1] : 0, end = words->ends[first];
    uint8_t found = larger(alone->word, alone->beginning);
    for (uint32_t last = first + 1; last < words->count && last < first + 3; last++)
        found = larger(found, look_up(words, start, words->ends[last])->word);
    for (uint32_t length = shortest_beginning; length < end - start && length <= longest_beginning; length++)
        found = larger(found, look_up(words, start, start + length)->beginning);
    return found;
}

static uint8_t judge_token(const Byte *at, const Byte *end)
{
    TokenWords words;
    split_token(&words, at, end);
    if (words.count == 0)
        return 0;
    uint8_t verdict = look_up(&words, 0, words.ends[words.count - 1])->token;
    bool is_passed_over = false;
    for (uint32_t word = 0; word < words.count; word++) {
        const NameEntry *alone = look_up(&words, word ? words.ends[word - 1] : 0, words.ends[word]);
        if (!is_passed_over)
            verdict = larger(verdict, judge_word(&words, word, alone));
        is_passed_over = alone->is_passed_over;
    }
    return verdict;
}

/* Of so many characters, not bytes. */
static const Byte *cut_name(const Byte *at, const Byte *end)
{
    uint32_t characters = 0;
    while (at < end) {
        if ((*at & 0xC0) != 0x80 && ++characters > LONGEST_NAMES)
            break;
        at++;
    }
    return at;
}

static uint8_t judge_class(const Byte *at, const Byte *end)
{
    uint8_t verdict = 0;
    end = cut_name(at, end);
    while (at < end) {
        while (at < end && is_gap(*at))
            at++;
        const Byte *token = at;
        while (at < end && !is_gap(*at))
            at++;
        if (at > token)
            verdict = larger(verdict, judge_token(token, at));
    }
    return verdict;
}

static uint8_t judge_identity(const Byte *at, const Byte *end)
{
    uint32_t hyphens = 0;
    for (const Byte *byte = at; byte < end; byte++)
        hyphens += *byte == '-' || *byte == '_';
    return hyphens > MOST_HYPHENS ? 0 : judge_token(at, cut_name(at, end));
}

static uint8_t judge_role(const Byte *at, const Byte *end)
{
    char role[LONGEST_KEY];
    size_t length = (size_t)(end - at);
    uint32_t hash = 0;
    if (length > LONGEST_KEY)
        return 0;
    for (size_t letter = 0; letter < length; letter++) {
        role[letter] = (char)(is_capital(at[letter]) ? at[letter] + 32 : at[letter]);
        hash = hash_letter(hash, (Byte)role[letter]);
    }
    return length ? name_slot(role, length, hash)->role : 0;
}

/* Whether a style hides its element, however it is spaced. */
static bool is_hiding(const Byte *at, const Byte *end)
{
    char style[LONGEST_NAMES];
    size_t used = 0;
    end = cut_name(at, end);
    for (; at < end && used < sizeof style; at++)
        if (!is_gap(*at))
            style[used++] = (char)(is_capital(*at) ? *at + 32 : *at);
    return memmem(style, used, "display:none", 12) != NULL || memmem(style, used, "visibility:hidden", 17) != NULL;
}

#endif
