/* The tree while it is built: nodes that can be moved, the stack of open elements, the list of formatting elements.
 *
 * Everything is bounded, so that no page takes more than a small multiple of its size, and time in proportion to it:
 * open elements by MOST_DEPTH, formatting elements that are opened again by MOST_REOPENED, elements by MOST_ELEMENTS.
 * Real pages come to a depth of 100, 1,100 reopened elements and 33,000 elements.
 */

#ifndef FORAGER_NODES_H
#define FORAGER_NODES_H

#include <setjmp.h>

#include "entities.h"
#include "tables.h"

#define MOST_DEPTH 512
#define MOST_ELEMENTS 250000
#define MOST_REOPENED 200000
#define MOST_FORMATTING 256 /* formatting elements that are remembered at a time */
#define MOST_MERGED 1000    /* attributes of `html` and `body`, which may be given in several tags */
#define MOST_COMPARED 32    /* attributes of a tag that are compared with each other */

enum { NODE_DOCUMENT, NODE_ELEMENT, NODE_TEXT };

enum { /* flags of nodes */
    NODE_OPEN = 1,        /* on the stack */
    NODE_INTEGRATION = 2, /* an `annotation-xml` that holds HTML */
    NODE_SEALED = 4       /* a text with a comment behind it */
};

typedef struct {
    uint32_t parent, first, last, previous, next;
    uint32_t at, length; /* of the name or the text */
    uint32_t attribute_first;
    uint16_t attribute_count;
    uint8_t type, kind, space, flags;
} Node;

typedef struct {
    uint32_t name_at, name_length;
    uint32_t attribute_first;
    uint16_t attribute_count;
    uint8_t kind;
    bool is_self_closing;
} Tag;

typedef enum {
    INITIAL,
    BEFORE_HTML,
    BEFORE_HEAD,
    IN_HEAD,
    IN_HEAD_NOSCRIPT,
    AFTER_HEAD,
    IN_BODY,
    IN_TABLE,
    IN_CAPTION,
    IN_COLUMN_GROUP,
    IN_TABLE_BODY,
    IN_ROW,
    IN_CELL,
    IN_TEMPLATE,
    AFTER_BODY,
    IN_FRAMESET,
    AFTER_FRAMESET,
    AFTER_AFTER_BODY,
    AFTER_AFTER_FRAMESET
} Mode;

typedef struct {
    Tables *tables;
    jmp_buf out_of_memory;
    uint32_t at, size; /* where the tokenizer is in the page, and how long that is */
    Node *nodes;
    uint32_t node_count, node_size, element_count, reopened;
    uint32_t stack[MOST_DEPTH + 2];
    uint32_t depth;
    uint16_t open_counts[UINT8_MAX + 1]; /* open elements of HTML by kind */
    uint32_t formatting[MOST_FORMATTING]; /* NOBODY: a marker */
    uint32_t formatting_count;
    uint8_t template_modes[MOST_DEPTH];
    uint32_t template_count;
    uint32_t head, form;
    Mode mode;
    bool is_quirky, is_frameset_ok, fosters, skips_newline, has_nul;
} Builder;

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static void *grown(Builder *builder, void *array, uint32_t *size, size_t item, uint32_t least)
{
    uint32_t wider = *size ? *size : 1024;
    while (wider < least && wider < UINT32_MAX / 2)
        wider *= 2;
    void *moved = wider < least ? NULL : realloc(array, (size_t)wider * item);
    if (moved == NULL)
        longjmp(builder->out_of_memory, 1);
    *size = wider;
    return moved;
}

/* Room behind the texts that are there. Whoever holds a pointer into the page has to take it again. */
static Byte *reserve(Builder *builder, uint32_t more)
{
    Tables *tables = builder->tables;
    if (more > UINT32_MAX / 4 - tables->used)
        longjmp(builder->out_of_memory, 1);
    if (tables->used + more > tables->size)
        tables->page = grown(builder, tables->page, &tables->size, 1, tables->used + more);
    return tables->page + tables->used;
}

static uint32_t new_node(Builder *builder, Node node)
{
    if (builder->node_count == builder->node_size)
        builder->nodes =
            grown(builder, builder->nodes, &builder->node_size, sizeof *builder->nodes, builder->node_count + 1);
    node.parent = node.first = node.last = node.previous = node.next = NOBODY;
    builder->nodes[builder->node_count] = node;
    return builder->node_count++;
}

/* ---- the tree ------------------------------------------------------------------------------------------------------ */

