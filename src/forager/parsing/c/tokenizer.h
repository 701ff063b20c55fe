/* Reads a page of UTF-8 into tags and texts for `builder.h` (13.2.5 of the HTML standard), and writes the tree that comes
 * of it into tables.
 *
 * Texts stay where they stand in the page; only what has to be decoded (references, capital letters of names) is written
 * behind it. So a page is gone through once, mostly by `memchr`.
 */

#ifndef FORAGER_TOKENIZER_H
#define FORAGER_TOKENIZER_H

#include <strings.h>

#include "builder.h"

static const Byte REPLACEMENT[3] = {0xEF, 0xBF, 0xBD}; /* U+FFFD */

/* ---- texts --------------------------------------------------------------------------------------------------------- */

enum { DECODE_TEXT, DECODE_ATTRIBUTE, DECODE_NOTHING };
enum { NUL_DROPPED, NUL_REPLACED };

typedef struct {
    uint32_t at, length;
} Piece;

/* The text with its references decoded; as it stands where there are none. */
static Piece decoded(Builder *builder, uint32_t at, uint32_t end, int how, int nul)
{
    const Byte *page = builder->tables->page;
    bool has_reference = how != DECODE_NOTHING && memchr(page + at, '&', end - at) != NULL;
    bool has_nul = builder->has_nul && memchr(page + at, '\0', end - at) != NULL;
    if (!has_reference && !has_nul)
        return (Piece){at, end - at};
    /* no reference is shorter than half of what it means, and a NUL is replaced by three bytes */
    Byte *start = reserve(builder, 3 * (end - at) + 8), *to = start;
    const Byte *from = builder->tables->page + at, *stop = builder->tables->page + end;
    while (from < stop) {
        if (*from == '&' && has_reference) {
            size_t meaning_length = 0;
            size_t length = read_reference(from, stop, how == DECODE_ATTRIBUTE, to, &meaning_length);
            if (length) {
                from += length;
                to += meaning_length;
                continue;
            }
        } else if (*from == '\0') {
            from++;
            if (nul == NUL_REPLACED) {
                memcpy(to, REPLACEMENT, sizeof REPLACEMENT);
                to += sizeof REPLACEMENT;
            }
            continue;
        }
        *to++ = *from++;
    }
    Piece piece = {builder->tables->used, (uint32_t)(to - start)};
    builder->tables->used += piece.length;
    return piece;
}

/* A name in lower case; `met` is what bytes it has. */
static Piece lowered(Builder *builder, uint32_t at, uint32_t end, uint8_t met)
{
    if (!(met & BYTE_CHANGED))
        return (Piece){at, end - at};
    Byte *start = reserve(builder, 3 * (end - at)), *to = start;
    for (const Byte *from = builder->tables->page + at, *stop = builder->tables->page + end; from < stop; from++) {
        if (*from == '\0') {
            memcpy(to, REPLACEMENT, sizeof REPLACEMENT);
            to += sizeof REPLACEMENT;
        } else {
            *to++ = (Byte)(*from - 'A') < 26 ? (Byte)(*from + 32) : *from;
        }
    }
    Piece piece = {builder->tables->used, (uint32_t)(to - start)};
    builder->tables->used += piece.length;
    return piece;
}

/* ---- tags ---------------------------------------------------------------------------------------------------------- */

static bool is_blank(Byte byte) { return (byte_kinds[byte] & BYTE_BLANK) != 0; }

static bool ends_name(Byte byte) { return (byte_kinds[byte] & BYTE_NAME_END) != 0; }

/* The first byte that is one of these, from `at` on; `met` is what bytes there are before it. */
static uint32_t skip_name(const Builder *builder, uint32_t at, uint8_t ends, uint8_t *met)
{
    const Byte *page = builder->tables->page;
    uint8_t kinds = 0, kind;
    for (; at < builder->size && !((kind = byte_kinds[page[at]]) & ends); at++)
        kinds |= kind;
    *met = kinds;
    return at;
}

static bool is_known(const Builder *builder, const Tag *tag, Piece name)
{
    const Attribute *attribute = builder->tables->attributes + tag->attribute_first;
    for (const Attribute *end = attribute + tag->attribute_count; attribute < end; attribute++)
        if (is_same_text(builder, attribute->name_at, attribute->name_length, name.at, name.length))
            return true;
    return false;
}

