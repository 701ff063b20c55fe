/** A long list in pages by cursor, of which only those that are seen are asked for again. Pure but for the asking. */

export interface Paged<T> {
  items: T[];
  next?: string | null;
}

/** A page as it is held, with the cursor it was asked for with. */
export interface Held<T, P extends Paged<T> = Paged<T>> {
  after: string | undefined;
  page: P;
}

/** Which of the held pages show the rows from `first` to `last`. */
export function pagesAt<T>(held: readonly Held<T>[], first: number, last: number): number[] {
  const found: number[] = [];
  let start = 0;
  held.forEach(({ page }, index) => {
    const end = start + page.items.length;
    if (start <= last && end > first) found.push(index);
    start = end;
  });
  return found.length ? found : held.length ? [0] : [];
}

/**
 * The held pages with a fresh one in its place. New rows push old ones out of the first page of a list that begins with the newest;
 * those stay behind it, for the next page begins where it always did.
 */
export function renew<T, P extends Paged<T>>(
  held: readonly Held<T, P>[],
  after: string | undefined,
  fresh: P,
  keyOf: (row: T) => unknown,
  isNewestFirst: boolean,
): Held<T, P>[] {
  return held.map((each, index) => {
    if (each.after !== after) return each;
    if (index === held.length - 1) return { after, page: fresh };
    if (!isNewestFirst || index) return { after, page: { ...fresh, next: each.page.next } };
    const known = new Set(fresh.items.map(keyOf));
    return {
      after,
      page: {
        ...fresh,
        items: [...fresh.items, ...each.page.items.filter((row) => !known.has(keyOf(row)))],
        next: each.page.next,
      },
    };
  });
}

/** All rows, each once: a row that moved may stand in two pages. */
export function rowsOf<T>(held: readonly Held<T>[], keyOf: (row: T) => unknown): T[] {
  if (held.length === 1) return held[0]?.page.items ?? [];
  const rows = new Map<unknown, T>();
  for (const { page } of held) for (const row of page.items) if (!rows.has(keyOf(row))) rows.set(keyOf(row), row);
  return [...rows.values()];
}
