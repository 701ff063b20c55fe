/* Words and weights of texts, as `text.py`, `clean.py` and `simhash.py` take them. */

#ifndef FORAGER_WORDS_H
#define FORAGER_WORDS_H

#include "growing.h"

/* `text.WHITE_SPACE`, which is what `bytes.split` splits at. */
static inline bool is_white(Py_UCS4 letter) { return letter == ' ' || (letter >= 9 && letter <= 13); }

#define BLOCK 240 /* bytes that are counted in one byte each, so that a compiler counts sixteen at once */

/* Of a text in Latin-1: bytes of UTF-8 that are no white space, up to `enough` of them or a few more. */
static Py_ssize_t weigh_latin(const Byte *letters, Py_ssize_t length, Py_ssize_t enough)
{
    Py_ssize_t weight = 0;
    for (Py_ssize_t at = 0; at < length && weight < enough; at += BLOCK) {
        Py_ssize_t end = Py_MIN(length, at + BLOCK);
        Byte gaps = 0, wide = 0;
        for (Py_ssize_t place = at; place < end; place++) {
            gaps += letters[place] == ' ' || (Byte)(letters[place] - 9) <= 4;
            wide += letters[place] >> 7;
        }
        weight += end - at - gaps + wide;
    }
    return weight;
}

/* The same of any text, as `text.weigh`. */
static Py_ssize_t weigh_up_to(PyObject *text, Py_ssize_t enough)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), weight = 0;
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    if (kind == PyUnicode_1BYTE_KIND)
        return weigh_latin(data, length, enough);
    for (Py_ssize_t at = 0; at < length && weight < enough; at++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, at);
        if (letter < 0x80)
            weight += !is_white(letter);
        else
            weight += letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
    }
    return weight;
}

static Py_ssize_t weigh(PyObject *text) { return weigh_up_to(text, PY_SSIZE_T_MAX); }

/* Whether some bytes hold a word: places where three of its bytes are right are looked at. */
static bool holds(const Byte *bytes, Py_ssize_t length, const Byte *word, Py_ssize_t word_length)
{
    if (word_length < 1)
        return true;
    const Py_ssize_t middle_at = word_length / 2, last_at = word_length - 1;
    const Byte first = word[0], middle = word[middle_at], last = word[last_at];
    const Py_ssize_t places = length - word_length + 1;
    for (Py_ssize_t at = 0; at < places; at += BLOCK) {
        Py_ssize_t end = Py_MIN(places, at + BLOCK);
        Byte maybe = 0;
        for (Py_ssize_t place = at; place < end; place++)
            maybe |= (bytes[place] == first) & (bytes[place + middle_at] == middle) & (bytes[place + last_at] == last);
        for (Py_ssize_t place = at; maybe && place < end; place++)
            if (bytes[place] == first && memcmp(bytes + place, word, (size_t)word_length) == 0)
                return true;
    }
    return false;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <tmmintrin.h>
#define SQUEEZES_EIGHT

static Byte KEPT_FIRST[256][8]; /* for each pattern of gaps in eight bytes: the places of what is kept */
static Byte KEPT[256];          /* and how many that are: compilers count by a function where any processor will do */

static void make_squeeze_table(void)
{
    for (int gaps = 0; gaps < 256; gaps++)
        for (int place = 0, kept = 0; place < 8; place++)
            if (!(gaps >> place & 1)) {
                KEPT_FIRST[gaps][kept++] = (Byte)place;
                KEPT[gaps] = (Byte)kept;
            }
}

/* As far as eight can be taken at once; how far it came. Writes up to eight bytes more than it keeps. */
__attribute__((target("ssse3"))) static Py_ssize_t squeeze_eights(const Byte *letters, Py_ssize_t length, Byte **into)
{
    const __m128i space = _mm_set1_epi8(' '), nine = _mm_set1_epi8(9), four = _mm_set1_epi8(4);
    Py_ssize_t at = 0;
    Byte *to = *into;
    for (; at + 8 <= length; at += 8) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(letters + at));
        __m128i past_nine = _mm_sub_epi8(eight, nine);
        __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(past_nine, four), past_nine);
        int gaps = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(eight, space), is_control)) & 0xFF;
        __m128i order = _mm_loadl_epi64((const __m128i *)KEPT_FIRST[gaps]);
        _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(eight, order));
        to += KEPT[gaps];
    }
    *into = to;
    return at;
}
#endif

