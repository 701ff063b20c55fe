/* A page as tables: its elements, their attributes and its runs of text, from one scan of well-formed markup.
 *
 * The markup is what the parser writes of its tree: every tag is closed in its turn, every value stands in double quotes,
 * and only & < > " and the no-break space are escaped. Whatever else comes is read without harm: an end that fits nothing
 * is passed over. No Python here: what fails returns -1.
 */

#ifndef FORAGER_SCAN_H
#define FORAGER_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char Byte;

#define NOBODY UINT32_MAX

enum { /* what a kind of element is */
    IS_BLOCK = 1,    /* begins and ends a line */
    IS_VOID = 2,     /* has no end tag */
    IS_RAW = 4,      /* its content is no markup */
    IS_UNSEEN = 8,   /* its text is never shown */
    IS_CONTROL = 16, /* its text is shown, and is no part of what a page has to say */
    IS_LINK = 32,
    IS_BREAK = 64, /* ends a line, not a paragraph */
    IS_INERT = 128 /* nothing inside it is part of the page */
};

enum { /* what a run of text is */
    RUN_UNSEEN = 1,
    RUN_CONTROL = 2,
    RUN_ALT = 4,   /* the `alt` of an image */
    RUN_BREAK = 8, /* begins a line */
    RUN_SPACE = 16,
    RUN_ESCAPED = 32,
    RUN_LINK = 64,
    RUN_DIGIT = 128
};

enum { HTML_SPACE, SVG_SPACE, MATH_SPACE }; /* namespaces */

#define PROSE_BYTES 80 /* a block of so much text, at most half of it links, is a paragraph, whatever its tag */

typedef struct {
    const char *name;
    uint8_t length, flags;
} Kind;

#define KIND(name, flags) {name, sizeof name - 1, flags}
static const Kind KINDS[] = {
    KIND("a", IS_LINK), KIND("p", IS_BLOCK), KIND("b", 0), KIND("i", 0), KIND("u", 0), KIND("s", 0), KIND("q", 0),
    KIND("br", IS_VOID | IS_BREAK), KIND("hr", IS_VOID | IS_BLOCK), KIND("li", IS_BLOCK), KIND("td", IS_BLOCK),
    KIND("th", IS_BLOCK), KIND("tr", IS_BLOCK), KIND("ul", IS_BLOCK), KIND("ol", IS_BLOCK), KIND("dl", IS_BLOCK),
    KIND("dt", IS_BLOCK), KIND("dd", IS_BLOCK), KIND("h1", IS_BLOCK), KIND("h2", IS_BLOCK), KIND("h3", IS_BLOCK),
    KIND("h4", IS_BLOCK), KIND("h5", IS_BLOCK), KIND("h6", IS_BLOCK), KIND("em", 0),
    KIND("div", IS_BLOCK), KIND("img", IS_VOID), KIND("nav", IS_BLOCK), KIND("pre", IS_BLOCK), KIND("svg", IS_CONTROL),
    KIND("wbr", IS_VOID), KIND("col", IS_VOID), KIND("xmp", IS_BLOCK | IS_RAW), KIND("dir", IS_BLOCK),
    KIND("span", 0), KIND("area", IS_VOID), KIND("base", IS_VOID), KIND("link", IS_VOID), KIND("meta", IS_VOID),
    KIND("main", IS_BLOCK), KIND("form", IS_BLOCK), KIND("html", IS_BLOCK), KIND("head", IS_BLOCK | IS_CONTROL),
    KIND("body", IS_BLOCK), KIND("time", 0), KIND("math", 0), KIND("menu", IS_BLOCK),
    KIND("input", IS_VOID), KIND("embed", IS_VOID), KIND("frame", IS_VOID), KIND("param", IS_VOID),
    KIND("track", IS_VOID), KIND("style", IS_RAW | IS_UNSEEN), KIND("title", IS_BLOCK), KIND("table", IS_BLOCK),
    KIND("tbody", IS_BLOCK), KIND("thead", IS_BLOCK), KIND("tfoot", IS_BLOCK), KIND("aside", IS_BLOCK),
    KIND("video", IS_CONTROL), KIND("audio", IS_CONTROL), KIND("label", 0), KIND("small", 0),
    KIND("script", IS_RAW | IS_UNSEEN), KIND("source", IS_VOID), KIND("keygen", IS_VOID), KIND("strong", 0),
    KIND("footer", IS_BLOCK), KIND("header", IS_BLOCK), KIND("figure", IS_BLOCK), KIND("dialog", IS_BLOCK),
    KIND("button", IS_BLOCK | IS_CONTROL), KIND("select", IS_BLOCK | IS_CONTROL), KIND("option", IS_BLOCK | IS_CONTROL),
    KIND("iframe", IS_RAW | IS_UNSEEN), KIND("center", IS_BLOCK), KIND("legend", IS_BLOCK), KIND("hgroup", IS_BLOCK),
    KIND("canvas", IS_CONTROL), KIND("search", IS_BLOCK),
    KIND("section", IS_BLOCK), KIND("article", IS_BLOCK), KIND("caption", IS_BLOCK), KIND("address", IS_BLOCK),
    KIND("details", IS_BLOCK), KIND("summary", IS_BLOCK), KIND("bgsound", IS_VOID), KIND("noembed", IS_RAW | IS_UNSEEN),
    KIND("noscript", IS_UNSEEN), KIND("template", IS_INERT | IS_UNSEEN), KIND("textarea", IS_BLOCK | IS_CONTROL),
    KIND("fieldset", IS_BLOCK), KIND("optgroup", IS_BLOCK | IS_CONTROL), KIND("datalist", IS_CONTROL),
    KIND("noframes", IS_RAW | IS_UNSEEN), KIND("frameset", IS_BLOCK), KIND("basefont", IS_VOID),
    KIND("plaintext", IS_BLOCK | IS_RAW),
    KIND("blockquote", IS_BLOCK), KIND("figcaption", IS_BLOCK),
};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)
#define LONGEST_KIND 10

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
    bool is_escaped;
} Attribute;

