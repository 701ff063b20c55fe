/** The page that stays open all day: what needs attention first, then how it goes, then what happens right now. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, ask, type Schemas } from "../api/client";
import { type Stats, useLive } from "../api/live";
import { useIsAdmin } from "../api/session";
import { useFilters } from "../ui/address";
import { Button, Card, Empty, Loaded, Stat, State, Time } from "../ui/basic";
import { Chart, type Line, Shares, Spark } from "../ui/chart";
import { bytes, duration, number, pathOf, percent, rate, short } from "../ui/format";
import { Alert, Arrow, Check } from "../ui/icons";

const HOUR_MS = 3_600_000;
const RANGES = [
  ["15m", 0.25, "15 min", "the last quarter of an hour"],
  ["1h", 1, "1 hour", "the last hour"],
  ["24h", 24, "24 hours", "the last day"],
  ["7d", 168, "7 days", "the last week"],
  ["30d", 720, "30 days", "the last 30 days"],
] as const;
const FAILING_PARSERS = 3;
const things = (amount: number, one: string, many: string) => `${number(amount)} ${amount === 1 ? one : many}`;

export function Overview() {
  const { stats, past } = useLive();
  const [filters, setFilters] = useFilters();
  const range = RANGES.find(([key]) => key === filters.range) ?? RANGES[1];
  if (!stats) return <Waiting />;
  if (!stats.domains) return <Welcome />;
  const [, hours, , span] = range;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="sr-only">Overview</h1>
      <Attention stats={stats} />
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-3 xl:grid-cols-6">
        <Figure
          name="Pages per second"
          value={rate(stats.pages_per_second)}
          values={past.map((point) => point.stats.pages_per_second)}
        />
        <Figure
          name="Success"
          value={percent(stats.success_rate)}
          values={past.map((point) => point.stats.success_rate ?? null)}
        />
        <Figure
          name="Waiting to be visited"
          value={short(stats.frontier_size)}
          values={past.map((point) => point.stats.frontier_size)}
        />
        <Stat
          name="Good visits"
          value={short(stats.pages_crawled)}
          about={`${short(stats.pages_known)} pages are known`}
        />
        <Stat name="Domains" value={short(stats.domains)} about={`${number(stats.leases_held)} being crawled`} />
        <Stat
          name="Workers"
          value={number(stats.active_workers)}
          about={
            stats.silent_workers
              ? `${number(stats.silent_workers)} silent`
              : stats.active_workers
                ? "all answer"
                : "nothing is crawled"
          }
          tone={stats.silent_workers || !stats.active_workers ? "warn" : undefined}
        />
      </div>
      <div className="-mb-1 flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">How it goes</h2>
        <div
          role="group"
          aria-label="Period of the charts"
          className="flex overflow-hidden rounded-md border border-line bg-surface"
        >
          {RANGES.map(([key, , text]) => (
            <button
              key={key}
              type="button"
              aria-pressed={key === range[0]}
              onClick={() => setFilters({ range: key === RANGES[1][0] ? undefined : key })}
              className={`min-h-8 border-l border-line px-3 text-xs first:border-l-0 ${key === range[0] ? "bg-raised font-medium text-ink" : "text-soft hover:text-ink"}`}
            >
              {text}
            </button>
          ))}
        </div>
      </div>
      <div className="grid gap-4 xl:grid-cols-2">
        <Card title="Visits per second">
          <Course metric="pages_per_second" hours={hours} format={rate} label={`Visits per second over ${span}`} />
        </Card>
        <Card title="Success">
          <Course
            metric="success_rate"
            hours={hours}
            format={percent}
            label={`Share of visits that brought a page over ${span}`}
            colour="--good"
          />
        </Card>
        <Card title="Pages that wait">
          <Course
            metric="frontier_size"
            hours={hours}
            format={short}
            label={`Pages that wait to be visited over ${span}`}
            colour="--info"
          />
        </Card>
        <Card title="Received">
          <Course metric="bytes" hours={hours} format={bytes} label={`Bytes received over ${span}`} colour="--warn" />
        </Card>
      </div>
      <div className="grid gap-4 xl:grid-cols-3">
        <Card title={`How visits ended, ${span}`}>
          <Sums metric="visits" hours={hours} tones={outcomeTone} />
        </Card>
        <Card title={`Answers by status, ${span}`}>
          <Sums metric="status" hours={hours} tones={statusTone} />
        </Card>
        <Card title="Domains by state, now">
          <Shares of={stats.domain_states} tones={domainTone} format={short} />
        </Card>
      </div>
      <div className="grid gap-4 xl:grid-cols-3">
        <Card
          title="Right now"
          className="xl:col-span-2"
          pad={false}
          action={
            <Link to="/tasks" className="text-brand hover:underline">
              All tasks
            </Link>
          }
        >
          <RightNow />
        </Card>
        <Card title="How long each step takes">
          <Latency stats={stats} />
        </Card>
      </div>
    </div>
  );
}

const Figure = ({ name, value, values }: { name: string; value: string; values: (number | null)[] }) => (
  <Stat name={name} value={value} about={<Spark values={values} label={`${name}, the last two minutes`} />} />
);

/** First what an operator should act on; a calm line when there is nothing. */
function Attention({ stats }: { stats: Stats }) {
  const alerts = useQuery({
    queryKey: ["alerts", "open"],
    queryFn: () => ask(api.GET("/api/alerts", { params: { query: { is_open: true, limit: 5 } } })),
    refetchInterval: 10_000,
  });
  const parsers = useQuery({
    queryKey: ["parsers", "dropped"],
    queryFn: () => ask(api.GET("/api/products/parsers/dropped", { params: { query: { limit: FAILING_PARSERS } } })),
    refetchInterval: 60_000,
  });
  const health = useQuery({ queryKey: ["health"], queryFn: readHealth, refetchInterval: 15_000 });
  const { link } = useLive();
  const open = alerts.data?.items ?? [];
  const troubles: { text: string; to: string; search?: Record<string, string> }[] = [];
  const { blocked = 0, unreachable = 0 } = stats.domain_states;
  for (const [part, { detail }] of ailing(health.data))
    troubles.push({ text: `${PARTS[part] ?? part}: ${detail}.`, to: PART_PAGES[part] ?? "/workers" });
  if (!stats.active_workers && !troubles.length)
    troubles.push({ text: "No worker runs, so nothing is crawled.", to: "/workers" });
  if (isIdle(stats) && !troubles.length)
    troubles.push({
      text: `${things(stats.frontier_size, "page waits", "pages wait")} and none is due now: their domains are in cooldown, paused or out of budget, or the pages lie beyond the depth or scope of their run. The page of a domain says which.`,
      to: "/domains",
    });
  if (blocked)
    troubles.push({
      text: `${things(blocked, "domain is", "domains are")} blocked.`,
      to: "/domains",
      search: { status: "blocked" },
    });
  if (unreachable)
    troubles.push({
      text: `${things(unreachable, "domain", "domains")} cannot be reached.`,
      to: "/domains",
      search: { status: "unreachable" },
    });
  if (stats.breakers.open)
    troubles.push({
      text:
        stats.breakers.open === 1
          ? "1 domain rests because its server failed."
          : `${number(stats.breakers.open)} domains rest because their servers failed.`,
      to: "/domains",
      search: { breaker: "open" },
    });
  if (stats.paused_domains)
    troubles.push({
      text: `${things(stats.paused_domains, "domain is", "domains are")} paused.`,
      to: "/domains",
      search: { is_active: "false" },
    });
  const isTold = (domain: string) => open.some((alert) => alert.rule === "parse_drop" && alert.subject === domain);
  for (const parser of (parsers.data?.items ?? []).filter((each) => !isTold(each.domain))) {
    troubles.push({
      text: `Fewer products of ${parser.domain} can be read: ${percent(parser.rate)}, in the week before ${percent(parser.rate_before)} (parser ${parser.parser_name}).`,
      to: "/products",
      search: { domain: parser.domain },
    });
  }
  if (link === "away") return null; // the banner says so, and nothing here is known to be true
  if (!open.length && !troubles.length) {
    return (
      <p className="flex items-center gap-2 rounded-lg border border-line bg-good-ground px-4 py-2.5 text-good">
        <Check /> Nothing needs your attention.
      </p>
    );
  }
  return (
    <section aria-label="Needs attention" className="flex flex-col gap-1.5">
      {open.map((alert) => (
        <Link
          key={alert.id}
          to="/alerts"
          search={{ alert: String(alert.id) } as never}
          className={`flex items-center gap-3 rounded-lg border border-line px-4 py-2.5 hover:opacity-90 ${alertTone(alert)}`}
        >
          <Alert /> <span className="min-w-0 flex-1 truncate">{alert.message}</span>
          {alert.acknowledged_by && (
            <span className="hidden shrink-0 text-xs sm:inline">acknowledged by {alert.acknowledged_by}</span>
          )}
          <Time at={alert.raised_at} />
        </Link>
      ))}
      {troubles.map((trouble) => (
        <Link
          key={trouble.text}
          to={trouble.to}
          search={trouble.search as never}
          className="flex items-center gap-3 rounded-lg border border-line bg-warn-ground px-4 py-2 text-warn hover:opacity-90"
        >
          <Alert /> {trouble.text} <Arrow className="ml-auto size-4" />
        </Link>
      ))}
    </section>
  );
}