/* In Latin-1; behind what is written, eight bytes more may be. */
static Byte *squeeze_latin(const Byte *letters, Py_ssize_t length, Byte *into)
{
    Py_ssize_t at = 0;
#ifdef SQUEEZES_EIGHT
    if (__builtin_cpu_supports("ssse3"))
        at = squeeze_eights(letters, length, &into);
#endif
    for (; at < length; at++) { /* without a branch: gaps come too irregularly to be foreseen */
        *into = letters[at];
        into += !is_white(letters[at]);
    }
    return into;
}

/* In UTF-8; NULL where there is half of a surrogate pair. */
static Byte *squeeze_wide(int kind, const void *data, Py_ssize_t length, Byte *into)
{
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, at);
        if (letter < 0x80) {
            *into = (Byte)letter;
            into += !is_white(letter);
            continue;
        }
        if (letter >= 0xD800 && letter < 0xE000)
            return NULL;
        if (letter >= 0x10000) {
            *into++ = (Byte)(0xF0 | letter >> 18);
            *into++ = (Byte)(0x80 | (letter >> 12 & 0x3F));
        } else if (letter >= 0x800) {
            *into++ = (Byte)(0xE0 | letter >> 12);
        }
        *into++ = (Byte)(letter >= 0x800 ? 0x80 | (letter >> 6 & 0x3F) : 0xC0 | letter >> 6);
        *into++ = (Byte)(0x80 | (letter & 0x3F));
    }
    return into;
}

/* As `text.squeeze`: without white space, after a mark of two bytes. */
static PyObject *squeeze(PyObject *text)
{
    int kind = PyUnicode_KIND(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), widest = kind == PyUnicode_2BYTE_KIND ? 3 : kind;
    if (length > (PY_SSIZE_T_MAX - 64) / widest)
        return PyErr_NoMemory();
    PyObject *squeezed = PyBytes_FromStringAndSize(NULL, 2 + length * widest + 8);
    if (squeezed == NULL)
        return NULL;
    Byte *begin = (Byte *)PyBytes_AS_STRING(squeezed), *end;
    begin[0] = 0;
    begin[1] = kind == PyUnicode_1BYTE_KIND ? 'L' : 'U';
    if (kind == PyUnicode_1BYTE_KIND)
        end = squeeze_latin(PyUnicode_DATA(text), length, begin + 2);
    else
        end = squeeze_wide(kind, PyUnicode_DATA(text), length, begin + 2);
    if (end == NULL) {
        Py_DECREF(squeezed);
        return PyErr_Format(PyExc_ValueError, "the text has half of a surrogate pair");
    }
    _PyBytes_Resize(&squeezed, end - begin);
    return squeezed;
}

/* As `str.split` has it. */
static inline bool is_space(Py_UCS4 letter)
{
    if (letter > ' ' && letter < 0x80)
        return false;
    return Py_UNICODE_ISSPACE(letter);
}

/* The first words of a text with single spaces between them; None unless more than `count` begin in `window`. */
static PyObject *first_words(PyObject *text, Py_ssize_t count, Py_ssize_t window)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    window = Py_MIN(PyUnicode_GET_LENGTH(text), window);
    if (count < 1 || window < 1)
        Py_RETURN_NONE;
    void *words = PyMem_Malloc((size_t)window * (size_t)kind);
    if (words == NULL)
        return PyErr_NoMemory();
    Py_ssize_t used = 0, found = 0, at = 0;
    bool has_more = false;
    while (true) {
        while (at < window && is_space(PyUnicode_READ(kind, data, at)))
            at++;
        has_more = at < window && found++ == count;
        if (at == window || has_more)
            break;
        Py_ssize_t word = at;
        while (at < window && !is_space(PyUnicode_READ(kind, data, at)))
            at++;
        if (used)
            PyUnicode_WRITE(kind, words, used++, ' ');
        memcpy((Byte *)words + used * kind, (const Byte *)data + word * kind, (size_t)((at - word) * kind));
        used += at - word;
    }
    PyObject *first = has_more ? PyUnicode_FromKindAndData(kind, words, used) : Py_NewRef(Py_None);
    PyMem_Free(words);
    return first;
}

#endif
