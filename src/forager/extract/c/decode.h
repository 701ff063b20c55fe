/* UTF-8 to text, for pages: valid or not at all. Python's own decoder looks at each letter of ASCII by itself where the
 * text has a single wide one, a quotation mark or a dash, as nearly every page has: this one takes sixteen at a time.
 */

#ifndef FORAGER_DECODE_H
#define FORAGER_DECODE_H

#include "growing.h"

#define COUNTED 240 /* bytes that are counted in one byte each, so that a compiler counts sixteen at once */

/* How many letters begin in some bytes, and the largest byte: it tells how wide the widest letter is. */
static Py_ssize_t count_letters(const Byte *bytes, Py_ssize_t length, Byte *largest)
{
    Py_ssize_t letters = 0;
    Byte most = 0;
    for (Py_ssize_t at = 0; at < length; at += COUNTED) {
        Py_ssize_t end = Py_MIN(length, at + COUNTED);
        Byte begins = 0;
        for (Py_ssize_t place = at; place < end; place++) {
            begins += (signed char)bytes[place] >= -64;
            most = Py_MAX(most, bytes[place]);
        }
        letters += begins;
    }
    *largest = most;
    return letters;
}

/* The letter of several bytes that begins here, and behind it; NULL where it is none. */
static const Byte *decode_letter(const Byte *at, const Byte *end, Py_UCS4 *letter)
{
    static const Py_UCS4 SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000}; /* of so many bytes; no smaller one is written so */
    Byte lead = *at;
    int size = lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
    if (size == 0 || end - at < size)
        return NULL;
    Py_UCS4 value = lead & (0x7Fu >> size);
    for (int place = 1; place < size; place++) {
        if ((at[place] & 0xC0) != 0x80)
            return NULL;
        value = value << 6 | (at[place] & 0x3F);
    }
    if (value < SMALLEST[size] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return NULL;
    *letter = value;
    return at + size;
}

#define SIXTEEN 16

static bool are_ascii(const Byte *sixteen)
{
    uint64_t first, second;
    memcpy(&first, sixteen, sizeof first);
    memcpy(&second, sixteen + sizeof first, sizeof second);
    return !((first | second) & 0x8080808080808080u);
}

/* Writes letters of one width; false where the bytes are not valid. There is room for as many as begin in them. */
#define DECODER(name, Letter)                                                                                           \
    static bool name(const Byte *at, const Byte *end, Letter *restrict into, const Letter *room)                        \
    {                                                                                                                   \
        while (at < end && into < room) {                                                                               \
            while (end - at >= SIXTEEN && room - into >= SIXTEEN && are_ascii(at)) {                                    \
                for (int place = 0; place < SIXTEEN; place++)                                                           \
                    into[place] = at[place];                                                                            \
                at += SIXTEEN;                                                                                          \
                into += SIXTEEN;                                                                                        \
            }                                                                                                           \
            while (at < end && into < room && *at < 0x80)                                                               \
                *into++ = *at++;                                                                                        \
            for (Py_UCS4 letter; at < end && *at >= 0x80; *into++ = (Letter)letter)                                     \
                if (into == room || (at = decode_letter(at, end, &letter)) == NULL)                                     \
                    return false;                                                                                       \
        }                                                                                                               \
        return at == end;                                                                                               \
    }

DECODER(decode_narrow, Py_UCS1)
DECODER(decode_wide, Py_UCS2)
DECODER(decode_widest, Py_UCS4)

/* The text; None where the bytes are not valid UTF-8. */
static PyObject *decode(const Byte *bytes, Py_ssize_t length)
{
    Byte largest;
    Py_ssize_t letters = count_letters(bytes, length, &largest);
    Py_UCS4 widest = largest < 0x80 ? 0x7F : largest < 0xC4 ? 0xFF : largest < 0xF0 ? 0xFFFF : 0x10FFFF;
    PyObject *text = PyUnicode_New(letters, widest);
    if (text == NULL || length == 0)
        return text;
    bool is_valid;
    void *data = PyUnicode_DATA(text);
    if (widest <= 0xFF)
        is_valid = decode_narrow(bytes, bytes + length, data, (Py_UCS1 *)data + letters);
    else if (widest == 0xFFFF)
        is_valid = decode_wide(bytes, bytes + length, data, (Py_UCS2 *)data + letters);
    else
        is_valid = decode_widest(bytes, bytes + length, data, (Py_UCS4 *)data + letters);
    if (is_valid)
        return text;
    Py_DECREF(text);
    Py_RETURN_NONE;
}

#endif
