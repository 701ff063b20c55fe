/** Runs: what was ordered, by whom, and how far it is. */
import { Link, useNavigate } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useFilters } from "../../ui/address";
import { Button, Card, Empty, PageHead, State, Tabs, Time } from "../../ui/basic";
import { bytes, duration, number, percent } from "../../ui/format";
import { Play } from "../../ui/icons";
import { type Column, List, useList } from "../../ui/list";
import { orderOf } from "./order";
import { StartRun } from "./start";

type RunRow = Schemas["RunRow"];
const STATES = ["running", "finished", "stopped", "failed"] as const;
const TABS = [
  { key: "all", text: "All" },
  ...STATES.map((state) => ({ key: state, text: state.charAt(0).toUpperCase() + state.slice(1) })),
] as const;

export function Runs() {
  const [filters, setFilters] = useFilters();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const status = STATES.find((state) => state === filters.status);
  const list = useList<RunRow>(
    ["runs", status],
    (after) => ask(api.GET("/api/runs", { params: { query: { status, after } } })),
    { refetchInterval: 5_000 },
  );
  return (
    <>
      <PageHead
        title="Runs"
        about="A run is one order to crawl. The standing one, of `forager up`, never ends: it has whatever is due in domains of no other run."
      >
        {isAdmin && (
          <Button kind="main" onClick={() => setFilters({ start: "yes" })}>
            <Play /> Start a run
          </Button>
        )}
      </PageHead>
      <Tabs
        label="State of runs"
        value={status ?? "all"}
        onChange={(key) => setFilters({ status: key === "all" ? undefined : key })}
        tabs={TABS}
      />
      <Card pad={false} className="overflow-hidden">
        <List
          label="Runs"
          rows={list.rows}
          columns={COLUMNS}
          keyOf={(run) => run.id}
          query={list}
          onOpen={(run) => void navigate({ to: "/runs/$run", params: { run: String(run.id) } } as never)}
          empty={
            status ? (
              <Empty title={`No run is ${status}`} />
            ) : (
              <Empty title="No run yet">
                <code>forager up</code> starts the standing run, <code>forager crawl URL</code> one of its own
                {isAdmin ? ", and so does the button above" : ""}.
              </Empty>
            )
          }
        />
      </Card>
      {isAdmin && filters.start && <StartRun onClose={() => setFilters({ start: undefined })} />}
    </>
  );
}

const COLUMNS: Column<RunRow>[] = [
  {
    name: "Run",
    width: "3.5rem",
    cell: (run) => (
      <Link to="/runs/$run" params={{ run: String(run.id) } as never} className="font-medium hover:underline">
        {run.id}
      </Link>
    ),
  },
  { name: "State", width: "6.5rem", cell: (run) => <State of={run.status} /> },
  {
    name: "Order",
    width: "minmax(7rem,3fr)",
    cell: (run) => <span title={orderOf(run.spec).seeds.join("\n")}>{orderOf(run.spec).title}</span>,
  },
  { name: "Pages", width: "6rem", isNumber: true, isWideOnly: true, cell: (run) => number(run.pages_done) },
  {
    name: "Success",
    width: "5.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (run) => percent(run.pages_done ? run.pages_ok / run.pages_done : null),
  },
  { name: "Received", width: "6rem", isNumber: true, isWideOnly: true, cell: (run) => bytes(run.bytes) },
  {
    name: "Lasted",
    width: "7.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (run) =>
      duration(((run.ended_at ? Date.parse(run.ended_at) : Date.now()) - Date.parse(run.started_at)) / 1000),
  },
  {
    name: "By",
    width: "minmax(6rem,1fr)",
    isWideOnly: true,
    cell: (run) => <span className="text-soft">{run.created_by}</span>,
  },
  { name: "Started", width: "7.5rem", isWideOnly: true, cell: (run) => <Time at={run.started_at} /> },
];
