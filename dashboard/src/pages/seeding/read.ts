/** Addresses out of whatever is pasted or dropped: one in a line, a CSV with a rank, a sitemap. Pure. */

export interface Given {
  url: string;
  /** Where it stood, from 1. */
  line: number;
}

export const MOST = 100_000;
const LONGEST = 8192;
const LOC = /<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]+)\s*(?:\]\]>)?\s*<\/loc>/gi;
const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#38;": "&",
};
const HEADERS = new Set(["url", "urls", "domain", "domains", "link", "address", "host", "site", "website", "loc"]);

export const isSitemap = (text: string) => /<(urlset|sitemapindex)[\s>]/i.test(text.slice(0, 5000));

/** An index names other sitemaps, and those are not pages. */
export const isIndex = (text: string) => /<sitemapindex[\s>]/i.test(text.slice(0, 5000));

export function readSeeds(text: string): Given[] {
  if (isSitemap(text)) {
    return [...text.matchAll(LOC)].map((found, index) => ({
      url: (found[1] ?? "").replace(/&(amp|lt|gt|quot|apos|#38);/g, (entity) => ENTITIES[entity] ?? entity),
      line: index + 1,
    }));
  }
  const given: Given[] = [];
  let column: number | undefined;
  text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .forEach((raw, index) => {
      const line = raw.trim();
      if (!line || line.startsWith("#")) return;
      const cells = cellsOf(line);
      const header = cells.findIndex((cell) => HEADERS.has(cell.toLowerCase()));
      if (!given.length && column === undefined && header >= 0) {
        column = header;
        return;
      }
      const url =
        cells.length === 1
          ? (cells[0] ?? line)
          : (column !== undefined ? cells[column] : cells.find(looksLikeAddress)) || line;
      given.push({ url, line: index + 1 });
    });
  return given;
}

/** A comma or semicolon can be part of a URL: a line that begins with one and has nothing else is left whole. */
function cellsOf(line: string): string[] {
  if (/^https?:\/\/[^\s"]+$/i.test(line) && !/[,;\t]\S*(https?:\/\/|")/i.test(line) && !/[,;]$/.test(line)) {
    const [first = line, ...rest] = line.split(/\t/);
    return rest.length ? [first, ...rest] : [line];
  }
  return [...line.matchAll(/"((?:[^"]|"")*)"|([^,;\t]+)/g)]
    .map((found) => (found[1] ?? found[2] ?? "").replaceAll('""', '"').trim())
    .filter(Boolean);
}

const looksLikeAddress = (cell: string) =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(cell) || /^[^\s/@]+\.[^\s/@.]{2,}(?:[:/?#]\S*)?$/.test(cell);

export interface Sorted {
  /** What the server is asked about, each once. */
  urls: Given[];
  twice: number;
  tooLong: Given[];
  tooMany: number;
}

export function sortSeeds(given: readonly Given[]): Sorted {
  const seen = new Set<string>();
  const urls: Given[] = [];
  const tooLong: Given[] = [];
  let twice = 0;
  for (const seed of given) {
    if (seed.url.length > LONGEST) tooLong.push(seed);
    else if (seen.has(seed.url)) twice += 1;
    else {
      seen.add(seed.url);
      urls.push(seed);
    }
  }
  return { urls: urls.slice(0, MOST), twice, tooLong, tooMany: Math.max(urls.length - MOST, 0) };
}

/** Domains with how many seeds each has, the largest first. */
export function byDomain(urls: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const url of urls) {
    const host = hostOf(url);
    if (host) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1]);
}

function hostOf(url: string): string | undefined {
  try {
    return (
      new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`).host.replace(/^www\./, "") || undefined
    );
  } catch {
    return undefined;
  }
}
