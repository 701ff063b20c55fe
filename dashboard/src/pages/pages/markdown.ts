/** Reads the Markdown that Forager writes: its own subset, no HTML. What it does not know stays text. */

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "break" }
  | { kind: "strong" | "em" | "del"; inside: Inline[] }
  | { kind: "link"; url: string; inside: Inline[] }
  | { kind: "image"; url: string; alt: string };
export type Block =
  | { kind: "heading"; level: number; outline: number; inside: Inline[] }
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "code"; text: string; language: string }
  | { kind: "rule" }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; start: number | null; items: Block[][] }
  | { kind: "table"; rows: Inline[][][] };

const FENCE = /^(`{3,})(.*)$/;
const HEADING = /^(#{1,6}) (.*)$/;
const ITEM = /^([-*]|\d{1,9}[.)])( +|$)/;
const DELIMITER = /^\| ?---/;
const DEEPEST = 16;
const MARKS = [
  ["**", "strong"],
  ["~~", "del"],
  ["*", "em"],
] as const;

export function readMarkdown(text: string): Block[] {
  const blocks = readBlocks(text.split("\n"), 0);
  setOutline(blocks, 0);
  return blocks;
}

/** Pages skip levels of headings; readers of screens should not. Returns the level of the last one. */
function setOutline(blocks: Block[], before: number): number {
  let last = before;
  for (const block of blocks) {
    if (block.kind === "heading") {
      block.outline = Math.min(block.level, last + 1);
      last = block.outline;
    } else if (block.kind === "quote") last = setOutline(block.blocks, last);
    else if (block.kind === "list") for (const item of block.items) last = setOutline(item, last);
  }
  return last;
}

function readBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (!line.trim()) {
      at += 1;
      continue;
    }
    const [block, next] = depth < DEEPEST ? readBlock(lines, at, depth) : readParagraph(lines, at);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function readBlock(lines: string[], at: number, depth: number): [Block, number] {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && lines[end] !== fence[1]) end += 1;
    return [{ kind: "code", text: lines.slice(at + 1, end).join("\n"), language: fence[2] ?? "" }, end + 1];
  }
  const heading = HEADING.exec(line);
  if (heading)
    return [
      { kind: "heading", level: heading[1]?.length ?? 1, outline: 1, inside: readInline(heading[2] ?? "") },
      at + 1,
    ];
  if (line === "---") return [{ kind: "rule" }, at + 1];
  if (line.startsWith(">")) return readQuote(lines, at, depth);
  if (ITEM.test(line)) return readList(lines, at, depth);
  if (line.startsWith("|") && DELIMITER.test(lines[at + 1] ?? "")) return readTable(lines, at);
  return readParagraph(lines, at);
}

function readQuote(lines: string[], at: number, depth: number): [Block, number] {
  let end = at;
  while (lines[end]?.startsWith(">")) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(/^> ?/, ""));
  return [{ kind: "quote", blocks: readBlocks(inside, depth + 1) }, end];
}

function readList(lines: string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at] ?? "")?.[1] ?? "";
  const isOrdered = /\d/.test(first);
  const mark = first.slice(-1);
  const items: Block[][] = [];
  let end = at;
  while (end < lines.length) {
    const line = lines[end] ?? "";
    const found = ITEM.exec(line);
    if (found?.[1]?.slice(-1) !== mark) break;
    const indent = " ".repeat(found[0].length);
    const inside = [line.slice(found[0].length)];
    end += 1;
    for (; end < lines.length; end += 1) {
      const next = lines[end] ?? "";
      if (next.trim() && !next.startsWith(indent)) break;
      inside.push(next.slice(indent.length));
    }
    items.push(readBlocks(inside, depth + 1));
  }
  return [{ kind: "list", start: isOrdered ? Number.parseInt(first, 10) : null, items }, end];
}

function readTable(lines: string[], at: number): [Block, number] {
  let end = at;
  while (lines[end]?.startsWith("|")) end += 1;
  const rows = lines
    .slice(at, end)
    .filter((_, row) => row !== 1)
    .map((line) =>
      line
        .slice(1, line.endsWith("|") ? -1 : undefined)
        .split(/(?<!\\)\|/)
        .map((cell) => readInline(cell.trim().replaceAll("\\|", "|"))),
    );
  return [{ kind: "table", rows }, end];
}

function readParagraph(lines: string[], at: number): [Block, number] {
  let end = at + 1;
  while (lines[end]?.trim() && !ITEM.test(lines[end] ?? "")) end += 1;
  return [{ kind: "paragraph", inside: readInline(lines.slice(at, end).join("\n")) }, end];
}

/** Text with its marks. One that is not closed stays text. */
export function readInline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  let plain = "";
  let at = 0;
  const add = (...inline: Inline[]) => {
    if (plain) found.push({ kind: "text", text: plain });
    plain = "";
    found.push(...inline);
  };
  while (at < text.length) {
    const char = text[at];
    if (char === "\\" && at + 1 < text.length) {
      if (text[at + 1] === "\n") add({ kind: "break" });
      else plain += text[at + 1];
      at += 2;
      continue;
    }
    const special = depth < DEEPEST ? readSpecial(text, at, depth) : null;
    if (special) {
      add(special[0]);
      at = special[1];
      continue;
    }
    plain += char === "\n" ? " " : char;
    at += 1;
  }
  add();
  return found;
}

function readSpecial(text: string, at: number, depth: number): [Inline, number] | null {
  if (text[at] === "`") return readCode(text, at);
  if (text[at] === "[" || text.startsWith("![", at)) return readLink(text, at, depth);
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const end = findMark(text, at + mark.length, mark);
    if (end > at + mark.length) {
      return [{ kind, inside: readInline(text.slice(at + mark.length, end), depth + 1) }, end + mark.length];
    }
  }
  return null;
}

function readCode(text: string, at: number): [Inline, number] {
  const fence = (/^`+/.exec(text.slice(at)) as RegExpExecArray)[0];
  const end = text.indexOf(fence, at + fence.length);
  if (end < 0) return [{ kind: "text", text: fence }, at + fence.length];
  const code = text.slice(at + fence.length, end);
  const isPadded = /^ .* $/.test(code) && code.includes("`");
  return [{ kind: "code", text: isPadded ? code.slice(1, -1) : code }, end + fence.length];
}

function readLink(text: string, at: number, depth: number): [Inline, number] | null {
  const isImage = text[at] === "!";
  const start = at + (isImage ? 2 : 1);
  const end = findBracket(text, start);
  const target =
    end < 0 ? null : /^\]\((?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))\)/.exec(text.slice(end, end + 2100));
  if (!target) return null;
  const url = target[1] ?? target[2] ?? "";
  const said = text.slice(start, end);
  const next = end + target[0].length;
  return isImage
    ? [{ kind: "image", url, alt: said.replaceAll(/\\(.)/g, "$1") }, next]
    : [{ kind: "link", url, inside: readInline(said, depth + 1) }, next];
}

function findBracket(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") depth += 1;
    else if (text[at] === "]" && depth-- === 0) return at;
  }
  return -1;
}

function findMark(text: string, start: number, mark: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (mark === "*" && text.startsWith("**", at) && text[at + 2] !== "*") at += 1;
    else if (text.startsWith(mark, at)) return mark === "**" && text.startsWith("***", at) ? at + 1 : at;
  }
  return -1;
}
