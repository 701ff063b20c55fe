/** All domains: states with their counts, filters in the address, verbs on the selection. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useLive } from "../../api/live";
import { useIsAdmin } from "../../api/session";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, PageHead, Select, Spinner, State, Tabs, Time } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { number, percent, short, words } from "../../ui/format";
import { Again, Check, Gauge, Pause, Play } from "../../ui/icons";
import { type Column, List, useList } from "../../ui/list";
import { count } from "./turns";
import { sayProgress, useBulk, useDeed, type Verb } from "./verbs";

type DomainRow = Schemas["DomainRow"];
type TopDomain = Schemas["TopDomain"];
type Status = DomainRow["status"];
/** A row of either list: rankings know less of a domain, and how it ranks. */
type Row = Pick<
  DomainRow,
  | "name"
  | "status"
  | "pages_crawled"
  | "pages_discovered"
  | "frontier_size"
  | "total_error_count"
  | "error_rate"
  | "priority_score"
> &
  Partial<DomainRow> &
  Partial<TopDomain>;

const STATUSES: readonly Status[] = ["pending", "active", "exhausted", "blocked", "unreachable"];
const RANKS = ["score", "pages", "errors", "yield", "change"] as const;
type Rank = (typeof RANKS)[number];
const ORDERS: [string, string][] = [
  ["name", "name"],
  ["score", "highest score"],
  ["pages", "most pages"],
  ["errors", "most errors"],
  ["yield", "most images per page"],
  ["change", "changes most"],
];
const RANKED_AT_MOST = 1000;
type Breaker = DomainRow["breaker_state"];
const BREAKERS: [Breaker, string][] = [
  ["open", "open: it rests"],
  ["half_open", "half open: tried"],
  ["closed", "closed"],
];
const breakerOf = (text: string | undefined) => BREAKERS.find(([key]) => key === text)?.[0];

export function Domains() {
  const [filters, setFilters] = useFilters();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const [selected, setSelected] = useState<Set<string | number>>(new Set());
  const status = STATUSES.find((known) => known === filters.status);
  const rank = RANKS.find((known) => known === filters.sort);
  const isPaused = filters.is_active === "false";
  const { rows, query } = useRows(rank, status, isPaused);
  const breaker = breakerOf(filters.breaker);
  const isFiltered = Boolean(status || isPaused || filters.q || filters.parent || filters.run || breaker);
  return (
    <>
      <PageHead title="Domains" about="The sites Forager knows, how far it is with each, and what holds them back.">
        {isAdmin && <RescoreButton />}
        {isAdmin && (
          <Link
            to="/seeds"
            className="inline-flex min-h-9 items-center rounded-md bg-brand px-3 font-medium text-brand-ink hover:opacity-90"
          >
            Add seeds
          </Link>
        )}
      </PageHead>
      <StateTabs
        status={status}
        isPaused={isPaused}
        onChange={(change) => {
          setSelected(new Set());
          setFilters(change);
        }}
      />
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <TextFilter label="Name contains" value={filters.q} onChange={(q) => setFilters({ q })} type="search" />
        <TextFilter
          isWideOnly
          label="Sub-domains of"
          value={filters.parent}
          onChange={(parent) => setFilters({ parent })}
          placeholder="example.org"
        />
        <TextFilter isWideOnly label="Run" value={filters.run} onChange={(run) => setFilters({ run })} isShort />
        <Select
          label="Breaker"
          value={breaker}
          onChange={(next) => setFilters({ breaker: next })}
          all="any"
          options={BREAKERS}
        />
        <Select
          label="Order"
          value={rank ?? (filters.sort === "name" ? "name" : undefined)}
          onChange={(sort) => setFilters({ sort })}
          all="as they were found"
          options={ORDERS}
        />
        {isFiltered && (
          <Button
            kind="quiet"
            onClick={() =>
              setFilters({
                status: undefined,
                is_active: undefined,
                q: undefined,
                parent: undefined,
                run: undefined,
                breaker: undefined,
              })
            }
          >
            Clear filters
          </Button>
        )}
      </div>
      {rank && rows.length >= RANKED_AT_MOST && (
        <p className="mb-2 text-soft" role="note">
          Only the first {number(RANKED_AT_MOST)} domains in this order are shown. All were compared; filters bring up
          others.
        </p>
      )}
      <Card pad={false}>
        {isAdmin && (
          <BulkBar selected={[...selected].map(String)} setSelected={(names) => setSelected(new Set(names))} />
        )}
        <List
          label="Domains"
          rows={rows}
          columns={columnsFor(rank)}
          keyOf={(row) => row.name}
          query={query}
          onOpen={(row) => void navigate({ to: "/domains/$domain", params: { domain: row.name } } as never)}
          selected={isAdmin ? selected : undefined}
          onSelect={isAdmin ? setSelected : undefined}
          empty={
            isFiltered ? (
              <Empty title="No domain matches">Other words, or fewer filters, may find it.</Empty>
            ) : (
              <Empty title="No domain is known yet">
                {isAdmin
                  ? "Add seeds, or run `forager crawl https://…`: the domains they lead to appear here."
                  : "An administrator can add seeds; the domains they lead to appear here."}
              </Empty>
            )
          }
        />
      </Card>
    </>
  );
}

