/** Proxies: how they do, what they cost, the pools of domains, and how many are needed. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, PageHead, Select, Spinner, Stat, Tabs, Time } from "../../ui/basic";
import { useConfirm, useToast } from "../../ui/dialog";
import { duration, money, number, percent, short } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { count, inTurn, sayTurns } from "../domains/turns";
import { sayProgress, useLookAgain } from "../domains/verbs";
import { AddDialog, ProxyDialog, useRemove } from "./edit";
import { addressOf, type Health, healthOf, TONES } from "./health";
import { Pools, SizingCard } from "./pools";

export type Proxy = Schemas["ProxyRow"];
const HEALTHS: readonly Health[] = ["working", "failing", "failed", "off", "unused"];
const TABS = [
  { key: "proxies", text: "Proxies" },
  { key: "pools", text: "Pools of domains" },
  { key: "size", text: "How many are needed" },
] as const;

export function Proxies() {
  const isAdmin = useIsAdmin();
  const [filters, setFilters] = useFilters();
  const [isAdding, setIsAdding] = useState(false);
  const tab = TABS.find((known) => known.key === filters.tab)?.key ?? "proxies";
  const proxies = useQuery({
    queryKey: ["proxies"],
    queryFn: () => ask(api.GET("/api/proxies")),
    refetchInterval: 5_000,
  });
  const add = isAdmin && (
    <Button kind="main" onClick={() => setIsAdding(true)}>
      Add proxies
    </Button>
  );
  return (
    <>
      <PageHead
        title="Proxies"
        about="What requests may go through: a domain uses its own pool, else the default pool, else it is asked directly."
      >
        {add}
      </PageHead>
      <Figures proxies={proxies.data?.items} />
      <Tabs
        label="Views of proxies"
        value={tab}
        onChange={(key) => setFilters({ tab: key === "proxies" ? undefined : key })}
        tabs={TABS}
      />
      {tab === "proxies" && <ProxyList query={proxies} all={proxies.data?.items ?? []} />}
      {tab === "pools" && <Pools />}
      {tab === "size" && <SizingCard />}
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
    </>
  );
}

function Figures({ proxies }: { proxies: Proxy[] | undefined }) {
  const costs = useQuery({
    queryKey: ["proxies", "costs"],
    queryFn: () => ask(api.GET("/api/proxies/costs")),
    refetchInterval: 10_000,
  });
  const having = (health: Health) => proxies?.filter((proxy) => healthOf(proxy) === health).length ?? 0;
  const { data } = costs;
  const failing = having("failing") + having("failed");
  return (
    <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Stat
        name="Proxies"
        value={proxies ? number(proxies.length) : "–"}
        about={`${number(having("off"))} switched off`}
      />
      <Stat
        name="Failing"
        value={proxies ? number(failing) : "–"}
        about={`${number(having("failed"))} put aside`}
        tone={having("failed") ? "bad" : failing ? "warn" : undefined}
      />
      <Stat
        name="Cost a month"
        value={data ? money(data.monthly_cost, null) : "–"}
        about={data?.monthly_cost == null ? "no cost is known" : `of all ${count(data.proxies, "proxy", "proxies")}`}
      />
      <Stat
        name="Paid for nothing"
        value={data ? money(data.idle_cost ?? (data.monthly_cost === null ? null : 0), null) : "–"}
        about={data ? `${count(data.idle, "proxy", "proxies")} long unused` : " "}
        tone={data?.idle_cost ? "warn" : undefined}
      />
    </div>
  );
}

const COLUMNS: Column<Proxy>[] = [
  {
    name: "health",
    width: "6.5rem",
    cell: (proxy) => (
      <Badge tone={TONES[healthOf(proxy)]} title={proxy.last_error ?? undefined}>
        {healthOf(proxy)}
      </Badge>
    ),
  },
  {
    name: "address",
    width: "minmax(10rem,2fr)",
    cell: (proxy) => (
      <span className="font-medium" title={addressOf(proxy)}>
        {addressOf(proxy)}
      </span>
    ),
  },
  {
    name: "country",
    width: "minmax(5rem,.6fr)",
    isWideOnly: true,
    cell: (proxy) => <span title={proxy.city ?? undefined}>{proxy.country_code ?? "–"}</span>,
  },
  { name: "provider", width: "minmax(6rem,.8fr)", isWideOnly: true, cell: (proxy) => proxy.provider ?? "–" },
  {
    name: "success",
    width: "minmax(8.5rem,.9fr)",
    isNumber: true,
    isWideOnly: true,
    cell: (proxy) =>
      proxy.success_rate_percent === null ? (
        "–"
      ) : (
        <span className={proxy.success_rate_percent < 80 ? "text-bad" : ""}>
          {percent(proxy.success_rate_percent / 100)}{" "}
          <span className="text-xs">of {short(proxy.successes + proxy.failures)}</span>
        </span>
      ),
  },
  {
    name: "answers in",
    width: "minmax(6rem,.6fr)",
    isNumber: true,
    isWideOnly: true,
    cell: (proxy) => duration(proxy.avg_response_time_ms === null ? null : proxy.avg_response_time_ms / 1000),
  },
  {
    name: "this hour",
    width: "minmax(7rem,.7fr)",
    isNumber: true,
    isWideOnly: true,
    cell: (proxy) => (
      <>
        {short(proxy.hour_requests)}
        {proxy.max_requests_per_hour !== null && (
          <span className="text-soft"> / {short(proxy.max_requests_per_hour)}</span>
        )}
      </>
    ),
  },
  {
    name: "cost a month",
    width: "minmax(7.5rem,.6fr)",
    isNumber: true,
    isWideOnly: true,
    cell: (proxy) => money(proxy.monthly_cost, null),
  },
  {
    name: "domains",
    width: "minmax(5rem,.5fr)",
    isNumber: true,
    isWideOnly: true,
    cell: (proxy) => number(proxy.domains),
  },
  {
    name: "last used",
    width: "minmax(7rem,.8fr)",
    isWideOnly: true,
    cell: (proxy) => <Time at={proxy.last_used_at} empty="never" />,
  },
];

const distinct = (values: (string | null)[]) => [...new Set(values.filter((value) => value !== null))].sort();

function ProxyList({
  query,
  all,
}: {
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
  all: Proxy[];
}) {
  const isAdmin = useIsAdmin();
  const [filters, setFilters] = useFilters();
  const [selected, setSelected] = useState<Set<string | number>>(new Set());
  const [shown, setShown] = useState<number>();
  const health = HEALTHS.find((known) => known === filters.health);
  const rows = all.filter(
    (proxy) =>
      (!health || healthOf(proxy) === health) &&
      (!filters.country || proxy.country_code === filters.country) &&
      (!filters.provider || proxy.provider === filters.provider),
  );
  const open = all.find((proxy) => proxy.id === shown);
  return (
    <>
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-3">
          <Select
            label="Health"
            value={health}
            onChange={(chosen) => setFilters({ health: chosen })}
            options={HEALTHS}
            all="all"
          />
          <Select
            label="Country"
            value={filters.country}
            onChange={(country) => setFilters({ country })}
            options={distinct(all.map((proxy) => proxy.country_code)).map((code): [string, string] => [code, code])}
            all="all"
          />
          <Select
            label="Provider"
            value={filters.provider}
            onChange={(provider) => setFilters({ provider })}
            options={distinct(all.map((proxy) => proxy.provider)).map((name): [string, string] => [name, name])}
            all="all"
          />
        </div>
      )}
      <Card pad={false}>
        {isAdmin && all.length > 0 && (
          <BulkBar chosen={all.filter((proxy) => selected.has(proxy.id))} clear={() => setSelected(new Set())} />
        )}
        <List
          label="Proxies"
          rows={rows}
          columns={COLUMNS}
          keyOf={(proxy) => proxy.id}
          query={query}
          onOpen={(proxy) => setShown(proxy.id)}
          selected={isAdmin ? selected : undefined}
          onSelect={isAdmin ? setSelected : undefined}
          empty={
            all.length ? (
              <Empty title="No proxy matches">Another filter may find it.</Empty>
            ) : (
              <Empty title="There are no proxies">
                {isAdmin
                  ? "All domains are asked directly. Add proxies, then assign them to domains that need them."
                  : "All domains are asked directly."}
              </Empty>
            )
          }
        />
      </Card>
      {open && <ProxyDialog proxy={open} onClose={() => setShown(undefined)} />}
    </>
  );
}

function BulkBar({ chosen, clear }: { chosen: Proxy[]; clear: () => void }) {
  const [progress, setProgress] = useState<{ done: number; of: number } | null>(null);
  const confirm = useConfirm();
  const toast = useToast();
  const lookAgain = useLookAgain();
  const remove = useRemove();
  const many = count(chosen.length, "proxy", "proxies");
  const switchAll = async (verb: "enable" | "disable") => {
    const text =
      verb === "enable"
        ? "They are used again, and their failures are forgotten."
        : "They are not used until somebody enables them. A domain whose proxies are all off is not visited.";
    const yes = await confirm({
      title: `${verb === "enable" ? "Enable" : "Disable"} ${many}?`,
      text,
      verb: `${verb === "enable" ? "Enable" : "Disable"} ${many}`,
    });
    if (!yes) return;
    const byName = new Map(chosen.map((proxy) => [addressOf(proxy), proxy.id]));
    const turns = await inTurn(
      [...byName.keys()],
      (name) => {
        const params = { params: { path: { proxy: byName.get(name) ?? 0 } } };
        return verb === "enable"
          ? ask(api.POST("/api/admin/proxies/{proxy}/enable", params))
          : ask(api.POST("/api/admin/proxies/{proxy}/disable", params));
      },
      (done) => setProgress({ done, of: byName.size }),
    );
    setProgress(null);
    toast(sayTurns(turns, `${verb}d`, "proxy", "proxies"), turns.failed.length ? "bad" : "good");
    await lookAgain();
    clear();
  };
  return (
    <div
      className="flex min-h-13 flex-wrap items-center gap-2 border-b border-line px-3 py-2"
      role="toolbar"
      aria-label="Selected proxies"
    >
      {progress ? (
        <span className="flex items-center gap-2" role="status">
          <Spinner /> {sayProgress(progress)}
        </span>
      ) : (
        <span className={chosen.length ? "font-medium" : "text-soft"}>
          {chosen.length ? `${many} selected` : "Select proxies to act on them, or open one to edit it"}
        </span>
      )}
      {chosen.length > 0 && (
        <span className="flex flex-wrap gap-2">
          <Button disabled={Boolean(progress)} onClick={() => void switchAll("enable")}>
            Enable
          </Button>
          <Button disabled={Boolean(progress)} onClick={() => void switchAll("disable")}>
            Disable
          </Button>
          <Button disabled={Boolean(progress)} onClick={() => void remove(chosen).then((isDone) => isDone && clear())}>
            Delete
          </Button>
          <Button kind="quiet" disabled={Boolean(progress)} onClick={clear}>
            Clear
          </Button>
        </span>
      )}
    </div>
  );
}
