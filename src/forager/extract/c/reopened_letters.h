/* The part of reopened.h that looks at letters, for each size that a letter of Python's has. No guard: it is included
 * once for each. */

static Py_ssize_t OF(find)(const LETTER *text, Py_ssize_t length, Py_ssize_t at, uint32_t letter)
{
    if (sizeof(LETTER) == 1) {
        const void *found = at < length ? memchr(text + at, (int)letter, (size_t)(length - at)) : NULL;
        return found == NULL ? length : (const LETTER *)found - text;
    }
    for (; at + STRIDE <= length; at += STRIDE) { /* a compiler compares many at once where all are compared */
        unsigned found = 0;
        for (int each = 0; each < STRIDE; each++)
            found |= text[at + each] == (LETTER)letter;
        if (found)
            break;
    }
    while (at < length && text[at] != letter)
        at++;
    return at;
}

static bool OF(says)(const LETTER *text, Py_ssize_t length, Py_ssize_t at, const char *what)
{
    for (; *what; what++, at++)
        if (at >= length || text[at] != (LETTER)*what)
            return false;
    return true;
}

/* `</name` or `<name`, in any case, and then the end of a name. */
static bool OF(says_tag)(const LETTER *text, Py_ssize_t length, Py_ssize_t at, const char *name)
{
    for (; *name; name++, at++)
        if (at >= length || !is_ascii_letter(text[at]) || (text[at] | 0x20) != (LETTER)*name)
            return false;
    return at < length && ends_tag_name(text[at]);
}

/* All tags; those of formatting elements that begin one; those of bodies. */
static void OF(count)(const LETTER *text, Py_ssize_t length, long long *counts)
{
    for (Py_ssize_t at = 0; (at = OF(find)(text, length, at, '<') + 1) <= length;) {
        counts[0]++;
        uint32_t first = at < length ? text[at] | 0x20u : 0;
        if (first < 'b' || first > 'u')
            continue;
        if (first == 'b' ? OF(says_tag)(text, length, at, "body") : first == 'h' && OF(says_tag)(text, length, at, "html"))
            counts[2]++;
        for (size_t name = 0; name < FORMATTING_COUNT; name++)
            if ((uint32_t)FORMATTING_NAMES[name][0] == first && OF(says_tag)(text, length, at, FORMATTING_NAMES[name])) {
                counts[1]++;
                break;
            }
    }
}

static Py_ssize_t OF(skip_attributes)(const LETTER *text, Py_ssize_t length, Py_ssize_t at)
{
    while (at < length && text[at] != '>') {
        if (is_tag_gap(text[at]) || text[at] == '/') {
            at++;
            continue;
        }
        at++;
        while (at < length && !ends_tag_name(text[at]) && text[at] != '=')
            at++;
        Py_ssize_t sign = at;
        while (sign < length && is_tag_gap(text[sign]))
            sign++;
        if (sign >= length || text[sign] != '=')
            continue;
        at = sign + 1;
        while (at < length && is_tag_gap(text[at]))
            at++;
        if (at < length && (text[at] == '"' || text[at] == '\'')) {
            at = OF(find)(text, length, at + 1, text[at]);
            at += at < length;
        } else {
            while (at < length && !is_tag_gap(text[at]) && text[at] != '>')
                at++;
        }
    }
    return at;
}

static Py_ssize_t OF(skip_other)(const LETTER *text, Py_ssize_t length, Py_ssize_t at)
{
    if (OF(says)(text, length, at, "<!--")) {
        for (Py_ssize_t end = at + 4; (end = OF(find)(text, length, end, '>')) < length; end++) {
            bool is_dashed = end - 2 >= at + 2 && text[end - 1] == '-' && text[end - 2] == '-';
            bool is_marked = end - 3 >= at + 4 && text[end - 1] == '!' && text[end - 2] == '-' && text[end - 3] == '-';
            if (is_dashed || is_marked)
                return end + 1;
        }
        return length;
    }
    if (at + 1 < length && (text[at + 1] == '!' || text[at + 1] == '?' || text[at + 1] == '/')) {
        Py_ssize_t end = OF(find)(text, length, at + 2, '>');
        return end < length ? end + 1 : length;
    }
    return at + 1;
}

