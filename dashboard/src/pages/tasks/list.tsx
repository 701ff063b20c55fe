/** Tasks: the queue and the history, live. Every filter is a link. */
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { api, ask } from "../../api/client";
import { useLive } from "../../api/live";
import { useIsAdmin } from "../../api/session";
import type { Filters } from "../../router";
import { useFilters } from "../../ui/address";
import { Button, Card, Empty, PageHead, Select, State, Time } from "../../ui/basic";
import { duration, pathOf, short, words } from "../../ui/format";
import { type Column, List, useList } from "../../ui/list";
import { Bulk } from "./bulk";
import { FilterBox } from "./filter_box";
import { OPEN_STATES, OUTCOMES, type TaskRow, toQuery } from "./filters";

const LIVE_MS = 3_000;

export function Tasks() {
  const [filters, setFilters] = useFilters();
  const [selected, setSelected] = useState(new Set<string | number>());
  const [isAll, setIsAll] = useState(false);
  const [isDeep, setIsDeep] = useState(false);
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const query = toQuery(filters);
  const key = JSON.stringify(query);
  // Rows stay where they are while somebody reads further down or has chosen some of them.
  const isLive = !isDeep && !selected.size;
  const list = useList<TaskRow>(
    ["tasks", key],
    (after) => ask(api.GET("/api/tasks", { params: { query: { ...query, after } } })),
    { refetchInterval: isLive ? LIVE_MS : undefined },
  );
  const { pages } = list;
  useEffect(() => setIsDeep(pages > 1), [pages]);
  const clear = () => {
    setSelected(new Set());
    setIsAll(false);
  };
  useEffect(clear, [key]);

  return (
    <>
      <PageHead
        title="Tasks"
        about="A task is one visit to one page. Open ones are the queue, closed ones the history."
      />
      <States filters={filters} />
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <FilterBox
          label="Domain"
          value={filters.domain}
          onChange={(domain) => setFilters({ domain })}
          placeholder="shop.example"
        />
        <ErrorCodes value={filters.error_code} onChange={(error_code) => setFilters({ error_code })} />
        <FilterBox label="Run" value={filters.run} onChange={(run) => setFilters({ run })} placeholder="any" isNumber />
        {Object.keys(query).length > 0 && (
          <Link to="/tasks" className="text-brand hover:underline">
            Show everything
          </Link>
        )}
        <span className="ml-auto text-xs text-soft" role="status">
          {isLive
            ? "Newest first, kept up to date"
            : selected.size
              ? "Stands still while tasks are selected"
              : "Stands still while you read on"}
        </span>
        {!isLive && !selected.size && (
          <Button kind="quiet" onClick={() => void list.refetch()}>
            Refresh
          </Button>
        )}
      </div>
      <Card pad={false} className="min-h-96 overflow-hidden">
        {isAdmin && selected.size > 0 && (
          <Bulk
            query={query}
            rows={list.rows}
            selected={selected}
            isAll={isAll}
            setIsAll={setIsAll}
            hasMore={list.hasNextPage}
            clear={clear}
          />
        )}
        <List
          label="Tasks"
          rows={list.rows}
          columns={COLUMNS}
          keyOf={(task) => task.id}
          query={list}
          onOpen={(task) => void navigate({ to: "/tasks/$task", params: { task: String(task.id) } } as never)}
          selected={isAdmin ? selected : undefined}
          onSelect={
            isAdmin
              ? (next) => {
                  setSelected(next);
                  setIsAll(false);
                }
              : undefined
          }
          empty={<NoTasks isFiltered={Object.keys(query).length > 0} isQueue={query.is_open === true} />}
        />
      </Card>
    </>
  );
}

const COLUMNS: Column<TaskRow>[] = [
  { name: "State", width: "8.5rem", cell: (task) => <State of={task.outcome ?? task.status} /> },
  {
    name: "Page",
    width: "minmax(8rem,3fr)",
    cell: (task) => (
      <Link
        to="/tasks/$task"
        params={{ task: String(task.id) } as never}
        title={task.url}
        className="block truncate leading-tight hover:underline"
      >
        <span className="block truncate text-xs text-soft md:inline md:text-sm">{task.domain}</span> {pathOf(task.url)}
      </Link>
    ),
  },
  { name: "Answer", width: "minmax(6rem,1.6fr)", isWideOnly: true, cell: (task) => <Answer task={task} /> },
  {
    name: "Took",
    width: "5.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (task) =>
      task.response_time_ms == null
        ? "–"
        : task.response_time_ms < 1
          ? "< 1 ms"
          : duration(task.response_time_ms / 1000),
  },
  { name: "Try", width: "3.5rem", isNumber: true, isWideOnly: true, cell: (task) => task.retry_count + 1 },
  { name: "Priority", width: "4.5rem", isNumber: true, isWideOnly: true, cell: (task) => task.priority },
  {
    name: "When",
    width: "7.5rem",
    isWideOnly: true,
    cell: (task) => (
      <Time
        at={
          task.completed_at ??
          (task.locked_at || task.status === "crawling" ? (task.requested_at ?? task.created_at) : task.scheduled_for)
        }
      />
    ),
  },
];

