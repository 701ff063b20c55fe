/** The periodic jobs: when each ran last, with which result, and when it runs next. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, ask, type Schemas } from "../api/client";
import { useIsAdmin } from "../api/session";
import { useAct } from "../ui/act";
import { Badge, Button, Card, Empty, Loaded, PageHead, Time } from "../ui/basic";
import { duration, number, words } from "../ui/format";

type Job = Schemas["Job"];

const ABOUT: Record<string, string> = {
  alerts: "Looks at the numbers and raises or resolves alerts.",
  backup: "Backs up the whole instance every night.",
  bodies: "Deletes stored bodies that no visit confirmed for weeks.",
  cooldown: "Lets blocked and unreachable domains come back when their rest is over.",
  dependencies: "Lets tasks go on that waited for other tasks.",
  dispatch: "Tells workers of domains that are due, through the broker.",
  errors: "Counts each day's failures by what they have in common.",
  images: "Has images fetched that were found before their domain wanted the files.",
  index: "Makes newly read pages searchable and finds near-duplicates.",
  probe_proxies: "Tries proxies again that failures switched off.",
  refresh: "Wakes domains whose pages are due for a revisit.",
  retain: "Moves old visits to cold files every night.",
  revisit_price: "Decides what a revisit must be worth in adaptive domains.",
  rollup: "Sums up what was done in each domain on each day.",
  score: "Scores domains anew, so that the best are crawled first.",
  seal: "Writes down digests of history and prices, so that a deep check can prove them.",
  series: "Folds the numbers behind the charts.",
  search_server: "Sends what changed to the search server.",
  sessions: "Clears sessions and one-time links that are over.",
  takeover: "Frees domains of workers that died or fell silent.",
  traces: "Deletes old requests for robots.txt and old moves of domains.",
  vacuum: "Tidies the database every week.",
  webhooks: "Calls whoever wants to hear of closed tasks and alerts.",
  windows: "Holds domains while their maintenance window lasts.",
};

export function Schedule() {
  const jobs = useQuery({
    queryKey: ["schedule"],
    queryFn: () => ask(api.GET("/api/schedule")),
    refetchInterval: 5_000,
  });
  return (
    <>
      <PageHead title="Schedule" about="What Forager does by itself, and how it went the last time." />
      <Card pad={false} className="overflow-hidden">
        <Loaded query={jobs} lines={12}>
          {(data) =>
            data.items.length ? (
              <Jobs of={data.items} />
            ) : (
              <Empty title="No job is known yet">
                Jobs are listed once <code>forager up</code> has started.
              </Empty>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function Jobs({ of }: { of: Job[] }) {
  const isAdmin = useIsAdmin();
  return (
    <>
      <div
        className="hidden grid-cols-[minmax(16rem,3fr)_5rem_7rem_5rem_minmax(10rem,2fr)_6rem_6.5rem] gap-3 border-b border-line px-4 py-2 text-xs text-soft lg:grid"
        aria-hidden="true"
      >
        <span>Job</span>
        <span>Every</span>
        <span>Last</span>
        <span>Took</span>
        <span>Result</span>
        <span>Next</span>
        <span />
      </div>
      <ul className="divide-y divide-line">
        {of.map((job) => (
          <li
            key={job.name}
            className="grid grid-cols-2 items-center gap-x-3 gap-y-1 px-4 py-2.5 lg:grid-cols-[minmax(16rem,3fr)_5rem_7rem_5rem_minmax(10rem,2fr)_6rem_6.5rem]"
          >
            <div className="col-span-2 min-w-0 lg:col-span-1">
              <p className="font-medium first-letter:uppercase">{words(job.name)}</p>
              <p className="text-xs text-soft">{ABOUT[job.name]}</p>
            </div>
            <Cell name="Every">{duration(job.every_s)}</Cell>
            <Cell name="Last">
              <Time at={job.ended_at ?? job.started_at} empty="never" />
            </Cell>
            <Cell name="Took">
              <span title={`${number(job.times)} times so far`}>{isRunning(job) ? "–" : duration(job.took_s)}</span>
            </Cell>
            <div className="order-last col-span-2 min-w-0 break-words lg:order-none lg:col-span-1">
              <Result of={job} />
            </div>
            <Cell name="Next">
              <Next of={job} />
            </Cell>
            {isAdmin ? <RunNow job={job} /> : <span />}
          </li>
        ))}
      </ul>
    </>
  );
}

const Cell = ({ name, children }: { name: string; children: ReactNode }) => (
  <p className="tabular-nums">
    <span className="mr-2 inline-block w-12 text-xs text-soft lg:sr-only">{name}</span>
    {children}
  </p>
);

const isRunning = (job: Job) =>
  job.started_at != null && (job.ended_at == null || Date.parse(job.started_at) > Date.parse(job.ended_at));

function Result({ of: job }: { of: Job }) {
  if (isRunning(job)) return <Badge tone="info">running</Badge>;
  if (job.error)
    return (
      <span className="text-bad">
        <Badge tone="bad">failed</Badge> {job.error}
      </span>
    );
  return <span className="text-soft">{job.result ?? "not run yet"}</span>;
}

const Next = ({ of: job }: { of: Job }) => {
  if (!job.next_at) return <span className="text-soft">never</span>;
  return Date.parse(job.next_at) <= Date.now() ? <span>due</span> : <Time at={job.next_at} />;
};

function RunNow({ job }: { job: Job }) {
  const { act, isBusy } = useAct();
  const run = () =>
    act(
      () => ask(api.POST("/api/admin/schedule/{job}/run", { params: { path: { job: job.name } } })),
      (done) => done.message,
      "schedule",
    );
  return (
    <Button
      isBusy={isBusy}
      className="order-last col-span-2 justify-self-start lg:order-none lg:col-span-1 lg:justify-self-end"
      aria-label={`Run now: ${words(job.name)}`}
      onClick={() => void run()}
    >
      Run now
    </Button>
  );
}
