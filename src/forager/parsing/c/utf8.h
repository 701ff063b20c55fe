/* Whether bytes are valid UTF-8, sixteen at a time where they are ASCII, as most of a page is. */

#ifndef FORAGER_UTF8_H
#define FORAGER_UTF8_H

#include "growing.h"

#define SIXTEEN 16

static bool are_ascii(const Byte *sixteen)
{
    uint64_t first, second;
    memcpy(&first, sixteen, sizeof first);
    memcpy(&second, sixteen + sizeof first, sizeof second);
    return !((first | second) & 0x8080808080808080u);
}

/* Bytes of the letter that begins here, which is not ASCII; 0 where it is none. */
static int letter_size(const Byte *at, const Byte *end)
{
    static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000}; /* of so many bytes; no smaller one is written so */
    Byte lead = *at;
    int size = lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
    if (size == 0 || end - at < size)
        return 0;
    uint32_t letter = lead & (0x7Fu >> size);
    for (int place = 1; place < size; place++) {
        if ((at[place] & 0xC0) != 0x80)
            return 0;
        letter = letter << 6 | (at[place] & 0x3F);
    }
    return letter < SMALLEST[size] || letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000) ? 0 : size;
}

/* How many bytes there are more than letters; -1 where the bytes are not valid. */
static Py_ssize_t utf8_surplus(const Byte *at, Py_ssize_t length)
{
    Py_ssize_t surplus = 0;
    for (const Byte *end = at + length; at < end;) {
        while (end - at >= SIXTEEN && are_ascii(at))
            at += SIXTEEN;
        while (at < end && *at < 0x80)
            at++;
        while (at < end && *at >= 0x80) {
            int size = letter_size(at, end);
            if (size == 0)
                return -1;
            surplus += size - 1;
            at += size;
        }
    }
    return surplus;
}

#endif
