/** The order of a run, read with care: runs of older versions may say less. Pure. */

export interface Order {
  title: string;
  seeds: string[];
  seedsTotal: number;
  scope: string;
  maxDepth: number | null;
  maxPages: number | null;
  maxPagesPerDomain: number | null;
  delayS: number | null;
  include: string[];
  exclude: string[];
  /** The one that `forager up` keeps: nobody can stop it from here. */
  isStanding: boolean;
}

const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
const count = (value: unknown) => (typeof value === "number" ? value : null);

export function orderOf(spec: Record<string, unknown>): Order {
  const seeds = texts(spec.seeds);
  const isStanding = spec.seeds_digest === "standing";
  const seedsTotal = Math.max(count(spec.seeds_total) ?? 0, seeds.length);
  const first = seeds[0];
  const title = isStanding
    ? "Everything that is due"
    : first === undefined
      ? "No seeds of its own"
      : seedsTotal > 1
        ? `${first} and ${(seedsTotal - 1).toLocaleString("en")} more`
        : first;
  return {
    title,
    seeds,
    seedsTotal,
    scope: typeof spec.scope === "string" ? spec.scope : "–",
    maxDepth: count(spec.max_depth),
    maxPages: count(spec.max_pages),
    maxPagesPerDomain: count(spec.max_pages_per_domain),
    delayS: count(spec.delay_s),
    include: texts(spec.include),
    exclude: texts(spec.exclude),
    isStanding,
  };
}

/** How far a run is: of its limit where it has one, else of what it knows so far. */
export function progressOf(
  run: { pages_done: number; frontier: number; status: string },
  maxPages: number | null,
): { share: number; of: number } {
  const known = run.pages_done + run.frontier;
  const of = maxPages == null ? known : Math.min(maxPages, Math.max(known, run.pages_done));
  return { share: of ? Math.min(run.pages_done / of, 1) : run.status === "running" ? 0 : 1, of };
}

export interface RunOutcome {
  outcome: string;
  reason: string;
  pages: number;
  bytes: number;
  /** Of one visit, on average. */
  averageS: number | null;
}

export const outcomesOf = (rows: Record<string, unknown>[]): RunOutcome[] =>
  rows.map((row) => {
    const pages = count(row.pages) ?? 0;
    const time = count(row.time_ms);
    return {
      outcome: String(row.outcome ?? "–"),
      reason: String(row.reason ?? ""),
      pages,
      bytes: count(row.wire_bytes) ?? 0,
      averageS: pages && time ? time / pages / 1000 : null,
    };
  });

export interface RunDomain {
  name: string;
  status: string;
  crawled: number;
  errors: number;
  frontier: number;
  isLeased: boolean;
  reason: string | null;
}

export const domainsOf = (rows: Record<string, unknown>[]): RunDomain[] =>
  rows.map((row) => ({
    name: String(row.name ?? ""),
    status: String(row.status ?? ""),
    crawled: count(row.pages_crawled) ?? 0,
    errors: count(row.errors) ?? 0,
    frontier: count(row.frontier) ?? 0,
    isLeased: row.is_leased === true,
    reason: typeof row.reason === "string" ? row.reason : null,
  }));

/** One address per line; empty lines and what follows a # are left out. */
export const linesOf = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter(Boolean);
