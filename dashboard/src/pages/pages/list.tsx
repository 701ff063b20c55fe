/** Every page that is known: those that were read, and those that wait. */
import { useNavigate } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, PageHead, Select, State, Time } from "../../ui/basic";
import { number, pathOf } from "../../ui/format";
import { type Column, List, useList } from "../../ui/list";
import { DomainBox, DomainLink, Export, FilterBox, Filters, PageLink } from "./parts";

type PageRow = Schemas["PageRow"];
type Status = PageRow["status"];
const STATUSES: readonly Status[] = ["discovered", "queued", "fetched", "failed", "blocked", "gone"];

const COLUMNS: Column<PageRow>[] = [
  {
    name: "Page",
    width: "minmax(10rem,3fr)",
    cell: (page) => (
      <span className="flex flex-col leading-tight" title={page.url}>
        <PageLink url={page.url} id={page.id} className="truncate font-medium">
          {page.title || pathOf(page.url)}
        </PageLink>
        {page.title && <span className="truncate text-xs text-soft">{pathOf(page.url)}</span>}
      </span>
    ),
  },
  { name: "Status", width: "7.5rem", cell: (page) => <State of={page.status} /> },
  { name: "Domain", width: "minmax(10rem,1.3fr)", isWideOnly: true, cell: (page) => <DomainLink name={page.domain} /> },
  {
    name: "Language",
    width: "5.5rem",
    isWideOnly: true,
    cell: (page) => page.language ?? <span className="text-soft">–</span>,
  },
  {
    name: "Depth",
    width: "4.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (page) => (page.is_seed ? <Badge tone="info">seed</Badge> : number(page.depth)),
  },
  { name: "Links", width: "4.5rem", isNumber: true, isWideOnly: true, cell: (page) => number(page.links_count) },
  { name: "Read", width: "8rem", isWideOnly: true, cell: (page) => <Time at={page.fetched_at} empty="not yet" /> },
  { name: "Changed", width: "8rem", isWideOnly: true, cell: (page) => <Time at={page.changed_at} /> },
];

export function Pages() {
  const [filters, set] = useFilters();
  const navigate = useNavigate();
  const status = STATUSES.find((known) => known === filters.status);
  const sort = filters.sort === "found" ? "found" : "-fetched_at";
  const query = {
    domain: filters.domain,
    status,
    language: filters.language,
    is_seed: filters.is_seed ? filters.is_seed === "true" : undefined,
    sort,
  } as const;
  const list = useList<PageRow>(
    ["pages", query],
    (after) => ask(api.GET("/api/pages", { params: { query: { ...query, limit: 100, after } } })),
    { refetchInterval: 10_000 },
  );
  const isFiltered = Boolean(filters.domain || status || filters.language || filters.is_seed);
  const clear = () => set({ domain: undefined, status: undefined, language: undefined, is_seed: undefined });
  return (
    <>
      <PageHead title="Pages" about="Every address that is known, whether it was read or waits for its turn.">
        <Export kind="pages" filters={{ domain: filters.domain, status }} />
      </PageHead>
      <Card pad={false}>
        <Filters isFiltered={isFiltered} clear={clear}>
          <DomainBox value={filters.domain} onChange={(domain) => set({ domain })} />
          <Select
            label="Status"
            all="all"
            value={status}
            options={STATUSES}
            onChange={(next) => set({ status: next })}
          />
          <FilterBox
            label="Language"
            value={filters.language}
            placeholder="en"
            className="w-16"
            onChange={(language) => set({ language })}
          />
          <Select
            label="Seeds"
            all="all pages"
            value={filters.is_seed}
            options={[
              ["true", "only seeds"],
              ["false", "no seeds"],
            ]}
            onChange={(is_seed) => set({ is_seed })}
          />
          <Select
            label="Order"
            value={sort}
            options={[
              ["-fetched_at", "read last first"],
              ["found", "as they were found"],
            ]}
            onChange={(next) => set({ sort: next === "found" ? next : undefined })}
          />
        </Filters>
        <List
          label="Pages"
          rows={list.rows}
          columns={COLUMNS}
          keyOf={(page) => page.id}
          query={list}
          onOpen={(page) => void navigate({ to: "/pages/$page", params: { page: String(page.id) } } as never)}
          empty={
            isFiltered ? (
              <Empty title="No page has all of this" action={<Button onClick={clear}>Show all pages</Button>}>
                Other filters may find some.
              </Empty>
            ) : (
              <Empty title="No page is known yet">
                Pages appear here as soon as seeds are added: each seed is one, and so is every link that is found.
              </Empty>
            )
          }
        />
      </Card>
    </>
  );
}
