/** Text with the places that were looked for. Pure: pieces of text, never HTML. */

export interface Piece {
  text: string;
  isMatch: boolean;
}

/** The server counts characters; JavaScript counts half of some of them, so emoji need care. */
export function pieces(text: string, matches: readonly (readonly number[])[]): Piece[] {
  const characters = Array.from(text);
  const found: Piece[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of [...matches].sort((one, other) => (one[0] ?? 0) - (other[0] ?? 0))) {
    const start = Math.max(from, at);
    if (to <= start || start >= characters.length) continue;
    if (start > at) found.push({ text: characters.slice(at, start).join(""), isMatch: false });
    found.push({ text: characters.slice(start, to).join(""), isMatch: true });
    at = to;
  }
  if (at < characters.length) found.push({ text: characters.slice(at).join(""), isMatch: false });
  return found;
}
