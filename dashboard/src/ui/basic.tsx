/** The small parts every page is made of. */
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { age, moment, safeHref, utc, words } from "./format";
import { Alert, External } from "./icons";

export type Tone = "plain" | "good" | "warn" | "bad" | "info";

const TONES: Record<Tone, string> = {
  plain: "bg-raised text-soft",
  good: "bg-good-ground text-good",
  warn: "bg-warn-ground text-warn",
  bad: "bg-bad-ground text-bad",
  info: "bg-info-ground text-info",
};

export function Badge({ tone = "plain", children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

const STATES: Record<string, Tone> = {
  active: "good",
  success: "good",
  fetched: "good",
  completed: "good",
  finished: "good",
  ok: "good",
  stored: "good",
  closed: "good",
  in_stock: "good",
  working: "good",
  pending: "info",
  queued: "info",
  crawling: "info",
  running: "info",
  discovered: "info",
  parsing: "info",
  downloaded: "info",
  queued_parse: "info",
  found: "info",
  exhausted: "plain",
  stopped: "plain",
  cancelled: "plain",
  gone: "plain",
  paused: "warn",
  half_open: "warn",
  late: "warn",
  acknowledged: "warn",
  warning: "warn",
  blocked: "bad",
  unreachable: "bad",
  failed: "bad",
  timeout: "bad",
  blocked_robots: "warn",
  blocked_4xx: "bad",
  blocked_5xx: "bad",
  open: "bad",
  dead: "bad",
  critical: "bad",
  broken: "bad",
  down: "bad",
  away: "bad",
};

/** A state in its colour; the word is always there, colour alone says nothing. */
export const State = ({ of, title }: { of: string | null | undefined; title?: string }) =>
  of ? (
    <Badge tone={STATES[of] ?? "plain"} title={title}>
      {words(of)}
    </Badge>
  ) : (
    <span className="text-soft">–</span>
  );

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: "main" | "plain" | "danger" | "quiet";
  isBusy?: boolean;
};

const KINDS = {
  main: "bg-brand text-brand-ink hover:opacity-90",
  plain: "border border-line bg-surface hover:bg-raised",
  danger: "bg-bad text-ground hover:opacity-90",
  quiet: "hover:bg-raised text-soft hover:text-ink",
};

export function Button({
  kind = "plain",
  isBusy,
  className = "",
  children,
  disabled,
  type = "button",
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      className={`inline-flex min-h-9 items-center justify-center gap-1.5 rounded-md px-3 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-50 ${KINDS[kind]} ${className}`}
      {...rest}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  );
}

export const Spinner = () => (
  <span
    className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent"
    aria-hidden="true"
  />
);

export function Card({
  title,
  action,
  children,
  className = "",
  pad = true,
}: {
  title?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
  className?: string;
  pad?: boolean;
}) {
  return (
    <section className={`min-w-0 rounded-lg border border-line bg-surface ${className}`}>
      {title && (
        <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 className="text-sm font-semibold">{title}</h2>
          {action}
        </header>
      )}
      <div className={pad ? "p-4" : ""}>{children}</div>
    </section>
  );
}

export function PageHead({ title, about, children }: { title: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
        {about && <p className="mt-0.5 text-soft">{about}</p>}
      </div>
      {children && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </div>
  );
}

/** Local time, with the exact UTC moment on hover; relative ones keep up with the clock. */
export function Time({
  at,
  isExact = false,
  empty = "–",
}: {
  at: string | null | undefined;
  isExact?: boolean;
  empty?: string;
}) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (isExact || !at) return;
    const timer = setInterval(() => tick((count) => count + 1), 10_000);
    return () => clearInterval(timer);
  }, [at, isExact]);
  if (!at) return <span className="text-soft">{empty}</span>;
  return (
    <time dateTime={at} title={`${moment(at)} · ${utc(at)}`} className="whitespace-nowrap">
      {isExact ? moment(at) : age(at)}
    </time>
  );
}

