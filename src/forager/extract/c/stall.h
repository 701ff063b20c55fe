/* What a page would cost the parser, as `hostile.overload_in_python` adds it up. */

#ifndef FORAGER_STALL_H
#define FORAGER_STALL_H

#include "growing.h"

typedef uint64_t Flags;

/* What the tree builder does with an element of a name, and names that have rules of their own. */
#define IS_VOID ((Flags)1 << 0)
#define IS_RAW ((Flags)1 << 1)
#define IS_FORMATTING ((Flags)1 << 2)
#define IS_SPECIAL ((Flags)1 << 3)
#define IS_SCOPE ((Flags)1 << 4)
#define IS_BLOCK ((Flags)1 << 5)
#define IS_TABLE ((Flags)1 << 6)
#define IS_MARKER ((Flags)1 << 7)
#define IS_BREAKOUT ((Flags)1 << 8)
#define IS_SVG_POINT ((Flags)1 << 9)
#define CLOSES_P ((Flags)1 << 10)
#define IS_LI ((Flags)1 << 11)
#define IS_TERM ((Flags)1 << 12)
#define IS_CELL ((Flags)1 << 13)
#define IS_TR ((Flags)1 << 14)
#define IS_ROW_GROUP ((Flags)1 << 15)
#define IS_TABLE_OR_TEMPLATE ((Flags)1 << 16)
#define IS_LIST ((Flags)1 << 17)
#define IS_P ((Flags)1 << 18)
#define IS_BUTTON ((Flags)1 << 19)
#define IS_OPTION ((Flags)1 << 20)
#define IS_HEADING ((Flags)1 << 21)
#define IS_NOT_PUSHED ((Flags)1 << 22)
#define IS_SEEN_THROUGH ((Flags)1 << 23)
#define IS_FORM ((Flags)1 << 24)
#define IS_SELECT ((Flags)1 << 25)
#define IS_DRAWING ((Flags)1 << 26)
#define IS_ALONE ((Flags)1 << 27)
#define IS_SCRIPT ((Flags)1 << 28)
#define IS_PLAINTEXT ((Flags)1 << 29)
#define IS_BODY ((Flags)1 << 30)
#define IS_IN_TABLE ((Flags)1 << 31)
#define IS_TEMPLATE ((Flags)1 << 32)
#define HAS_NO_TEXT ((Flags)1 << 33)
#define IS_FRAMESET ((Flags)1 << 34)
#define IS_MATH_POINT ((Flags)1 << 36)
#define IS_ANNOTATION ((Flags)1 << 37)
#define IS_SVG ((Flags)1 << 38)
#define IS_HTML ((Flags)1 << 35)

static const struct {
    Flags flag;
    const char *names;
} NAME_LISTS[] = {
    {IS_VOID, "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr"},
    {IS_RAW, "iframe noembed noframes plaintext script style textarea title xmp"},
    {IS_FORMATTING, "a b big code em font i nobr s small strike strong tt u"},
    {IS_SPECIAL, "address applet area article aside base basefont bgsound blockquote body br button caption center col "
                 "colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 "
                 "h3 h4 h5 h6 head header hgroup hr html iframe img input keygen li link listing main marquee menu "
                 "meta nav noembed noframes noscript object ol p param plaintext pre script search section select "
                 "source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp"},
    {IS_SCOPE, "applet caption html marquee object table td template th annotation-xml desc foreignobject mi mn mo ms "
               "mtext title"},
    {IS_BLOCK, "address applet article aside blockquote button caption center dd details dialog dir div dl dt fieldset "
               "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main marquee menu nav object "
               "ol p pre search section select summary table tbody td template tfoot th thead tr ul"},
    {IS_TABLE, "caption table tbody td template tfoot th thead tr"},
    {IS_MARKER, "applet caption marquee object td template th"},
    {IS_BREAKOUT, "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li "
                  "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"},
    {IS_SVG_POINT, "desc foreignobject title"}, {IS_MATH_POINT, "annotation-xml mi mn mo ms mtext"},
    {IS_ANNOTATION, "annotation-xml"}, {IS_SVG, "svg"},
    {CLOSES_P, "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer "
               "form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section "
               "summary ul xmp dd dt table"},
    {IS_IN_TABLE, "caption col colgroup tbody td tfoot th thead tr"}, {IS_TEMPLATE, "template"}, {IS_HTML, "html"},
    {HAS_NO_TEXT, "table tbody tfoot thead tr"}, {IS_FRAMESET, "frameset"},
    {IS_LI, "li"}, {IS_TERM, "dd dt"}, {IS_CELL, "td th"}, {IS_TR, "tr"}, {IS_ROW_GROUP, "tbody tfoot thead"},
    {IS_TABLE_OR_TEMPLATE, "table template"}, {IS_LIST, "ol ul"}, {IS_P, "p"}, {IS_BUTTON, "button"},
    {IS_OPTION, "option"}, {IS_HEADING, "h1 h2 h3 h4 h5 h6"}, {IS_NOT_PUSHED, "html head body frame"},
    {IS_SEEN_THROUGH, "address div p"}, {IS_FORM, "form"}, {IS_SELECT, "select"}, {IS_DRAWING, "svg math"},
    {IS_ALONE, "a nobr"}, {IS_SCRIPT, "script"}, {IS_PLAINTEXT, "plaintext"}, {IS_BODY, "body"},
};

