/* How likely each language is for a text, as in `language_model.py`, which describes the table.
 *
 * The table is a file in a folder of the user's. It may be damaged, so nothing in it is believed: each number is
 * compared with the size of what it points into before it is used. */

#ifndef FORAGER_LANGUAGE_H
#define FORAGER_LANGUAGE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LEVELS 256
#define MOST_LANGUAGES 256
#define CACHE_LINE 64

typedef struct {
    char magic[8];
    uint32_t states, pairs, languages, names;
} LanguageHeader;

/* Side by side, for one cache line instead of three. */
typedef struct {
    uint32_t child, fallback, pair; /* children and pairs of a state end where those of the next one begin */
} LanguageState;

typedef struct {
    uint32_t states, pairs, languages;
    const LanguageState *state;
    const float *levels, *floors, *priors;
    const uint16_t *pair;
    const uint8_t *letters;
} LanguageTable;

/* An n-gram of the text and how often it is in it. */
typedef struct {
    uint32_t state, count;
} Ngram;

static bool open_language_table(LanguageTable *table, const Py_buffer *whole)
{
    LanguageHeader header;
    if ((size_t)whole->len < sizeof header || (uintptr_t)whole->buf % sizeof(uint32_t))
        return false;
    memcpy(&header, whole->buf, sizeof header);
    uint64_t words = 3 * ((uint64_t)header.states + 1) + LEVELS + 2 * (uint64_t)header.languages;
    uint64_t size = sizeof header + 4 * words + 2 * (uint64_t)header.pairs + header.states + header.names;
    if (memcmp(header.magic, "forager1", 8) || size != (uint64_t)whole->len || header.states == 0 ||
        header.languages == 0 || header.languages > MOST_LANGUAGES)
        return false;
    table->states = header.states;
    table->pairs = header.pairs;
    table->languages = header.languages;
    table->state = (const LanguageState *)((const char *)whole->buf + sizeof header);
    table->levels = (const float *)(table->state + header.states + 1);
    table->floors = table->levels + LEVELS;
    table->priors = table->floors + header.languages;
    table->pair = (const uint16_t *)(table->priors + header.languages);
    table->letters = (const uint8_t *)(table->pair + header.pairs);
    return true;
}

/* 0, which is nobody's child, where there is none. */
static uint32_t find_child(const LanguageTable *table, uint32_t state, uint8_t letter)
{
    uint32_t low = table->state[state].child, end = table->state[state + 1].child, high = end;
    if (low > end || end > table->states)
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->letters[middle] < letter)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && table->letters[low] == letter ? low : 0;
}

/* Always a smaller number, so that a way of fallbacks ends. */
static inline uint32_t fall_back(const LanguageTable *table, uint32_t state)
{
    uint32_t fallback = table->state[state].fallback;
    return fallback < state ? fallback : 0;
}

static uint32_t next_state(const LanguageTable *table, uint32_t state, uint8_t letter)
{
    for (;;) {
        uint32_t child = find_child(table, state, letter);
        if (child || state == 0)
            return child;
        state = fall_back(table, state);
    }
}

static void count_ngram(Ngram *slots, uint32_t mask, uint32_t state)
{
    uint32_t slot = (state * 2654435761u) & mask;
    while (slots[slot].count && slots[slot].state != state)
        slot = (slot + 1) & mask;
    slots[slot].state = state;
    slots[slot].count++;
}

/* They are needed once the whole text was looked at: a quarter of the time was spent waiting for memory. */
static inline void prefetch_weights(const LanguageTable *table, uint32_t state)
{
    uint32_t start = table->state[state].pair;
    for (uint32_t line = 0; line < 3 && start < table->pairs; line++, start += CACHE_LINE / sizeof *table->pair)
        __builtin_prefetch(table->pair + start);
}

static void add_weights(const LanguageTable *table, uint32_t state, double weight, double *sums)
{
    uint32_t start = table->state[state].pair, end = table->state[state + 1].pair;
    if (end > table->pairs)
        return;
    for (uint32_t at = start; at < end; at++) {
        uint32_t language = table->pair[at] >> 8;
        if (language < table->languages)
            sums[language] += weight * table->levels[table->pair[at] & 255];
    }
}

/* Probabilities instead of sums; all alike where no n-gram was found. */
static void normalize_sums(const LanguageTable *table, double weights, double length, double *sums)
{
    double highest = -INFINITY, total = 0;
    for (uint32_t language = 0; language < table->languages; language++) {
        sums[language] += table->priors[language] + weights * table->floors[language];
        if (weights == 0)
            sums[language] = 0;
        highest = fmax(highest, sums[language]);
    }
    for (uint32_t language = 0; language < table->languages; language++)
        total += sums[language] = exp((sums[language] - highest) / sqrt(length));
    for (uint32_t language = 0; language < table->languages; language++)
        sums[language] /= total;
}

static int weigh_languages(const LanguageTable *table, const uint8_t *text, Py_ssize_t length, double *sums)
{
    if (length > INT32_MAX / 4) {
        PyErr_SetString(PyExc_ValueError, "the text is too long");
        return -1;
    }
    uint32_t size = 64;
    while (size < 2 * (uint32_t)length)
        size *= 2;
    Ngram *slots = PyMem_Calloc(size, sizeof *slots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    uint32_t state = 0;
    for (Py_ssize_t at = 0; at < length; at++) {
        uint32_t found = state = next_state(table, state, text[at]);
        while (found && table->state[found].pair == table->state[found + 1].pair)
            found = fall_back(table, found);
        if (found) {
            count_ngram(slots, size - 1, found);
            prefetch_weights(table, found);
        }
    }
    double weights = 0;
    for (uint32_t slot = 0; slot < size; slot++)
        if (slots[slot].count) {
            double weight = log1p(slots[slot].count);
            add_weights(table, slots[slot].state, weight, sums);
            weights += weight;
        }
    PyMem_Free(slots);
    normalize_sums(table, weights, length ? (double)length : 1.0, sums);
    return 0;
}

static PyObject *language_probabilities(const Py_buffer *whole, const Py_buffer *text)
{
    LanguageTable table;
    double sums[MOST_LANGUAGES] = {0};
    if (!open_language_table(&table, whole)) {
        PyErr_SetString(PyExc_ValueError, "the language model is not whole");
        return NULL;
    }
    if (weigh_languages(&table, text->buf, text->len, sums) < 0)
        return NULL;
    PyObject *list = PyList_New(table.languages);
    for (uint32_t language = 0; list != NULL && language < table.languages; language++) {
        PyObject *share = PyFloat_FromDouble(sums[language]);
        if (share == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, language, share);
    }
    return list;
}

#endif