const Answer = ({ task }: { task: TaskRow }) => {
  if (task.error_message)
    return (
      <span className="text-soft" title={task.error_message}>
        {task.error_message}
      </span>
    );
  return task.status_code ? (
    <span className="tabular-nums">{task.status_code}</span>
  ) : (
    <span className="text-soft">–</span>
  );
};

/** States and outcomes with their numbers; each is a link that keeps the other filters. */
function States({ filters }: { filters: Filters }) {
  const { stats } = useLive();
  const open: Record<string, number> = stats?.tasks_open ?? {};
  const visits: Record<string, number> = stats?.visits ?? {};
  // The numbers are those of the whole instance: with a filter they would be of something else than the rows below.
  const isNarrowed = Boolean(filters.domain || filters.run || filters.error_code);
  const sum = (of: Record<string, number>) =>
    stats && !isNarrowed ? Object.values(of).reduce((total, count) => total + count, 0) : undefined;
  const count = (of: Record<string, number>, name: string) => (stats && !isNarrowed ? (of[name] ?? 0) : undefined);
  const here = `${filters.status} ${filters.outcome} ${filters.is_open}`;
  const keep = { domain: filters.domain, error_code: filters.error_code, run: filters.run };
  const queue = { domain: filters.domain, run: filters.run };
  return (
    <nav aria-label="States and outcomes" className="mb-3 flex flex-col gap-1.5">
      <Row name="Queue" here={here}>
        <StateLink text="all open" to={{ ...queue, is_open: "true" }} now={filters} count={sum(open)} />
        {OPEN_STATES.map((state) => (
          <StateLink
            key={state}
            text={words(state)}
            to={{ ...queue, status: state }}
            now={filters}
            count={count(open, state)}
          />
        ))}
      </Row>
      <Row name="History" here={here}>
        <StateLink text="all closed" to={{ ...keep, is_open: "false" }} now={filters} />
        {OUTCOMES.map((outcome) => (
          <StateLink
            key={outcome}
            text={words(outcome)}
            to={{ ...keep, outcome }}
            now={filters}
            count={outcome === "cancelled" ? undefined : count(visits, outcome)}
            about="Visits to pages since the beginning; those to images are not counted"
          />
        ))}
        <StateLink text="all that failed" to={{ ...keep, status: "failed" }} now={filters} />
      </Row>
    </nav>
  );
}

function Row({ name, here, children }: { name: string; here: string; children: ReactNode }) {
  const row = useRef<HTMLDivElement>(null);
  // On a phone the row is wider than the screen: what is chosen should be seen.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (row.current && chosen)
      row.current.scrollLeft = chosen.offsetLeft - row.current.offsetLeft - row.current.clientWidth / 3;
  }, [here]);
  return (
    <div ref={row} className="flex items-center gap-1.5 overflow-x-auto py-0.5">
      <span className="w-14 shrink-0 text-xs text-soft">{name}</span>
      {children}
    </div>
  );
}

function StateLink({
  text,
  to,
  now,
  count,
  about,
}: {
  text: string;
  to: Filters;
  now: Filters;
  count?: number;
  about?: string;
}) {
  const isHere = (["status", "outcome", "is_open"] as const).every((name) => (to[name] ?? "") === (now[name] ?? ""));
  return (
    <Link
      to="/tasks"
      search={Object.fromEntries(Object.entries(to).filter(([, value]) => value)) as never}
      aria-current={isHere ? "true" : undefined}
      title={about}
      activeProps={{}}
      className={`inline-flex min-h-8 items-center gap-1.5 rounded-full border px-3 whitespace-nowrap ${isHere ? "border-brand bg-surface font-medium text-ink" : "border-line bg-surface text-soft hover:text-ink"}`}
    >
      {text}
      {count !== undefined && <span className="text-xs tabular-nums">{short(count)}</span>}
    </Link>
  );
}

function ErrorCodes({ value, onChange }: { value: string | undefined; onChange: (value: string | undefined) => void }) {
  const { stats } = useLive();
  const known = Object.keys(stats?.failures ?? {});
  const codes = [...new Set([...known, ...(value ? [value] : [])])].sort();
  return <Select label="Error" value={value} onChange={onChange} options={codes} all="any" />;
}

function NoTasks({ isFiltered, isQueue }: { isFiltered: boolean; isQueue: boolean }) {
  if (isQueue)
    return (
      <Empty title="The queue is empty">
        Tasks are made when a worker claims a domain. Pages that wait for their turn are counted as frontier until then.
      </Empty>
    );
  if (isFiltered)
    return (
      <Empty
        title="No task matches"
        action={
          <Link to="/tasks" className="text-brand hover:underline">
            Show everything
          </Link>
        }
      >
        Nothing is in this state with these filters.
      </Empty>
    );
  return (
    <Empty title="No visit yet">
      Add seeds, or start a run: each page that is visited becomes a task, and stays here as history.
    </Empty>
  );
}