/** Acknowledged ones are calm: somebody looks after them. A warning is not painted like a critical one. */
export const alertTone = (alert: { severity: string; acknowledged_at?: string | null }) =>
  alert.acknowledged_at
    ? "bg-raised text-soft"
    : alert.severity === "critical"
      ? "bg-bad-ground text-bad"
      : "bg-warn-ground text-warn";

type Health = Schemas["Health"];
const PARTS: Record<string, string> = {
  progress: "The crawl stands still",
  scheduler: "Scheduler",
  workers: "Workers",
  queue: "Broker",
  search: "Search",
  redis: "Redis",
  disk: "Disk",
  database: "Database",
};
const PART_PAGES: Record<string, string> = { scheduler: "/schedule", search: "/search" };
/** Pages wait, nobody crawls, and nothing is wrong: all of them wait for something of their own. */
const isIdle = (stats: Stats) =>
  stats.frontier_size > 0 && stats.active_workers > 0 && !stats.leases_held && !stats.pages_per_second;

/** It answers 503 where something is down, with the same parts. */
async function readHealth(): Promise<Health> {
  return (await (await fetch("/health")).json()) as Health;
}

const ailing = (health: Health | undefined) =>
  Object.entries(health?.parts ?? {}).filter(([, part]) => part.state === "degraded" || part.state === "down");

