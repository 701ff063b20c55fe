/** Long lists: pages by cursor as one scrolls, rows drawn only where they are seen, a selection for bulk verbs. */
import { useInfiniteQuery, type QueryKey } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import { Empty, ErrorNote, Skeleton, Spinner } from "./basic";
import { number } from "./format";

export interface Paged<T> {
  items: T[];
  next?: string | null;
}

/** A list by cursor. The key holds the filters, so that each combination is remembered apart. */
export function useList<T>(key: QueryKey, fetchPage: (after: string | undefined) => Promise<Paged<T>>, options: { refetchInterval?: number; enabled?: boolean } = {}) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    ...options,
  });
  return { ...query, rows: query.data?.pages.flatMap((page) => page.items) ?? [] };
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

interface ListProps<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string | number;
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown; hasNextPage?: boolean; isFetchingNextPage?: boolean; fetchNextPage?: () => unknown };
  empty: ReactNode;
  onOpen?: (row: T) => void;
  selected?: Set<string | number>;
  onSelect?: (selected: Set<string | number>) => void;
  height?: string;
}

const ROW = 44;

export function List<T>({ label, rows, columns, keyOf, query, empty, onOpen, selected, onSelect, height = "min(70dvh,48rem)" }: ListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 12 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (last >= rows.length - 20 && hasNextPage && !isFetchingNextPage && rows.length) void fetchNextPage?.();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (query.isPending) return <Skeleton lines={8} />;
  if (query.isError && !rows.length) return <ErrorNote error={query.error} again={() => void query.refetch()} />;
  if (!rows.length) return typeof empty === "string" ? <Empty title={empty} /> : <>{empty}</>;

  const isSelectable = selected !== undefined && onSelect !== undefined;
  const wide = [isSelectable ? "2.5rem" : "", ...columns.map((column) => column.width ?? "minmax(6rem,1fr)")].join(" ");
  const narrow = [isSelectable ? "2.5rem" : "", ...columns.filter((column) => !column.isWideOnly).map((column) => column.width ?? "minmax(5rem,1fr)")].join(" ");
  const all = isSelectable && rows.every((row) => selected.has(keyOf(row)));
  const toggle = (key: string | number) => {
    if (!isSelectable) return;
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect(next);
  };
  const move = (event: KeyboardEvent, index: number) => {
    const step = event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
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
  const cellClass = (column: Column<T>) => `min-w-0 truncate px-3 ${column.isNumber ? "text-right tabular-nums" : ""} ${column.isWideOnly ? "hidden md:block" : ""}`;
  return (
    <div className="list-grid text-sm">
      <ListGrid wide={wide} narrow={narrow} />
      <div ref={scroller} role="table" aria-label={label} aria-rowcount={hasNextPage ? -1 : rows.length} className="overflow-auto" style={{ maxHeight: height }} tabIndex={-1}>
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div role="row" className="list-row min-h-9 items-center border-b border-line text-xs text-soft">
            {isSelectable && (
              <div role="columnheader" className="px-3">
                <input type="checkbox" aria-label="Select all that are shown" checked={all} onChange={() => onSelect(all ? new Set() : new Set(rows.map(keyOf)))} />
              </div>
            )}
            {columns.map((column) => <div key={column.name} role="columnheader" className={cellClass(column)}>{column.name}</div>)}
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
                    <input type="checkbox" aria-label={`Select ${key}`} checked={selected.has(key)} onChange={() => toggle(key)} />
                  </div>
                )}
                {columns.map((column) => <div key={column.name} role="cell" className={cellClass(column)}>{column.cell(row)}</div>)}
              </div>
            );
          })}
        </div>
      </div>
      <div className="flex min-h-9 items-center gap-2 border-t border-line px-3 text-xs text-soft" role="status">
        {number(rows.length)} shown{hasNextPage ? ", more below" : ""} {isFetchingNextPage && <Spinner />}
      </div>
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
