/* The elements HTML knows by name: how each is shown, and what the rules of parsing say about it. */

#ifndef FORAGER_TAGS_H
#define FORAGER_TAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char Byte;

/* What a byte is, for loops over names and texts. */
enum {
    BYTE_BLANK = 1,     /* white space between attributes */
    BYTE_NAME_END = 2,  /* ends the name of a tag */
    BYTE_EQUAL = 4,     /* ends the name of an attribute besides those */
    BYTE_CHANGED = 8,   /* is another in a name that is known by its lower case */
    BYTE_GAP = 16,      /* white space of a text */
    BYTE_DIGIT = 32,
    BYTE_LEAD = 64,     /* may begin a no-break space */
    BYTE_UNQUOTED_END = 128 /* ends a value without quotes */
};

static uint8_t byte_kinds[256];

static void make_byte_table(void)
{
    for (int byte = 0; byte < 256; byte++) {
        uint8_t kind = 0;
        if (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\f' || byte == '\r')
            kind |= BYTE_BLANK | BYTE_NAME_END | BYTE_GAP | BYTE_UNQUOTED_END;
        if (byte == '\v')
            kind |= BYTE_GAP;
        if (byte == '/' || byte == '>')
            kind |= BYTE_NAME_END;
        if (byte == '>')
            kind |= BYTE_UNQUOTED_END;
        if (byte == '=')
            kind |= BYTE_EQUAL;
        if ((byte >= 'A' && byte <= 'Z') || byte == 0)
            kind |= BYTE_CHANGED;
        if (byte >= '0' && byte <= '9')
            kind |= BYTE_DIGIT;
        if (byte == 0xC2)
            kind |= BYTE_LEAD;
        byte_kinds[byte] = kind;
    }
}

static bool is_letter(Byte byte) { return (Byte)((byte | 0x20) - 'a') < 26; }

static bool is_digit(Byte byte) { return (Byte)(byte - '0') < 10; }

enum { /* how an element is shown */
    IS_BLOCK = 1,    /* begins and ends a line */
    IS_VOID = 2,     /* has no end tag */
    IS_RAW = 4,      /* its content is no markup */
    IS_UNSEEN = 8,   /* its text is never shown */
    IS_CONTROL = 16, /* its text is shown, and is no part of what a page has to say */
    IS_LINK = 32,
    IS_BREAK = 64, /* ends a line, not a paragraph */
    IS_INERT = 128 /* nothing inside it is part of the page */
};

enum { /* what the rules of parsing say; the names are those of the HTML standard where it has one */
    SCOPE = 1,           /* ends a search for an open element "in scope" */
    SPECIAL = 2,
    FORMATTING = 4,
    IMPLIED_END = 8,     /* its end tag is implied by what follows */
    THOROUGH_END = 16,   /* the same where end tags are "generated thoroughly" */
    BREAKOUT = 32,       /* cannot stand in a drawing or formula: ends it */
    CLOSES_P = 64,       /* a block whose start tag ends an open paragraph */
    CLOSED_BLOCK = 128,  /* a block that its end tag closes with everything inside of it */
    HEADING = 256,
    TABLE_PART = 512,    /* table, tbody, tfoot, thead, tr: text in them is moved before the table */
    HEAD_CONTENT = 1024, /* belongs into the head wherever it stands */
    NEUTRAL_VOID = 2048  /* a void element that belongs to the text: area, br, embed, img, keygen, wbr */
};

/* TAG(identifier, name, shown, rules), about by the length of the names. */
#define TAGS(TAG)                                                                                                       \
    TAG(A, "a", IS_LINK, FORMATTING)                                                                                    \
    TAG(B, "b", 0, FORMATTING | BREAKOUT)                                                                               \
    TAG(I, "i", 0, FORMATTING | BREAKOUT)                                                                               \
    TAG(P, "p", IS_BLOCK, SPECIAL | IMPLIED_END | BREAKOUT | CLOSES_P)                                                  \
    TAG(Q, "q", 0, 0)                                                                                                   \
    TAG(S, "s", 0, FORMATTING | BREAKOUT)                                                                               \
    TAG(U, "u", 0, FORMATTING | BREAKOUT)                                                                               \
    TAG(BR, "br", IS_VOID | IS_BREAK, SPECIAL | BREAKOUT | NEUTRAL_VOID)                                                \
    TAG(DD, "dd", IS_BLOCK, SPECIAL | IMPLIED_END | BREAKOUT)                                                           \
    TAG(DL, "dl", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                               \
    TAG(DT, "dt", IS_BLOCK, SPECIAL | IMPLIED_END | BREAKOUT)                                                           \
    TAG(EM, "em", 0, FORMATTING | BREAKOUT)                                                                             \
    TAG(H1, "h1", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(H2, "h2", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(H3, "h3", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(H4, "h4", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(H5, "h5", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(H6, "h6", IS_BLOCK, SPECIAL | BREAKOUT | HEADING)                                                               \
    TAG(HR, "hr", IS_VOID | IS_BLOCK, SPECIAL | BREAKOUT)                                                               \
    TAG(LI, "li", IS_BLOCK, SPECIAL | IMPLIED_END | BREAKOUT)                                                           \
    TAG(MI, "mi", 0, 0)                                                                                                 \
    TAG(MN, "mn", 0, 0)                                                                                                 \
    TAG(MO, "mo", 0, 0)                                                                                                 \
    TAG(MS, "ms", 0, 0)                                                                                                 \
    TAG(OL, "ol", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                               \
    TAG(RB, "rb", 0, IMPLIED_END)                                                                                       \
    TAG(RP, "rp", 0, IMPLIED_END)                                                                                       \
    TAG(RT, "rt", 0, IMPLIED_END)                                                                                       \
    TAG(TD, "td", IS_BLOCK, SCOPE | SPECIAL | THOROUGH_END)                                                             \
    TAG(TH, "th", IS_BLOCK, SCOPE | SPECIAL | THOROUGH_END)                                                             \
    TAG(TR, "tr", IS_BLOCK, SPECIAL | THOROUGH_END | TABLE_PART)                                                        \
    TAG(TT, "tt", 0, FORMATTING | BREAKOUT)                                                                             \
    TAG(UL, "ul", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                               \
    TAG(BIG, "big", 0, FORMATTING | BREAKOUT)                                                                           \
    TAG(COL, "col", IS_VOID, SPECIAL)                                                                                   \
    TAG(DIR, "dir", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                        \
    TAG(DIV, "div", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                             \
    TAG(IMG, "img", IS_VOID, SPECIAL | BREAKOUT | NEUTRAL_VOID)                                                         \
    TAG(NAV, "nav", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                        \
    TAG(PRE, "pre", IS_BLOCK, SPECIAL | BREAKOUT | CLOSED_BLOCK)                                                        \
    TAG(RTC, "rtc", 0, IMPLIED_END)                                                                                     \
    TAG(SUB, "sub", 0, BREAKOUT)                                                                                        \
    TAG(SUP, "sup", 0, BREAKOUT)                                                                                        \
    TAG(SVG, "svg", IS_CONTROL, 0)                                                                                      \
    TAG(VAR, "var", 0, BREAKOUT)                                                                                        \
    TAG(WBR, "wbr", IS_VOID, SPECIAL | NEUTRAL_VOID)                                                                    \
    TAG(XMP, "xmp", IS_BLOCK | IS_RAW, SPECIAL)                                                                         \
    TAG(AREA, "area", IS_VOID, SPECIAL | NEUTRAL_VOID)                                                                  \
    TAG(BASE, "base", IS_VOID, SPECIAL | HEAD_CONTENT)                                                                  \
    TAG(BODY, "body", IS_BLOCK, SPECIAL | BREAKOUT)                                                                     \
    TAG(CODE, "code", 0, FORMATTING | BREAKOUT)                                                                         \
    TAG(DESC, "desc", 0, 0)                                                                                             \
    TAG(FONT, "font", 0, FORMATTING)                                                                                    \
    TAG(FORM, "form", IS_BLOCK, SPECIAL)                                                                                \
    TAG(HEAD, "head", IS_BLOCK | IS_CONTROL, SPECIAL | BREAKOUT)                                                        \
    TAG(HTML, "html", IS_BLOCK, SCOPE | SPECIAL)                                                                        \
    TAG(LINK, "link", IS_VOID, SPECIAL | HEAD_CONTENT)                                                                  \
    TAG(MAIN, "main", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                      \
    TAG(MATH, "math", 0, 0)                                                                                             \
    TAG(MENU, "menu", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                           \
    TAG(META, "meta", IS_VOID, SPECIAL | BREAKOUT | HEAD_CONTENT)                                                       \
    TAG(NOBR, "nobr", 0, FORMATTING | BREAKOUT)                                                                         \
    TAG(RUBY, "ruby", 0, BREAKOUT)                                                                                      \
    TAG(SPAN, "span", 0, BREAKOUT)                                                                                      \
    TAG(TIME, "time", 0, 0)                                                                                             \
    TAG(ASIDE, "aside", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                    \
    TAG(AUDIO, "audio", IS_CONTROL, 0)                                                                                  \
    TAG(EMBED, "embed", IS_VOID, SPECIAL | BREAKOUT | NEUTRAL_VOID)                                                     \
    TAG(FRAME, "frame", IS_VOID, SPECIAL)                                                                               \
    TAG(IMAGE, "image", 0, 0)                                                                                           \
    TAG(INPUT, "input", IS_VOID, SPECIAL)                                                                               \
    TAG(LABEL, "label", 0, 0)                                                                                           \
    TAG(MTEXT, "mtext", 0, 0)                                                                                           \
    TAG(PARAM, "param", IS_VOID, SPECIAL)                                                                               \
    TAG(SMALL, "small", 0, FORMATTING | BREAKOUT)                                                                       \
    TAG(STYLE, "style", IS_RAW | IS_UNSEEN, SPECIAL | HEAD_CONTENT)                                                     \
    TAG(TABLE, "table", IS_BLOCK, SCOPE | SPECIAL | BREAKOUT | TABLE_PART)                                              \
    TAG(TBODY, "tbody", IS_BLOCK, SPECIAL | THOROUGH_END | TABLE_PART)                                                  \
    TAG(TFOOT, "tfoot", IS_BLOCK, SPECIAL | THOROUGH_END | TABLE_PART)                                                  \
    TAG(THEAD, "thead", IS_BLOCK, SPECIAL | THOROUGH_END | TABLE_PART)                                                  \
    TAG(TITLE, "title", IS_BLOCK, SPECIAL | HEAD_CONTENT)                                                               \
    TAG(TRACK, "track", IS_VOID, SPECIAL)                                                                               \
    TAG(VIDEO, "video", IS_CONTROL, 0)                                                                                  \
    TAG(APPLET, "applet", 0, SCOPE | SPECIAL)                                                                           \
    TAG(BUTTON, "button", IS_BLOCK | IS_CONTROL, SPECIAL | CLOSED_BLOCK)                                                \
    TAG(CANVAS, "canvas", IS_CONTROL, 0)                                                                                \
    TAG(CENTER, "center", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                                       \
    TAG(DIALOG, "dialog", IS_BLOCK, CLOSES_P | CLOSED_BLOCK)                                                            \
    TAG(FIGURE, "figure", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                  \
    TAG(FOOTER, "footer", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                  \
    TAG(HEADER, "header", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                  \
    TAG(HGROUP, "hgroup", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                  \
    TAG(IFRAME, "iframe", IS_RAW | IS_UNSEEN, SPECIAL)                                                                  \
    TAG(KEYGEN, "keygen", IS_VOID, SPECIAL | NEUTRAL_VOID)                                                              \
    TAG(LEGEND, "legend", IS_BLOCK, 0)                                                                                  \
    TAG(OBJECT, "object", 0, SCOPE | SPECIAL)                                                                           \
    TAG(OPTION, "option", IS_BLOCK | IS_CONTROL, IMPLIED_END)                                                           \
    TAG(SCRIPT, "script", IS_RAW | IS_UNSEEN, SPECIAL | HEAD_CONTENT)                                                   \
    TAG(SEARCH, "search", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                  \
    TAG(SELECT, "select", IS_BLOCK | IS_CONTROL, SCOPE | SPECIAL | CLOSED_BLOCK)                                        \
    TAG(SOURCE, "source", IS_VOID, SPECIAL)                                                                             \
    TAG(STRIKE, "strike", 0, FORMATTING | BREAKOUT)                                                                     \
    TAG(STRONG, "strong", 0, FORMATTING | BREAKOUT)                                                                     \
    TAG(ADDRESS, "address", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                \
    TAG(ARTICLE, "article", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                \
    TAG(BGSOUND, "bgsound", IS_VOID, SPECIAL | HEAD_CONTENT)                                                            \
    TAG(CAPTION, "caption", IS_BLOCK, SCOPE | SPECIAL | THOROUGH_END)                                                   \
    TAG(DETAILS, "details", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                \
    TAG(LISTING, "listing", 0, SPECIAL | BREAKOUT | CLOSED_BLOCK)                                                       \
    TAG(MARQUEE, "marquee", 0, SCOPE | SPECIAL)                                                                         \
    TAG(NOEMBED, "noembed", IS_RAW | IS_UNSEEN, SPECIAL)                                                                \
    TAG(SECTION, "section", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                \
    TAG(SUMMARY, "summary", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                                \
    TAG(BASEFONT, "basefont", IS_VOID, SPECIAL | HEAD_CONTENT)                                                          \
    TAG(COLGROUP, "colgroup", 0, SPECIAL | THOROUGH_END)                                                                \
    TAG(DATALIST, "datalist", IS_CONTROL, 0)                                                                            \
    TAG(FIELDSET, "fieldset", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                              \
    TAG(FRAMESET, "frameset", IS_BLOCK, SPECIAL)                                                                        \
    TAG(NOFRAMES, "noframes", IS_RAW | IS_UNSEEN, SPECIAL | HEAD_CONTENT)                                               \
    TAG(NOSCRIPT, "noscript", IS_UNSEEN, SPECIAL)                                                                       \
    TAG(OPTGROUP, "optgroup", IS_BLOCK | IS_CONTROL, IMPLIED_END)                                                       \
    TAG(TEMPLATE, "template", IS_INERT | IS_UNSEEN, SCOPE | SPECIAL | HEAD_CONTENT)                                     \
    TAG(TEXTAREA, "textarea", IS_BLOCK | IS_CONTROL, SPECIAL)                                                           \
    TAG(MGLYPH, "mglyph", 0, 0)                                                                                         \
    TAG(PLAINTEXT, "plaintext", IS_BLOCK | IS_RAW, SPECIAL)                                                             \
    TAG(BLOCKQUOTE, "blockquote", IS_BLOCK, SPECIAL | BREAKOUT | CLOSES_P | CLOSED_BLOCK)                               \
    TAG(FIGCAPTION, "figcaption", IS_BLOCK, SPECIAL | CLOSES_P | CLOSED_BLOCK)                                          \
    TAG(MALIGNMARK, "malignmark", 0, 0)                                                                                 \
    TAG(FOREIGNOBJECT, "foreignobject", 0, 0)                                                                           \
    TAG(ANNOTATION_XML, "annotation-xml", 0, 0)

typedef enum {
#define TAG(identifier, name, shown, rules) TAG_##identifier,
    TAGS(TAG)
#undef TAG
        TAG_COUNT,
    NO_KIND = UINT8_MAX
} TagKind;

_Static_assert(TAG_COUNT < NO_KIND, "a kind fits a byte");

typedef struct {
    const char *name;
    uint8_t length, flags;
    uint16_t rules;
} Kind;

static const Kind KINDS[] = {
#define TAG(identifier, name, shown, rules) {name, sizeof name - 1, shown, rules},
    TAGS(TAG)
#undef TAG
};

/* By a hash of length, first and last byte; kinds with the same hash follow each other in a chain. */
#define KIND_SLOTS 512
static uint8_t kind_slots[KIND_SLOTS], kind_chain[TAG_COUNT];

static size_t kind_slot(const Byte *name, size_t length)
{
    return (name[0] * 31u + name[length - 1] * 7u + name[length / 2] * 3u + length * 11u) % KIND_SLOTS;
}

static void make_kind_table(void)
{
    memset(kind_slots, NO_KIND, sizeof kind_slots);
    for (size_t kind = TAG_COUNT; kind-- > 0;) {
        size_t slot = kind_slot((const Byte *)KINDS[kind].name, KINDS[kind].length);
        kind_chain[kind] = kind_slots[slot];
        kind_slots[slot] = (uint8_t)kind;
    }
}

/* Its number in KINDS; `name` is in lower case. */
static uint8_t kind_of(const Byte *name, size_t length)
{
    if (length == 0)
        return NO_KIND;
    uint8_t kind = kind_slots[kind_slot(name, length)];
    while (kind != NO_KIND && (KINDS[kind].length != length || memcmp(KINDS[kind].name, name, length) != 0))
        kind = kind_chain[kind];
    return kind;
}

#endif