function useRows(rank: Rank | undefined, status: Status | undefined, isPaused: boolean) {
  const [{ q, parent, run, sort, breaker: named }] = useFilters();
  const breaker = breakerOf(named);
  const order = sort === "name" ? "name" : "id";
  const wanted = {
    status,
    is_active: isPaused ? false : undefined,
    q,
    parent,
    run: run ? Number(run) : undefined,
    breaker,
  };
  const list = useList<Row>(
    ["domains", "list", { ...wanted, order }],
    (after) => ask(api.GET("/api/domains", { params: { query: { ...wanted, sort: order, after, limit: 100 } } })),
    { enabled: !rank, refetchInterval: 4_000, isNewestFirst: false },
  );
  // No index has these orders, since what they count changes with every visit: the server compares all and keeps the first.
  const ranked = useQuery({
    queryKey: ["domains", "top", rank, wanted],
    queryFn: () =>
      ask(api.GET("/api/domains/top", { params: { query: { ...wanted, by: rank, limit: RANKED_AT_MOST } } })),
    enabled: Boolean(rank),
    refetchInterval: 30_000,
  });
  if (!rank) return { rows: list.rows, query: list };
  const rows: Row[] = ranked.data?.items ?? [];
  return { rows, query: ranked };
}

function StateTabs({
  status,
  isPaused,
  onChange,
}: {
  status: Status | undefined;
  isPaused: boolean;
  onChange: (change: Record<string, string | undefined>) => void;
}) {
  const { stats } = useLive();
  const tabs = [
    { key: "all", text: "All", count: stats?.domains ?? 0 },
    ...STATUSES.map((key) => ({
      key: key as string,
      text: key.charAt(0).toUpperCase() + key.slice(1),
      count: stats?.domain_states[key] ?? 0,
    })),
    { key: "paused", text: "Paused", count: stats?.paused_domains ?? 0 },
  ];
  const change = (key: string) => {
    if (key === "paused") onChange({ status: undefined, is_active: "false" });
    else onChange({ status: key === "all" ? undefined : key, is_active: undefined });
  };
  return <Tabs label="State" value={isPaused ? "paused" : (status ?? "all")} onChange={change} tabs={tabs} />;
}

const NAME: Column<Row> = {
  name: "name",
  width: "minmax(9rem,2.2fr)",
  cell: (row) => (
    <Link
      to="/domains/$domain"
      params={{ domain: row.name } as never}
      className="font-medium hover:underline"
      title={row.name}
    >
      {row.name}
    </Link>
  ),
};
const STATE: Column<Row> = {
  name: "state",
  width: "8rem",
  cell: (row) =>
    row.is_active === false ? (
      <Badge tone="warn" title={`It is ${row.status}, and paused`}>
        paused
      </Badge>
    ) : row.breaker_state === "open" || row.breaker_state === "half_open" ? (
      <Badge tone="bad" title={`It is ${row.status}; its server failed, so it rests`}>
        breaker {words(row.breaker_state)}
      </Badge>
    ) : (
      <State of={row.status} title={row.block_reason ?? undefined} />
    ),
};
const VISITED: Column<Row> = {
  name: "visits / pages",
  width: "minmax(8.5rem,1fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) => (
    <>
      {short(row.pages_crawled)} <span className="text-soft">/ {short(row.pages_discovered)}</span>
    </>
  ),
};
const WAITING: Column<Row> = {
  name: "waiting",
  width: "minmax(5rem,.6fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) => short(row.frontier_size),
};
const ERRORS: Column<Row> = {
  name: "errors",
  width: "minmax(7rem,.8fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) =>
    row.total_error_count ? (
      <span className={row.error_rate >= 0.1 ? "text-bad" : ""}>
        {short(row.total_error_count)} <span className="text-xs">({percent(row.error_rate)})</span>
      </span>
    ) : (
      <span className="text-soft">0</span>
    ),
};
const SCORE: Column<Row> = {
  name: "score",
  width: "minmax(5rem,.6fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) => number(row.priority_score),
};
const LIST_COLUMNS: Column<Row>[] = [
  NAME,
  STATE,
  VISITED,
  WAITING,
  ERRORS,
  SCORE,
  {
    name: "last visit",
    width: "minmax(7.5rem,.9fr)",
    isWideOnly: true,
    cell: (row) => <Time at={row.last_crawled_at} empty="never" />,
  },
  {
    name: "next",
    width: "minmax(7.5rem,.9fr)",
    isWideOnly: true,
    cell: (row) =>
      row.is_leased ? (
        <Badge tone="info">crawled now</Badge>
      ) : row.next_crawl_after ? (
        <Time at={row.next_crawl_after} />
      ) : (
        <span className="text-soft">{row.frontier_size && row.status !== "blocked" ? "in its turn" : "–"}</span>
      ),
  },
];
const YIELD: Column<Row> = {
  name: "images per page",
  width: "minmax(8rem,.8fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) => (row.image_yield_rate || row.avg_images_per_page || 0).toFixed(2),
};
const CHANGE: Column<Row> = {
  name: "visits with changes",
  width: "minmax(9rem,.8fr)",
  isNumber: true,
  isWideOnly: true,
  cell: (row) => (row.change_rate == null ? "–" : `${percent(row.change_rate)} of ${short(row.visits)}`),
};

