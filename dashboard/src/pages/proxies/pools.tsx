/** The pools of domains with their health and advice, and how many proxies a rate of pages needs. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, Field, Loaded } from "../../ui/basic";
import { duration, money, number, percent, short } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { count } from "../domains/turns";
import { FAILING } from "./health";

type PoolSize = Schemas["PoolSize"];

const COLUMNS: Column<PoolSize>[] = [
  {
    name: "domain",
    width: "minmax(9rem,1.6fr)",
    cell: (pool) => (
      <Link
        to="/domains/$domain"
        params={{ domain: pool.domain } as never}
        search={{ tab: "proxies" } as never}
        className="font-medium hover:underline"
      >
        {pool.domain}
      </Link>
    ),
  },
  { name: "total", width: "4.5rem", isNumber: true, isWideOnly: true, cell: (pool) => number(pool.proxies) },
  { name: "active", width: "4.5rem", isNumber: true, cell: (pool) => number(pool.active) },
  {
    name: `failing (≥ ${FAILING})`,
    width: "6.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (pool) => <span className={pool.failing ? "text-bad" : ""}>{number(pool.failing)}</span>,
  },
  {
    name: "needed",
    width: "5rem",
    isNumber: true,
    cell: (pool) => <span className={pool.needed > pool.active ? "text-warn" : ""}>{number(pool.needed)}</span>,
  },
  {
    name: "answers in",
    width: "6.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (pool) => duration(pool.avg_response_time_ms === null ? null : pool.avg_response_time_ms / 1000),
  },
  { name: "successes", width: "6rem", isNumber: true, isWideOnly: true, cell: (pool) => short(pool.successes) },
  {
    name: "failures",
    width: "7rem",
    isNumber: true,
    isWideOnly: true,
    cell: (pool) => (
      <>
        {short(pool.failures)}{" "}
        {pool.failed_percent !== null && (
          <span className="text-xs text-soft">({percent(pool.failed_percent / 100)})</span>
        )}
      </>
    ),
  },
  {
    name: "cost a month",
    width: "7rem",
    isNumber: true,
    isWideOnly: true,
    cell: (pool) => money(pool.monthly_cost, null),
  },
  {
    name: "advice",
    width: "minmax(9rem,2fr)",
    isWideOnly: true,
    cell: (pool) =>
      pool.remarks.length ? (
        <span className="text-warn" title={pool.remarks.join("; ")}>
          {pool.remarks.join("; ")}
        </span>
      ) : (
        <Badge tone="good">large enough</Badge>
      ),
  },
];

export function Pools() {
  const navigate = useNavigate();
  const pools = useQuery({
    queryKey: ["proxies", "advice"],
    queryFn: () => ask(api.GET("/api/proxies/advice")),
    refetchInterval: 5_000,
  });
  return (
    <Card title="Proxy health of each domain" pad={false}>
      <List
        label="Pools of domains"
        rows={pools.data?.items ?? []}
        columns={COLUMNS}
        keyOf={(pool) => pool.domain}
        query={pools}
        onOpen={(pool) =>
          void navigate({
            to: "/domains/$domain",
            params: { domain: pool.domain },
            search: { tab: "proxies" },
          } as never)
        }
        empty={
          <Empty title="No domain has a pool">
            Open a domain, then Proxies, to assign some to it. Domains without a pool are asked directly.
          </Empty>
        }
      />
    </Card>
  );
}

const rated = (text: string | undefined, otherwise: number) => {
  const value = Number(text);
  return text && value > 0 && value <= 1e9 ? value : otherwise;
};

export function SizingCard() {
  const [filters, setFilters] = useFilters();
  const pages = rated(filters.pages, 5000);
  const perProxy = rated(filters.per, 1000);
  const [form, setForm] = useState({ pages: String(pages), per: String(perProxy) });
  const [cost, setCost] = useState("");
  const sizing = useQuery({
    queryKey: ["sizing", pages, perProxy],
    queryFn: () =>
      ask(api.GET("/api/proxies/sizing", { params: { query: { pages_per_hour: pages, per_proxy: perProxy } } })),
    placeholderData: (before) => before,
  });
  const isBad = (text: string) => !(Number(text) > 0 && Number(text) <= 1e9);
  return (
    <Card title="How many proxies?" className="max-w-2xl">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBad(form.pages) && !isBad(form.per)) setFilters({ pages: form.pages, per: form.per });
        }}
      >
        <div className="grid gap-4 sm:grid-cols-3">
          <Field
            label="Pages"
            hint="An hour, all together."
            error={isBad(form.pages) ? "A number above 0." : undefined}
          >
            {(given) => (
              <input
                {...given}
                inputMode="decimal"
                value={form.pages}
                onChange={(event) => setForm({ ...form, pages: event.target.value })}
              />
            )}
          </Field>
          <Field label="Requests per proxy" hint="An hour." error={isBad(form.per) ? "A number above 0." : undefined}>
            {(given) => (
              <input
                {...given}
                inputMode="decimal"
                value={form.per}
                onChange={(event) => setForm({ ...form, per: event.target.value })}
              />
            )}
          </Field>
          <Field label="Cost of a proxy" hint="A month, if you like.">
            {(given) => (
              <input {...given} inputMode="decimal" value={cost} onChange={(event) => setCost(event.target.value)} />
            )}
          </Field>
        </div>
        <div>
          <Button type="submit" kind="main">
            Compute
          </Button>
        </div>
      </form>
      <div className="mt-4 border-t border-line pt-4" role="status">
        <Loaded query={sizing} lines={2}>
          {(data) => (
            <p>
              <span className="text-2xl font-semibold tabular-nums">{count(data.needed, "proxy", "proxies")}</span>
              <span className="ml-2 text-soft">
                for {short(data.pages_per_hour)} pages an hour at {short(data.requests_per_proxy_hour)} requests each, a
                fifth of them in reserve{Number(cost) > 0 && <>; {money(Number(cost) * data.needed, null)} a month</>}.
              </span>
            </p>
          )}
        </Loaded>
      </div>
    </Card>
  );
}