typedef struct {
    uint32_t at, length, owner;
    uint32_t text, link, prose; /* bytes up to here that are shown, that are so in links, that are so in paragraphs */
    uint8_t flags;
} Run;

typedef struct {
    const Byte *page;
    uint32_t size;
    Element *elements;
    uint32_t element_count, element_size;
    Attribute *attributes;
    uint32_t attribute_count, attribute_size;
    Run *runs;
    uint32_t run_count, run_size;
    /* while it is scanned */
    uint32_t open;                           /* the innermost open element */
    uint32_t unseen, control, links, inert; /* how many of the kind are open */
    uint32_t block_text, block_link;         /* of the line that is open */
    uint32_t text, link, prose;
    bool has_break, has_space;
} Tables;

static uint8_t kind_starts[LONGEST_KIND + 2]; /* KINDS are sorted by length where a length begins */

static void make_kind_table(void)
{
    size_t at = 0;
    for (size_t length = 0; length <= LONGEST_KIND + 1; length++) {
        while (at < KIND_COUNT && KINDS[at].length < length)
            at++;
        kind_starts[length] = (uint8_t)at;
    }
}

#define NO_KIND UINT8_MAX
_Static_assert(KIND_COUNT < NO_KIND, "a kind fits a byte");

/* Its number in KINDS. */
static uint8_t kind_of(const Byte *name, size_t length)
{
    if (length > LONGEST_KIND)
        return NO_KIND;
    for (size_t at = kind_starts[length]; at < kind_starts[length + 1]; at++)
        if (KINDS[at].name[0] == (char)name[0] && memcmp(KINDS[at].name, name, length) == 0)
            return (uint8_t)at;
    return NO_KIND;
}