static void add_attribute(Builder *builder, Tag *tag, Piece name, Piece value)
{
    Tables *tables = builder->tables;
    if (tag->attribute_count == UINT16_MAX || (tag->attribute_count <= MOST_COMPARED && is_known(builder, tag, name)))
        return;
    if (tables->attribute_count == tables->attribute_size)
        tables->attributes = grown(builder, tables->attributes, &tables->attribute_size, sizeof *tables->attributes,
                                   tables->attribute_count + 1);
    uint16_t name_length = (uint16_t)(name.length < UINT16_MAX ? name.length : UINT16_MAX);
    tables->attributes[tables->attribute_count++] = (Attribute){name.at, value.at, value.length, name_length};
    tag->attribute_count++;
}

/* From behind the name of a tag to behind its `>`; false where the page ends before. An end tag keeps no attributes. */
static bool read_attributes(Builder *builder, Tag *tag, bool keeps)
{
    uint32_t size = builder->size, at = builder->at;
    for (;;) {
        const Byte *page = builder->tables->page;
        while (at < size && (is_blank(page[at]) || page[at] == '/')) {
            tag->is_self_closing = page[at] == '/' && at + 1 < size && page[at + 1] == '>';
            at++;
        }
        if (at >= size)
            return false;
        if (page[at] == '>') {
            builder->at = at + 1;
            return true;
        }
        uint8_t met; /* a name may begin with `=` */
        uint32_t end = skip_name(builder, at + 1, BYTE_NAME_END | BYTE_EQUAL, &met);
        met |= byte_kinds[page[at]];
        uint32_t name = at, name_end = end;
        while (end < size && is_blank(page[end]))
            end++;
        uint32_t value = end, value_end = end;
        if (end < size && page[end] == '=') {
            end++;
            while (end < size && is_blank(page[end]))
                end++;
            if (end >= size)
                return false;
            if (page[end] == '"' || page[end] == '\'') {
                value = end + 1;
                const Byte *quote = memchr(page + value, page[end], size - value);
                if (quote == NULL)
                    return false;
                value_end = (uint32_t)(quote - page);
                end = value_end + 1;
            } else {
                uint8_t ignored;
                value = end;
                value_end = end = skip_name(builder, end, BYTE_UNQUOTED_END, &ignored);
            }
        }
        if (end >= size)
            return false;
        tag->is_self_closing = false;
        if (keeps) {
            Piece given = decoded(builder, value, value_end, DECODE_ATTRIBUTE, NUL_REPLACED);
            add_attribute(builder, tag, lowered(builder, name, name_end, met), given);
        }
        at = end;
    }
}

/* At the name of a tag; false where the page ends inside of it. */
static bool read_tag(Builder *builder, Tag *tag, bool is_end)
{
    uint8_t met;
    uint32_t end = skip_name(builder, builder->at, BYTE_NAME_END, &met);
    Piece name = lowered(builder, builder->at, end, met);
    *tag = (Tag){.name_at = name.at,
                 .name_length = name.length,
                 .attribute_first = builder->tables->attribute_count,
                 .kind = kind_of(builder->tables->page + name.at, name.length)};
    builder->at = end;
    return read_attributes(builder, tag, !is_end);
}

/* ---- texts that are no markup -------------------------------------------------------------------------------------- */

static bool is_end_tag(const Builder *builder, uint32_t at, const Byte *name, uint32_t length)
{
    const Byte *page = builder->tables->page + at;
    return at + 2 + length < builder->size && page[1] == '/' &&
           strncasecmp((const char *)page + 2, (const char *)name, length) == 0 && ends_name(page[2 + length]);
}

static uint32_t find_byte(const Builder *builder, uint32_t at, Byte byte)
{
    const Byte *page = builder->tables->page;
    const Byte *found = at < builder->size ? memchr(page + at, byte, builder->size - at) : NULL;
    return found ? (uint32_t)(found - page) : builder->size;
}

static uint32_t find_bytes(const Builder *builder, uint32_t at, const char *bytes)
{
    const Byte *page = builder->tables->page;
    const Byte *found = at < builder->size ? memmem(page + at, builder->size - at, bytes, strlen(bytes)) : NULL;
    return found ? (uint32_t)(found - page) : builder->size;
}