static Py_ssize_t OF(skip_raw)(const LETTER *text, Py_ssize_t length, Py_ssize_t at, const char *name)
{
    for (; (at = OF(find)(text, length, at, '<')) < length; at++)
        if (at + 1 < length && text[at + 1] == '/' && OF(says_tag)(text, length, at + 2, name))
            return at;
    return length;
}

static Py_ssize_t OF(skip_script)(const LETTER *text, Py_ssize_t length, Py_ssize_t at)
{
    bool is_comment = false, is_inner = false;
    while (at < length) {
        Py_ssize_t tag = OF(find)(text, length, at, '<');
        if (is_comment) { /* only there do the ends of comments matter */
            for (Py_ssize_t end = at; end < tag; end++)
                if (OF(says)(text, length, end, "-->")) {
                    is_comment = is_inner = false;
                    break;
                }
        }
        if (tag >= length)
            return length;
        at = tag + 1;
        if (OF(says)(text, length, tag, "<!--")) {
            is_comment = true;
            at = tag + 2; /* the dashes may end it at once */
        } else if (at < length && text[at] == '/' && OF(says_tag)(text, length, at + 1, "script")) {
            if (!is_inner)
                return tag;
            is_inner = false;
        } else if (is_comment && OF(says_tag)(text, length, at, "script")) {
            is_inner = true;
        }
    }
    return length;
}

static long long OF(follow)(Following *page, const LETTER *text, Py_ssize_t length)
{
    Py_ssize_t at = 0;
    while ((at = OF(find)(text, length, at, '<')) < length) {
        bool is_end = at + 1 < length && text[at + 1] == '/';
        Py_ssize_t start = at, name_at = at + 1 + is_end;
        if (name_at >= length || !is_ascii_letter(text[name_at])) {
            at = OF(skip_other)(text, length, at);
            continue;
        }
        char name[LONGEST_NAME];
        Py_ssize_t name_end = name_at;
        for (; name_end < length && !ends_tag_name(text[name_end]); name_end++)
            if (name_end - name_at < LONGEST_NAME) {
                uint32_t letter = text[name_end];
                name[name_end - name_at] = (char)(letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter < 128 ? letter : 0);
            }
        size_t number =
            name_end - name_at <= LONGEST_NAME ? name_number(name, (size_t)(name_end - name_at)) : NO_NAME;
        Py_ssize_t end = OF(skip_attributes)(text, length, name_end);
        at = end + 1;
        if (!is_end && is_named(number, "plaintext"))
            break;
        uint8_t flags = number == NO_NAME ? 0 : TAG_NAMES[number].flags;
        if (flags & NAME_FORMATTING) {
            uint64_t tag = 1469598103934665603u;
            for (Py_ssize_t each = start; !is_end && each < end; each++)
                tag = (tag ^ text[each]) * 1099511628211u;
            if (is_end)
                end_formatting(page, number);
            else
                start_formatting(page, number, tag);
        } else {
            page->reopened += page->open_count;
            if (flags & NAME_LEVEL && is_end)
                leave_level(page, number);
            else if (flags & NAME_LEVEL)
                enter_level(page, number);
            if (!is_end) {
                page->blocks += (flags & NAME_BLOCK) != 0;
                if (flags & NAME_RAW && !page->foreign)
                    at = is_named(number, "script") ? OF(skip_script)(text, length, at)
                                                    : OF(skip_raw)(text, length, at, TAG_NAMES[number].name);
            }
        }
        if (page->open_count > MOST_OPEN || page->level_count > DEEPEST)
            return MANY;
    }
    return page->reopened;
}
