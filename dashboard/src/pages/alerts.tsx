/** Alerts: what somebody should look at, who took it, and who is told. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask, type Schemas } from "../api/client";
import { useIsAdmin } from "../api/session";
import { useFilters } from "../ui/address";
import { Badge, Button, Card, Empty, PageHead, Select, State, Tabs, Time } from "../ui/basic";
import { words } from "../ui/format";
import { type Column, List, useList } from "../ui/list";
import { AlertDetail, useAlertVerbs } from "./alerts/detail";
import { MuteDialog } from "./alerts/mute";
import { Rules } from "./alerts/rules";
import { Targets } from "./alerts/targets";

type AlertRow = Schemas["AlertRow"];
const VIEWS = ["open", "acknowledged", "resolved", "rules", "targets"] as const;
type View = (typeof VIEWS)[number];

export function Alerts() {
  const [filters, setFilters] = useFilters();
  const [muting, setMuting] = useState<{ rule: string; subject: string } | null>(null);
  const view: View = VIEWS.find((each) => each === filters.view) ?? "open";
  const opened = Number(filters.alert);
  const open = useQuery({
    queryKey: ["alerts", "count"],
    queryFn: () => ask(api.GET("/api/alerts", { params: { query: { is_open: true, limit: 1000 } } })),
    refetchInterval: 10_000,
  });
  const count = (status: AlertRow["status"]) => open.data?.items.filter((alert) => alert.status === status).length;
  return (
    <>
      <PageHead
        title="Alerts"
        about="Rules watch the numbers; what has been bad for long enough is raised here, and resolved when it has been quiet."
      />
      <Tabs
        label="Alerts"
        value={view}
        onChange={(key) => setFilters({ view: key === "open" ? undefined : key, alert: undefined, runbook: undefined })}
        tabs={[
          { key: "open", text: "Open", count: count("open") },
          { key: "acknowledged", text: "Acknowledged", count: count("acknowledged") },
          { key: "resolved", text: "Resolved" },
          { key: "rules", text: "Rules" },
          { key: "targets", text: "Who is told" },
        ]}
      />
      {view === "rules" && (
        <Rules
          read={filters.runbook}
          onRead={(runbook) => setFilters({ runbook })}
          onMute={(rule) => setMuting({ rule, subject: "" })}
        />
      )}
      {view === "targets" && <Targets />}
      {view !== "rules" && view !== "targets" && (
        <Shown
          view={view}
          rule={filters.rule}
          setRule={(rule) => setFilters({ rule })}
          open={(id) => setFilters({ alert: String(id) })}
        />
      )}
      {opened > 0 && !muting && (
        <AlertDetail
          id={opened}
          onClose={() => setFilters({ alert: undefined })}
          onMute={(rule, subject) => setMuting({ rule, subject })}
        />
      )}
      {muting && <MuteDialog {...muting} onClose={() => setMuting(null)} />}
    </>
  );
}

function Shown({
  view,
  rule,
  setRule,
  open,
}: {
  view: "open" | "acknowledged" | "resolved";
  rule: string | undefined;
  setRule: (rule: string | undefined) => void;
  open: (id: number) => void;
}) {
  const isAdmin = useIsAdmin();
  const { acknowledge, resolve, isBusy } = useAlertVerbs();
  const rules = useQuery({ queryKey: ["rules"], queryFn: () => ask(api.GET("/api/alerts/rules")), staleTime: 60_000 });
  const is_open = view !== "resolved";
  const list = useList<AlertRow>(
    ["alerts", is_open, rule],
    (after) => ask(api.GET("/api/alerts", { params: { query: { is_open, rule, after } } })),
    { refetchInterval: 5_000 },
  );
  const rows = list.rows.filter((alert) => alert.status === view);
  // What is looked for may lie further down than the first page.
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (!rows.length && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const columns: Column<AlertRow>[] = [
    {
      name: "State",
      width: "7rem",
      cell: (alert) => <State of={alert.status === "resolved" ? "resolved" : alert.severity} />,
    },
    {
      name: "What",
      width: "minmax(8rem,4fr)",
      cell: (alert) => (
        <button
          type="button"
          className="block max-w-full truncate text-left hover:underline"
          title={alert.message}
          onClick={() => open(alert.id)}
        >
          {alert.message}
        </button>
      ),
    },
    {
      name: "Rule",
      width: "minmax(7rem,1fr)",
      isWideOnly: true,
      cell: (alert) => (
        <>
          {words(alert.rule)} {alert.is_muted && <Badge>muted</Badge>}
        </>
      ),
    },
    {
      name: "Taken by",
      width: "7rem",
      isWideOnly: true,
      cell: (alert) =>
        (view === "resolved" ? alert.resolved_by : alert.acknowledged_by) ?? (
          <span className="text-soft">{view === "resolved" ? "itself" : "nobody"}</span>
        ),
    },
    {
      name: view === "resolved" ? "Resolved" : "Raised",
      width: "7rem",
      isWideOnly: true,
      cell: (alert) => <Time at={alert.resolved_at ?? alert.raised_at} />,
    },
  ];
  if (isAdmin && view !== "resolved") {
    columns.push({
      name: "Verbs",
      width: view === "open" ? "13.5rem" : "7rem",
      isWideOnly: true,
      cell: (alert) => (
        <span className="flex gap-1.5">
          {view === "open" && (
            <Button
              disabled={isBusy}
              aria-label={`Acknowledge: ${alert.message}`}
              onClick={() => void acknowledge(alert)}
            >
              Acknowledge
            </Button>
          )}
          <Button disabled={isBusy} aria-label={`Resolve: ${alert.message}`} onClick={() => void resolve(alert)}>
            Resolve
          </Button>
        </span>
      ),
    });
  }
  return (
    <>
      <div className="mb-3">
        <Select
          label="Rule"
          value={rule}
          onChange={setRule}
          options={rules.data?.items.map((each) => each.rule) ?? (rule ? [rule] : [])}
          all="any"
        />
      </div>
      <Card pad={false} className="overflow-hidden">
        <List
          label="Alerts"
          rows={rows}
          columns={columns}
          keyOf={(alert) => alert.id}
          query={list}
          onOpen={(alert) => open(alert.id)}
          empty={<NoAlert view={view} />}
        />
      </Card>
    </>
  );
}

const NoAlert = ({ view }: { view: "open" | "acknowledged" | "resolved" }) => {
  if (view === "open")
    return (
      <Empty title="Nothing is wrong">No rule has anything to say. What it would say is listed under “Rules”.</Empty>
    );
  if (view === "acknowledged")
    return (
      <Empty title="Nobody looks after an alert now">
        An open alert that somebody acknowledges is kept here until it is resolved.
      </Empty>
    );
  return <Empty title="No alert was resolved yet" />;
};
