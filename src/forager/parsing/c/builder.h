/* Builds the tree of a page as the HTML standard says (13.2.6, tree construction), from the tags of `tokenizer.h`.
 *
 * The functions are called after the standard's insertion modes and keep to the order of its rules. Left out is what no
 * reader of a page needs: errors, positions, the content of comments, the case of names in drawings.
 */

#ifndef FORAGER_BUILDER_H
#define FORAGER_BUILDER_H

#include "table_modes.h"

/* ---- drawings and formulas ----------------------------------------------------------------------------------------- */

static bool is_foreign(const Builder *builder)
{
    return builder->depth > 0 && current(builder)->space != HTML_SPACE;
}

static void leave_foreign(Builder *builder)
{
    while (is_foreign(builder) && !is_math_text(current(builder)) && !holds_html(current(builder)))
        pop(builder);
}

/* Whether a start tag is one of the drawing or formula it stands in. */
static bool belongs_to_foreign(const Builder *builder, const Tag *tag)
{
    const Node *node = current(builder);
    if (is_math_text(node) && tag->kind != TAG_MGLYPH && tag->kind != TAG_MALIGNMARK)
        return false;
    if (node->space == MATH_SPACE && node->kind == TAG_ANNOTATION_XML && tag->kind == TAG_SVG)
        return false;
    return !holds_html(node);
}

static bool breaks_out(const Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_FONT)
        return has_value(builder, tag, "color", NULL) || has_value(builder, tag, "face", NULL) ||
               has_value(builder, tag, "size", NULL);
    return tag->kind != NO_KIND && KINDS[tag->kind].rules & BREAKOUT;
}

/* False when the rules of the mode decide. */
static bool end_in_foreign(Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_BR || tag->kind == TAG_P) {
        leave_foreign(builder);
        return false;
    }
    for (uint32_t at = builder->depth; at-- > 1;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (node->space == HTML_SPACE)
            return false;
        if (is_same_text(builder, node->at, node->length, tag->name_at, tag->name_length)) {
            while (builder->depth > at)
                pop(builder);
            return true;
        }
    }
    return false;
}

/* ---- before the body ----------------------------------------------------------------------------------------------- */

static void create_root(Builder *builder, const Tag *tag)
{
    builder->stack[0] = 0;
    builder->depth = 1;
    uint32_t number = tag ? insert_element(builder, tag, HTML_SPACE) : insert_implied(builder, TAG_HTML);
    builder->stack[0] = number; /* in place of the document */
    builder->depth = 1;
    builder->mode = BEFORE_HEAD;
}

/* What every token implies that does not belong before the body: each call goes one mode further. */
static void imply_next(Builder *builder)
{
    switch (builder->mode) {
    case INITIAL:
        builder->is_quirky = true;
        builder->mode = BEFORE_HTML;
        break;
    case BEFORE_HTML:
        create_root(builder, NULL);
        break;
    case BEFORE_HEAD:
        builder->head = insert_implied(builder, TAG_HEAD);
        builder->mode = IN_HEAD;
        break;
    case IN_HEAD_NOSCRIPT:
        pop(builder);
        builder->mode = IN_HEAD;
        break;
    case IN_HEAD:
        pop(builder);
        builder->mode = AFTER_HEAD;
        break;
    default: /* AFTER_HEAD */
        insert_implied(builder, TAG_BODY);
        builder->mode = IN_BODY;
    }
}

static bool is_before_body(const Builder *builder) { return builder->mode <= AFTER_HEAD; }

