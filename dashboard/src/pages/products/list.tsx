/** Products that were found: by words and facets, as cards or as a table, and what changed in shops. */
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, PageHead, Select, State, Tabs, Time } from "../../ui/basic";
import { money, number, percent, words } from "../../ui/format";
import { Arrow } from "../../ui/icons";
import { type Column, List, useList } from "../../ui/list";
import { Thumb } from "../images/thumb";
import { Tiles } from "../images/tiles";
import { DomainBox, DomainLink, Export, FilterBox } from "../pages/parts";
import { moved, oldSince, readRange } from "./facts";

type ProductRow = Schemas["ProductRow"];
type Change = Schemas["PriceChange"];

/** A product as a card or row shows it, whether it was listed or searched for. */
interface Item {
  id: number;
  domain: string;
  name: string;
  price: number | null;
  currency: string | null;
  availability: string | null;
  brand: string | null;
  category: string | null;
  seenAt: string | null;
  isValid: boolean;
  /** Since when the price is on record that the last visit did not find. */
  oldSince: string | null;
  /** Of a stored picture, where the server names one. */
  imageId: number | null;
}
interface Answer {
  items: Item[];
  next: string | null;
  facets?: Record<string, Record<string, number>>;
  total?: number;
  isEstimate?: boolean;
  suggestion?: string | null;
  isCorrected?: boolean;
  asked?: string;
}

const listed = (row: ProductRow): Item => ({
  id: row.id,
  domain: row.domain,
  name: row.product_name,
  price: row.price,
  currency: row.currency,
  availability: row.availability,
  brand: row.brand,
  category: row.category,
  seenAt: row.last_seen_at,
  isValid: row.is_valid,
  oldSince: oldSince(row),
  imageId: row.image_id,
});

type Details = Partial<
  Pick<ProductRow, "price" | "currency" | "availability" | "brand" | "category" | "is_price_current" | "price_seen_at">
> & { image_id?: number | null };
function hit(found: Schemas["Hit"]): Item {
  const {
    price = null,
    currency = null,
    availability = null,
    brand = null,
    category = null,
    image_id = null,
  } = found.details as Details;
  return {
    id: found.id,
    domain: found.domain,
    name: found.title?.text ?? found.url,
    price,
    currency,
    availability,
    brand,
    category,
    seenAt: found.fetched_at,
    isValid: true,
    oldSince: oldSince(found.details as Details),
    imageId: image_id,
  };
}

const FACETS = ["brand", "category", "availability"] as const;
type FacetName = (typeof FACETS)[number];
const amount = (text: string | undefined) =>
  text && Number.isFinite(Number(text)) && Number(text) >= 0 ? Number(text) : undefined;

type Tab = "all" | "changes";

export function Products() {
  const [filters, set] = useFilters();
  const tab: Tab = filters.tab === "changes" ? "changes" : "all";
  return (
    <>
      <PageHead title="Products" about="What shops sell, for how much, and how that changed.">
        <Export kind={tab === "changes" ? "prices" : "products"} filters={{ domain: filters.domain }} />
      </PageHead>
      <Tabs<Tab>
        label="Views of products"
        value={tab}
        onChange={(next) => set({ tab: next === "changes" ? next : undefined })}
        tabs={[
          { key: "all", text: "Products" },
          { key: "changes", text: "Recent changes" },
        ]}
      />
      {tab === "all" ? <Shop /> : <Changes />}
    </>
  );
}

function useProducts() {
  const [filters] = useFilters();
  const currency = /^[A-Z]{3}$/.test(filters.currency ?? "") ? filters.currency : undefined;
  const query = {
    domain: filters.domain,
    brand: filters.brand,
    category: filters.category,
    availability: filters.availability,
    currency,
    min_price: amount(filters.min_price),
    max_price: amount(filters.max_price),
  };
  const q = filters.q;
  const fetchPage = async (after: string | undefined): Promise<Answer> => {
    if (!q) {
      const found = await ask(api.GET("/api/products", { params: { query: { ...query, limit: 60, after } } }));
      return { items: found.items.map(listed), next: found.next };
    }
    const found = await ask(api.GET("/api/products/search", { params: { query: { ...query, q, limit: 60, after } } }));
    return {
      items: found.hits.map(hit),
      next: found.next,
      facets: found.facets,
      total: found.total,
      isEstimate: found.is_estimate,
      suggestion: found.suggestion,
      isCorrected: found.is_corrected,
      asked: found.query,
    };
  };
  return useList<Item, Answer>(["products", "shop", q, query], fetchPage, {
    refetchInterval: q ? false : 15_000,
    isKept: true,
  });
}