/* Where the end tag of a script begins. One that lies in a comment with another script in it does not end it. */
static uint32_t find_script_end(const Builder *builder, uint32_t at)
{
    enum { PLAIN, ESCAPED, TWICE_ESCAPED } state = PLAIN;
    uint32_t comment_end = 0; /* where the comment that is open ends; 0: not looked for */
    while (at < builder->size) {
        uint32_t tag = find_byte(builder, at, '<');
        if (state != PLAIN) {
            if (comment_end < at)
                comment_end = find_bytes(builder, at, "-->");
            if (comment_end < tag) {
                state = PLAIN;
                at = comment_end + 3;
                continue;
            }
        }
        if (tag >= builder->size)
            break;
        const Byte *page = builder->tables->page + tag;
        uint32_t left_over = builder->size - tag;
        if (state == PLAIN && left_over >= 4 && memcmp(page, "<!--", 4) == 0) {
            state = ESCAPED;
            at = tag + 2; /* its own dashes may end it: `<!-->` */
            comment_end = 0;
            continue;
        }
        if (state != TWICE_ESCAPED && is_end_tag(builder, tag, (const Byte *)"script", 6))
            return tag;
        if (state == TWICE_ESCAPED && is_end_tag(builder, tag, (const Byte *)"script", 6))
            state = ESCAPED;
        else if (state == ESCAPED && left_over > 7 && strncasecmp((const char *)page + 1, "script", 6) == 0 &&
                 ends_name(page[7]))
            state = TWICE_ESCAPED;
        at = tag + 1;
    }
    return builder->size;
}

static uint32_t find_raw_end(const Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_PLAINTEXT)
        return builder->size;
    if (tag->kind == TAG_SCRIPT)
        return find_script_end(builder, builder->at);
    const Byte *name = (const Byte *)KINDS[tag->kind].name;
    for (uint32_t at = builder->at;; at++) {
        at = find_byte(builder, at, '<');
        if (at >= builder->size || is_end_tag(builder, at, name, KINDS[tag->kind].length))
            return at;
    }
}

/* An element whose content is a text, with that and its end tag. */
static void read_raw_text(Builder *builder, const Tag *tag, bool decodes)
{
    insert_element(builder, tag, HTML_SPACE);
    uint32_t at = builder->at, end = find_raw_end(builder, tag);
    if (tag->kind == TAG_TEXTAREA && at < end && builder->tables->page[at] == '\n')
        at++;
    Piece text = decoded(builder, at, end, decodes ? DECODE_TEXT : DECODE_NOTHING, NUL_REPLACED);
    insert_text(builder, text.at, text.length);
    pop(builder);
    builder->at = end;
    if (end >= builder->size)
        return;
    builder->at = end + 2;
    Tag ignored;
    if (!read_tag(builder, &ignored, true))
        builder->at = builder->size;
}

/* ---- comments, doctypes -------------------------------------------------------------------------------------------- */

static uint32_t behind_comment(const Builder *builder, uint32_t at)
{
    const Byte *page = builder->tables->page;
    if (at < builder->size && page[at] == '>')
        return at + 1;
    if (at + 1 < builder->size && page[at] == '-' && page[at + 1] == '>')
        return at + 2;
    for (;; at++) {
        at = find_bytes(builder, at, "--");
        if (at >= builder->size)
            return builder->size;
        if (at + 2 < builder->size && page[at + 2] == '>')
            return at + 3;
        if (at + 3 < builder->size && page[at + 2] == '!' && page[at + 3] == '>')
            return at + 4;
    }
}