/* True when the tag is done with. */
static bool start_before_body(Builder *builder, Tag *tag)
{
    if (builder->mode == INITIAL)
        return false;
    if (tag->kind == TAG_HTML) {
        if (builder->mode == BEFORE_HTML)
            create_root(builder, tag);
        else
            start_in_body(builder, tag);
        return true;
    }
    switch (builder->mode) {
    case BEFORE_HEAD:
        if (tag->kind != TAG_HEAD)
            return false;
        builder->head = insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_HEAD;
        return true;
    case IN_HEAD:
        if (is_head_content(tag)) {
            start_head_content(builder, tag);
            return true;
        }
        if (tag->kind == TAG_NOSCRIPT) {
            insert_element(builder, tag, HTML_SPACE);
            builder->mode = IN_HEAD_NOSCRIPT;
            return true;
        }
        return tag->kind == TAG_HEAD;
    case IN_HEAD_NOSCRIPT:
        switch (tag->kind) {
        case TAG_BASEFONT:
        case TAG_BGSOUND:
        case TAG_LINK:
        case TAG_META:
        case TAG_NOFRAMES:
        case TAG_STYLE:
            start_head_content(builder, tag);
            return true;
        case TAG_HEAD:
        case TAG_NOSCRIPT:
            return true;
        default:
            return false;
        }
    case AFTER_HEAD:
        if (tag->kind == TAG_BODY || tag->kind == TAG_FRAMESET) {
            insert_element(builder, tag, HTML_SPACE);
            builder->mode = tag->kind == TAG_BODY ? IN_BODY : IN_FRAMESET;
            builder->is_frameset_ok &= tag->kind == TAG_FRAMESET;
            return true;
        }
        if (is_head_content(tag)) {
            push(builder, builder->head);
            start_head_content(builder, tag);
            remove_open(builder, builder->head);
            return true;
        }
        return tag->kind == TAG_HEAD;
    default:
        return false;
    }
}

static bool end_before_body(Builder *builder, const Tag *tag)
{
    bool implies = tag->kind == TAG_HEAD || tag->kind == TAG_BODY || tag->kind == TAG_HTML || tag->kind == TAG_BR;
    switch (builder->mode) {
    case INITIAL:
        return false;
    case BEFORE_HTML:
    case BEFORE_HEAD:
        return !implies;
    case IN_HEAD:
        if (tag->kind == TAG_HEAD) {
            pop(builder);
            builder->mode = AFTER_HEAD;
            return true;
        }
        break;
    case IN_HEAD_NOSCRIPT:
        if (tag->kind == TAG_NOSCRIPT) {
            pop(builder);
            builder->mode = IN_HEAD;
        }
        return tag->kind != TAG_BR;
    default:
        implies &= tag->kind != TAG_HEAD;
    }
    if (tag->kind == TAG_TEMPLATE)
        end_template(builder);
    return !implies;
}

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

static bool start_in_template(Builder *builder, Tag *tag)
{
    if (is_head_content(tag)) {
        start_head_content(builder, tag);
        return false;
    }
    switch (tag->kind) {
    case TAG_CAPTION:
    case TAG_COLGROUP:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        replace_template_mode(builder, IN_TABLE);
        break;
    case TAG_COL:
        replace_template_mode(builder, IN_COLUMN_GROUP);
        break;
    case TAG_TR:
        replace_template_mode(builder, IN_TABLE_BODY);
        break;
    case TAG_TD:
    case TAG_TH:
        replace_template_mode(builder, IN_ROW);
        break;
    default:
        replace_template_mode(builder, IN_BODY);
    }
    return true;
}

static bool start_in_column_group(Builder *builder, Tag *tag)
{
    if (tag->kind == TAG_HTML) {
        start_in_body(builder, tag);
        return false;
    }
    if (tag->kind == TAG_COL) {
        insert_void(builder, tag);
        return false;
    }
    if (tag->kind == TAG_TEMPLATE) {
        start_head_content(builder, tag);
        return false;
    }
    return close_column_group(builder);
}

static void start_in_frameset(Builder *builder, Tag *tag)
{
    if (tag->kind == TAG_HTML)
        start_in_body(builder, tag);
    else if (tag->kind == TAG_NOFRAMES)
        start_head_content(builder, tag);
    else if (builder->mode == IN_FRAMESET && tag->kind == TAG_FRAMESET)
        insert_element(builder, tag, HTML_SPACE);
    else if (builder->mode == IN_FRAMESET && tag->kind == TAG_FRAME)
        insert_void(builder, tag);
}