const SHORTEST = 10;

/** A young instance has hours of nothing before its first visit: they are left out, but for a few steps. */
function firstOf(
  moments: readonly number[],
  points: readonly { at: string; value?: number | null }[],
  step: number,
): number | undefined {
  const busy = Math.min(...points.filter((point) => point.value).map((point) => Date.parse(point.at) / 1000));
  const [first, last] = [moments[0], moments.at(-1)];
  if (first === undefined || last === undefined || !Number.isFinite(busy)) return first;
  return Math.max(first, Math.min(busy - step, last - SHORTEST * step));
}

export function toLines(
  points: { at: string; label: string; value?: number | null }[],
  step: number,
): { at: number[]; lines: Line[] } {
  const moments = [...new Set(points.map((point) => Date.parse(point.at) / 1000))].sort((one, other) => one - other);
  const first = firstOf(moments, points, step);
  const last = moments.at(-1);
  if (first === undefined || last === undefined) return { at: [], lines: [] };
  // Minutes in which nothing happened are not in the answer: they are gaps here, not straight lines.
  const at = Array.from({ length: Math.round((last - first) / step) + 1 }, (_, index) => first + index * step);
  const place = new Map(at.map((moment, index) => [moment, index]));
  const lines = new Map<string, (number | null)[]>();
  for (const point of points) {
    const values = lines.get(point.label) ?? at.map(() => null);
    const index = place.get(Date.parse(point.at) / 1000);
    if (index !== undefined) values[index] = point.value ?? null;
    lines.set(point.label, values);
  }
  return { at, lines: [...lines].map(([name, values]) => ({ name: name || "all", values })) };
}

export function Course({
  metric,
  format,
  label,
  colour,
  hours = 1,
}: {
  metric: string;
  format: (value: number) => string;
  label: string;
  colour?: string;
  hours?: number;
}) {
  const series = useQuery({
    queryKey: ["series", metric, hours],
    queryFn: () =>
      ask(
        api.GET("/api/stats/timeseries", {
          params: { query: { metric, since: new Date(Date.now() - hours * HOUR_MS).toISOString() } },
        }),
      ),
    refetchInterval: 30_000,
  });
  const shown = useMemo(() => {
    const found = toLines(series.data?.points ?? [], series.data?.step_s ?? 60);
    return {
      ...found,
      lines: found.lines.map((line) => (colour && found.lines.length === 1 ? { ...line, colour } : line)),
    };
  }, [series.data, colour]);
  return (
    <Loaded query={series} lines={3}>
      {() =>
        shown.at.length > 2 ? (
          <Chart at={shown.at} lines={shown.lines} format={format} label={label} />
        ) : (
          <p className="flex h-[180px] items-center justify-center text-soft">
            The line begins when there are three minutes to show.
          </p>
        )
      }
    </Loaded>
  );
}

