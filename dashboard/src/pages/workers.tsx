/** Workers: who is alive, who fell silent, who ended; and who holds which domains. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, ask, type Schemas } from "../api/client";
import { useLive } from "../api/live";
import { useIsAdmin } from "../api/session";
import { useAct } from "../ui/act";
import { useFilters } from "../ui/address";
import { Badge, Button, Card, Empty, Loaded, PageHead, Stat, State, Tabs, Time } from "../ui/basic";
import { useConfirm } from "../ui/dialog";
import { duration, number } from "../ui/format";
import { type Column, List, useList } from "../ui/list";
import { Queues } from "./workers/queues";

type WorkerRow = Schemas["WorkerRow"];
type Claims = Schemas["Claims"];
const VIEWS = ["running", "silent", "ended", "all"] as const;
type View = (typeof VIEWS)[number];

export function Workers() {
  const [filters, setFilters] = useFilters();
  const { stats } = useLive();
  const view: View = VIEWS.find((each) => each === filters.view) ?? "running";
  const status = view === "running" || view === "silent" ? "running" : undefined;
  const list = useList<WorkerRow>(
    ["workers", status],
    (after) => ask(api.GET("/api/workers", { params: { query: { status, after } } })),
    { refetchInterval: 5_000 },
  );
  const claims = useQuery({
    queryKey: ["claims"],
    queryFn: () => ask(api.GET("/api/workers/claims")),
    refetchInterval: 5_000,
  });
  const rows = list.rows.filter((worker) => isIn(view, worker));
  // What is looked for may lie further down than the first page.
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (!rows.length && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <>
      <PageHead
        title="Workers"
        about="A worker is a process that crawls. It holds the domains it works on by a lease, and gives a sign of life at least every half minute."
      >
        <Recover />
      </PageHead>
      <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat
          name="Alive"
          value={number(stats?.active_workers)}
          tone={stats && !stats.active_workers ? "warn" : undefined}
          about={stats && !stats.active_workers ? "nothing is crawled" : "they answer"}
        />
        <Stat
          name="Silent"
          value={number(stats?.silent_workers)}
          tone={stats?.silent_workers ? "bad" : undefined}
          about="no sign of life for a while"
        />
        <Stat name="Leases held" value={number(claims.data?.held)} about="domains a worker has in hand" />
        <Stat
          name="Leases that outlived their time"
          value={number(claims.data?.expired)}
          tone={claims.data?.expired ? "warn" : undefined}
          about={claims.data?.stuck ? `${number(claims.data.stuck)} are stuck` : "taken over by the next claim"}
        />
      </div>
      <Tabs
        label="Which workers"
        value={view}
        onChange={(key) => setFilters({ view: key === "running" ? undefined : key })}
        tabs={[
          { key: "running", text: "Alive", count: stats?.active_workers },
          { key: "silent", text: "Silent", count: stats?.silent_workers },
          { key: "ended", text: "Ended" },
          { key: "all", text: "All" },
        ]}
      />
      <div className="flex flex-col gap-4">
        <Card pad={false} className="overflow-hidden">
          <List
            label="Workers"
            rows={rows}
            columns={COLUMNS}
            keyOf={(worker) => worker.id}
            query={list}
            empty={<NoWorker view={view} />}
            height="min(50dvh,32rem)"
          />
        </Card>
        <Queues />
        <div className="grid gap-4 xl:grid-cols-2">
          <Card title="Who holds domains" pad={false}>
            <Loaded query={claims} lines={3}>
              {(data) => <Holders claims={data} />}
            </Loaded>
          </Card>
          <Card title="Domains nobody holds" pad={false}>
            <Loaded query={claims} lines={3}>
              {(data) => <Waiting claims={data} />}
            </Loaded>
          </Card>
        </div>
      </div>
    </>
  );
}

const isIn = (view: View, worker: WorkerRow) =>
  view === "all" ||
  (view === "ended"
    ? worker.status !== "running"
    : worker.status === "running" && worker.is_silent === (view === "silent"));

/** A host is told with the boot and the namespace it lives in; the name is what people know. */
const hostOf = (host: string) => host.split("/")[0] ?? host;

