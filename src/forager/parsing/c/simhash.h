/* The similarity hash of `simhash.py`. */

#ifndef FORAGER_SIMHASH_H
#define FORAGER_SIMHASH_H

#include "words.h"

#define SHORT 500
#define WINDOWS 12
#define WINDOW 48
#define FEWEST_WORDS 8
#define GROUPS 64
#define SEEN_SLOTS 1024 /* a power of two, above the words that a sample can have */

typedef struct {
    uint32_t crc;
    int length;                  /* of the word under way, without digits */
    int words;                   /* that differ */
    uint32_t seen[SEEN_SLOTS];   /* 0: free */
    bool has_zero;               /* a word whose checksum is 0 */
    int64_t largest[GROUPS];     /* checksum of each group, or -1 */
} Sketch;

static uint32_t CRC_TABLE[256];

static void make_crc_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
        CRC_TABLE[byte] = value;
    }
}

static bool is_new(Sketch *sketch, uint32_t checksum)
{
    if (checksum == 0) {
        bool was_new = !sketch->has_zero;
        sketch->has_zero = true;
        return was_new;
    }
    uint32_t slot = checksum & (SEEN_SLOTS - 1);
    while (sketch->seen[slot] != 0 && sketch->seen[slot] != checksum)
        slot = (slot + 1) & (SEEN_SLOTS - 1);
    bool was_new = sketch->seen[slot] == 0;
    sketch->seen[slot] = checksum;
    return was_new;
}

static void end_word(Sketch *sketch)
{
    uint32_t checksum = ~sketch->crc;
    if (sketch->length && is_new(sketch, checksum)) {
        sketch->words++;
        if (checksum > sketch->largest[checksum % GROUPS])
            sketch->largest[checksum % GROUPS] = checksum;
    }
    sketch->crc = ~(uint32_t)0;
    sketch->length = 0;
}

static inline void add_byte(Sketch *sketch, Py_UCS4 byte)
{
    sketch->crc = CRC_TABLE[(sketch->crc ^ byte) & 0xFF] ^ sketch->crc >> 8;
    sketch->length++;
}

/* As UTF-8, with `?` for half a surrogate; numbers do not count. */
static void add_letter(Sketch *sketch, Py_UCS4 letter)
{
    if (letter < 0x80) {
        if (is_white(letter))
            end_word(sketch);
        else if (letter < '0' || letter > '9')
            add_byte(sketch, letter);
        return;
    }
    if (letter >= 0xD800 && letter <= 0xDFFF) {
        add_byte(sketch, '?');
        return;
    }
    if (letter < 0x800)
        add_byte(sketch, 0xC0 | letter >> 6);
    else {
        if (letter < 0x10000)
            add_byte(sketch, 0xE0 | letter >> 12);
        else {
            add_byte(sketch, 0xF0 | letter >> 18);
            add_byte(sketch, 0x80 | (letter >> 12 & 0x3F));
        }
        add_byte(sketch, 0x80 | (letter >> 6 & 0x3F));
    }
    add_byte(sketch, 0x80 | (letter & 0x3F));
}

static void add_part(Sketch *sketch, PyObject *text, Py_ssize_t start, Py_ssize_t end)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t at = start; at < end; at++)
        add_letter(sketch, PyUnicode_READ(kind, data, at));
    end_word(sketch);
}

/* None where there is too little text. */
static PyObject *simhash(PyObject *text)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Sketch sketch = {.crc = ~(uint32_t)0};
    for (int group = 0; group < GROUPS; group++)
        sketch.largest[group] = -1;
    if (length <= SHORT)
        add_part(&sketch, text, 0, length);
    else {
        Py_ssize_t step = length / WINDOWS;
        for (int window = 0; window < WINDOWS; window++) {
            Py_ssize_t place = window * step;
            Py_ssize_t line = PyUnicode_FindChar(text, '\n', place, length, 1);
            if (line == -2)
                return NULL;
            Py_ssize_t start = line < 0 ? place : line + 1;
            add_part(&sketch, text, start, Py_MIN(start + WINDOW, length));
        }
    }
    if (sketch.words < FEWEST_WORDS)
        Py_RETURN_NONE;
    uint64_t value = 0;
    for (int group = 0; group < GROUPS; group++)
        if (sketch.largest[group] >= 0 && sketch.largest[group] & GROUPS)
            value |= (uint64_t)1 << group;
    return PyLong_FromLongLong((int64_t)value);
}

#endif
