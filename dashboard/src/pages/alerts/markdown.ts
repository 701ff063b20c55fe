/** As much Markdown as our runbooks use, as data; whoever shows it makes elements, never HTML. Pure. */

export type Inline = { kind: "text" | "code" | "strong"; text: string };
export type Block =
  | { kind: "title" | "text"; parts: Inline[] }
  | { kind: "list"; items: Inline[][] }
  | { kind: "code"; text: string };

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\([^)]*\)/g;

export function partsOf(text: string): Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > end) parts.push({ kind: "text", text: text.slice(end, found.index) });
    const [all, code, strong, link] = found;
    parts.push(
      code !== undefined
        ? { kind: "code", text: code }
        : strong !== undefined
          ? { kind: "strong", text: strong }
          : { kind: "text", text: link ?? "" },
    );
    end = found.index + all.length;
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let isFresh = true;
  let fence: string[] | null = null;
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith("```")) {
      if (fence) blocks.push({ kind: "code", text: fence.join("\n") });
      fence = fence ? null : [];
      isFresh = true;
      continue;
    }
    if (fence) {
      fence.push(line);
      continue;
    }
    const last = blocks.at(-1);
    const title = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)$/.exec(line)?.[1];
    if (!line.trim()) {
      isFresh = true;
      continue;
    }
    if (title !== undefined) blocks.push({ kind: "title", parts: partsOf(title) });
    else if (item !== undefined) {
      if (last?.kind === "list") last.items.push(partsOf(item));
      else blocks.push({ kind: "list", items: [partsOf(item)] });
    } else if (!isFresh && last?.kind === "list") last.items.at(-1)?.push(...partsOf(` ${line.trim()}`));
    else if (!isFresh && last?.kind === "text") last.parts.push(...partsOf(` ${line.trim()}`));
    else blocks.push({ kind: "text", parts: partsOf(line.trim()) });
    isFresh = title !== undefined;
  }
  return blocks;
}
