/* Things that grow: bytes, lists of nodes, sets of nodes. Each call that fails has set an exception. */

#ifndef FORAGER_GROWING_H
#define FORAGER_GROWING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef void Node; /* Lexbor's; nothing here looks inside */
typedef unsigned char Byte;

typedef struct {
    Byte *bytes;
    Py_ssize_t used, size;
} Buffer;

static int buffer_grow(Buffer *buffer, Py_ssize_t more)
{
    if (more > PY_SSIZE_T_MAX / 4 - buffer->used) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t size = buffer->size ? buffer->size : 4096;
    while (size < buffer->used + more)
        size *= 2;
    Byte *bytes = PyMem_Realloc(buffer->bytes, (size_t)size);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->bytes = bytes;
    buffer->size = size;
    return 0;
}

static inline int buffer_add(Buffer *buffer, const void *bytes, Py_ssize_t length)
{
    if (buffer->used + length > buffer->size && buffer_grow(buffer, length) < 0)
        return -1;
    memcpy(buffer->bytes + buffer->used, bytes, (size_t)length);
    buffer->used += length;
    return 0;
}

typedef struct {
    Node **nodes;
    Py_ssize_t count, size;
} List;

static int list_add(List *list, Node *node)
{
    if (list->count == list->size) {
        Py_ssize_t size = list->size ? list->size * 2 : 16;
        Node **nodes = PyMem_Realloc(list->nodes, (size_t)size * sizeof(Node *));
        if (nodes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        list->nodes = nodes;
        list->size = size;
    }
    list->nodes[list->count++] = node;
    return 0;
}

/* A set of nodes by their addresses; open addressing, never more than half full. */
typedef struct {
    Node **slots;
    size_t used, size;
} Set;

static inline size_t set_slot(const Set *set, const Node *node)
{
    size_t slot = ((uintptr_t)node >> 4) * (size_t)0x9E3779B97F4A7C15u >> 20 & (set->size - 1);
    while (set->slots[slot] != NULL && set->slots[slot] != node)
        slot = (slot + 1) & (set->size - 1);
    return slot;
}

static inline bool set_has(const Set *set, const Node *node) { return set->used && set->slots[set_slot(set, node)] == node; }

static int set_add(Set *set, Node *node)
{
    if (set->used * 2 >= set->size) {
        Set wider = {NULL, 0, set->size ? set->size * 2 : 64};
        wider.slots = PyMem_Calloc(wider.size, sizeof(Node *));
        if (wider.slots == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        for (size_t slot = 0; slot < set->size; slot++)
            if (set->slots[slot] != NULL) {
                wider.slots[set_slot(&wider, set->slots[slot])] = set->slots[slot];
                wider.used++;
            }
        PyMem_Free(set->slots);
        *set = wider;
    }
    size_t slot = set_slot(set, node);
    set->used += set->slots[slot] == NULL;
    set->slots[slot] = node;
    return 0;
}

#endif