static bool start_once(Builder *builder, Tag *tag)
{
    switch (builder->mode) {
    case IN_BODY:
        start_in_body(builder, tag);
        return false;
    case IN_TABLE:
        return start_in_table(builder, tag);
    case IN_TABLE_BODY:
        return start_in_table_body(builder, tag);
    case IN_ROW:
        return start_in_row(builder, tag);
    case IN_CELL:
        if (is_table_start(tag)) {
            if (!is_in_scope(builder, TAG_TD, IN_TABLE_SCOPE) && !is_in_scope(builder, TAG_TH, IN_TABLE_SCOPE))
                return false;
            close_cell(builder);
            return true;
        }
        start_in_body(builder, tag);
        return false;
    case IN_CAPTION:
        if (is_table_start(tag))
            return close_caption(builder);
        start_in_body(builder, tag);
        return false;
    case IN_COLUMN_GROUP:
        return start_in_column_group(builder, tag);
    case IN_TEMPLATE:
        return start_in_template(builder, tag);
    case AFTER_BODY:
    case AFTER_AFTER_BODY:
        if (tag->kind == TAG_HTML) {
            start_in_body(builder, tag);
            return false;
        }
        builder->mode = IN_BODY;
        return true;
    case IN_FRAMESET:
    case AFTER_FRAMESET:
    case AFTER_AFTER_FRAMESET:
        start_in_frameset(builder, tag);
        return false;
    default:
        if (start_before_body(builder, tag))
            return false;
        imply_next(builder);
        return true;
    }
}

static void on_start(Builder *builder, Tag *tag)
{
    builder->skips_newline = false;
    if (is_foreign(builder) && belongs_to_foreign(builder, tag)) {
        if (!breaks_out(builder, tag)) {
            start_foreign(builder, tag, current(builder)->space);
            return;
        }
        leave_foreign(builder);
    }
    while (start_once(builder, tag))
        ;
}

static bool end_once(Builder *builder, const Tag *tag)
{
    switch (builder->mode) {
    case IN_BODY:
        end_in_body(builder, tag);
        return false;
    case IN_TABLE:
        end_in_table(builder, tag);
        return false;
    case IN_TABLE_BODY:
        return end_in_table_body(builder, tag);
    case IN_ROW:
        return end_in_row(builder, tag);
    case IN_CELL:
        return end_in_cell(builder, tag);
    case IN_CAPTION:
        if (tag->kind == TAG_CAPTION) {
            close_caption(builder);
            return false;
        }
        if (tag->kind == TAG_TABLE)
            return close_caption(builder);
        if (!is_table_end(tag))
            end_in_body(builder, tag);
        return false;
    case IN_COLUMN_GROUP:
        if (tag->kind == TAG_TEMPLATE) {
            end_template(builder);
            return false;
        }
        if (tag->kind == TAG_COL)
            return false;
        return close_column_group(builder) && tag->kind != TAG_COLGROUP;
    case IN_TEMPLATE:
        if (tag->kind == TAG_TEMPLATE)
            end_template(builder);
        return false;
    case AFTER_BODY:
        if (tag->kind == TAG_HTML) {
            builder->mode = AFTER_AFTER_BODY;
            return false;
        }
        builder->mode = IN_BODY;
        return true;
    case AFTER_AFTER_BODY:
        builder->mode = IN_BODY;
        return true;
    case IN_FRAMESET:
        if (tag->kind == TAG_FRAMESET && builder->depth > 1) {
            pop(builder);
            if (!is_html(current(builder), TAG_FRAMESET))
                builder->mode = AFTER_FRAMESET;
        }
        return false;
    case AFTER_FRAMESET:
        if (tag->kind == TAG_HTML)
            builder->mode = AFTER_AFTER_FRAMESET;
        return false;
    case AFTER_AFTER_FRAMESET:
        return false;
    default:
        if (end_before_body(builder, tag))
            return false;
        imply_next(builder);
        return true;
    }
}