export function Facts({ of, className = "" }: { of: [ReactNode, ReactNode][]; className?: string }) {
  return (
    <dl className={`grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-1.5 ${className}`}>
      {of.map(([name, value], index) => (
        <div key={index} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Stat({
  name,
  value,
  about,
  tone,
}: {
  name: ReactNode;
  value: ReactNode;
  about?: ReactNode;
  tone?: Tone;
}) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="text-xs text-soft">{name}</div>
      <div
        className={`mt-0.5 text-2xl font-semibold tabular-nums ${tone === "bad" ? "text-bad" : tone === "warn" ? "text-warn" : ""}`}
      >
        {value}
      </div>
      {about && <div className="mt-0.5 truncate text-xs text-soft">{about}</div>}
    </div>
  );
}

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <p className="font-medium">{title}</p>
      {children && <p className="max-w-md text-soft">{children}</p>}
      {action && <div className="mt-2">{action}</div>}
    </div>
  );
}

export function ErrorNote({ error, again }: { error: unknown; again?: () => void }) {
  const isForbidden = error instanceof ApiError && error.status === 403;
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <Alert className="size-6 text-bad" />
      <p className="font-medium">{isForbidden ? "You may not see this" : "This could not be loaded"}</p>
      <p className="max-w-lg text-soft">{error instanceof Error ? error.message : String(error)}</p>
      {again && !isForbidden && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex animate-pulse flex-col gap-3 p-4">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className="h-4 rounded bg-raised" style={{ width: `${90 - ((index * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

/** One of the four states of whatever is loaded. */
export function Loaded<T>({
  query,
  children,
  lines,
}: {
  query: { data: T | undefined; isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
  children: (data: T) => ReactNode;
  lines?: number;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <ErrorNote error={query.error} again={() => void query.refetch()} />;
  return <Skeleton lines={lines} />;
}

/** A link into the web. What was crawled may be anything, so only http and https can be followed. */
export function WebLink({ url, children }: { url: string; children?: ReactNode }) {
  const href = safeHref(url);
  const shown = children ?? url;
  if (!href) return <span className="break-all">{shown}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="inline-flex max-w-full items-baseline gap-1 break-all text-brand hover:underline"
    >
      <span className="min-w-0">{shown}</span>
      <External className="size-3 self-center" />
    </a>
  );
}

export const CONTROL = "min-h-9 w-full rounded-md border border-line bg-surface px-2.5 text-sm placeholder:text-soft";

export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string;
  children: (given: {
    id: string;
    className: string;
    "aria-describedby"?: string;
    "aria-invalid"?: boolean;
  }) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        className: CONTROL,
        "aria-describedby": hint || error ? `${id}-hint` : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {(error || hint) && (
        <p id={`${id}-hint`} className={`text-xs ${error ? "text-bad" : "text-soft"}`}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function Select({
  label,
  value,
  onChange,
  options,
  all,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  options: readonly (string | [string, string])[];
  all?: string;
}) {
  return (
    <label className="inline-flex max-w-full items-center gap-1.5 text-soft">
      <span className="shrink-0 text-xs">{label}</span>
      <select
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
        className="min-h-9 min-w-0 rounded-md border border-line bg-surface px-2 text-sm text-ink"
      >
        {all !== undefined && <option value="">{all}</option>}
        {options.map((option) => {
          const [key, text] = typeof option === "string" ? [option, words(option)] : option;
          return (
            <option key={key} value={key}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** Views of one thing, or states with their counts. */
export function Tabs<T extends string>({
  value,
  onChange,
  tabs,
  label,
}: {
  value: T;
  onChange: (value: T) => void;
  tabs: readonly { key: T; text: string; count?: number }[];
  label: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const counted = tabs.filter((tab) => tab.count !== undefined).length;
  // On a phone tabs are wider than the screen: the chosen one should be seen.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (list.current && chosen)
      list.current.scrollLeft = chosen.offsetLeft - list.current.offsetLeft - list.current.clientWidth / 3;
  }, [value, counted]);
  return (
    <div ref={list} role="tablist" aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map((tab, index) => (
        <button
          key={tab.key}
          type="button"
          role="tab"
          aria-selected={tab.key === value}
          tabIndex={tab.key === value ? 0 : -1}
          onClick={() => onChange(tab.key)}
          onKeyDown={(event) => {
            const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            const next = tabs[(index + step + tabs.length) % tabs.length];
            if (step && next) {
              onChange(next.key);
              (event.currentTarget.parentElement?.children[tabs.indexOf(next)] as HTMLElement | undefined)?.focus();
            }
          }}
          className={`-mb-px min-h-10 border-b-2 px-3 whitespace-nowrap ${tab.key === value ? "border-brand font-medium text-ink" : "border-transparent text-soft hover:text-ink"}`}
        >
          {tab.text}
          {tab.count !== undefined && (
            <span className="ml-1.5 rounded-full bg-raised px-1.5 py-0.5 text-xs tabular-nums">
              {tab.count.toLocaleString("en")}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
