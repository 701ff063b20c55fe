/* A page as tables: its elements, their attributes and its runs of text, in the order of the page.
 *
 * `builder.h` makes them of a page. All texts lie in one buffer, decoded: an offset and a length name one. No Python
 * here: what runs out of memory returns -1.
 */

#ifndef FORAGER_TABLES_H
#define FORAGER_TABLES_H

#include "tags.h"

#define NOBODY UINT32_MAX

enum { /* what a run of text is */
    RUN_UNSEEN = 1,
    RUN_CONTROL = 2,
    RUN_ALT = 4,   /* the `alt` of an image */
    RUN_BREAK = 8, /* begins a line */
    RUN_SPACE = 16,
    RUN_GAP = 32, /* nothing but white space, where that is kept: in a `pre` */
    RUN_LINK = 64,
    RUN_DIGIT = 128
};

enum { HTML_SPACE, SVG_SPACE, MATH_SPACE }; /* namespaces */

#define PROSE_BYTES 80 /* a block of so much text, at most half of it links, is a paragraph, whatever its tag */

typedef struct {
    uint32_t tag_at, parent, end;
    uint32_t attribute_first, run_first, run_end;
    uint32_t content_at, content_end;
    uint32_t block; /* the innermost block around its text: itself, or one above */
    uint16_t attribute_count, tag_length;
    uint8_t flags, space, kind;
} Element;

typedef struct {
    uint32_t name_at, value_at, value_length;
    uint16_t name_length;
} Attribute;

typedef struct {
    uint32_t at, length, owner;
    uint32_t text, link, prose; /* bytes up to here that are shown, that are so in links, that are so in paragraphs */
    uint8_t flags;
} Run;

typedef struct {
    Byte *page;
    uint32_t used, size; /* of `page` */
    Element *elements;
    uint32_t element_count, element_size;
    Attribute *attributes;
    uint32_t attribute_count, attribute_size;
    Run *runs;
    uint32_t run_count, run_size;
    uint32_t reopened; /* formatting elements that the parser opened again */
    /* while elements are added */
    uint32_t open;                  /* the innermost open element */
    uint32_t unseen, control, links, pre; /* how many of the kind are open */
    uint32_t block_text, block_link; /* of the line that is open */
    uint32_t text, link, prose;
    bool has_break, has_space;
} Tables;

static bool is_gap(Byte byte) { return (byte_kinds[byte] & BYTE_GAP) != 0; }

/* The array with room for one more, or -1. */
#define GROW(array, count, size, first)                                                                                 \
    do {                                                                                                                \
        if ((count) == (size)) {                                                                                        \
            uint32_t wider = (size) ? (size) * 2 : (first);                                                             \
            void *moved = wider > (size) ? realloc((array), (size_t)wider * sizeof *(array)) : NULL;                    \
            if (moved == NULL)                                                                                          \
                return -1;                                                                                              \
            (array) = moved;                                                                                            \
            (size) = wider;                                                                                             \
        }                                                                                                               \
    } while (0)

static bool is_tag(const Tables *tables, const Element *element, const char *name, size_t length)
{
    return element->tag_length == length && memcmp(tables->page + element->tag_at, name, length) == 0;
}

static const Attribute *find_attribute(const Tables *tables, const Element *element, const char *name, size_t length)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++)
        if (attribute->name_length == length && memcmp(tables->page + attribute->name_at, name, length) == 0)
            return attribute;
    return NULL;
}

static void forget_tables(Tables *tables)
{
    free(tables->page);
    free(tables->elements);
    free(tables->attributes);
    free(tables->runs);
    memset(tables, 0, sizeof *tables);
}

/* ---- elements and runs, as they are met ---------------------------------------------------------------------------- */

/* A line of text is over: was it a paragraph? */
static void end_block(Tables *tables)
{
    if (tables->block_text >= PROSE_BYTES && tables->block_link * 2 <= tables->block_text) {
        tables->prose += tables->block_text;
        uint32_t at = tables->run_count - 1;
        while (tables->runs[at].prose = tables->prose, tables->runs[at].flags & RUN_GAP && at)
            at--;
    }
    tables->block_text = tables->block_link = 0;
    tables->has_break = true;
}