/* Public identifiers of doctypes whose pages are shown as before there were standards. */
static const char *const QUIRKY[] = {
    "+//silmaril//dtd html pro v0r11 19970101//", "-//as//dtd html 3.0 aswedit + extensions//",
    "-//advasoft ltd//dtd html 3.0 aswedit + extensions//", "-//ietf//dtd html 2.0 level 1//",
    "-//ietf//dtd html 2.0 level 2//", "-//ietf//dtd html 2.0 strict level 1//", "-//ietf//dtd html 2.0 strict level 2//",
    "-//ietf//dtd html 2.0 strict//", "-//ietf//dtd html 2.0//", "-//ietf//dtd html 2.1e//", "-//ietf//dtd html 3.0//",
    "-//ietf//dtd html 3.2 final//", "-//ietf//dtd html 3.2//", "-//ietf//dtd html 3//", "-//ietf//dtd html level 0//",
    "-//ietf//dtd html level 1//", "-//ietf//dtd html level 2//", "-//ietf//dtd html level 3//",
    "-//ietf//dtd html strict level 0//", "-//ietf//dtd html strict level 1//", "-//ietf//dtd html strict level 2//",
    "-//ietf//dtd html strict level 3//", "-//ietf//dtd html strict//", "-//ietf//dtd html//",
    "-//metrius//dtd metrius presentational//", "-//microsoft//dtd internet explorer 2.0 html strict//",
    "-//microsoft//dtd internet explorer 2.0 html//", "-//microsoft//dtd internet explorer 2.0 tables//",
    "-//microsoft//dtd internet explorer 3.0 html strict//", "-//microsoft//dtd internet explorer 3.0 html//",
    "-//microsoft//dtd internet explorer 3.0 tables//", "-//netscape comm. corp.//dtd html//",
    "-//netscape comm. corp.//dtd strict html//", "-//o'reilly and associates//dtd html 2.0//",
    "-//o'reilly and associates//dtd html extended 1.0//", "-//o'reilly and associates//dtd html extended relaxed 1.0//",
    "-//sq//dtd html 2.0 hotmetal + extensions//", "-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//",
    "-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//", "-//spyglass//dtd html 2.0 extended//",
    "-//sun microsystems corp.//dtd hotjava html//", "-//sun microsystems corp.//dtd hotjava strict html//",
    "-//w3c//dtd html 3 1995-03-24//", "-//w3c//dtd html 3.2 draft//", "-//w3c//dtd html 3.2 final//",
    "-//w3c//dtd html 3.2//", "-//w3c//dtd html 3.2s draft//", "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//", "-//w3c//dtd html experimental 19960712//",
    "-//w3c//dtd html experimental 970421//", "-//w3c//dtd w3 html//", "-//w3o//dtd w3 html 3.0//",
    "-//webtechs//dtd mozilla html 2.0//", "-//webtechs//dtd mozilla html//",
};

typedef struct {
    const char *text;
    size_t length;
} Quoted;

static bool is_text_of(Quoted quoted, const char *wanted)
{
    return quoted.length == strlen(wanted) && strncasecmp(quoted.text, wanted, quoted.length) == 0;
}

static bool starts_like(Quoted quoted, const char *wanted)
{
    return quoted.length >= strlen(wanted) && strncasecmp(quoted.text, wanted, strlen(wanted)) == 0;
}

/* The next text in quotes; false where something else stands there. */
static bool read_quoted(const Byte **at, const Byte *end, Quoted *quoted)
{
    while (*at < end && is_blank(**at))
        ++*at;
    if (*at >= end || (**at != '"' && **at != '\''))
        return false;
    const Byte *start = *at + 1, *quote = memchr(start, **at, (size_t)(end - start));
    if (quote == NULL)
        return false;
    *quoted = (Quoted){(const char *)start, (size_t)(quote - start)};
    *at = quote + 1;
    return true;
}

/* From behind `<!doctype` to its `>`. */
static bool is_quirky(const Byte *at, const Byte *end)
{
    while (at < end && is_blank(*at))
        at++;
    const Byte *name = at;
    while (at < end && !is_blank(*at))
        at++;
    if (at - name != 4 || strncasecmp((const char *)name, "html", 4) != 0)
        return true;
    while (at < end && is_blank(*at))
        at++;
    if (at == end)
        return false;
    Quoted public = {NULL, 0}, system = {NULL, 0};
    bool has_public = end - at >= 6 && strncasecmp((const char *)at, "public", 6) == 0;
    bool has_system = end - at >= 6 && strncasecmp((const char *)at, "system", 6) == 0;
    if (!has_public && !has_system)
        return true;
    at += 6;
    if (has_public) {
        if (!read_quoted(&at, end, &public))
            return true;
        has_system = read_quoted(&at, end, &system);
        if (!has_system && at < end && (*at == '"' || *at == '\''))
            return true;
    } else if (!read_quoted(&at, end, &system)) {
        return true;
    }
    if (is_text_of(system, "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"))
        return true;
    if (!has_public)
        return false;
    if (is_text_of(public, "-//w3o//dtd w3 html strict 3.0//en//") || is_text_of(public, "-/w3c/dtd html 4.0 transitional/en") ||
        is_text_of(public, "html"))
        return true;
    if (!has_system && (starts_like(public, "-//w3c//dtd html 4.01 frameset//") ||
                        starts_like(public, "-//w3c//dtd html 4.01 transitional//")))
        return true;
    for (size_t known = 0; known < sizeof QUIRKY / sizeof *QUIRKY; known++)
        if (starts_like(public, QUIRKY[known]))
            return true;
    return false;
}

