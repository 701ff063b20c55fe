/** Long lists: pages by cursor as one scrolls, rows drawn only where they are seen, a selection for bulk verbs. */
import { type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Empty, ErrorNote, Skeleton, Spinner } from "./basic";
import { number } from "./format";
import { type Held, type Paged, pagesAt, renew, rowsOf } from "./pages";

export type { Paged } from "./pages";

interface ListOptions<T> {
  refetchInterval?: number | false;
  enabled?: boolean;
  /** Whether new rows come first. False: a page asked for again has the same rows, but for those that are gone. */
  isNewestFirst?: boolean;
  keyOf?: (row: T) => unknown;
  /** While other filters are asked for, what was shown stays. */
  isKept?: boolean;
}

const idOf = (row: unknown) => (row as { id?: unknown; name?: unknown }).id ?? (row as { name?: unknown }).name;
const LATEST: { isNewestFirst: boolean } = { isNewestFirst: true };

/**
 * A list by cursor. The key holds the filters, so that each combination is remembered apart. Asking again, whoever wants it, asks for
 * the pages that are seen: somebody who scrolled through 200 of them costs the server no more than somebody who did not.
 */
export function useList<T, P extends Paged<T> = Paged<T>>(
  key: QueryKey,
  fetchPage: (after: string | undefined) => Promise<P>,
  options: ListOptions<T> = LATEST,
) {
  const { isNewestFirst = true, keyOf = idOf, isKept = false, ...rest } = options;
  const queries = useQueryClient();
  const seen = useRef<[number, number]>([0, 0]);
  const queryKey = useMemo(() => [...key, "pages"], [JSON.stringify(key)]);
  const query = useQuery({
    queryKey,
    queryFn: async (): Promise<Held<T, P>[]> => {
      const held = queries.getQueryData<Held<T, P>[]>(queryKey) ?? [];
      if (!held.length) return [{ after: undefined, page: await fetchPage(undefined) }];
      const wanted = pagesAt(held, ...seen.current).map((index) => held[index]?.after);
      const fresh = await Promise.all(wanted.map(async (after) => ({ after, page: await fetchPage(after) })));
      // Another page may have come meanwhile: what is renewed is what is held now.
      return fresh.reduce(
        (now, each) => renew<T, P>(now, each.after, each.page, keyOf, isNewestFirst),
        queries.getQueryData<Held<T, P>[]>(queryKey) ?? held,
      );
    },
    placeholderData: isKept ? (before) => before : undefined,
    ...rest,
  });
  const [isFetchingNextPage, setIsFetching] = useState(false);
  const [nextError, setNextError] = useState<unknown>(null);
  const held = query.data;
  const last = held?.at(-1);
  const next = last?.page.next ?? undefined;
  const isBusy = useRef(false);
  const fetchNextPage = useCallback(async () => {
    if (next === undefined || isBusy.current) return;
    isBusy.current = true;
    setIsFetching(true);
    setNextError(null);
    try {
      const page = await fetchPage(next);
      queries.setQueryData<Held<T, P>[]>(queryKey, (now) =>
        now?.at(-1)?.page.next === next ? [...now, { after: next, page }] : now,
      );
    } catch (error) {
      setNextError(error);
    } finally {
      isBusy.current = false;
      setIsFetching(false);
    }
  }, [next, queryKey]);
  const rows = useMemo(() => rowsOf(held ?? [], keyOf), [held]);
  return {
    rows,
    first: held?.[0]?.page,
    pages: held?.length ?? 0,
    isPending: query.isPending,
    isError: query.isError,
    error: query.error,
    refetch: query.refetch,
    hasNextPage: next !== undefined,
    isFetchingNextPage,
    nextError,
    fetchNextPage,
    look: useCallback((first: number, end: number) => {
      seen.current = [first, end];
    }, []),
  };
}

export interface Column<T> {
  name: string;
  cell: (row: T) => ReactNode;
  /** CSS grid track, such as `minmax(12rem,2fr)` or `6rem`. */
  width?: string;
  isNumber?: boolean;
  /** Left out on a phone. */
  isWideOnly?: boolean;
}

/** What a list is made of, loaded in one go or page by page. */
export interface ListQuery {
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  nextError?: unknown;
  fetchNextPage?: () => unknown;
  /** Told which rows are seen. */
  look?: (first: number, last: number) => void;
}

/** Below the rows: how many there are, and whether more come. */
export function ListFoot({ count, query }: { count: number; query: ListQuery }) {
  return (
    <div className="flex min-h-9 items-center gap-2 border-t border-line px-3 text-xs text-soft" role="status">
      {number(count)} shown{query.hasNextPage ? ", more below" : ""} {query.isFetchingNextPage && <Spinner />}
      {Boolean(query.nextError) && (
        <>
          <span className="text-bad">The rest could not be loaded.</span>{" "}
          <button type="button" className="text-brand underline" onClick={() => void query.fetchNextPage?.()}>
            Try again
          </button>
        </>
      )}
      {query.isError && (
        <span className="text-bad">
          What is shown may be old: {query.error instanceof Error ? query.error.message : String(query.error)}
        </span>
      )}
    </div>
  );
}