/* Bytes of a text that are no white space; the no-break space is some. */
static uint32_t count_shown(const Byte *byte, const Byte *end, uint8_t *flags)
{
    uint32_t gaps = 0;
    uint8_t met = 0;
    for (const Byte *at = byte; at < end; at++) {
        uint8_t kind = byte_kinds[*at];
        met |= kind;
        gaps += (kind & BYTE_GAP) != 0;
    }
    if (met & BYTE_DIGIT)
        *flags |= RUN_DIGIT;
    uint32_t shown = (uint32_t)(end - byte) - gaps;
    for (const Byte *at = byte; met & BYTE_LEAD && (at = memchr(at, 0xC2, (size_t)(end - at))) != NULL; at++)
        if (end - at > 1 && at[1] == 0xA0)
            shown -= 2;
    return shown;
}

static int add_run(Tables *tables, uint32_t at, uint32_t length, uint32_t owner, uint8_t flags)
{
    GROW(tables->runs, tables->run_count, tables->run_size, 512);
    uint32_t shown = count_shown(tables->page + at, tables->page + at + length, &flags);
    flags |= (tables->unseen ? RUN_UNSEEN : 0) | (tables->control ? RUN_CONTROL : 0) | (tables->links ? RUN_LINK : 0);
    if (!(flags & RUN_ALT)) {
        flags |= (tables->has_break ? RUN_BREAK : 0) | (tables->has_space ? RUN_SPACE : 0);
        tables->has_break = tables->has_space = false;
        if (!(flags & (RUN_UNSEEN | RUN_CONTROL))) {
            tables->text += shown;
            tables->block_text += shown;
            if (flags & RUN_LINK) {
                tables->link += shown;
                tables->block_link += shown;
            }
        }
    }
    tables->runs[tables->run_count++] =
        (Run){at, length, owner, tables->text, tables->link, tables->prose, flags};
    return 0;
}

/* White space between two elements of a `pre`: counts for nothing, and only `stream` returns it. */
static int add_gap(Tables *tables, uint32_t at, uint32_t length)
{
    GROW(tables->runs, tables->run_count, tables->run_size, 512);
    tables->runs[tables->run_count++] =
        (Run){at, length, tables->open, tables->text, tables->link, tables->prose, RUN_GAP | RUN_UNSEEN};
    return 0;
}

static int add_text(Tables *tables, uint32_t at, uint32_t length)
{
    if (tables->open == NOBODY)
        return 0;
    uint32_t first = 0;
    while (first < length && is_gap(tables->page[at + first]))
        first++;
    if (first == length) {
        tables->has_space |= length > 0;
        return length && tables->pre && !tables->unseen && !tables->control ? add_gap(tables, at, length) : 0;
    }
    return add_run(tables, at, length, tables->open, 0);
}

static void count_open(Tables *tables, uint8_t flags, uint32_t by)
{
    if (flags & IS_UNSEEN)
        tables->unseen += by;
    if (flags & IS_CONTROL)
        tables->control += by;
    if (flags & IS_LINK)
        tables->links += by;
}

/* `element` has its name, kind, space and attributes. It stays open unless it is void. */
static int open_element(Tables *tables, Element element)
{
    GROW(tables->elements, tables->element_count, tables->element_size, 512);
    uint32_t number = tables->element_count++;
    element.flags = element.kind == NO_KIND ? 0 : KINDS[element.kind].flags;
    if (element.space != HTML_SPACE)
        element.flags &= IS_LINK | IS_CONTROL; /* a drawing has its own styles, links and titles */
    if (element.flags & IS_BLOCK)
        end_block(tables);
    tables->has_break |= (element.flags & IS_BREAK) != 0;
    element.parent = tables->open;
    element.run_first = element.run_end = tables->run_count;
    element.end = number + 1;
    element.block = element.flags & IS_BLOCK || element.parent == NOBODY ? number : tables->elements[element.parent].block;
    tables->elements[number] = element;
    if (!(element.flags & IS_VOID)) {
        count_open(tables, element.flags, 1);
        tables->pre += element.kind == TAG_PRE;
        tables->open = number;
        return 0;
    }
    const Attribute *alt = element.kind == TAG_IMG ? find_attribute(tables, &element, "alt", 3) : NULL;
    if (alt == NULL || alt->value_length == 0)
        return 0;
    int done = add_run(tables, alt->value_at, alt->value_length, number, RUN_ALT);
    tables->elements[number].run_end = tables->run_count;
    return done;
}

static void close_element(Tables *tables)
{
    Element *element = &tables->elements[tables->open];
    if (element->flags & IS_BLOCK)
        end_block(tables);
    count_open(tables, element->flags, UINT32_MAX); /* less one */
    tables->pre -= element->kind == TAG_PRE;
    element->end = tables->element_count;
    element->run_end = tables->run_count;
    tables->open = element->parent;
}

#endif
