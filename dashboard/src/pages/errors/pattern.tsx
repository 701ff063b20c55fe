/** One problem: how often, since when, where, with one failure looked at closely; and trying it all again. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Card, Facts, Loaded, PageHead, Select, Stat, State, Time, WebLink } from "../../ui/basic";
import { number, pathOf } from "../../ui/format";
import { blameOf } from "../tasks/life";
import { Stack } from "../tasks/stack";
import { Redrive } from "./redrive";
import { CATEGORIES, PERIODS, sinceOf } from "./words";

type Found = Schemas["ErrorPattern"];

export function ErrorPattern() {
  const fingerprint = (useParams({ strict: false }) as { fingerprint?: string }).fingerprint ?? "";
  const [filters, setFilters] = useFilters();
  const since_s = sinceOf(filters.since ?? "month");
  const error = useQuery({
    queryKey: ["error", fingerprint, since_s],
    queryFn: () => ask(api.GET("/api/errors/{fingerprint}", { params: { path: { fingerprint }, query: { since_s } } })),
    refetchInterval: 10_000,
  });
  return (
    <>
      <p className="mb-2">
        <Link to="/errors" className="text-brand hover:underline">
          All errors
        </Link>
      </p>
      <Loaded query={error} lines={10}>
        {(found) => (
          <>
            <PageHead
              title={found.pattern.sample}
              about={
                <span className="flex flex-wrap items-center gap-2">
                  <Badge>{found.pattern.code}</Badge> {CATEGORIES.find(([key]) => key === found.pattern.category)?.[2]}
                  {found.pattern.category !== "us" && ` It is ${blameOf(found.pattern.blame)}.`}
                </span>
              }
            >
              <Select
                label="Period"
                value={filters.since ?? "month"}
                onChange={(since) => setFilters({ since: since === "month" ? undefined : since })}
                options={PERIODS.map(([key, text]) => [key, text] as [string, string])}
              />
              {found.pattern.category !== "robots" && (
                <Redrive fingerprint={fingerprint} since_s={since_s} text="Try these again" />
              )}
            </PageHead>
            <Shown found={found} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Shown({ found: { pattern, days, domains, sample_url, stack } }: { found: Found }) {
  return (
    <div className="flex flex-col gap-4">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat name="Failures" value={number(pattern.failures)} />
        <Stat name="Domains" value={number(pattern.domains)} />
        <Stat
          name="First"
          value={
            <span className="text-lg">
              <Time at={pattern.first_at} />
            </span>
          }
        />
        <Stat
          name="Last"
          value={
            <span className="text-lg">
              <Time at={pattern.last_at} />
            </span>
          }
        />
      </div>
      <div className="grid gap-4 xl:grid-cols-2">
        <Card title="Day by day">
          <Days of={days} />
        </Card>
        <Card title="Where" pad={false}>
          <Where of={domains} code={pattern.code} />
        </Card>
        <Card title="One of them" className="xl:col-span-2">
          <div className="flex flex-col gap-4">
            <Facts
              of={[
                ["Message", pattern.sample],
                ["What they share", pattern.shape],
                ["Page", sample_url ? <WebLink url={sample_url} /> : "–"],
                [
                  "Task",
                  pattern.sample_task ? (
                    <Link
                      to="/tasks/$task"
                      params={{ task: String(pattern.sample_task) } as never}
                      className="text-brand hover:underline"
                    >
                      Task {pattern.sample_task}
                    </Link>
                  ) : (
                    "gone from the history"
                  ),
                ],
              ]}
            />
            {stack && <Stack text={stack} about="Where in our code" />}
          </div>
        </Card>
        <Card
          title="The newest failures with this code"
          pad={false}
          className="xl:col-span-2"
          action={
            <Link to="/tasks" search={{ error_code: pattern.code } as never} className="text-brand hover:underline">
              All of them
            </Link>
          }
        >
          <Newest code={pattern.code} />
        </Card>
      </div>
    </div>
  );
}

/** Bars, because a day is a heap and no moment; the table beside them says it in numbers. */
function Days({ of }: { of: Found["days"] }) {
  if (!of.length)
    return <p className="text-soft">Days are counted every quarter of an hour; the first bar comes then.</p>;
  const days = [...of].sort((one, other) => one.day.localeCompare(other.day));
  const most = Math.max(...days.map((day) => day.failures));
  return (
    <ol tabIndex={0} aria-label="Failures of each day" className="flex max-h-72 flex-col gap-1.5 overflow-auto">
      {days.map((day) => (
        <li key={day.day} className="grid grid-cols-[6rem_1fr_4rem] items-center gap-3">
          <time dateTime={day.day} className="text-soft tabular-nums">
            {day.day}
          </time>
          <span className="h-3 overflow-hidden rounded-full bg-raised" aria-hidden="true">
            <span
              className="block h-full rounded-full bg-bad"
              style={{ width: `${Math.max((day.failures / most) * 100, 1)}%` }}
            />
          </span>
          <span className="text-right tabular-nums" title={`in ${number(day.domains)} domains`}>
            {number(day.failures)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Where({ of, code }: { of: Found["domains"]; code: string }) {
  if (!of.length) return <p className="p-4 text-soft">In no domain in this period.</p>;
  return (
    <ul className="max-h-80 divide-y divide-line overflow-auto">
      {of.map((where) => (
        <li key={where.domain} className="flex items-center gap-3 px-4 py-2">
          <Link
            to="/domains/$domain"
            params={{ domain: where.domain } as never}
            className="min-w-0 flex-1 truncate hover:underline"
          >
            {where.domain}
          </Link>
          <span className="text-xs text-soft">
            <Time at={where.last_at} />
          </span>
          <Link
            to="/tasks"
            search={{ domain: where.domain, error_code: code } as never}
            className="w-24 text-right text-brand tabular-nums hover:underline"
            aria-label={`${number(where.failures)} failures of ${where.domain}`}
          >
            {number(where.failures)}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Newest({ code }: { code: string }) {
  const tasks = useQuery({
    queryKey: ["tasks", "newest", code],
    queryFn: () => ask(api.GET("/api/tasks", { params: { query: { error_code: code, limit: 10 } } })),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={tasks} lines={4}>
      {(data) =>
        data.items.length ? (
          <ul className="divide-y divide-line">
            {data.items.map((task) => (
              <li key={task.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
                <State of={task.outcome ?? task.status} />
                <Link
                  to="/tasks/$task"
                  params={{ task: String(task.id) } as never}
                  title={task.url}
                  className="min-w-0 flex-1 basis-48 truncate hover:underline"
                >
                  <span className="text-soft">{task.domain}</span> {pathOf(task.url)}
                </Link>
                <span className="min-w-0 truncate text-soft">{task.error_message}</span>
                <span className="text-xs text-soft">
                  <Time at={task.completed_at} />
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p className="p-4 text-soft">No task with it is left in the history.</p>
        )
      }
    </Loaded>
  );
}