interface ListProps<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string | number;
  query: ListQuery;
  empty: ReactNode;
  onOpen?: (row: T) => void;
  selected?: Set<string | number>;
  onSelect?: (selected: Set<string | number>) => void;
  height?: string;
}

const ROW = 44;

export function List<T>({
  label,
  rows,
  columns,
  keyOf,
  query,
  empty,
  onOpen,
  selected,
  onSelect,
  height = "min(70dvh,48rem)",
}: ListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const first = items[0]?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage, look, nextError } = query;
  useEffect(() => look?.(first, last), [look, first, last]);
  useEffect(() => {
    if (last >= rows.length - 20 && hasNextPage && !isFetchingNextPage && !nextError && rows.length)
      void fetchNextPage?.();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage, nextError]);

  if (query.isPending) return <Skeleton lines={8} />;
  if (query.isError && !rows.length) return <ErrorNote error={query.error} again={() => void query.refetch()} />;
  if (!rows.length) return typeof empty === "string" ? <Empty title={empty} /> : empty;

  const isSelectable = selected !== undefined && onSelect !== undefined;
  const wide = [isSelectable ? "2.5rem" : "", ...columns.map((column) => column.width ?? "minmax(6rem,1fr)")].join(" ");
  const narrow = [
    isSelectable ? "2.5rem" : "",
    ...columns.filter((column) => !column.isWideOnly).map((column) => column.width ?? "minmax(5rem,1fr)"),
  ].join(" ");
  const all = isSelectable && rows.every((row) => selected.has(keyOf(row)));
  const toggle = (key: string | number) => {
    if (!isSelectable) return;
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  const move = (event: KeyboardEvent, index: number) => {
    const step =
      event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
    if (step) {
      event.preventDefault();
      const target = Math.min(Math.max(index + step, 0), rows.length - 1);
      virtual.scrollToIndex(target);
      requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${target}"]`)?.focus());
    } else if (event.key === "Enter" && onOpen && event.target === event.currentTarget) {
      const row = rows[index];
      if (row) onOpen(row);
    } else if (event.key === "x" && isSelectable && event.target === event.currentTarget) {
      const row = rows[index];
      if (row) toggle(keyOf(row));
    }
  };
  const cellClass = (column: Column<T>) =>
    `min-w-0 truncate px-3 ${column.isNumber ? "text-right tabular-nums" : ""} ${column.isWideOnly ? "hidden md:block" : ""}`;
  return (
    <div className="list-grid text-sm">
      <ListGrid wide={wide} narrow={narrow} />
      <div
        ref={scroller}
        role="table"
        aria-label={label}
        aria-rowcount={hasNextPage ? -1 : rows.length}
        className="overflow-auto"
        style={{ maxHeight: height }}
        tabIndex={-1}
      >
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div
            role="row"
            className="list-row min-h-9 items-center border-b border-line text-xs text-soft [&>div]:first-letter:uppercase"
          >
            {isSelectable && (
              <div role="columnheader" className="px-3">
                <input
                  type="checkbox"
                  aria-label="Select all that are shown"
                  checked={all}
                  onChange={() => onSelect(all ? new Set() : new Set(rows.map(keyOf)))}
                />
              </div>
            )}
            {columns.map((column) => (
              <div key={column.name} role="columnheader" className={cellClass(column)}>
                {column.name}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const key = keyOf(row);
            return (
              <div
                key={key}
                role="row"
                data-row={item.index}
                tabIndex={item.index === 0 ? 0 : -1}
                aria-rowindex={item.index + 1}
                onKeyDown={(event) => move(event, item.index)}
                onClick={(event) => {
                  if (onOpen && !(event.target as HTMLElement).closest("a,button,input,label,select")) onOpen(row);
                }}
                className={`list-row absolute inset-x-0 top-0 items-center border-b border-line ${onOpen ? "cursor-pointer hover:bg-raised" : ""} ${selected?.has(key) ? "bg-info-ground" : ""}`}
                style={{ height: ROW, transform: `translateY(${item.start}px)` }}
              >
                {isSelectable && (
                  <div role="cell" className="px-3">
                    <input
                      type="checkbox"
                      aria-label={`Select ${key}`}
                      checked={selected.has(key)}
                      onChange={() => toggle(key)}
                    />
                  </div>
                )}
                {columns.map((column) => (
                  <div key={column.name} role="cell" className={cellClass(column)}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <ListFoot count={rows.length} query={query} />
    </div>
  );
}

/** The tracks of a list's rows; set on the element, because a strict CSP allows no style in the page. */
function ListGrid({ wide, narrow }: { wide: string; narrow: string }) {
  const marker = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const table = marker.current?.parentElement;
    table?.style.setProperty("--wide", wide);
    table?.style.setProperty("--narrow", narrow);
  }, [wide, narrow]);
  return <span ref={marker} hidden />;
}