static void detach(Builder *builder, uint32_t number)
{
    Node *node = &builder->nodes[number];
    if (node->parent == NOBODY)
        return;
    Node *parent = &builder->nodes[node->parent];
    if (node->previous == NOBODY)
        parent->first = node->next;
    else
        builder->nodes[node->previous].next = node->next;
    if (node->next == NOBODY)
        parent->last = node->previous;
    else
        builder->nodes[node->next].previous = node->previous;
    node->parent = node->previous = node->next = NOBODY;
}

typedef struct {
    uint32_t parent, before; /* NOBODY: at the end */
} Place;

static void insert_at(Builder *builder, uint32_t number, Place place)
{
    Node *nodes = builder->nodes, *node = &nodes[number], *parent = &nodes[place.parent];
    node->parent = place.parent;
    node->next = place.before;
    node->previous = place.before == NOBODY ? parent->last : nodes[place.before].previous;
    if (node->previous == NOBODY)
        parent->first = number;
    else
        nodes[node->previous].next = number;
    if (place.before == NOBODY)
        parent->last = number;
    else
        nodes[place.before].previous = number;
}

static void move_children(Builder *builder, uint32_t from, uint32_t to)
{
    Node *nodes = builder->nodes;
    for (uint32_t child = nodes[from].first; child != NOBODY; child = nodes[child].next)
        nodes[child].parent = to;
    nodes[to].first = nodes[from].first;
    nodes[to].last = nodes[from].last;
    nodes[from].first = nodes[from].last = NOBODY;
}

/* ---- the stack of open elements ------------------------------------------------------------------------------------ */

static Node *current(const Builder *builder) { return &builder->nodes[builder->stack[builder->depth - 1]]; }

static bool is_html(const Node *node, uint8_t kind) { return node->kind == kind && node->space == HTML_SPACE; }

static uint16_t rules_of(const Node *node)
{
    return node->kind == NO_KIND || node->space != HTML_SPACE ? 0 : KINDS[node->kind].rules;
}

static bool is_math_text(const Node *node)
{
    return node->space == MATH_SPACE && (node->kind == TAG_MI || node->kind == TAG_MO || node->kind == TAG_MN ||
                                         node->kind == TAG_MS || node->kind == TAG_MTEXT);
}

static bool holds_html(const Node *node)
{
    return (node->space == SVG_SPACE &&
            (node->kind == TAG_FOREIGNOBJECT || node->kind == TAG_DESC || node->kind == TAG_TITLE)) ||
           node->flags & NODE_INTEGRATION;
}

static bool ends_scope(const Node *node)
{
    if (node->space == HTML_SPACE)
        return (rules_of(node) & SCOPE) != 0;
    return is_math_text(node) || (node->space == MATH_SPACE && node->kind == TAG_ANNOTATION_XML) ||
           (node->space == SVG_SPACE &&
            (node->kind == TAG_FOREIGNOBJECT || node->kind == TAG_DESC || node->kind == TAG_TITLE));
}

static bool is_special(const Node *node)
{
    return node->space == HTML_SPACE ? (rules_of(node) & SPECIAL) != 0 : ends_scope(node);
}

static void push(Builder *builder, uint32_t number)
{
    Node *node = &builder->nodes[number];
    node->flags |= NODE_OPEN;
    if (node->space == HTML_SPACE)
        builder->open_counts[node->kind]++;
    builder->stack[builder->depth++] = number;
}

static void left(Builder *builder, uint32_t number)
{
    Node *node = &builder->nodes[number];
    node->flags &= (uint8_t)~NODE_OPEN;
    if (node->space == HTML_SPACE)
        builder->open_counts[node->kind]--;
}

/* The `html` element stays. */
static void pop(Builder *builder)
{
    if (builder->depth > 1)
        left(builder, builder->stack[--builder->depth]);
}

static void remove_open(Builder *builder, uint32_t number)
{
    for (uint32_t at = builder->depth; at-- > 1;)
        if (builder->stack[at] == number) {
            memmove(&builder->stack[at], &builder->stack[at + 1], (builder->depth - at - 1) * sizeof *builder->stack);
            builder->depth--;
            left(builder, number);
            return;
        }
}

static bool has_open(const Builder *builder, uint8_t kind) { return builder->open_counts[kind] > 0; }

enum { IN_SCOPE, IN_LIST_SCOPE, IN_BUTTON_SCOPE, IN_TABLE_SCOPE };