static bool is_gap(Byte byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

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

/* A line of text is over: was it a paragraph? */
static void end_block(Tables *tables)
{
    if (tables->block_text >= PROSE_BYTES && tables->block_link * 2 <= tables->block_text) {
        tables->prose += tables->block_text;
        tables->runs[tables->run_count - 1].prose = tables->prose;
    }
    tables->block_text = tables->block_link = 0;
    tables->has_break = true;
}

static int add_run(Tables *tables, uint32_t at, uint32_t length, uint32_t owner, uint8_t flags)
{
    GROW(tables->runs, tables->run_count, tables->run_size, 512);
    const Byte *byte = tables->page + at, *end = byte + length;
    uint32_t shown = 0;
    for (; byte < end; byte++) {
        shown += !is_gap(*byte);
        if (*byte == '&')
            flags |= RUN_ESCAPED;
        else if ((Byte)(*byte - '0') < 10)
            flags |= RUN_DIGIT;
    }
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

static int add_text(Tables *tables, uint32_t at, uint32_t end)
{
    if (tables->inert || tables->open == NOBODY)
        return 0;
    uint32_t first = at;
    while (first < end && is_gap(tables->page[first]))
        first++;
    if (first == end) {
        tables->has_space |= end > at;
        return 0;
    }
    return add_run(tables, at, end - at, tables->open, 0);
}

static uint8_t space_of(const Tables *tables, const Byte *name, size_t length)
{
    if (length == 3 && memcmp(name, "svg", 3) == 0)
        return SVG_SPACE;
    if (length == 4 && memcmp(name, "math", 4) == 0)
        return MATH_SPACE;
    if (tables->open == NOBODY)
        return HTML_SPACE;
    const Element *above = &tables->elements[tables->open];
    if (above->space == SVG_SPACE)
        return is_tag(tables, above, "foreignObject", 13) || is_tag(tables, above, "desc", 4) ||
                       is_tag(tables, above, "title", 5)
                   ? HTML_SPACE
                   : SVG_SPACE;
    if (above->space == MATH_SPACE)
        return is_tag(tables, above, "annotation-xml", 14) || is_tag(tables, above, "mi", 2) ||
                       is_tag(tables, above, "mo", 2) || is_tag(tables, above, "mn", 2) ||
                       is_tag(tables, above, "ms", 2) || is_tag(tables, above, "mtext", 5)
                   ? HTML_SPACE
                   : MATH_SPACE;
    return HTML_SPACE;
}

static void count_open(Tables *tables, uint8_t flags, uint32_t by)
{
    if (flags & IS_UNSEEN)
        tables->unseen += by;
    if (flags & IS_CONTROL)
        tables->control += by;
    if (flags & IS_LINK)
        tables->links += by;
    if (flags & IS_INERT)
        tables->inert += by;
}

static void close_open(Tables *tables)
{
    Element *element = &tables->elements[tables->open];
    if (element->flags & IS_BLOCK)
        end_block(tables);
    count_open(tables, element->flags, UINT32_MAX); /* less one */
    element->end = tables->element_count;
    element->run_end = tables->run_count;
    tables->open = element->parent;
}

/* From behind the name of a tag to behind its `>`. */
static int64_t read_attributes(Tables *tables, uint32_t at, Element *element)
{
    const Byte *page = tables->page;
    uint32_t size = tables->size;
    while (at < size && page[at] != '>') {
        if (page[at] == ' ' || page[at] == '/') {
            at++;
            continue;
        }
        Attribute attribute = {at, 0, 0, 0, false};
        uint32_t end = at + 1;
        while (end < size && page[end] != '=' && page[end] != ' ' && page[end] != '>')
            end++;
        attribute.name_length = (uint16_t)(end - at < UINT16_MAX ? end - at : UINT16_MAX);
        if (end + 1 < size && page[end] == '=' && page[end + 1] == '"') {
            uint32_t value = end + 2;
            const Byte *quote = memchr(page + value, '"', size - value);
            end = quote ? (uint32_t)(quote - page) : size;
            attribute.value_at = value;
            attribute.value_length = end - value;
            attribute.is_escaped = memchr(page + value, '&', end - value) != NULL;
            end += end < size;
        }
        if (!tables->inert && element->attribute_count < UINT16_MAX) {
            GROW(tables->attributes, tables->attribute_count, tables->attribute_size, 1024);
            tables->attributes[tables->attribute_count++] = attribute;
            element->attribute_count++;
        }
        at = end;
    }
    return at < size ? at + 1 : at;
}

static const Attribute *find_attribute(const Tables *tables, const Element *element, const char *name, size_t length)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++)
        if (attribute->name_length == length && memcmp(tables->page + attribute->name_at, name, length) == 0)
            return attribute;
    return NULL;
}

/* Where the end tag of an element whose content is no markup begins. */
static uint32_t find_end_tag(const Tables *tables, uint32_t at, const Byte *name, uint32_t length)
{
    const Byte *from = tables->page + at, *end = tables->page + tables->size;
    while ((from = memchr(from, '<', (size_t)(end - from))) != NULL) {
        if ((size_t)(end - from) > length + 2 && from[1] == '/' && memcmp(from + 2, name, length) == 0 &&
            from[length + 2] == '>')
            return (uint32_t)(from - tables->page);
        from++;
    }
    return tables->size;
}

