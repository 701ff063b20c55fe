/** A long list as tiles, as many in a row as fit; only rows that are seen are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Empty, ErrorNote } from "../../ui/basic";
import { ListFoot, type ListQuery } from "../../ui/list";

interface TilesProps<T> {
  label: string;
  rows: T[];
  keyOf: (row: T) => string | number;
  tile: (row: T) => ReactNode;
  /** Of one tile, in pixels: at least this wide, exactly this high. */
  width: number;
  height: number;
  query: ListQuery;
  empty: ReactNode;
}

const GAP = 12;

export function Tiles<T>({ label, rows, keyOf, tile, width, height, query, empty }: TilesProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  const isShown = rows.length > 0;
  useEffect(() => {
    if (!scroller.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect.width));
    watch.observe(scroller.current);
    return () => watch.disconnect();
  }, [isShown]);
  const across = Math.max(1, Math.floor((room + GAP) / (width + GAP)));
  const virtual = useVirtualizer({
    count: Math.ceil(rows.length / across),
    getScrollElement: () => scroller.current,
    estimateSize: () => height + GAP,
    overscan: 1,
  });
  const lines = virtual.getVirtualItems();
  const last = (lines.at(-1)?.index ?? -1) + 1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage, look, nextError } = query;
  useEffect(() => look?.((lines[0]?.index ?? 0) * across, last * across), [look, lines, last, across]);
  useEffect(() => {
    if (!nextError && isShown && last * across >= rows.length - across * 3 && hasNextPage && !isFetchingNextPage)
      void fetchNextPage?.();
  }, [isShown, last, across, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage, nextError]);

  if (query.isPending) return <Waiting width={width} height={height} />;
  if (query.isError && !isShown) return <ErrorNote error={query.error} again={() => void query.refetch()} />;
  if (!isShown) return typeof empty === "string" ? <Empty title={empty} /> : empty;
  return (
    <div>
      <div ref={scroller} className="max-h-[min(75dvh,60rem)] overflow-y-auto p-3" tabIndex={-1}>
        <ul aria-label={label} className="relative" style={{ height: virtual.getTotalSize() - GAP }}>
          {room > 0 &&
            lines.flatMap((line) =>
              rows.slice(line.index * across, (line.index + 1) * across).map((row, place) => {
                const wide = (room - GAP * (across - 1)) / across;
                return (
                  <li
                    key={keyOf(row)}
                    aria-setsize={hasNextPage ? -1 : rows.length}
                    aria-posinset={line.index * across + place + 1}
                    className="absolute top-0 left-0"
                    style={{ width: wide, height, transform: `translate(${place * (wide + GAP)}px, ${line.start}px)` }}
                  >
                    {tile(row)}
                  </li>
                );
              }),
            )}
        </ul>
      </div>
      <ListFoot count={rows.length} query={query} />
    </div>
  );
}

function Waiting({ width, height }: { width: number; height: number }) {
  return (
    <div
      role="status"
      aria-label="Loading"
      className="flex animate-pulse flex-wrap gap-3 overflow-hidden p-3"
      style={{ maxHeight: height * 2 + 36 }}
    >
      {Array.from({ length: 12 }, (_, index) => (
        <div key={index} className="grow rounded-lg bg-raised" style={{ width, height }} />
      ))}
    </div>
  );
}