static bool ends_this_scope(const Node *node, int scope)
{
    if (scope == IN_TABLE_SCOPE)
        return is_html(node, TAG_HTML) || is_html(node, TAG_TABLE) || is_html(node, TAG_TEMPLATE);
    return ends_scope(node) || (scope == IN_LIST_SCOPE && (is_html(node, TAG_OL) || is_html(node, TAG_UL))) ||
           (scope == IN_BUTTON_SCOPE && is_html(node, TAG_BUTTON));
}

static bool is_in_scope(const Builder *builder, uint8_t kind, int scope)
{
    if (!has_open(builder, kind))
        return false;
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (is_html(node, kind))
            return true;
        if (ends_this_scope(node, scope))
            return false;
    }
    return false;
}

static bool is_node_in_scope(const Builder *builder, uint32_t number)
{
    for (uint32_t at = builder->depth; at-- > 0;) {
        if (builder->stack[at] == number)
            return true;
        if (ends_scope(&builder->nodes[builder->stack[at]]))
            return false;
    }
    return false;
}

static bool is_heading_in_scope(const Builder *builder)
{
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (rules_of(node) & HEADING)
            return true;
        if (ends_scope(node))
            return false;
    }
    return false;
}

static void pop_until(Builder *builder, uint8_t kind)
{
    while (builder->depth > 1) {
        bool is_last = is_html(current(builder), kind);
        pop(builder);
        if (is_last)
            return;
    }
}

static void pop_until_heading(Builder *builder)
{
    while (builder->depth > 1) {
        bool is_last = (rules_of(current(builder)) & HEADING) != 0;
        pop(builder);
        if (is_last)
            return;
    }
}

/* `except` may be NO_KIND. */
static void imply_ends(Builder *builder, uint8_t except)
{
    while (rules_of(current(builder)) & IMPLIED_END && current(builder)->kind != except)
        pop(builder);
}

static void imply_ends_thoroughly(Builder *builder)
{
    while (rules_of(current(builder)) & (IMPLIED_END | THOROUGH_END))
        pop(builder);
}

static void close_p(Builder *builder)
{
    if (!is_in_scope(builder, TAG_P, IN_BUTTON_SCOPE))
        return;
    imply_ends(builder, TAG_P);
    pop_until(builder, TAG_P);
}

/* Back to one of these, a template or the root. */
static void clear_to(Builder *builder, uint8_t first, uint8_t second, uint8_t third)
{
    while (builder->depth > 1) {
        const Node *node = current(builder);
        if (node->space == HTML_SPACE && (node->kind == first || node->kind == second || node->kind == third ||
                                          node->kind == TAG_TEMPLATE || node->kind == TAG_HTML))
            return;
        pop(builder);
    }
}

/* ---- inserting ----------------------------------------------------------------------------------------------------- */

/* Where a child of `target` goes: what does not belong into a table is put before it. */
static Place place_in(const Builder *builder, uint32_t target)
{
    Place place = {target, NOBODY};
    if (!builder->fosters || !(rules_of(&builder->nodes[target]) & TABLE_PART))
        return place;
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (is_html(node, TAG_TEMPLATE))
            return (Place){builder->stack[at], NOBODY};
        if (!is_html(node, TAG_TABLE))
            continue;
        if (node->parent != NOBODY)
            return (Place){node->parent, builder->stack[at]};
        return (Place){builder->stack[at ? at - 1 : 0], NOBODY};
    }
    return (Place){builder->stack[0], NOBODY};
}

static void insert_text(Builder *builder, uint32_t at, uint32_t length)
{
    if (length == 0)
        return;
    Place place = place_in(builder, builder->stack[builder->depth - 1]);
    uint32_t before =
        place.before == NOBODY ? builder->nodes[place.parent].last : builder->nodes[place.before].previous;
    if (before != NOBODY) {
        Node *text = &builder->nodes[before];
        if (text->type == NODE_TEXT && text->at + text->length == at && !(text->flags & NODE_SEALED)) {
            text->length += length;
            return;
        }
    }
    insert_at(builder, new_node(builder, (Node){.type = NODE_TEXT, .at = at, .length = length, .kind = NO_KIND}), place);
}

static uint32_t insert_element(Builder *builder, const Tag *tag, uint8_t space)
{
    if (builder->depth >= MOST_DEPTH)
        pop(builder);
    Node node = {.type = NODE_ELEMENT,
                 .at = tag->name_at,
                 .length = tag->name_length,
                 .attribute_first = tag->attribute_first,
                 .attribute_count = tag->attribute_count,
                 .kind = tag->kind,
                 .space = space};
    uint32_t number = new_node(builder, node);
    builder->element_count++;
    insert_at(builder, number, place_in(builder, builder->stack[builder->depth - 1]));
    push(builder, number);
    return number;
}