function Shop() {
  const [filters, set] = useFilters();
  const navigate = useNavigate();
  const query = useProducts();
  const { rows, first } = query;
  const hasPictures = rows.some((item) => item.imageId !== null);
  const isFiltered = Boolean(
    filters.q ||
      filters.domain ||
      filters.brand ||
      filters.category ||
      filters.availability ||
      filters.currency ||
      filters.min_price ||
      filters.max_price,
  );
  const clear = () =>
    set({
      q: undefined,
      domain: undefined,
      brand: undefined,
      category: undefined,
      availability: undefined,
      currency: undefined,
      min_price: undefined,
      max_price: undefined,
    });
  const empty = isFiltered ? (
    <Empty title="No product has all of this" action={<Button onClick={clear}>Show all products</Button>}>
      Fewer words or filters may find some.
    </Empty>
  ) : (
    <Empty title="No product was found yet">
      Pages that offer something with a name and a price become products when they are read. Crawl a shop to see them.
    </Empty>
  );
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[15rem_minmax(0,1fr)]">
      <Facets rows={rows} counts={first?.facets} isFiltered={isFiltered} clear={clear} />
      <Card pad={false}>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2">
          <FilterBox
            label="Search"
            value={filters.q}
            placeholder="name, brand, category"
            className="w-56"
            onChange={(q) => set({ q })}
          />
          {first?.total !== undefined && (
            <span className="text-xs text-soft" role="status">
              {first.isEstimate ? "about " : ""}
              {number(first.total)} found
            </span>
          )}
          {first?.isCorrected && <span className="text-xs text-info">for “{first.asked}”</span>}
          {!first?.isCorrected && first?.suggestion && (
            <button
              type="button"
              className="text-xs text-brand hover:underline"
              onClick={() => set({ q: first.suggestion ?? undefined })}
            >
              Did you mean {first.suggestion}?
            </button>
          )}
          <span className="ml-auto">
            <Select
              label="Show as"
              value={filters.view === "table" ? "table" : "cards"}
              options={["cards", "table"]}
              onChange={(view) => set({ view: view === "table" ? view : undefined })}
            />
          </span>
        </div>
        {filters.view === "table" ? (
          <List
            label="Products"
            rows={rows}
            columns={COLUMNS}
            keyOf={(item) => item.id}
            query={query}
            empty={empty}
            onOpen={(item) =>
              void navigate({ to: "/products/$product", params: { product: String(item.id) } } as never)
            }
          />
        ) : (
          <Tiles
            label="Products"
            rows={rows}
            keyOf={(item) => item.id}
            width={210}
            height={hasPictures ? 236 : 116}
            query={query}
            empty={empty}
            tile={(item) => <ProductCard item={item} hasPicture={hasPictures} />}
          />
        )}
      </Card>
    </div>
  );
}

const ProductName = ({ item, className = "" }: { item: Item; className?: string }) => (
  <Link
    to="/products/$product"
    params={{ product: String(item.id) } as never}
    className={`font-medium hover:underline ${className}`}
  >
    {item.name}
  </Link>
);

const COLUMNS: Column<Item>[] = [
  { name: "Product", width: "minmax(9rem,3fr)", cell: (item) => <ProductName item={item} /> },
  {
    name: "Price",
    width: "6.5rem",
    isNumber: true,
    cell: (item) => (
      <>
        {money(item.price, item.currency)} <OldPrice since={item.oldSince} />
      </>
    ),
  },
  { name: "Availability", width: "8rem", isWideOnly: true, cell: (item) => <State of={item.availability} /> },
  {
    name: "Brand",
    width: "minmax(6rem,1fr)",
    isWideOnly: true,
    cell: (item) => item.brand ?? <span className="text-soft">–</span>,
  },
  {
    name: "Category",
    width: "minmax(6rem,1fr)",
    isWideOnly: true,
    cell: (item) => item.category ?? <span className="text-soft">–</span>,
  },
  { name: "Domain", width: "minmax(9.5rem,1fr)", isWideOnly: true, cell: (item) => <DomainLink name={item.domain} /> },
  { name: "Seen", width: "7rem", isWideOnly: true, cell: (item) => <Time at={item.oldSince ?? item.seenAt} /> },
];

