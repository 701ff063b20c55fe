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

enum { NO_ROLE, AROUND_TAG, NAMED_TAG }; /* elements that are boilerplate, that are where their names say so */

static uint8_t tag_roles[UINT8_MAX + 1]; /* by kind */

static NameEntry name_table[NAME_SLOTS];
static uint8_t name_starts[1 << 12]; /* a bit for each three letters that a key begins with: nearly all words do not */
static uint32_t name_count, longest_key;
static uint32_t shortest_beginning, longest_beginning;

static uint32_t hash_letter(uint32_t hash, Byte letter) { return hash * 16777619u + letter; }

static uint32_t mix(uint32_t hash) { return hash * 2654435761u >> 16; }

static uint32_t start_of(Byte first, Byte second, Byte third)
{
    return (first & 31u) << 10 | (second & 31u) << 5 | (third & 31u);
}

/* A key of one or two letters may be followed by any, or by none. */
static void add_start(const char *key, size_t length)
{
    for (uint32_t other = 0; other < 32 * 32; other++) {
        uint32_t start = start_of((Byte)key[0], length > 1 ? (Byte)key[1] : (Byte)(other / 32),
                                  length > 2 ? (Byte)key[2] : (Byte)other);
        name_starts[start / 8] |= (uint8_t)(1u << start % 8);
    }
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
        add_start(text, (size_t)length);
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

/* Pages repeat their names, and those of a site its other pages': what was said of a token last time is kept, in the
   place of the one before it. */
#define KEPT_TOKENS 1024
#define SHORTEST_KEPT 4
#define LONGEST_KEPT 62

typedef struct {
    Byte token[LONGEST_KEPT];
    uint8_t length, verdict;
} KeptToken;

static KeptToken kept_tokens[KEPT_TOKENS];

static int set_tag_role(PyObject *tags, uint8_t role)
{
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(tags); at++) {
        Py_ssize_t length;
        const char *tag = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(tags, at), &length);
        if (tag == NULL)
            return -1;
        uint8_t kind = kind_of((const Byte *)tag, (size_t)length);
        if (kind == NO_KIND) {
            PyErr_Format(PyExc_ValueError, "no element is known that is called %s", tag);
            return -1;
        }
        tag_roles[kind] = role;
    }
    return 0;
}

/* set_names(words, tokens, beginnings, roles, passed over, around, named): dictionaries from words to verdicts, and
   names of elements. */
static PyObject *set_names(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *tables[FOR_PASSED_OVER + 1], *around, *named;
    if (!PyArg_ParseTuple(given, "O!O!O!O!O!O!O!:set_names", &PyDict_Type, &tables[FOR_WORD], &PyDict_Type,
                          &tables[FOR_TOKEN], &PyDict_Type, &tables[FOR_BEGINNING], &PyDict_Type, &tables[FOR_ROLE],
                          &PyDict_Type, &tables[FOR_PASSED_OVER], &PyTuple_Type, &around, &PyTuple_Type, &named))
        return NULL;
    memset(tag_roles, NO_ROLE, sizeof tag_roles);
    if (set_tag_role(around, AROUND_TAG) < 0 || set_tag_role(named, NAMED_TAG) < 0)
        return NULL;
    memset(name_table, 0, sizeof name_table);
    memset(name_starts, 0, sizeof name_starts);
    memset(kept_tokens, 0, sizeof kept_tokens);
    name_count = longest_key = shortest_beginning = longest_beginning = 0;
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
    char letters[LONGEST_NAMES + 2]; /* all words, in small letters; then two that are none */
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
    uint32_t used = words->count = 0;
    while (at < end && words->count < MOST_TOKEN_WORDS) {
        if (!is_small(*at) && !is_capital(*at) && !is_digit(*at)) {
            at++;
            continue;
        }
        for (const Byte *behind = word_end(at, end); at < behind; at++)
            words->letters[used++] = (char)(*at | 0x20); /* which changes no digit */
        words->ends[words->count++] = (uint8_t)used;
    }
    words->letters[used] = words->letters[used + 1] = 0;
}

static uint8_t larger(uint8_t one, uint8_t other) { return one > other ? one : other; }

static bool may_begin(const char *letters)
{
    uint32_t start = start_of((Byte)letters[0], (Byte)letters[1], (Byte)letters[2]);
    return name_starts[start / 8] >> start % 8 & 1;
}

/* What the letters from the first of a word on say: its beginnings, it alone, with the next one or two, and where it is
   the first word, the whole token. After a word that is passed over, only that it is one itself. */
static uint8_t judge_word(const TokenWords *words, uint32_t first, bool is_passed_over, bool *passes_over)
{
    uint32_t start = first ? words->ends[first - 1] : 0, end = words->ends[words->count - 1];
    const char *letters = words->letters + start;
    uint8_t found = 0;
    uint32_t hash = 0, next = first;
    for (uint32_t length = 1; length <= longest_key && start + length <= end; length++) {
        hash = hash_letter(hash, (Byte)letters[length - 1]);
        bool is_word = start + length == words->ends[next], is_token = first == 0 && start + length == end;
        bool is_beginning = next == first && length >= shortest_beginning && length <= longest_beginning;
        if (!is_word && !is_token && !is_beginning)
            continue;
        const NameEntry *entry = name_slot(letters, length, hash);
        if (is_token)
            found = larger(found, entry->token);
        if (is_beginning && !is_passed_over)
            found = larger(found, entry->beginning);
        if (!is_word)
            continue;
        if (next == first)
            *passes_over = entry->is_passed_over;
        if (!is_passed_over && next < first + 3)
            found = larger(found, entry->word);
        if (++next == words->count || (next == first + 3 && first))
            break;
    }
    return found;
}

static uint8_t judge_words(const TokenWords *words)
{
    uint8_t verdict = 0;
    bool is_passed_over = false;
    for (uint32_t word = 0; word < words->count; word++) {
        bool passes_over = false;
        if (may_begin(words->letters + (word ? words->ends[word - 1] : 0)))
            verdict = larger(verdict, judge_word(words, word, is_passed_over, &passes_over));
        is_passed_over = passes_over;
    }
    return verdict;
}

static KeptToken *kept_slot(const Byte *token, size_t length)
{
    uint64_t first = 0, last = 0;
    size_t looked_at = length < sizeof first ? SHORTEST_KEPT : sizeof first;
    memcpy(&first, token, looked_at);
    memcpy(&last, token + length - looked_at, looked_at);
    return &kept_tokens[(first * 0x9E3779B97F4A7C15u ^ last * 0xC2B2AE3D27D4EB4Fu) >> 54];
}

static uint8_t judge_token(const Byte *at, const Byte *end)
{
    size_t length = (size_t)(end - at);
    KeptToken *kept = length >= SHORTEST_KEPT && length <= LONGEST_KEPT ? kept_slot(at, length) : NULL;
    if (kept != NULL && kept->length == length && memcmp(kept->token, at, length) == 0)
        return kept->verdict;
    TokenWords words;
    split_token(&words, at, end);
    uint8_t verdict = judge_words(&words);
    if (kept != NULL) {
        memcpy(kept->token, at, length);
        kept->length = (uint8_t)length;
        kept->verdict = verdict;
    }
    return verdict;
}

/* Of so many characters, not bytes. */
static const Byte *cut_name(const Byte *at, const Byte *end)
{
    uint32_t characters = 0;
    if (end - at <= LONGEST_NAMES)
        return end;
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