/* At the `<!` of a comment, a doctype or something else that is passed over. */
static void read_declaration(Builder *builder)
{
    const Byte *page = builder->tables->page + builder->at;
    uint32_t left_over = builder->size - builder->at;
    if (left_over >= 4 && memcmp(page, "<!--", 4) == 0) {
        builder->at = behind_comment(builder, builder->at + 4);
        on_comment(builder);
        return;
    }
    if (left_over >= 9 && strncasecmp((const char *)page + 2, "doctype", 7) == 0) {
        uint32_t end = find_byte(builder, builder->at + 9, '>');
        if (builder->mode == INITIAL) {
            builder->is_quirky = end == builder->size || is_quirky(page + 9, builder->tables->page + end);
            builder->mode = BEFORE_HTML;
        }
        builder->skips_newline = false;
        builder->at = end < builder->size ? end + 1 : end;
        return;
    }
    if (left_over >= 9 && memcmp(page, "<![CDATA[", 9) == 0 && is_foreign(builder)) {
        uint32_t start = builder->at + 9, end = find_bytes(builder, start, "]]>");
        Piece text = decoded(builder, start, end, DECODE_NOTHING, NUL_REPLACED);
        builder->at = end < builder->size ? end + 3 : end;
        on_text(builder, text.at, text.length);
        return;
    }
    uint32_t end = find_byte(builder, builder->at + 2, '>');
    builder->at = end < builder->size ? end + 1 : end;
    on_comment(builder);
}

/* ---- the page ------------------------------------------------------------------------------------------------------ */

/* Where the text that begins here ends: at a `<` that begins something. */
static uint32_t find_markup(const Builder *builder, uint32_t at)
{
    const Byte *page = builder->tables->page;
    for (;; at++) {
        at = find_byte(builder, at, '<');
        if (at + 1 >= builder->size)
            return builder->size;
        Byte next = page[at + 1];
        if (is_letter(next) || next == '!' || next == '?' || (next == '/' && at + 2 < builder->size))
            return at;
    }
}

static void read_markup(Builder *builder)
{
    const Byte *page = builder->tables->page;
    Byte next = page[builder->at + 1];
    Tag tag;
    if (next == '!') {
        read_declaration(builder);
        return;
    }
    if (next == '?' || (next == '/' && !is_letter(page[builder->at + 2]))) {
        bool is_empty = next == '/' && page[builder->at + 2] == '>';
        uint32_t end = find_byte(builder, builder->at + 2, '>');
        builder->at = end < builder->size ? end + 1 : end;
        if (!is_empty)
            on_comment(builder);
        return;
    }
    bool is_end = next == '/';
    builder->at += is_end ? 2 : 1;
    uint32_t attribute_count = builder->tables->attribute_count;
    if (!read_tag(builder, &tag, is_end)) {
        builder->tables->attribute_count = attribute_count;
        builder->at = builder->size;
        return;
    }
    if (is_end)
        on_end(builder, &tag);
    else
        on_start(builder, &tag);
}

static void read_page(Builder *builder)
{
    while (builder->at < builder->size && builder->element_count < MOST_ELEMENTS) {
        uint32_t end = find_markup(builder, builder->at);
        if (end > builder->at) {
            bool is_in_foreign = is_foreign(builder) && !is_math_text(current(builder)) && !holds_html(current(builder));
            Piece text = decoded(builder, builder->at, end, DECODE_TEXT, is_in_foreign ? NUL_REPLACED : NUL_DROPPED);
            builder->at = end;
            on_text(builder, text.at, text.length);
        }
        if (builder->at < builder->size)
            read_markup(builder);
    }
    on_end_of_page(builder);
}

/* ---- into tables --------------------------------------------------------------------------------------------------- */