static void on_end(Builder *builder, const Tag *tag)
{
    builder->skips_newline = false;
    if (is_foreign(builder) && end_in_foreign(builder, tag))
        return;
    while (end_once(builder, tag))
        ;
}

static uint32_t count_gaps(const Builder *builder, uint32_t at, uint32_t length)
{
    const Byte *text = builder->tables->page + at;
    uint32_t gaps = 0;
    while (gaps < length && (text[gaps] == ' ' || text[gaps] == '\n' || text[gaps] == '\t' || text[gaps] == '\f' ||
                             text[gaps] == '\r'))
        gaps++;
    return gaps;
}

static void text_in_body(Builder *builder, uint32_t at, uint32_t length)
{
    reconstruct(builder);
    insert_text(builder, at, length);
    if (builder->is_frameset_ok && count_gaps(builder, at, length) < length)
        builder->is_frameset_ok = false;
}

static void text_in_table(Builder *builder, uint32_t at, uint32_t length)
{
    if ((rules_of(current(builder)) & TABLE_PART || is_html(current(builder), TAG_TEMPLATE)) &&
        count_gaps(builder, at, length) == length) {
        insert_text(builder, at, length);
        return;
    }
    builder->fosters = true;
    text_in_body(builder, at, length);
    builder->fosters = false;
}

static void on_text(Builder *builder, uint32_t at, uint32_t length)
{
    if (builder->skips_newline && length && builder->tables->page[at] == '\n') {
        at++;
        length--;
    }
    builder->skips_newline = false;
    if (is_foreign(builder) && !is_math_text(current(builder)) && !holds_html(current(builder))) {
        insert_text(builder, at, length);
        builder->is_frameset_ok &= count_gaps(builder, at, length) == length;
        return;
    }
    while (length) {
        uint32_t gaps;
        switch (builder->mode) {
        case IN_BODY:
        case IN_CELL:
        case IN_CAPTION:
        case IN_TEMPLATE:
            text_in_body(builder, at, length);
            return;
        case IN_TABLE:
        case IN_TABLE_BODY:
        case IN_ROW:
            text_in_table(builder, at, length);
            return;
        case AFTER_BODY:
        case AFTER_AFTER_BODY:
            if (count_gaps(builder, at, length) < length)
                builder->mode = IN_BODY;
            text_in_body(builder, at, length);
            return;
        case IN_FRAMESET:
        case AFTER_FRAMESET:
        case AFTER_AFTER_FRAMESET:
            return;
        default:
            gaps = count_gaps(builder, at, length);
            if (gaps && builder->mode > BEFORE_HEAD)
                insert_text(builder, at, gaps);
            at += gaps;
            length -= gaps;
            if (length == 0)
                return;
            if (builder->mode != IN_COLUMN_GROUP)
                imply_next(builder);
            else if (!close_column_group(builder))
                return;
        }
    }
}

/* A comment has no text, but it parts the texts around it. */
static void on_comment(Builder *builder)
{
    builder->skips_newline = false;
    if (builder->depth == 0 || builder->mode == AFTER_AFTER_BODY)
        return;
    uint32_t parent = builder->stack[builder->mode == AFTER_BODY ? 0 : builder->depth - 1];
    uint32_t last = builder->nodes[parent].last;
    if (last != NOBODY && builder->nodes[last].type == NODE_TEXT)
        builder->nodes[last].flags |= NODE_SEALED;
}

static void on_end_of_page(Builder *builder)
{
    while (has_open(builder, TAG_TEMPLATE) || is_before_body(builder)) {
        if (has_open(builder, TAG_TEMPLATE)) {
            pop_until(builder, TAG_TEMPLATE);
            clear_to_marker(builder);
            builder->template_count -= builder->template_count > 0;
            reset_mode(builder);
        } else {
            imply_next(builder);
        }
    }
}

#endif
