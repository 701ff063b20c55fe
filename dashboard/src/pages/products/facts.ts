/** What the API says of products, in the shape the pages show it. Pure. */
import type { Schemas } from "../../api/client";
import type { Line } from "../../ui/chart";

export interface Evidence {
  field: string;
  value: string;
  /** Where on the page it stood, such as `jsonld $.name`. */
  where: string;
  confidence: number | null;
  /** Whether it was taken; the others said something else, or the same with less weight. */
  isTaken: boolean;
}

/** `{name: [[value, where, confidence], …]}`, the best first. Whatever is not of this shape is left out. */
export function readEvidence(evidence: Record<string, unknown>): Evidence[] {
  return Object.entries(evidence).flatMap(([field, found]) =>
    (Array.isArray(found) ? found : []).flatMap((entry: unknown, place): Evidence[] => {
      if (!Array.isArray(entry)) return [];
      const [value, where, confidence] = entry as unknown[];
      return [
        {
          field,
          value: String(value ?? ""),
          where: String(where ?? ""),
          confidence: typeof confidence === "number" ? confidence : null,
          isTaken: place === 0,
        },
      ];
    }),
  );
}

export interface Range {
  min_price?: string;
  max_price?: string;
  currency?: string;
}

/** `1,000–2,500 EUR` and `10,000 and more EUR` as filters. */
export function readRange(text: string): Range | null {
  const found = /^([\d,]+)(?:–([\d,]+)| and more) ([A-Z]{3})$/.exec(text);
  if (!found) return null;
  const [, low = "", high, currency] = found;
  return {
    min_price: low.replaceAll(",", "") === "0" ? undefined : low.replaceAll(",", ""),
    max_price: high?.replaceAll(",", ""),
    currency,
  };
}

type Price = Schemas["Price"];

/** Prices as steps: each holds until the next was seen, the last until the product was seen last. One line for each currency. */
export function steps(prices: readonly Price[], until: string): { at: number[]; lines: Line[] } {
  const known = prices
    .map((price) => ({ ...price, at: Date.parse(price.seen_at) / 1000 }))
    .sort((one, other) => one.at - other.at);
  const end = Math.max(Date.parse(until) / 1000, known.at(-1)?.at ?? 0);
  const at: number[] = [];
  const holds: (typeof known)[number][] = [];
  known.forEach((price, index) => {
    const next = known[index + 1]?.at ?? end;
    at.push(price.at);
    holds.push(price);
    if (next - 1 > price.at) {
      at.push(index + 1 < known.length ? next - 1 : next);
      holds.push(price);
    }
  });
  const currencies = [...new Set(known.map((price) => price.currency ?? ""))];
  return {
    at,
    lines: currencies.map((currency) => ({
      name: currency || "price",
      values: holds.map((price) => ((price.currency ?? "") === currency ? price.price : null)),
    })),
  };
}

/** How much a price moved; null where that cannot be said. */
export function moved(change: {
  old_price: number | null;
  price: number | null;
  old_currency: string | null;
  currency: string | null;
}): number | null {
  if (
    change.old_price === null ||
    change.price === null ||
    !change.old_price ||
    change.old_currency !== change.currency
  )
    return null;
  return change.price / change.old_price - 1;
}

/** Since when a price that the last visit did not find is on record; null where it was found, or is not known. */
export function oldSince(product: {
  price?: number | null;
  is_price_current?: boolean;
  price_seen_at?: string | null;
}): string | null {
  return product.price == null || product.is_price_current !== false ? null : (product.price_seen_at ?? null);
}

/** Names and values of a variant, whatever a shop calls them. */
export function readVariant(variant: unknown): [string, string][] {
  if (variant === null || typeof variant !== "object" || Array.isArray(variant)) return [["variant", String(variant)]];
  return Object.entries(variant)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]);
}