/* Texts that stand beside each other are one. */
static Piece join_texts(Builder *builder, uint32_t first, uint32_t *last)
{
    Piece piece = {builder->nodes[first].at, builder->nodes[first].length};
    *last = first;
    while (!(builder->nodes[*last].flags & NODE_SEALED)) {
        uint32_t next = builder->nodes[*last].next;
        if (next == NOBODY || builder->nodes[next].type != NODE_TEXT)
            break;
        const Node *more = &builder->nodes[next];
        Byte *to = reserve(builder, piece.length + more->length);
        if (piece.at + piece.length != builder->tables->used) {
            memcpy(to, builder->tables->page + piece.at, piece.length);
            piece.at = builder->tables->used;
            builder->tables->used += piece.length;
            to += piece.length;
        }
        memcpy(to, builder->tables->page + more->at, more->length);
        builder->tables->used += more->length;
        piece.length += more->length;
        *last = next;
    }
    return piece;
}

static int write_tables(Builder *builder)
{
    Tables *tables = builder->tables;
    tables->open = NOBODY;
    uint32_t number = builder->nodes[0].first;
    while (number != NOBODY) {
        const Node *node = &builder->nodes[number];
        uint32_t next = NOBODY;
        if (node->type == NODE_TEXT) {
            uint32_t last;
            Piece text = join_texts(builder, number, &last);
            if (add_text(tables, text.at, text.length) < 0)
                return -1;
            node = &builder->nodes[last];
        } else if (node->type == NODE_ELEMENT) {
            Element element = {.tag_at = node->at,
                               .tag_length = (uint16_t)(node->length < UINT16_MAX ? node->length : UINT16_MAX),
                               .attribute_first = node->attribute_first,
                               .attribute_count = node->attribute_count,
                               .space = node->space,
                               .kind = node->kind};
            if (open_element(tables, element) < 0)
                return -1;
            uint8_t flags = tables->elements[tables->element_count - 1].flags;
            if (flags & IS_RAW && node->first != NOBODY) {
                Element *raw = &tables->elements[tables->element_count - 1];
                uint32_t last;
                Piece text = join_texts(builder, node->first, &last);
                raw->content_at = text.at;
                raw->content_end = text.at + text.length;
                if (!(flags & IS_UNSEEN) && add_text(tables, text.at, text.length) < 0)
                    return -1;
            } else if (!(flags & (IS_INERT | IS_VOID))) {
                next = node->first;
            }
            if (next == NOBODY && !(flags & IS_VOID))
                close_element(tables);
        }
        while (next == NOBODY && node->type != NODE_DOCUMENT) {
            next = node->next;
            if (next != NOBODY)
                break;
            node = &builder->nodes[node->parent];
            if (node->type == NODE_ELEMENT)
                close_element(tables);
        }
        number = next;
    }
    return 0;
}

/* The page into the buffer, its line ends as line feeds. */
static void take_page(Builder *builder, const Byte *page, size_t length)
{
    Tables *tables = builder->tables;
    Byte *to = reserve(builder, (uint32_t)length + (uint32_t)length / 8 + 64);
    const Byte *end = page + length;
    while (page < end) {
        const Byte *sign = memchr(page, '\r', (size_t)(end - page)), *stop = sign ? sign : end;
        memcpy(to, page, (size_t)(stop - page));
        to += stop - page;
        page = stop;
        if (sign) {
            *to++ = '\n';
            page += page + 1 < end && page[1] == '\n' ? 2 : 1;
        }
    }
    tables->used = builder->size = (uint32_t)(to - tables->page);
    builder->has_nul = memchr(tables->page, '\0', builder->size) != NULL;
}

/* Fills empty tables; -1 without memory, and they are empty then. */
static int build_tables(Tables *tables, const Byte *page, size_t length)
{
    Builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return -1;
    builder->tables = tables;
    builder->head = builder->form = NOBODY;
    builder->is_frameset_ok = true;
    volatile int done = -1;
    if (setjmp(builder->out_of_memory) == 0) {
        take_page(builder, page, length);
        new_node(builder, (Node){.type = NODE_DOCUMENT, .kind = NO_KIND});
        read_page(builder);
        tables->reopened = builder->reopened;
        done = write_tables(builder);
    }
    free(builder->nodes);
    free(builder);
    if (done < 0)
        forget_tables(tables);
    return done;
}

#endif