#define NAME_SLOTS 1024 /* a power of two, well above the names */
#define MOST_BLOCKS 7
#define ALIKE 3
#define FOREIGN_STEP 16
#define LIMITS 5
#define LONGEST_RAW_NAME 9

static struct {
    uint64_t name;
    Flags flags;
} NAME_TABLE[NAME_SLOTS];
/* 0: part of no name; else the letter in lower case. Names end at white space, "/" and ">". */
static Byte LOWER[256];

static inline uint64_t hash_byte(uint64_t hash, Byte byte) { return (hash ^ byte) * 0x100000001B3u; }

#define FIRST_HASH 0xCBF29CE484222325u

static inline size_t name_slot(uint64_t name)
{
    size_t slot = (size_t)(name ^ name >> 32) & (NAME_SLOTS - 1);
    while (NAME_TABLE[slot].name != 0 && NAME_TABLE[slot].name != name)
        slot = (slot + 1) & (NAME_SLOTS - 1);
    return slot;
}

static inline Flags flags_of(uint64_t name) { return NAME_TABLE[name_slot(name)].flags; }

static void make_name_table(void)
{
    for (int byte = 0; byte < 256; byte++)
        LOWER[byte] = byte >= 'A' && byte <= 'Z' ? (Byte)(byte | 32) : (Byte)byte;
    LOWER[0] = 1;
    for (const char *end = "\t\n\f\r />"; *end; end++)
        LOWER[(Byte)*end] = 0;
    for (size_t list = 0; list < sizeof NAME_LISTS / sizeof *NAME_LISTS; list++)
        for (const char *at = NAME_LISTS[list].names; *at;) {
            uint64_t name = FIRST_HASH;
            while (*at && *at != ' ')
                name = hash_byte(name, (Byte)*at++);
            size_t slot = name_slot(name);
            NAME_TABLE[slot].name = name;
            NAME_TABLE[slot].flags |= NAME_LISTS[list].flag;
            at += *at == ' ';
        }
}

typedef struct {
    uint64_t name;
    Flags flags;
    Flags foreign; /* 0, or the flag of elements that hold HTML again */
} Open;

typedef struct {
    uint64_t name; /* 0: a marker */
    const Byte *tag;
    Py_ssize_t tag_bytes;
    int64_t weight;
    Py_ssize_t place; /* -1: to be opened again */
} Formatting;

typedef struct {
    const Byte *page;
    Py_ssize_t size;
    Open *stack;
    Py_ssize_t depth, stack_size;
    Formatting *formatting;
    Py_ssize_t formattings, formatting_size;
    int64_t lost, open_formatting, unsure, tables, templates;
    bool has_form, has_changed, is_cut;
    int64_t text, text_before_table;
    int64_t work[LIMITS], limits[LIMITS], merged[2]; /* of `html`, of `body` */
} Pass;

