/* `reopened.py` in C: how many formatting elements a page makes its parser open anew. */

#ifndef FORAGER_REOPENED_H
#define FORAGER_REOPENED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_OPEN 1000
#define DEEPEST 500
#define MANY (1LL << 60)
#define CLOSED_FOR_CERTAIN 8
#define ALIKE 3
#define LONGEST_NAME 12
#define STRIDE 32

enum { NAME_FORMATTING = 1, NAME_BLOCK = 2, NAME_LEVEL = 4, NAME_CELL = 8, NAME_FOREIGN = 16, NAME_RAW = 32 };

static const struct {
    const char *name;
    uint8_t flags;
} TAG_NAMES[] = {
    {"b", 1}, {"i", 1}, {"p", 2}, {"s", 1}, {"u", 1},
    {"dd", 2}, {"dl", 2}, {"dt", 2}, {"em", 1}, {"h1", 2}, {"h2", 2}, {"h3", 2}, {"h4", 2}, {"h5", 2}, {"h6", 2},
    {"li", 2}, {"ol", 2}, {"td", 2 | 4 | 8}, {"th", 2 | 4 | 8}, {"tr", 2}, {"tt", 1}, {"ul", 2},
    {"big", 1}, {"dir", 2}, {"div", 2}, {"nav", 2}, {"pre", 2}, {"svg", 4 | 16}, {"xmp", 32},
    {"code", 1}, {"font", 1}, {"form", 2}, {"main", 2}, {"math", 4 | 16}, {"menu", 2}, {"nobr", 1},
    {"aside", 2}, {"small", 1}, {"style", 32}, {"table", 2 | 4}, {"tbody", 2}, {"tfoot", 2}, {"thead", 2}, {"title", 32},
    {"applet", 2 | 4}, {"button", 2}, {"center", 2}, {"dialog", 2}, {"figure", 2}, {"footer", 2}, {"header", 2},
    {"hgroup", 2}, {"iframe", 32}, {"object", 2 | 4}, {"script", 32}, {"search", 2}, {"select", 2 | 4}, {"strike", 1},
    {"strong", 1},
    {"address", 2}, {"article", 2}, {"caption", 2 | 4}, {"details", 2}, {"listing", 2}, {"marquee", 2 | 4},
    {"noembed", 32}, {"section", 2}, {"summary", 2},
    {"fieldset", 2}, {"noframes", 32}, {"template", 2 | 4}, {"textarea", 32},
    {"plaintext", 0}, {"blockquote", 2}, {"figcaption", 2},
};
#define TAG_NAME_COUNT (sizeof TAG_NAMES / sizeof *TAG_NAMES)
#define NO_NAME TAG_NAME_COUNT

static const char *const FORMATTING_NAMES[] = {"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike",
                                               "strong", "tt", "u"};
#define FORMATTING_COUNT (sizeof FORMATTING_NAMES / sizeof *FORMATTING_NAMES)

typedef struct {
    size_t name;
    uint64_t tag;
    long long blocks;
    int level;
} OpenTag;

typedef struct {
    OpenTag open[MOST_OPEN + 1];
    int open_count;
    size_t levels[DEEPEST + 1];
    int level_count, foreign;
    long long blocks, reopened;
} Following;

static size_t name_number(const char *name, size_t length)
{
    for (size_t at = 0; at < TAG_NAME_COUNT; at++)
        if (TAG_NAMES[at].name[0] == name[0] && strlen(TAG_NAMES[at].name) == length &&
            memcmp(TAG_NAMES[at].name, name, length) == 0)
            return at;
    return NO_NAME;
}

static bool is_named(size_t number, const char *name) { return number != NO_NAME && strcmp(TAG_NAMES[number].name, name) == 0; }

static void drop_open(Following *page, int place)
{
    page->open_count--;
    memmove(&page->open[place], &page->open[place + 1], (size_t)(page->open_count - place) * sizeof *page->open);
}

static void start_formatting(Following *page, size_t name, uint64_t tag)
{
    int alike = 0, first = -1;
    for (int place = 0; place < page->open_count; place++)
        if (page->open[place].tag == tag) {
            alike++;
            first = first < 0 ? place : first;
        }
    if (alike >= ALIKE)
        drop_open(page, first);
    if (page->open_count <= MOST_OPEN)
        page->open[page->open_count++] = (OpenTag){name, tag, page->blocks, page->level_count};
}

static void end_formatting(Following *page, size_t name)
{
    if (page->foreign)
        return;
    for (int place = page->open_count - 1; place >= 0; place--)
        if (page->open[place].name == name && page->open[place].level == page->level_count) {
            if (page->blocks - page->open[place].blocks < CLOSED_FOR_CERTAIN)
                drop_open(page, place);
            return;
        }
}

static void leave_level(Following *page, size_t name)
{
    int place = page->level_count - 1;
    for (; place >= 0 && page->levels[place] != name; place--)
        if (is_named(page->levels[place], "template"))
            return;
    if (place < 0)
        return;
    while (page->level_count > place)
        page->foreign -= (TAG_NAMES[page->levels[--page->level_count]].flags & NAME_FOREIGN) != 0;
    for (int each = 0; each < page->open_count; each++)
        if (page->open[each].level > place)
            page->open[each].level = place;
}

static void enter_level(Following *page, size_t name)
{
    size_t last = page->level_count ? page->levels[page->level_count - 1] : NO_NAME;
    if (TAG_NAMES[name].flags & NAME_CELL && last != NO_NAME && TAG_NAMES[last].flags & NAME_CELL)
        leave_level(page, last);
    page->levels[page->level_count++] = name;
    page->foreign += (TAG_NAMES[name].flags & NAME_FOREIGN) != 0;
}

static bool is_tag_gap(uint32_t letter) { return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\f' || letter == '\r'; }
static bool ends_tag_name(uint32_t letter) { return is_tag_gap(letter) || letter == '/' || letter == '>'; }
static bool is_ascii_letter(uint32_t letter) { return (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'; }

#define LETTER Py_UCS1
#define OF(name) name##_1
#include "reopened_letters.h"
#undef LETTER
#undef OF
#define LETTER Py_UCS2
#define OF(name) name##_2
#include "reopened_letters.h"
#undef LETTER
#undef OF
#define LETTER Py_UCS4
#define OF(name) name##_4
#include "reopened_letters.h"
#undef LETTER
#undef OF

static PyObject *count_tags(PyObject *text)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    long long counts[3] = {0};
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        count_1(data, length, counts);
        break;
    case PyUnicode_2BYTE_KIND:
        count_2(data, length, counts);
        break;
    default:
        count_4(data, length, counts);
    }
    return Py_BuildValue("(LLL)", counts[0], counts[1], counts[2]);
}

static PyObject *count_reopened(PyObject *text)
{
    Following *page = PyMem_Calloc(1, sizeof *page);
    if (page == NULL)
        return PyErr_NoMemory();
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    long long found;
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        found = follow_1(page, data, length);
        break;
    case PyUnicode_2BYTE_KIND:
        found = follow_2(page, data, length);
        break;
    default:
        found = follow_4(page, data, length);
    }
    PyMem_Free(page);
    return PyLong_FromLongLong(found);
}

#endif