const COLUMNS: Column<WorkerRow>[] = [
  { name: "Worker", width: "4.5rem", cell: (worker) => <span className="font-medium">{worker.id}</span> },
  {
    name: "State",
    width: "6rem",
    cell: (worker) =>
      worker.status === "running" && worker.is_silent ? <Badge tone="bad">silent</Badge> : <State of={worker.status} />,
  },
  {
    name: "Host",
    width: "minmax(5rem,2fr)",
    isWideOnly: true,
    cell: (worker) => (
      <span title={worker.host}>
        {hostOf(worker.host)} <span className="text-soft">pid {worker.pid}</span>
      </span>
    ),
  },
  {
    name: "Run",
    width: "5rem",
    isWideOnly: true,
    cell: (worker) =>
      worker.run_id ? (
        <Link to="/runs/$run" params={{ run: String(worker.run_id) } as never} className="text-brand hover:underline">
          Run {worker.run_id}
        </Link>
      ) : (
        "–"
      ),
  },
  { name: "Domains held", width: "7rem", isNumber: true, isWideOnly: true, cell: (worker) => number(worker.domains) },
  { name: "Sign of life", width: "minmax(7rem,1fr)", cell: (worker) => <Time at={worker.heartbeat_at} /> },
  { name: "Started", width: "8rem", isWideOnly: true, cell: (worker) => <Time at={worker.started_at} /> },
  {
    name: "Lived",
    width: "7rem",
    isNumber: true,
    isWideOnly: true,
    cell: (worker) =>
      duration(((worker.ended_at ? Date.parse(worker.ended_at) : Date.now()) - Date.parse(worker.started_at)) / 1000),
  },
];

const NoWorker = ({ view }: { view: View }) => {
  if (view === "silent") return <Empty title="No worker is silent">All that run gave a sign of life in time.</Empty>;
  if (view === "ended") return <Empty title="No worker has ended yet" />;
  return (
    <Empty title="No worker runs, so nothing is crawled">
      Start one with <code>forager up</code> on this machine, or <code>forager worker</code> on another one.
    </Empty>
  );
};

function Holders({ claims }: { claims: Claims }) {
  if (!claims.workers.length)
    return <p className="p-4 text-soft">Nobody holds a domain at this moment: nothing is due, or no worker runs.</p>;
  return (
    <ul className="divide-y divide-line">
      {claims.workers.map((claim) => (
        <li key={claim.worker} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
          <span className="font-medium">Worker {claim.worker}</span>
          {claim.is_lost && (
            <Badge tone="bad" title="It is dead or silent, and still holds domains">
              lost
            </Badge>
          )}
          <span className="text-soft">{claim.host ? hostOf(claim.host) : "unknown host"}</span>
          <span className="ml-auto tabular-nums">
            {number(claim.domains)} {claim.domains === 1 ? "domain" : "domains"}
          </span>
          <span className="w-full text-xs text-soft">
            first lease ends <Time at={claim.earliest_expiry} />
            {claim.expired > 0 && `, ${number(claim.expired)} are over already`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Waiting({ claims }: { claims: Claims }) {
  if (!claims.waiting.length) return <p className="p-4 text-soft">No domain waits to be claimed.</p>;
  return (
    <ul className="divide-y divide-line">
      {claims.waiting.map((group) => (
        <li key={group.status} className="flex items-center gap-3 px-4 py-2.5">
          <Link to="/domains" search={{ status: group.status } as never}>
            <State of={group.status} />
          </Link>
          <span className="tabular-nums">
            {number(group.domains)} {group.domains === 1 ? "domain" : "domains"}
          </span>
          <span className={`ml-auto tabular-nums ${group.due ? "text-warn" : "text-soft"}`}>
            {number(group.due)} due now
          </span>
        </li>
      ))}
    </ul>
  );
}

function Recover() {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const { act, isBusy } = useAct();
  if (!isAdmin) return null;
  const recover = async () => {
    const yes = await confirm({
      title: "Recover domains?",
      text: "Domains held by workers that are dead, or silent for 5 minutes, can be claimed again at once. What those workers still send is refused. Nothing recorded is lost.",
      verb: "Recover the domains",
    });
    if (yes)
      await act(
        () => ask(api.POST("/api/frontier/recover", { body: { silent_s: 300 } })),
        (done) =>
          done.domains.length
            ? `${number(done.domains.length)} domains can be claimed again.`
            : "Nothing to recover: no dead or silent worker holds a domain.",
        "workers",
        "claims",
      );
  };
  return (
    <Button isBusy={isBusy} onClick={() => void recover()}>
      Recover domains
    </Button>
  );
}