static inline bool is_ws(Byte byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r'; }

static inline bool is_letter(Byte byte) { return (Byte)((byte | 32) - 'a') < 26; }

static inline const Byte *find_byte(const Byte *at, const Byte *end, Byte byte)
{
    const Byte *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static inline const Open *top_of(const Pass *pass) { return pass->depth ? &pass->stack[pass->depth - 1] : NULL; }

static inline bool is_outside(const Open *entry) { return entry->foreign && !(entry->flags & entry->foreign); }

static inline bool in_foreign(const Pass *pass) { return pass->depth && is_outside(top_of(pass)); }

static int push_open(Pass *pass, uint64_t name, Flags flags, Flags foreign)
{
    if (pass->depth == pass->stack_size) {
        Py_ssize_t size = pass->stack_size ? pass->stack_size * 2 : 64;
        Open *stack = PyMem_Realloc(pass->stack, (size_t)size * sizeof *stack);
        if (stack == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        pass->stack = stack;
        pass->stack_size = size;
    }
    pass->stack[pass->depth++] = (Open){name, flags, foreign};
    return 0;
}

static int push_formatting(Pass *pass, Formatting entry)
{
    if (pass->formattings == pass->formatting_size) {
        Py_ssize_t size = pass->formatting_size ? pass->formatting_size * 2 : 16;
        Formatting *formatting = PyMem_Realloc(pass->formatting, (size_t)size * sizeof *formatting);
        if (formatting == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        pass->formatting = formatting;
        pass->formatting_size = size;
    }
    pass->formatting[pass->formattings++] = entry;
    return 0;
}

static void forget(Pass *pass, Py_ssize_t index)
{
    if (pass->formatting[index].place < 0)
        pass->lost -= pass->formatting[index].weight;
    pass->open_formatting -= pass->formatting[index].name != 0;
    pass->formattings--;
    memmove(&pass->formatting[index], &pass->formatting[index + 1],
            (size_t)(pass->formattings - index) * sizeof *pass->formatting);
}

static void pop_to(Pass *pass, Py_ssize_t place)
{
    bool has_formatting = false;
    pass->has_changed = true;
    while (pass->depth > place) {
        const Open *entry = &pass->stack[--pass->depth];
        pass->unsure -= (entry->flags & (entry->foreign ? IS_ANNOTATION : IS_SELECT)) != 0;
        if (entry->foreign)
            continue;
        has_formatting |= (entry->flags & IS_FORMATTING) != 0;
        pass->templates -= (entry->flags & IS_TEMPLATE) != 0;
        pass->tables -= (entry->flags & IS_TABLE_OR_TEMPLATE) != 0;
        if (entry->flags & IS_MARKER)
            for (bool is_marker = false; pass->formattings && !is_marker;) {
                is_marker = pass->formatting[pass->formattings - 1].name == 0;
                forget(pass, pass->formattings - 1);
            }
    }
    for (Py_ssize_t index = has_formatting ? pass->formattings - 1 : -1; index >= 0; index--) {
        Formatting *entry = &pass->formatting[index];
        if (entry->place >= place) {
            entry->place = -1;
            pass->lost += entry->weight;
        } else if (entry->place >= 0)
            break;
    }
}

static void take_out(Pass *pass, Py_ssize_t place)
{
    pass->has_changed = true;
    pass->depth--;
    memmove(&pass->stack[place], &pass->stack[place + 1], (size_t)(pass->depth - place) * sizeof *pass->stack);
    for (Py_ssize_t index = pass->formattings - 1; index >= 0; index--) {
        Formatting *entry = &pass->formatting[index];
        if (entry->place > place)
            entry->place--;
        else if (entry->place >= 0)
            break;
    }
}

/* `names` and `stops` are flags of single names; with `name` that one is looked for. */
static void close_nearest(Pass *pass, uint64_t name, Flags names, Flags stops, Flags passed)
{
    for (Py_ssize_t place = pass->depth - 1; place >= 0; place--) {
        const Open *entry = &pass->stack[place];
        if (!entry->foreign && (name ? entry->name == name : (entry->flags & names) != 0)) {
            pop_to(pass, place);
            return;
        }
        if (entry->flags & stops && !(entry->flags & passed))
            return;
    }
}

static void end_form(Pass *pass)
{
    pass->has_form = false;
    for (Py_ssize_t place = pass->depth - 1; place >= 0; place--) {
        if (pass->stack[place].flags & IS_FORM) {
            take_out(pass, place);
            return;
        }
        if (pass->stack[place].flags & IS_SCOPE)
            return;
    }
}

static void end_formatting(Pass *pass, uint64_t name)
{
    Py_ssize_t index = pass->formattings - 1;
    while (index >= 0 && pass->formatting[index].name != name && pass->formatting[index].name != 0)
        index--;
    if (index < 0 || pass->formatting[index].name == 0) {
        close_nearest(pass, name, 0, IS_SPECIAL | IS_SCOPE, 0);
        return;
    }
    Py_ssize_t place = pass->formatting[index].place;
    if (place < 0) {
        forget(pass, index);
        return;
    }
    int blocks = 0;
    for (Py_ssize_t above = place + 1; above < pass->depth; above++) {
        if (pass->stack[above].flags & IS_SCOPE)
            return;
        blocks += (pass->stack[above].flags & IS_SPECIAL) != 0;
    }
    if (blocks > MOST_BLOCKS)
        return;
    forget(pass, index);
    if (blocks) {
        pass->work[3] += 3 * blocks;
        take_out(pass, place);
    } else
        pop_to(pass, place);
}

static void end_element(Pass *pass, uint64_t name)
{
    Flags flags = flags_of(name);
    for (Py_ssize_t place = pass->depth; place && pass->stack[place - 1].foreign;) {
        place--;
        pass->work[1] += FOREIGN_STEP;
        if (pass->stack[place].name == name) {
            pop_to(pass, place);
            return;
        }
    }
    if (flags & IS_FORMATTING)
        end_formatting(pass, name);
    else if (flags & IS_FORM)
        end_form(pass);
    else if (flags & IS_HEADING)
        close_nearest(pass, 0, IS_HEADING, IS_SCOPE, 0);
    else if (flags & IS_TABLE)
        close_nearest(pass, name, 0, IS_TABLE_OR_TEMPLATE, 0);
    else if (flags & IS_BLOCK)
        close_nearest(pass, name, 0, flags & IS_SELECT ? 0 : IS_SCOPE | (flags & IS_LI ? IS_LIST : 0), 0);
    else
        close_nearest(pass, name, 0, IS_SPECIAL | IS_SCOPE, 0);
}

static int add_formatting(Pass *pass, uint64_t name, const Byte *tag, Py_ssize_t tag_bytes, int64_t weight)
{
    Py_ssize_t alike = 0, oldest = 0;
    for (Py_ssize_t index = pass->formattings - 1; index >= 0 && pass->formatting[index].name != 0; index--) {
        const Formatting *entry = &pass->formatting[index];
        if (entry->tag_bytes == tag_bytes && memcmp(entry->tag, tag, (size_t)tag_bytes) == 0) {
            alike++;
            oldest = index;
        }
    }
    if (alike >= ALIKE)
        forget(pass, oldest);
    pass->open_formatting++;
    return push_formatting(pass, (Formatting){name, tag, tag_bytes, weight, pass->depth});
}

static bool is_in_table(const Pass *pass)
{
    for (Py_ssize_t place = pass->depth - 1; place >= 0; place--)
        if (pass->stack[place].flags & IS_TABLE_OR_TEMPLATE)
            return !(pass->stack[place].flags & IS_TEMPLATE);
    return false;
}

static void imply_ends(Pass *pass, Flags flags)
{
    static const Flags PARTS[] = {IS_CELL, IS_TR, IS_ROW_GROUP};
    if (flags & (IS_LI | IS_TERM))
        close_nearest(pass, 0, flags & (IS_LI | IS_TERM), IS_SPECIAL, IS_SEEN_THROUGH);
    if (flags & CLOSES_P)
        close_nearest(pass, 0, IS_P, IS_SCOPE | IS_BUTTON, 0);
    for (int part = 0; part < 3; part++)
        if (flags & PARTS[part] && is_in_table(pass))
            close_nearest(pass, 0, PARTS[part], IS_TABLE_OR_TEMPLATE, 0);
    if (flags & IS_BUTTON)
        close_nearest(pass, 0, IS_BUTTON, IS_SCOPE, 0);
    if (flags & (IS_HEADING | IS_OPTION) && pass->depth
        && top_of(pass)->flags & (flags & (IS_HEADING | IS_OPTION)))
        pop_to(pass, pass->depth - 1);
}

static int push_element(Pass *pass, uint64_t name, Flags flags, const Byte *tag, Py_ssize_t tag_bytes,
                        int64_t attributes)
{
    if (flags & IS_FORMATTING) {
        if (flags & IS_ALONE)
            end_formatting(pass, name);
        if (add_formatting(pass, name, tag, tag_bytes, 1 + attributes) < 0)
            return -1;
    }
    if (flags & IS_MARKER && push_formatting(pass, (Formatting){0, NULL, -1, 0, pass->depth}) < 0)
        return -1;
    pass->has_form |= (flags & IS_FORM) != 0;
    pass->unsure += (flags & IS_SELECT) != 0;
    pass->templates += (flags & IS_TEMPLATE) != 0;
    if (!pass->tables)
        pass->text_before_table = 0;
    pass->tables += (flags & IS_TABLE_OR_TEMPLATE) != 0;
    return push_open(pass, name, flags, 0);
}

/* 1 where raw text follows, -1 with an exception. */
static int start_element(Pass *pass, uint64_t name, int64_t attributes, bool is_closed, const Byte *tag,
                         Py_ssize_t tag_bytes)
{
    Flags flags = flags_of(name);
    if (in_foreign(pass) && flags & IS_BREAKOUT) {
        Py_ssize_t place = pass->depth;
        while (place && is_outside(&pass->stack[place - 1]))
            place--;
        pop_to(pass, place);
    }
    if (in_foreign(pass) || flags & IS_DRAWING) {
        pass->has_changed = true;
        if (is_closed)
            return 0;
        Flags point = in_foreign(pass) ? top_of(pass)->foreign : flags & IS_SVG ? IS_SVG_POINT : IS_MATH_POINT;
        pass->unsure += (flags & IS_ANNOTATION) != 0;
        return push_open(pass, name, flags, point);
    }
    if ((flags & IS_IN_TABLE && !pass->tables) || (flags & IS_FORM && pass->has_form && !pass->templates))
        return 0;
    if (flags & IS_NOT_PUSHED) {
        if (flags & (IS_BODY | IS_HTML)) {
            int64_t *merged = &pass->merged[(flags & IS_BODY) != 0];
            pass->work[0] += *merged * attributes;
            *merged += attributes;
        }
        return 0;
    }
    imply_ends(pass, flags);
    pass->has_changed |= !(flags & IS_FRAMESET);
    if (flags & IS_RAW)
        return !pass->unsure;
    return flags & IS_VOID ? 0 : push_element(pass, name, flags, tag, tag_bytes, attributes);
}

static const Byte *skip_attributes(const Byte *at, const Byte *end, int64_t *count, bool *is_closed)
{
    for (;;) {
        const Byte *gap = at;
        while (at < end && (is_ws(*at) || *at == '/'))
            at++;
        if (at >= end || *at == '>') {
            *is_closed = at > gap && at[-1] == '/';
            return at < end ? at + 1 : end;
        }
        ++*count;
        at++; /* also a "=" */
        while (at < end && !is_ws(*at) && *at != '/' && *at != '>' && *at != '=')
            at++;
        const Byte *value = at;
        while (value < end && is_ws(*value))
            value++;
        if (value >= end || *value != '=')
            continue;
        value++;
        while (value < end && is_ws(*value))
            value++;
        if (value < end && (*value == '"' || *value == '\'')) {
            at = find_byte(value + 1, end, *value);
            at += at < end;
        } else {
            at = value;
            while (at < end && !is_ws(*at) && *at != '>')
                at++;
        }
    }
}

static bool starts_with(const Byte *at, const Byte *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* The same name, and then something that ends it. */
static bool is_named(const Byte *at, const Byte *end, uint64_t name)
{
    uint64_t found = FIRST_HASH;
    for (int length = 0; at < end && LOWER[*at]; length++) {
        if (length > LONGEST_RAW_NAME)
            return false;
        found = hash_byte(found, LOWER[*at++]);
    }
    return at < end && found == name;
}

static const Byte *skip_script(const Byte *at, const Byte *end, uint64_t script)
{
    int escaped = 0;
    for (;; at++) {
        while (at < end && *at != '<' && *at != (escaped ? '-' : '<'))
            at++;
        if (at >= end)
            return end;
        if (*at == '-') {
            if (starts_with(at, end, "-->")) {
                escaped = 0;
                at += 2;
            }
        } else if (starts_with(at, end, "<!--")) {
            escaped = escaped ? escaped : 1;
            at++;
        } else if (starts_with(at, end, "</") && is_named(at + 2, end, script)) {
            if (escaped < 2)
                return at;
            escaped = 1;
        } else if (escaped && is_named(at + 1, end, script))
            escaped = 2;
    }
}

static const Byte *skip_raw(const Byte *at, const Byte *end, uint64_t name)
{
    Flags flags = flags_of(name);
    if (flags & IS_PLAINTEXT)
        return end;
    if (flags & IS_SCRIPT)
        return skip_script(at, end, name);
    for (; (at = find_byte(at, end, '<')) < end; at++)
        if (starts_with(at, end, "</") && is_named(at + 2, end, name))
            return at;
    return end;
}

static const Byte *skip_other(Pass *pass, const Byte *at, const Byte *end)
{
    if (starts_with(at, end, "<!--")) {
        pass->work[3]++;
        for (const Byte *found = at + 4; (found = find_byte(found, end, '>')) < end; found++)
            if ((found[-1] == '-' && found[-2] == '-')
                || (found - at >= 7 && found[-1] == '!' && found[-2] == '-' && found[-3] == '-'))
                return found + 1;
        return end;
    }
    if (at + 1 >= end || (at[1] != '!' && at[1] != '?' && at[1] != '/'))
        return at + 1;
    pass->work[3]++;
    if (starts_with(at, end, "<![CDATA[") && in_foreign(pass)) {
        for (const Byte *found = at + 9; (found = find_byte(found, end, '>')) < end; found++)
            if (found - at >= 11 && found[-1] == ']' && found[-2] == ']')
                return found + 1;
        return end;
    }
    const Byte *found = find_byte(at + 2, end, '>');
    return found < end ? found + 1 : end;
}

static void add_text(Pass *pass, const Byte *at, const Byte *end)
{
    const Open *top = top_of(pass);
    if (top != NULL && top->flags & HAS_NO_TEXT && !top->foreign) {
        const Byte *shown = at;
        while (shown < end && is_ws(*shown))
            shown++;
        if (shown < end) {
            pass->text_before_table += end - at;
            pass->work[4] += pass->text_before_table;
        }
        return;
    }
    pass->text += end - at;
    if (pass->is_cut)
        pass->work[4] += pass->text;
    pass->is_cut = false;
}

/* 0, which limit is exceeded from 1 on, or -1 with an exception. */
static int run_pass(Pass *pass)
{
    const Byte *at = pass->page, *end = pass->page + pass->size, *text = at;
    while ((at = find_byte(at, end, '<')) < end) {
        const Byte *tag = at, *letter = at + 1;
        if (tag > text)
            add_text(pass, text, tag);
        bool is_end = letter < end && *letter == '/';
        letter += is_end;
        if (letter >= end || !is_letter(*letter))
            at = skip_other(pass, at, end);
        else {
            uint64_t name = FIRST_HASH;
            for (at = letter; at < end && LOWER[*at]; at++)
                name = hash_byte(name, LOWER[*at]);
            int64_t attributes = 0;
            bool is_closed = false;
            at = skip_attributes(at, end, &attributes, &is_closed);
            pass->work[0] += attributes * attributes;
            pass->work[1] += pass->depth;
            bool is_block = is_end || flags_of(name) & (IS_BLOCK | CLOSES_P);
            pass->work[2] += pass->open_formatting + (is_block ? pass->lost : 0);
            pass->work[3] += 2 + attributes;
            pass->has_changed = false;
            if (is_end)
                end_element(pass, name);
            else {
                int is_raw = start_element(pass, name, attributes, is_closed, tag, at - tag);
                if (is_raw < 0)
                    return -1;
                if (is_raw)
                    at = skip_raw(at, end, name);
            }
            pass->is_cut |= pass->has_changed || attributes > 0;
            if (pass->has_changed)
                pass->text = 0;
        }
        text = at;
        for (int limit = 0; limit < LIMITS; limit++)
            if (pass->work[limit] > pass->limits[limit])
                return limit + 1;
    }
    return 0;
}

#endif