/** What was counted in the chosen period, by label. */
function Sums({ metric, hours, tones }: { metric: string; hours: number; tones: (name: string) => string }) {
  const series = useQuery({
    queryKey: ["series", metric, hours],
    queryFn: () =>
      ask(
        api.GET("/api/stats/timeseries", {
          params: { query: { metric, since: new Date(Date.now() - hours * HOUR_MS).toISOString() } },
        }),
      ),
    refetchInterval: 30_000,
  });
  return (
    <Loaded query={series} lines={4}>
      {(data) => <Shares of={sumsOf(data.points)} tones={tones} format={short} />}
    </Loaded>
  );
}

export function sumsOf(points: readonly { label: string; value?: number | null }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { label, value } of points) if (value) sums[label] = (sums[label] ?? 0) + value;
  return sums;
}

function RightNow() {
  const tasks = useQuery({
    queryKey: ["tasks", "now"],
    queryFn: () => ask(api.GET("/api/tasks", { params: { query: { limit: 12 } } })),
    refetchInterval: 2_000,
  });
  return (
    <Loaded query={tasks} lines={8}>
      {(data) =>
        data.items.length ? (
          <ul className="divide-y divide-line">
            {data.items.map((task) => (
              <li key={task.id} className="grid grid-cols-[7.5rem_1fr_auto] items-center gap-3 px-4 py-2">
                <span>
                  <State of={task.outcome ?? task.status} />
                </span>
                <Link
                  to="/tasks/$task"
                  params={{ task: String(task.id) } as never}
                  className="min-w-0 truncate hover:underline"
                >
                  <span className="text-soft">{task.domain}</span> {pathOf(task.url)}
                </Link>
                <span className="text-xs text-soft tabular-nums">
                  {task.response_time_ms != null ? (
                    duration(task.response_time_ms / 1000)
                  ) : (
                    <Time at={task.completed_at ?? task.created_at} />
                  )}
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <Empty title="Nothing happens right now" />
        )
      }
    </Loaded>
  );
}

const STEPS: Record<string, string> = {
  fetch: "fetch the page",
  read: "read it",
  learn: "write its links",
  record: "write the visit",
};

function Latency({ stats }: { stats: Stats }) {
  const stages = Object.entries(stats.latency);
  if (!stages.length) return <p className="text-soft">Nothing was measured in the last minutes.</p>;
  const names = [...new Set(stages.flatMap(([, values]) => Object.keys(values)))];
  return (
    <table className="w-full">
      <thead>
        <tr className="text-xs text-soft">
          <th className="pb-1">Step</th>
          {names.map((name) => (
            <th key={name} className="!text-right">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {stages.map(([stage, values]) => (
          <tr key={stage} className="border-t border-line">
            <td className="py-1.5 first-letter:uppercase">{STEPS[stage] ?? stage}</td>
            {names.map((name) => (
              <td key={name} className="text-right tabular-nums">
                {duration(values[name] ?? null)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Waiting = () => (
  <div className="grid grid-cols-2 gap-3 lg:grid-cols-3 2xl:grid-cols-6" aria-busy="true">
    {Array.from({ length: 6 }, (_, index) => (
      <div key={index} className="h-24 animate-pulse rounded-lg bg-raised" />
    ))}
  </div>
);

function Welcome() {
  const isAdmin = useIsAdmin();
  return (
    <Empty
      title="Nothing is crawled yet"
      action={
        isAdmin && (
          <Link to="/seeds">
            <Button kind="main">Add the first seeds</Button>
          </Link>
        )
      }
    >
      Give Forager some addresses; it crawls their sites politely, remembers everything, and shows it here.
      {!isAdmin && " An administrator can add them."}
    </Empty>
  );
}

const outcomeTone = (name: string) =>
  name === "success"
    ? "bg-good"
    : name === "blocked_robots" || name === "cancelled"
      ? "bg-soft"
      : name === "timeout"
        ? "bg-warn"
        : "bg-bad";
const statusTone = (name: string) =>
  name.startsWith("2") ? "bg-good" : name.startsWith("3") ? "bg-info" : name.startsWith("4") ? "bg-warn" : "bg-bad";
const domainTone = (name: string) =>
  name === "active" ? "bg-good" : name === "pending" ? "bg-info" : name === "exhausted" ? "bg-soft" : "bg-bad";