static int64_t read_start(Tables *tables, uint32_t at)
{
    const Byte *page = tables->page;
    uint32_t end = at + 1;
    while (end < tables->size && page[end] != ' ' && page[end] != '>' && page[end] != '/')
        end++;
    const Byte *name = page + at + 1;
    uint32_t length = end - at - 1;
    Element element = {.tag_at = at + 1,
                       .parent = tables->open,
                       .attribute_first = tables->attribute_count,
                       .run_first = tables->run_count,
                       .tag_length = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX),
                       .space = space_of(tables, name, length)};
    element.kind = kind_of(name, length);
    element.flags = element.kind == NO_KIND ? 0 : KINDS[element.kind].flags;
    if (element.space != HTML_SPACE)
        element.flags &= IS_LINK | IS_CONTROL; /* a drawing has its own styles, links and titles */
    int64_t next = read_attributes(tables, end, &element);
    if (next < 0)
        return -1;
    element.content_at = element.content_end = (uint32_t)next;
    if (element.flags & IS_BLOCK)
        end_block(tables);
    tables->has_break |= (element.flags & IS_BREAK) != 0;
    if (tables->inert) { /* only its end has to be found */
        if (element.flags & IS_RAW)
            return find_end_tag(tables, (uint32_t)next, name, length);
        tables->inert += (element.flags & IS_INERT) != 0;
        return next;
    }
    GROW(tables->elements, tables->element_count, tables->element_size, 512);
    uint32_t number = tables->element_count++;
    element.end = number + 1;
    element.run_end = tables->run_count;
    element.block = element.flags & IS_BLOCK || element.parent == NOBODY ? number : tables->elements[element.parent].block;
    tables->elements[number] = element;
    if (element.flags & IS_VOID) {
        const Attribute *alt = length == 3 && memcmp(name, "img", 3) == 0 && element.attribute_count
                                   ? find_attribute(tables, &tables->elements[number], "alt", 3)
                                   : NULL;
        if (alt != NULL && alt->value_length) {
            if (add_run(tables, alt->value_at, alt->value_length, number, RUN_ALT) < 0)
                return -1;
            tables->elements[number].run_end = tables->run_count;
        }
        return next;
    }
    count_open(tables, element.flags, 1);
    tables->open = number;
    if (!(element.flags & IS_RAW))
        return next;
    uint32_t content_end = find_end_tag(tables, (uint32_t)next, name, length);
    tables->elements[number].content_end = content_end;
    if (!(element.flags & IS_UNSEEN) && content_end > (uint32_t)next &&
        add_text(tables, (uint32_t)next, content_end) < 0)
        return -1;
    return content_end;
}

static uint32_t read_end(Tables *tables, uint32_t at)
{
    const Byte *name = tables->page + at + 2, *close = memchr(name, '>', tables->size - at - 2);
    uint32_t next = close ? (uint32_t)(close - tables->page) + 1 : tables->size;
    size_t length = close ? (size_t)(close - name) : 0;
    if (tables->inert > 1 || (tables->inert == 1 && !(length == 8 && memcmp(name, "template", 8) == 0))) {
        tables->inert -= length == 8 && memcmp(name, "template", 8) == 0;
        return next;
    }
    if (tables->open == NOBODY || length == 0)
        return next;
    const Element *element = &tables->elements[tables->open];
    if (is_tag(tables, element, (const char *)name, length)) {
        if (element->content_end < at)
            tables->elements[tables->open].content_end = at;
        close_open(tables);
    }
    return next;
}

static uint32_t skip_to(const Tables *tables, uint32_t at, const char *what, size_t length)
{
    const Byte *found = at < tables->size ? memmem(tables->page + at, tables->size - at, what, length) : NULL;
    return found ? (uint32_t)(found - tables->page + length) : tables->size;
}

static void forget_tables(Tables *tables)
{
    free(tables->elements);
    free(tables->attributes);
    free(tables->runs);
    tables->elements = NULL;
    tables->attributes = NULL;
    tables->runs = NULL;
}

static int scan(Tables *tables)
{
    const Byte *page = tables->page;
    uint32_t size = tables->size, at = 0;
    tables->open = NOBODY;
    while (at < size) {
        const Byte *tag = memchr(page + at, '<', size - at);
        uint32_t next = tag ? (uint32_t)(tag - page) : size;
        if (next > at && add_text(tables, at, next) < 0)
            return -1;
        at = next;
        if (size - at < 2)
            break;
        if (page[at + 1] == '/') {
            at = read_end(tables, at);
        } else if (page[at + 1] == '!') {
            bool is_comment = size - at >= 4 && page[at + 2] == '-' && page[at + 3] == '-';
            at = is_comment ? skip_to(tables, at + 4, "-->", 3) : skip_to(tables, at + 2, ">", 1);
        } else if (page[at + 1] == '?') {
            at = skip_to(tables, at + 2, ">", 1);
        } else {
            int64_t after = read_start(tables, at);
            if (after < 0)
                return -1;
            at = (uint32_t)after;
        }
    }
    while (tables->open != NOBODY)
        close_open(tables);
    return 0;
}

#endif