static void insert_void(Builder *builder, const Tag *tag)
{
    insert_element(builder, tag, HTML_SPACE);
    pop(builder);
}

/* An element that no tag stands for: its name is that of its kind. */
static uint32_t insert_implied(Builder *builder, uint8_t kind)
{
    Byte *name = reserve(builder, KINDS[kind].length);
    memcpy(name, KINDS[kind].name, KINDS[kind].length);
    Tag tag = {.name_at = builder->tables->used, .name_length = KINDS[kind].length, .kind = kind};
    builder->tables->used += KINDS[kind].length;
    return insert_element(builder, &tag, HTML_SPACE);
}

/* A copy without children, which is nowhere yet. */
static uint32_t copy_node(Builder *builder, uint32_t number)
{
    Node copy = builder->nodes[number];
    copy.flags &= (uint8_t)~NODE_OPEN;
    builder->reopened++;
    return new_node(builder, copy);
}

/* ---- the list of formatting elements ------------------------------------------------------------------------------- */

static void forget_formatting_at(Builder *builder, uint32_t at)
{
    memmove(&builder->formatting[at], &builder->formatting[at + 1],
            (builder->formatting_count - at - 1) * sizeof *builder->formatting);
    builder->formatting_count--;
}

static uint32_t find_formatting(const Builder *builder, uint32_t number)
{
    for (uint32_t at = builder->formatting_count; at-- > 0;)
        if (builder->formatting[at] == number)
            return at;
    return NOBODY;
}

static void remember_formatting(Builder *builder, uint32_t number)
{
    if (builder->formatting_count == MOST_FORMATTING)
        forget_formatting_at(builder, 0);
    builder->formatting[builder->formatting_count++] = number;
}

static void add_marker(Builder *builder) { remember_formatting(builder, NOBODY); }

static void clear_to_marker(Builder *builder)
{
    while (builder->formatting_count && builder->formatting[--builder->formatting_count] != NOBODY)
        ;
}

static bool is_same_text(const Builder *builder, uint32_t at, uint32_t length, uint32_t other, uint32_t other_length)
{
    const Byte *page = builder->tables->page;
    return length == other_length && memcmp(page + at, page + other, length) == 0;
}

static bool has_attribute(const Builder *builder, const Node *node, const Attribute *wanted, bool with_value)
{
    const Attribute *attribute = builder->tables->attributes + node->attribute_first;
    for (const Attribute *end = attribute + node->attribute_count; attribute < end; attribute++)
        if (is_same_text(builder, attribute->name_at, attribute->name_length, wanted->name_at, wanted->name_length))
            return !with_value || is_same_text(builder, attribute->value_at, attribute->value_length, wanted->value_at,
                                               wanted->value_length);
    return false;
}

static bool is_same_element(const Builder *builder, const Node *node, const Node *other)
{
    if (node->kind != other->kind || node->attribute_count != other->attribute_count ||
        node->attribute_count > MOST_COMPARED)
        return false;
    const Attribute *attribute = builder->tables->attributes + node->attribute_first;
    for (const Attribute *end = attribute + node->attribute_count; attribute < end; attribute++)
        if (!has_attribute(builder, other, attribute, true))
            return false;
    return true;
}

/* At most three of the same are remembered. */
static void add_formatting(Builder *builder, uint32_t number)
{
    uint32_t same = 0, earliest = 0;
    for (uint32_t at = builder->formatting_count; at-- > 0 && builder->formatting[at] != NOBODY;)
        if (is_same_element(builder, &builder->nodes[number], &builder->nodes[builder->formatting[at]])) {
            same++;
            earliest = at;
        }
    if (same >= 3)
        forget_formatting_at(builder, earliest);
    remember_formatting(builder, number);
}

/* Opens again what was closed by the block around it. */
static void reconstruct(Builder *builder)
{
    uint32_t count = builder->formatting_count, first = count;
    while (first && builder->formatting[first - 1] != NOBODY &&
           !(builder->nodes[builder->formatting[first - 1]].flags & NODE_OPEN))
        first--;
    for (; first < count && builder->reopened < MOST_REOPENED; first++) {
        if (builder->depth >= MOST_DEPTH)
            return;
        uint32_t copy = copy_node(builder, builder->formatting[first]);
        insert_at(builder, copy, place_in(builder, builder->stack[builder->depth - 1]));
        push(builder, copy);
        builder->formatting[first] = copy;
    }
}

#endif