const columnsFor = (rank: Rank | undefined) =>
  rank ? [NAME, STATE, VISITED, WAITING, ERRORS, SCORE, YIELD, CHANGE] : LIST_COLUMNS;

const BULK: [Verb, string, typeof Pause][] = [
  ["pause", "Pause", Pause],
  ["resume", "Resume", Play],
  ["reset", "Reset", Again],
  ["reset_breaker", "Close breaker", Check],
  ["rescore", "Re-score", Gauge],
];

function BulkBar({ selected, setSelected }: { selected: string[]; setSelected: (names: string[]) => void }) {
  const { run, progress } = useBulk();
  return (
    <div
      className="flex min-h-13 flex-wrap items-center gap-2 border-b border-line px-3 py-2"
      role="toolbar"
      aria-label="Selected domains"
    >
      {progress ? (
        <span className="flex items-center gap-2" role="status">
          <Spinner /> {sayProgress(progress)}
        </span>
      ) : (
        <span className={selected.length ? "font-medium" : "text-soft"}>
          {selected.length ? `${count(selected.length, "domain")} selected` : "Select domains to act on them"}
        </span>
      )}
      {selected.length > 0 && (
        <span className="flex flex-wrap gap-2">
          {BULK.map(([verb, text, Icon]) => (
            <Button key={verb} disabled={Boolean(progress)} onClick={() => void run(verb, selected).then(setSelected)}>
              <Icon /> {text}
            </Button>
          ))}
          <Button kind="quiet" disabled={Boolean(progress)} onClick={() => setSelected([])}>
            Clear
          </Button>
        </span>
      )}
    </div>
  );
}

function RescoreButton() {
  const confirm = useConfirm();
  const { act, isBusy } = useDeed();
  const rescore = async () => {
    const yes = await confirm({
      title: "Compute all scores again?",
      text: "The score decides which domain is crawled first. It is computed every hour anyway; nothing else changes.",
      verb: "Compute scores",
    });
    if (yes)
      await act(
        () => ask(api.POST("/api/admin/schedule/{job}/run", { params: { path: { job: "score" } } })),
        () => "All scores are computed again.",
      );
  };
  return (
    <Button isBusy={isBusy} onClick={() => void rescore()}>
      Re-score all
    </Button>
  );
}

const TYPING_MS = 300;

function TextFilter({
  label,
  value = "",
  onChange,
  isShort = false,
  isWideOnly = false,
  ...rest
}: {
  isWideOnly?: boolean;
  label: string;
  value?: string;
  onChange: (value: string | undefined) => void;
  isShort?: boolean;
  type?: string;
  placeholder?: string;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim() || undefined), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className={`flex-col gap-1 ${isWideOnly ? "hidden sm:flex" : "flex"} ${isShort ? "w-20" : "w-full sm:w-52"}`}>
      <label htmlFor={id} className="text-xs text-soft">
        {label}
      </label>
      <input
        id={id}
        value={text}
        onChange={(event) => setText(event.target.value)}
        maxLength={260}
        className="min-h-9 w-full rounded-md border border-line bg-surface px-2.5 text-sm placeholder:text-soft"
        {...rest}
      />
    </div>
  );
}
