/* Character references: `&amp;`, `&#8364;`. The names are those Python knows (`html.entities.html5`). */

#ifndef FORAGER_ENTITIES_H
#define FORAGER_ENTITIES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tags.h"

#define LONGEST_ENTITY 32     /* with its semicolon */
#define LONGEST_BARE_ENTITY 6 /* of those that need none */
#define LONGEST_MEANING 7
#define ENTITY_SLOTS 8192

typedef struct {
    uint8_t length, meaning_length;
    Byte name[LONGEST_ENTITY], meaning[LONGEST_MEANING];
} Entity;

static Entity *entities;
static uint16_t entity_slots[ENTITY_SLOTS]; /* its number + 1 */

static size_t entity_slot(const Byte *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t at = 0; at < length; at++)
        hash = (hash ^ name[at]) * 16777619u;
    return (hash ^ hash >> 13) % ENTITY_SLOTS;
}

static const Entity *find_entity(const Byte *name, size_t length)
{
    if (length > LONGEST_ENTITY)
        return NULL;
    for (size_t slot = entity_slot(name, length); entity_slots[slot]; slot = (slot + 1) % ENTITY_SLOTS) {
        const Entity *entity = &entities[entity_slots[slot] - 1];
        if (entity->length == length && memcmp(entity->name, name, length) == 0)
            return entity;
    }
    return NULL;
}

static int add_entity(Entity *entity, PyObject *name, PyObject *meaning)
{
    Py_ssize_t length, meaning_length;
    const char *bytes = PyUnicode_AsUTF8AndSize(name, &length);
    const char *means = PyUnicode_AsUTF8AndSize(meaning, &meaning_length);
    if (bytes == NULL || means == NULL)
        return -1;
    if (length > LONGEST_ENTITY || meaning_length > LONGEST_MEANING) {
        PyErr_SetString(PyExc_ValueError, "html.entities.html5 has a longer name than HTML has");
        return -1;
    }
    entity->length = (uint8_t)length;
    entity->meaning_length = (uint8_t)meaning_length;
    memcpy(entity->name, bytes, (size_t)length);
    memcpy(entity->meaning, means, (size_t)meaning_length);
    return 0;
}

/* Once, when the module is loaded. */
static int load_entities(void)
{
    PyObject *module = entities == NULL ? PyImport_ImportModule("html.entities") : NULL;
    PyObject *all = module ? PyObject_GetAttrString(module, "html5") : NULL, *name, *meaning;
    Py_XDECREF(module);
    if (entities != NULL)
        return 0;
    if (all == NULL || !PyDict_Check(all) || PyDict_GET_SIZE(all) >= ENTITY_SLOTS / 2) {
        Py_XDECREF(all);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "html.entities.html5 is not what it was");
        return -1;
    }
    Entity *table = calloc((size_t)PyDict_GET_SIZE(all), sizeof *table);
    uint16_t count = 0;
    int done = table == NULL ? (PyErr_NoMemory(), -1) : 0;
    for (Py_ssize_t at = 0; done == 0 && PyDict_Next(all, &at, &name, &meaning);) {
        done = add_entity(&table[count], name, meaning);
        size_t slot = done < 0 ? 0 : entity_slot(table[count].name, table[count].length);
        while (done == 0 && entity_slots[slot])
            slot = (slot + 1) % ENTITY_SLOTS;
        if (done == 0)
            entity_slots[slot] = ++count;
    }
    Py_DECREF(all);
    if (done < 0) {
        free(table);
        memset(entity_slots, 0, sizeof entity_slots);
        return -1;
    }
    entities = table;
    return 0;
}

static size_t write_utf8(uint32_t code, Byte *into)
{
    if (code < 0x80) {
        into[0] = (Byte)code;
        return 1;
    }
    if (code < 0x800) {
        into[0] = (Byte)(0xC0 | code >> 6);
        into[1] = (Byte)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        into[0] = (Byte)(0xE0 | code >> 12);
        into[1] = (Byte)(0x80 | (code >> 6 & 0x3F));
        into[2] = (Byte)(0x80 | (code & 0x3F));
        return 3;
    }
    into[0] = (Byte)(0xF0 | code >> 18);
    into[1] = (Byte)(0x80 | (code >> 12 & 0x3F));
    into[2] = (Byte)(0x80 | (code >> 6 & 0x3F));
    into[3] = (Byte)(0x80 | (code & 0x3F));
    return 4;
}

/* `&#39;`, `&#x27;`. Numbers of Windows' characters between 128 and 159 mean those, as browsers have it. */
static size_t read_number(const Byte *at, const Byte *end, Byte *meaning, size_t *meaning_length)
{
    static const uint16_t WINDOWS_1252[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                         0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                         0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                         0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    const Byte *next = at + 2;
    bool is_hex = next < end && (*next | 0x20) == 'x';
    next += is_hex;
    const Byte *first = next;
    uint32_t code = 0;
    for (; next < end; next++) {
        uint32_t digit;
        if (is_digit(*next))
            digit = *next - '0';
        else if (is_hex && (Byte)((*next | 0x20) - 'a') < 6)
            digit = (*next | 0x20) - 'a' + 10;
        else
            break;
        if (code < 0x110000)
            code = code * (is_hex ? 16 : 10) + digit;
    }
    if (next == first)
        return 0;
    next += next < end && *next == ';';
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        code = 0xFFFD;
    else if (code >= 0x80 && code < 0xA0 && WINDOWS_1252[code - 0x80])
        code = WINDOWS_1252[code - 0x80];
    *meaning_length = write_utf8(code, meaning);
    return (size_t)(next - at);
}

/* How long the reference at `at` is, which is an `&`, and what it means (at most 8 bytes); 0 where it is none. */
static size_t read_reference(const Byte *at, const Byte *end, bool in_attribute, Byte *meaning, size_t *meaning_length)
{
    if (end - at < 2)
        return 0;
    if (at[1] == '#')
        return read_number(at, end, meaning, meaning_length);
    const Byte *name = at + 1, *next = name;
    while (next < end && next - name < LONGEST_ENTITY && (is_letter(*next) || is_digit(*next)))
        next++;
    size_t length = (size_t)(next - name);
    const Entity *entity = NULL;
    if (length && next < end && *next == ';')
        entity = find_entity(name, ++length);
    if (entity == NULL) {
        for (length = length < LONGEST_BARE_ENTITY ? length : LONGEST_BARE_ENTITY; length > 1; length--)
            if ((entity = find_entity(name, length)) != NULL)
                break;
        if (entity == NULL)
            return 0;
        if (in_attribute && name + length < end &&
            (name[length] == '=' || is_letter(name[length]) || is_digit(name[length])) &&
            name[length - 1] != ';')
            return 0;
    }
    memcpy(meaning, entity->meaning, entity->meaning_length);
    *meaning_length = entity->meaning_length;
    return length + 1;
}

#endif
