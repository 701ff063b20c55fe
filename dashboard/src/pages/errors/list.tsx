/** Errors, grouped: many failures that are one problem are one line. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Card, Empty, PageHead, Select, Tabs, Time } from "../../ui/basic";
import { number } from "../../ui/format";
import { type Column, List, useList } from "../../ui/list";
import { Dead } from "./dead";
import { CATEGORIES, type Category, isCategory, PERIODS, sinceOf } from "./words";

type Pattern = Schemas["Pattern"];
const AT_ONCE = 200;
const LIVE = { refetchInterval: 10_000, keyOf: (pattern: Pattern) => pattern.fingerprint };

export function Errors() {
  const [filters, setFilters] = useFilters();
  const since_s = sinceOf(filters.since);
  const isDead = filters.category === "dead";
  const category = isCategory(filters.category) ? filters.category : undefined;
  const counts = useQuery({
    queryKey: ["error-counts", since_s],
    queryFn: () => ask(api.GET("/api/errors/categories", { params: { query: { since_s } } })),
    refetchInterval: 10_000,
  });
  const dead = useQuery({
    queryKey: ["dead"],
    queryFn: () => ask(api.GET("/api/errors/dead", { params: { query: { limit: 1000 } } })),
    refetchInterval: 10_000,
  });
  const total =
    counts.data && Object.entries(counts.data).reduce((sum, [key, count]) => (key === "robots" ? sum : sum + count), 0);
  return (
    <>
      <PageHead
        title="Errors"
        about="Failures that have their cause in common are one problem. The largest come first."
      >
        {!isDead && (
          <Select
            label="Period"
            value={filters.since ?? "day"}
            onChange={(since) => setFilters({ since: since === "day" ? undefined : since })}
            options={PERIODS.map(([key, text]) => [key, text] as [string, string])}
          />
        )}
      </PageHead>
      <Tabs<Category | "all" | "dead">
        label="Category"
        value={isDead ? "dead" : (category ?? "all")}
        onChange={(key) => setFilters({ category: key === "all" ? undefined : key })}
        tabs={[
          { key: "all", text: "All", count: total },
          ...CATEGORIES.map(([key, text]) => ({ key, text, count: counts.data?.[key] })),
          { key: "dead", text: "Dead letters", count: dead.data && dead.data.tasks.length + dead.data.webhooks.length },
        ]}
      />
      {isDead ? <Dead query={dead} /> : <Patterns since_s={since_s} category={category} />}
    </>
  );
}

function Patterns({ since_s, category }: { since_s: number; category: Category | undefined }) {
  const navigate = useNavigate();
  const patterns = useList<Pattern>(
    ["errors", since_s, category],
    (after) => ask(api.GET("/api/errors", { params: { query: { since_s, category, limit: AT_ONCE, after } } })),
    LIVE,
  );
  const about = CATEGORIES.find(([key]) => key === category)?.[2];
  return (
    <>
      {about && <p className="mb-3 text-soft">{about}</p>}
      <Card pad={false} className="overflow-hidden">
        <List
          label="Problems"
          rows={patterns.rows}
          columns={COLUMNS}
          keyOf={(pattern) => pattern.fingerprint}
          query={patterns}
          onOpen={(pattern) =>
            void navigate({ to: "/errors/$fingerprint", params: { fingerprint: pattern.fingerprint } } as never)
          }
          empty={
            <Empty title="Nothing failed">
              {category
                ? "Not in this category, and not in this period."
                : "Not in this period. A longer one can be chosen above."}
            </Empty>
          }
        />
      </Card>
    </>
  );
}

const COLUMNS: Column<Pattern>[] = [
  {
    name: "Failures",
    width: "5rem",
    isNumber: true,
    cell: (pattern) => <span className="font-medium">{number(pattern.failures)}</span>,
  },
  {
    name: "Problem",
    width: "minmax(8rem,4fr)",
    cell: (pattern) => (
      <Link
        to="/errors/$fingerprint"
        params={{ fingerprint: pattern.fingerprint } as never}
        title={pattern.sample}
        className="hover:underline"
      >
        {pattern.sample}
      </Link>
    ),
  },
  { name: "Code", width: "minmax(7rem,1fr)", isWideOnly: true, cell: (pattern) => <Badge>{pattern.code}</Badge> },
  {
    name: "Category",
    width: "6.5rem",
    isWideOnly: true,
    cell: (pattern) => CATEGORIES.find(([key]) => key === pattern.category)?.[1] ?? pattern.category,
  },
  { name: "Domains", width: "5.5rem", isNumber: true, isWideOnly: true, cell: (pattern) => number(pattern.domains) },
  { name: "First", width: "7rem", isWideOnly: true, cell: (pattern) => <Time at={pattern.first_at} /> },
  { name: "Last", width: "7rem", isWideOnly: true, cell: (pattern) => <Time at={pattern.last_at} /> },
];
