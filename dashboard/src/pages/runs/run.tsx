/** One run at this moment: how far it is, how its visits end, which domains keep it busy. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Button, Card, Facts, Loaded, PageHead, Stat, State, Time, WebLink } from "../../ui/basic";
import { Shares } from "../../ui/chart";
import { useConfirm } from "../../ui/dialog";
import { bytes, duration, number, percent, rate, short, words } from "../../ui/format";
import { domainsOf, type Order, orderOf, outcomesOf, progressOf } from "./order";

type Run = Schemas["Run"];

export function RunPage() {
  const id = Number((useParams({ strict: false }) as { run?: string }).run);
  const run = useQuery({
    queryKey: ["run", id],
    queryFn: () => ask(api.GET("/api/runs/{run}", { params: { path: { run: id } } })),
    refetchInterval: (query) => (query.state.data?.ended_at ? false : 2_000),
  });
  return (
    <Loaded query={run} lines={12}>
      {(found) => <Shown run={found} />}
    </Loaded>
  );
}

function Shown({ run }: { run: Run }) {
  const order = orderOf(run.spec);
  return (
    <>
      <PageHead
        title={
          <>
            Run {run.run_id}{" "}
            <span className="align-middle">
              <State of={run.status} />
            </span>
          </>
        }
        about={<span className="break-all">{order.title}</span>}
      >
        <Link to="/tasks" search={{ run: String(run.run_id) } as never} className="text-brand hover:underline">
          Its tasks
        </Link>
        <Stop run={run} order={order} />
      </PageHead>
      <div className="flex flex-col gap-4">
        <Progress run={run} order={order} />
        <div className="grid grid-cols-2 gap-3 lg:grid-cols-3 2xl:grid-cols-6">
          <Stat
            name="Pages visited"
            value={short(run.pages_done)}
            about={`${rate(run.elapsed_s ? run.pages_done / run.elapsed_s : 0)} per second on average`}
          />
          <Stat
            name="Success"
            value={percent(run.pages_done ? run.pages_ok / run.pages_done : null)}
            about={`${short(run.pages_ok)} pages`}
          />
          <Stat name="Waiting" value={short(run.frontier)} about="pages it knows and has not visited" />
          <Stat
            name="Received"
            value={bytes(run.wire_bytes)}
            about={run.pages_done ? `${bytes(run.wire_bytes / run.pages_done)} each visit` : "nothing yet"}
          />
          <Stat name="Links seen" value={short(run.links_seen)} about={`${short(run.pages_learned)} were new pages`} />
          <Stat
            name="Workers"
            value={number(run.workers)}
            about={run.ended_at ? "it is over" : run.workers ? "at work now" : "none has it"}
            tone={!run.workers && !run.ended_at ? "warn" : undefined}
          />
        </div>
        <div className="grid gap-4 xl:grid-cols-2">
          <Card title="How its visits ended" pad={false}>
            <Outcomes run={run} />
          </Card>
          <Card title="Busy domains" pad={false}>
            <Domains run={run} />
          </Card>
          <Card title="The order">
            <OrderFacts run={run} order={order} />
          </Card>
          <Card title="Links it left out">
            <Drops run={run} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Progress({ run, order }: { run: Run; order: Order }) {
  const { share, of } = progressOf(run, order.maxPages);
  if (run.ended_at && !run.pages_done)
    return (
      <Card>
        <p role="status" className="text-warn">
          This run ended after {duration(run.elapsed_s)} and visited nothing.
        </p>
      </Card>
    );
  return (
    <Card>
      <div className="mb-2 flex flex-wrap justify-between gap-2">
        <span className="tabular-nums">
          {number(run.pages_done)} of {run.ended_at || order.maxPages === of ? "" : "about "}
          {number(of)} pages
          {order.maxPages != null && order.maxPages !== of ? `, ${number(order.maxPages)} at most` : ""}
        </span>
        <span className="text-soft">
          {run.ended_at ? `took ${duration(run.elapsed_s)}` : `for ${duration(run.elapsed_s)}`}
        </span>
      </div>
      <progress
        value={share}
        max={1}
        aria-label="Progress of the run"
        className="h-2.5 w-full overflow-hidden rounded-full bg-raised accent-brand [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:bg-brand [&::-moz-progress-bar]:bg-brand"
      />
      {run.last_url && (
        <p className="mt-2 truncate text-xs text-soft">
          last: {run.last_url} {run.last_status_code}{" "}
          {run.last_response_time_ms != null && duration(run.last_response_time_ms / 1000)}
        </p>
      )}
    </Card>
  );
}

function Outcomes({ run }: { run: Run }) {
  const rows = outcomesOf(run.outcomes);
  if (!rows.length)
    return (
      <p className="p-4 text-soft">
        {run.ended_at
          ? "It visited nothing. Pages that were read before are not visited again by a run; the domains of its seeds say what else may hold them back."
          : "No visit has ended yet."}
      </p>
    );
  return (
    <div className="max-h-96 overflow-auto" tabIndex={0} role="region" aria-label="How its visits ended">
      <table className="w-full">
        <thead>
          <tr className="text-xs text-soft">
            <th className="px-4 py-2">Outcome</th>
            <th className="px-2">Why</th>
            <th className="px-2 !text-right">Visits</th>
            <th className="hidden px-2 !text-right sm:table-cell">Received</th>
            <th className="px-4 !text-right">Each took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.outcome} ${row.reason}`} className="border-t border-line">
              <td className="px-4 py-2">
                <Link to="/tasks" search={{ run: String(run.run_id), outcome: row.outcome } as never}>
                  <State of={row.outcome} />
                </Link>
              </td>
              <td className="px-2 break-words">
                {row.reason.startsWith("image ") ? `an image, ${words(row.reason.slice(6))}` : words(row.reason)}
              </td>
              <td className="px-2 text-right tabular-nums">{number(row.pages)}</td>
              <td className="hidden px-2 text-right tabular-nums sm:table-cell">{bytes(row.bytes)}</td>
              <td className="px-4 text-right tabular-nums">{duration(row.averageS)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Domains({ run }: { run: Run }) {
  const rows = domainsOf(run.domains);
  const states = Object.entries(run.domain_states);
  if (!rows.length)
    return (
      <p className="p-4 text-soft">
        {run.ended_at
          ? "None of the domains is its own any more: another run took them since."
          : "It has no domain yet."}
      </p>
    );
  return (
    <>
      <div className="max-h-80 overflow-auto" tabIndex={0} role="region" aria-label="Busy domains">
        <table className="w-full">
          <thead>
            <tr className="text-xs text-soft">
              <th className="px-4 py-2">Domain</th>
              <th className="hidden px-2 sm:table-cell">State</th>
              <th className="px-2 !text-right">Visited</th>
              <th className="px-2 !text-right">Waiting</th>
              <th className="hidden px-4 !text-right sm:table-cell">Errors</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name} className="border-t border-line">
                <td className="max-w-48 px-4 py-2">
                  <Link
                    to="/domains/$domain"
                    params={{ domain: row.name } as never}
                    className="block truncate hover:underline"
                  >
                    {row.name}
                  </Link>
                  {row.reason && (
                    <span className="block truncate text-xs text-soft" title={row.reason}>
                      {row.reason}
                    </span>
                  )}
                </td>
                <td className="hidden px-2 sm:table-cell">
                  <State of={row.isLeased ? "crawling" : row.status} />
                </td>
                <td className="px-2 text-right tabular-nums">{number(row.crawled)}</td>
                <td className="px-2 text-right tabular-nums">{number(row.frontier)}</td>
                <td className={`hidden px-4 text-right tabular-nums sm:table-cell ${row.errors ? "text-bad" : ""}`}>
                  {number(row.errors)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="border-t border-line px-4 py-2 text-xs text-soft">
        All its domains: {states.map(([state, domains]) => `${number(domains)} ${words(state)}`).join(", ")}
      </p>
    </>
  );
}

function OrderFacts({ run, order }: { run: Run; order: Order }) {
  return (
    <Facts
      of={[
        [
          "Seeds",
          order.seeds.length ? (
            <ul key="seeds" className="max-h-40 overflow-auto">
              {order.seeds.map((seed) => (
                <li key={seed}>
                  <WebLink url={seed} />
                </li>
              ))}
              {order.seedsTotal > order.seeds.length && (
                <li className="text-soft">and {number(order.seedsTotal - order.seeds.length)} more</li>
              )}
            </ul>
          ) : order.isStanding ? (
            "none: all known domains"
          ) : (
            "none"
          ),
        ],
        ["Scope", order.scope],
        ["Depth", order.maxDepth == null ? "no limit" : `${order.maxDepth} links from a seed`],
        ["Pages", order.maxPages == null ? "no limit" : `${number(order.maxPages)} at most`],
        [
          "Pages of a domain",
          order.maxPagesPerDomain == null ? "no limit" : `${number(order.maxPagesPerDomain)} at most`,
        ],
        ["Pace", order.delayS == null ? "as each domain says" : `${duration(order.delayS)} between requests`],
        ["Only", order.include.length ? order.include.join(", ") : "everything in scope"],
        ["Not", order.exclude.length ? order.exclude.join(", ") : "nothing is left out"],
        ["Ordered by", run.created_by],
        ["Started", <Time key="started" at={run.started_at} isExact />],
        ["Ended", <Time key="ended" at={run.ended_at} isExact empty="it goes on" />],
      ]}
    />
  );
}

function Drops({ run }: { run: Run }) {
  return (
    <Shares
      of={run.drops}
      tones={(name) =>
        name.startsWith("trap") ? "bg-bad" : name === "scope" ? "bg-warn" : name === "duplicate" ? "bg-soft" : "bg-info"
      }
      format={short}
    />
  );
}

function Stop({ run, order }: { run: Run; order: Order }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const { act, isBusy } = useAct();
  if (!isAdmin || run.status !== "running") return null;
  if (order.isStanding)
    return (
      <span className="text-xs text-soft" title="Pause domains to hold it.">
        Runs as long as <code>forager up</code>
      </span>
    );
  const stop = async () => {
    const yes = await confirm({
      title: "Stop this run?",
      text: `Its workers finish what is open; ${number(run.frontier)} pages that wait are kept and can be visited by a later run.`,
      verb: "Stop the run",
      isDangerous: true,
    });
    if (yes)
      await act(
        () => ask(api.POST("/api/admin/runs/{run}/stop", { params: { path: { run: run.run_id } } })),
        (done) => done.message,
        "run",
        "runs",
      );
  };
  return (
    <Button kind="danger" isBusy={isBusy} onClick={() => void stop()}>
      Stop
    </Button>
  );
}
