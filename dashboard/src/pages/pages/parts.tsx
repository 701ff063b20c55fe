/** Small parts that the pages about what was found share. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useId, useState } from "react";
import { api, ask } from "../../api/client";

/** Where a page is shown of which only the URL is known. */
export const addressOf = (url: string) => `/pages/find?url=${encodeURIComponent(url)}`;

export function PageLink({
  url,
  id,
  children,
  className = "",
}: {
  url: string;
  id?: number;
  children?: ReactNode;
  className?: string;
}) {
  const shown = children ?? url;
  const look = `hover:underline ${className}`;
  if (id !== undefined)
    return (
      <Link to="/pages/$page" params={{ page: String(id) } as never} className={look}>
        {shown}
      </Link>
    );
  return (
    <Link to="/pages/$page" params={{ page: "find" } as never} search={{ url } as never} className={look}>
      {shown}
    </Link>
  );
}

export const DomainLink = ({ name, className = "" }: { name: string; className?: string }) => (
  <Link to="/domains/$domain" params={{ domain: name } as never} className={`hover:underline ${className}`}>
    {name}
  </Link>
);

const PATIENCE_MS = 250;

/** A value that has rested for a moment, so that not every key asks the server. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

const BOX = "min-h-9 min-w-0 rounded-md border border-line bg-surface px-2.5 text-sm text-ink placeholder:text-soft";

/** A filter one types; it counts from Enter, or from leaving it. */
export function FilterBox({
  label,
  value,
  onChange,
  placeholder,
  options = [],
  onType,
  type = "text",
  className = "w-44",
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  placeholder?: string;
  options?: readonly string[];
  onType?: (text: string) => void;
  type?: "text" | "number";
  className?: string;
}) {
  const list = useId();
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const settle = (given: string) => {
    if (given.trim() !== (value ?? "")) onChange(given.trim() || undefined);
  };
  return (
    <label className="inline-flex items-center gap-1.5 text-soft">
      <span className="text-xs">{label}</span>
      <input
        type={type}
        min={type === "number" ? 0 : undefined}
        step={type === "number" ? "any" : undefined}
        value={text}
        list={options.length ? list : undefined}
        placeholder={placeholder}
        autoComplete="off"
        className={`${BOX} ${className}`}
        onChange={(event) => {
          setText(event.target.value);
          onType?.(event.target.value);
          if (options.includes(event.target.value)) settle(event.target.value);
        }}
        onBlur={() => settle(text)}
        onKeyDown={(event) => {
          if (event.key === "Enter") settle(text);
        }}
      />
      {options.length > 0 && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** One domain out of a million: its names are looked for while one types. */
export function DomainBox({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState("");
  const part = useRested(typed).trim();
  const names = useQuery({
    queryKey: ["domains", "named", part],
    queryFn: () => ask(api.GET("/api/domains", { params: { query: { q: part || undefined, limit: 12 } } })),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
  return (
    <FilterBox
      label="Domain"
      value={value}
      onChange={onChange}
      onType={setTyped}
      placeholder="all"
      options={names.data?.items.map((domain) => domain.name) ?? []}
    />
  );
}

/** What is on screen, as a file. */
export function Export({
  kind,
  filters,
}: {
  kind: "pages" | "products" | "images" | "prices";
  filters: Record<string, string | undefined>;
}) {
  const query = new URLSearchParams({ format: "csv" });
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  return (
    <a
      href={`/api/exports/${kind}?${query}`}
      download
      className="inline-flex min-h-9 items-center rounded-md border border-line bg-surface px-3 text-sm font-medium hover:bg-raised"
    >
      Export CSV
    </a>
  );
}

/** A bar of filters above a list. */
export const Filters = ({
  children,
  isFiltered,
  clear,
}: {
  children: ReactNode;
  isFiltered: boolean;
  clear: () => void;
}) => (
  <div
    role="group"
    aria-label="Filters"
    className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2"
  >
    {children}
    {isFiltered && (
      <button type="button" onClick={clear} className="min-h-9 px-1 text-xs text-brand hover:underline">
        Clear filters
      </button>
    )}
  </div>
);