/** Beside a price that is not on the page any more. */
export const OldPrice = ({ since }: { since: string | null }) =>
  since && (
    <Badge tone="warn" title="The last visit did not find this price on the page">
      of <Time at={since} />
    </Badge>
  );

function ProductCard({ item, hasPicture }: { item: Item; hasPicture: boolean }) {
  return (
    <article className="relative flex h-full flex-col overflow-hidden rounded-lg border border-line bg-surface hover:border-brand">
      {hasPicture && <Thumb id={item.imageId} alt="" className="h-32 w-full shrink-0" />}
      <div className="flex min-h-0 flex-1 flex-col gap-1 px-3 py-2">
        <h2 className="line-clamp-2 leading-snug">
          <ProductName item={item} className="after:absolute after:inset-0" />
        </h2>
        <p className="truncate text-xs text-soft">
          {[item.brand, item.category].filter(Boolean).join(" · ") || item.domain}
        </p>
        <div className="mt-auto flex items-center justify-between gap-2">
          <span className="text-base font-semibold tabular-nums">{money(item.price, item.currency)}</span>
          {item.oldSince ? (
            <OldPrice since={item.oldSince} />
          ) : !item.isValid ? (
            <Badge tone="bad" title="It has a serious problem">
              problem
            </Badge>
          ) : (
            item.availability && <State of={item.availability} />
          )}
        </div>
      </div>
    </article>
  );
}

/** Of a search the server counts; of a list only the values are known that have come so far, and they stay while one chooses. */
function Facets({
  rows,
  counts,
  isFiltered,
  clear,
}: {
  rows: Item[];
  counts?: Record<string, Record<string, number>>;
  isFiltered: boolean;
  clear: () => void;
}) {
  const [filters, set] = useFilters();
  const memory = useRef<Seen>({ brand: new Set(), category: new Set(), availability: new Set() });
  const seen = useMemo(() => {
    for (const row of rows) for (const facet of FACETS) if (row[facet] !== null) memory.current[facet].add(row[facet]);
    return memory.current;
  }, [rows]);
  const ranges = Object.entries(counts?.price ?? {}).flatMap(([text, count]) => {
    const range = readRange(text);
    return range ? [{ text, count, range }] : [];
  });
  return (
    <details
      className="group rounded-lg border border-line bg-surface lg:[&>summary]:cursor-default"
      open={matchMedia("(width >= 64rem)").matches}
    >
      <summary className="flex min-h-11 items-center gap-2 px-4 font-semibold">
        Filters{isFiltered && <Badge tone="info">on</Badge>}
      </summary>
      <div className="flex flex-col gap-4 border-t border-line px-4 py-3">
        {isFiltered && <Button onClick={clear}>Clear filters</Button>}
        <DomainBox value={filters.domain} onChange={(domain) => set({ domain })} />
        {FACETS.map((facet) => (
          <Facet
            key={facet}
            name={facet}
            values={facetValues(seen, counts, facet, filters[facet])}
            chosen={filters[facet]}
            onChoose={(value) => set({ [facet]: value })}
          />
        ))}
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-xs text-soft">Price</legend>
          {ranges.map(({ text, count, range }) => (
            <Choice
              key={text}
              text={text}
              count={count}
              isChosen={range.min_price === filters.min_price && range.max_price === filters.max_price}
              onChoose={(isChosen) =>
                set(isChosen ? { ...range } : { min_price: undefined, max_price: undefined, currency: undefined })
              }
            />
          ))}
          <div className="flex gap-2">
            <FilterBox
              label="from"
              type="number"
              value={filters.min_price}
              className="w-16"
              onChange={(min_price) => set({ min_price })}
            />
            <FilterBox
              label="to"
              type="number"
              value={filters.max_price}
              className="w-16"
              onChange={(max_price) => set({ max_price })}
            />
          </div>
        </fieldset>
      </div>
    </details>
  );
}

type Seen = Record<FacetName, Set<string>>;

function facetValues(
  seen: Seen,
  counts: Record<string, Record<string, number>> | undefined,
  facet: FacetName,
  chosen: string | undefined,
): [string, number | undefined][] {
  const found: [string, number | undefined][] = counts?.[facet]
    ? Object.entries(counts[facet])
    : [...seen[facet]]
        .sort()
        .slice(0, 15)
        .map((value) => [value, undefined]);
  return chosen && !found.some(([value]) => value === chosen) ? [[chosen, undefined], ...found] : found;
}

function Facet({
  name,
  values,
  chosen,
  onChoose,
}: {
  name: string;
  values: [string, number | undefined][];
  chosen: string | undefined;
  onChoose: (value: string | undefined) => void;
}) {
  if (!values.length) return null;
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-xs text-soft first-letter:uppercase">{name}</legend>
      {values.map(([value, count]) => (
        <Choice
          key={value}
          text={words(value)}
          count={count}
          isChosen={chosen === value}
          onChoose={(isChosen) => onChoose(isChosen ? value : undefined)}
        />
      ))}
    </fieldset>
  );
}

const Choice = ({
  text,
  count,
  isChosen,
  onChoose,
}: {
  text: string;
  count?: number;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}) => (
  <label className="flex min-h-7 items-center gap-2">
    <input type="checkbox" checked={isChosen} onChange={(event) => onChoose(event.target.checked)} />
    <span className="min-w-0 truncate">{text}</span>
    {count !== undefined && <span className="ml-auto text-xs text-soft tabular-nums">{number(count)}</span>}
  </label>
);

const CHANGES: Column<Change>[] = [
  { name: "When", width: "7rem", cell: (change) => <Time at={change.seen_at} /> },
  {
    name: "Product",
    width: "minmax(7rem,2fr)",
    cell: (change) => (
      <Link
        to="/products/$product"
        params={{ product: String(change.product_id) } as never}
        className="font-medium hover:underline"
      >
        {change.product_name}
      </Link>
    ),
  },
  { name: "What", width: "minmax(9rem,2fr)", cell: (change) => <ChangeText of={change} /> },
  { name: "By", width: "6rem", isNumber: true, isWideOnly: true, cell: (change) => <Moved of={change} /> },
  {
    name: "Domain",
    width: "minmax(8rem,1fr)",
    isWideOnly: true,
    cell: (change) => <DomainLink name={change.domain} />,
  },
  {
    name: "Visit",
    width: "6rem",
    isWideOnly: true,
    cell: (change) =>
      change.task_id === null ? (
        "–"
      ) : (
        <Link
          to="/tasks/$task"
          params={{ task: String(change.task_id) } as never}
          className="text-brand hover:underline"
        >
          {change.task_id}
        </Link>
      ),
  },
];

type Before = Pick<Change, "old_price" | "price" | "old_currency" | "currency" | "old_availability" | "availability">;

export function ChangeText({ of }: { of: Before }) {
  const isPrice = of.old_price !== of.price || of.old_currency !== of.currency;
  if (!isPrice && of.old_availability === of.availability)
    return <span className="text-soft">nothing that is shown here</span>;
  return (
    <span className="inline-flex items-center gap-1.5">
      {isPrice && (
        <>
          <span className="text-soft line-through">{money(of.old_price, of.old_currency)}</span>
          <Arrow className="size-3" />
          <b className="font-semibold tabular-nums">{money(of.price, of.currency)}</b>
        </>
      )}
      {of.old_availability !== of.availability && (
        <>
          <State of={of.old_availability} />
          <Arrow className="size-3" />
          <State of={of.availability} />
        </>
      )}
    </span>
  );
}

export function Moved({ of }: { of: Before }) {
  const share = moved(of);
  if (!share) return <span className="text-soft">–</span>;
  return (
    <span className={`whitespace-nowrap ${share < 0 ? "text-good" : "text-bad"}`}>
      {share < 0 ? "−" : "+"}
      {percent(Math.abs(share))}
    </span>
  );
}

const OF = ["price", "availability"] as const;

function Changes() {
  const [filters, set] = useFilters();
  const of = OF.find((kind) => kind === filters.of);
  const query = { domain: filters.domain, of } as const;
  const list = useList<Change>(
    ["products", "changes", query],
    (after) => ask(api.GET("/api/products/changes", { params: { query: { ...query, limit: 100, after } } })),
    { refetchInterval: 10_000 },
  );
  return (
    <Card pad={false}>
      <div
        role="group"
        aria-label="Filters"
        className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2"
      >
        <DomainBox value={filters.domain} onChange={(domain) => set({ domain })} />
        <Select
          label="Of"
          all="prices and availability"
          value={of}
          options={OF}
          onChange={(next) => set({ of: next })}
        />
      </div>
      <List
        label="Changes"
        rows={list.rows}
        columns={CHANGES}
        keyOf={(change) => change.id}
        query={list}
        empty={
          <Empty title="Nothing has changed yet">
            A change is seen when a product's page is visited again. Let its domain, or the page itself, be visited
            regularly.
          </Empty>
        }
      />
    </Card>
  );
}
