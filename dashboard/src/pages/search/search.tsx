/** Search over what was read: pages and products, best first, with the words that were found marked. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Empty, ErrorNote, PageHead, Select, Skeleton, State, Tabs, Time } from "../../ui/basic";
import { money, number } from "../../ui/format";
import { Thumb } from "../images/thumb";
import { PageLink } from "../pages/parts";
import { oldSince } from "../products/facts";
import { OldPrice } from "../products/list";
import { isUrl } from "./find";
import { pieces } from "./marked";

type Hits = Schemas["Hits"];
type Hit = Schemas["Hit"];
type Kind = "pages" | "products";
const EXAMPLES = ["lamp", '"tall lamp"', "lamp -folding", "kettle OR teapot", "title:lamp since:7d"];
const AT_ONCE = 20;

/** Hits of one kind; both kinds are asked for, so that the tabs can say how many there are. */
function useHits(kind: Kind, query: { q?: string; language?: string; domain?: string }) {
  const { q, language, domain } = query;
  return useInfiniteQuery({
    queryKey: ["search", kind, q, language, domain],
    queryFn: ({ pageParam }): Promise<Hits> => {
      const params = { query: { q: q ?? "", language, domain, limit: AT_ONCE, after: pageParam } };
      return kind === "pages"
        ? ask(api.GET("/api/search", { params }))
        : ask(api.GET("/api/products/search", { params }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled: Boolean(q),
    staleTime: 30_000,
    refetchOnWindowFocus: false, // all that was loaded would be asked for again
  });
}

export function SearchPage() {
  const [filters, set] = useFilters();
  const query = { q: filters.q, language: filters.language, domain: filters.domain };
  const kind: Kind = filters.in === "products" ? "products" : "pages";
  const pages = useHits("pages", query);
  const products = useHits("products", query);
  const shown = kind === "pages" ? pages : products;
  const facets = pages.data?.pages[0]?.facets ?? {};
  return (
    <>
      <PageHead title="Search" about="What pages and products say, best first." />
      <Asking q={filters.q} onAsk={(q) => set({ q })} />
      {!filters.q ? (
        <Welcome ask={(q) => set({ q })} />
      ) : (
        <>
          <Tabs<Kind>
            label="Kinds of results"
            value={kind}
            onChange={(next) => set({ in: next === "products" ? next : undefined })}
            tabs={[
              { key: "pages", text: "Pages", count: pages.data?.pages[0]?.total },
              { key: "products", text: "Products", count: products.data?.pages[0]?.total },
            ]}
          />
          <div role="group" aria-label="Filters" className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
            <Select
              label="Language"
              all="all"
              value={filters.language}
              onChange={(language) => set({ language })}
              options={choices(facets.language, filters.language)}
            />
            <Select
              label="Domain"
              all="all"
              value={filters.domain}
              onChange={(domain) => set({ domain })}
              options={choices(facets.domain, filters.domain)}
            />
          </div>
          {shown.isPending ? (
            <Skeleton lines={10} />
          ) : shown.isError && !shown.data ? (
            <ErrorNote error={shown.error} again={() => void shown.refetch()} />
          ) : (
            <Results
              found={shown.data.pages}
              kind={kind}
              asked={filters.q}
              onAsk={(q) => set({ q })}
              more={shown.hasNextPage ? () => void shown.fetchNextPage() : undefined}
              isBusy={shown.isFetchingNextPage}
              isFiltered={Boolean(filters.language || filters.domain)}
              clear={() => set({ language: undefined, domain: undefined })}
            />
          )}
        </>
      )}
    </>
  );
}

/** Values with their counts; what is chosen stays choosable when nothing has it. */
export function choices(counts: Record<string, number> | undefined, chosen: string | undefined): [string, string][] {
  const found = Object.entries(counts ?? {})
    .filter(([name]) => name !== "unknown")
    .map(([name, count]): [string, string] => [name, `${name} (${number(count)})`]);
  return chosen && !found.some(([name]) => name === chosen) ? [[chosen, chosen], ...found] : found;
}

function Asking({ q, onAsk }: { q: string | undefined; onAsk: (q: string | undefined) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.value = q ?? "";
  }, [q]);
  return (
    <form
      role="search"
      aria-label="What was crawled"
      className="mb-4"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(box.current?.value.trim() || undefined);
      }}
    >
      <div className="flex max-w-3xl gap-2">
        <input
          ref={box}
          type="search"
          defaultValue={q}
          aria-label="Words to look for"
          aria-describedby="search-hint"
          maxLength={1000}
          placeholder="Words to look for"
          className="min-h-11 min-w-0 flex-1 rounded-md border border-line bg-surface px-3 text-base placeholder:text-soft"
        />
        <Button kind="main" type="submit" className="min-h-11 px-5">
          Search
        </Button>
      </div>
      <p id="search-hint" className="mt-1.5 text-xs text-soft">
        All of these words; <code>"in this order"</code>; <code>-without</code>; <code>this OR that</code>;{" "}
        <code>site:</code>, <code>language:</code>, <code>title:</code>, <code>url:</code>, <code>date:2026-11</code>,{" "}
        <code>since:7d</code>.
      </p>
    </form>
  );
}

const Welcome = ({ ask: look }: { ask: (q: string) => void }) => (
  <Empty
    title="What are you looking for?"
    action={
      <div className="flex flex-wrap justify-center gap-2">
        {EXAMPLES.map((example) => (
          <Button key={example} onClick={() => look(example)}>
            <code>{example}</code>
          </Button>
        ))}
      </div>
    }
  >
    Titles, descriptions, headings and texts of the pages that were read are searched, and the names, brands and
    categories of products.
  </Empty>
);

function Results({
  found,
  kind,
  asked,
  onAsk,
  more,
  isBusy,
  isFiltered,
  clear,
}: {
  found: Hits[];
  kind: Kind;
  asked: string;
  onAsk: (q: string) => void;
  more?: () => void;
  isBusy: boolean;
  isFiltered: boolean;
  clear: () => void;
}) {
  const first = found[0];
  const hits = found.flatMap((page) => page.hits);
  if (!first) return null;
  return (
    <div className="max-w-4xl">
      {first.is_corrected && (
        <p className="mb-3 rounded-lg border border-line bg-info-ground px-4 py-2.5 text-info">
          Nothing was found for “{asked}”. These are results for <b>“{first.query}”</b>.
        </p>
      )}
      {!first.is_corrected && first.suggestion && (
        <p className="mb-3">
          Did you mean{" "}
          <button
            type="button"
            onClick={() => onAsk(first.suggestion ?? asked)}
            className="font-medium text-brand hover:underline"
          >
            {first.suggestion}
          </button>
          ?
        </p>
      )}
      {first.note && (
        <p role="note" className="mb-3 rounded-lg border border-line bg-warn-ground px-4 py-2.5 text-warn">
          {first.note}
        </p>
      )}
      {first.not_indexed_yet > 0 && (
        <p className="mb-3 text-soft">
          {number(first.not_indexed_yet)} {first.not_indexed_yet === 1 ? "page" : "pages"} that were read just now will
          be found in a moment.
        </p>
      )}
      {hits.length ? (
        <>
          <p className="mb-2 text-xs text-soft" role="status">
            {first.is_estimate ? "About " : ""}
            {number(first.total)} {first.total === 1 ? "result" : "results"}, best first
            {first.looked_at != null &&
              `; the likeliest ${number(first.looked_at)} were ranked, more words or a filter show others`}
          </p>
          <ol className="flex flex-col gap-2">
            {hits.map((hit) => (
              <li key={hit.id} className="rounded-lg border border-line bg-surface px-4 py-3">
                {kind === "pages" ? <PageHit hit={hit} /> : <ProductHit hit={hit} />}
              </li>
            ))}
          </ol>
          <div className="mt-4 flex items-center gap-3">
            {more && (
              <Button onClick={more} isBusy={isBusy}>
                More results
              </Button>
            )}
            <span className="text-xs text-soft">
              {number(hits.length)} of {first.is_estimate ? "about " : ""}
              {number(first.total)} shown
            </span>
          </div>
        </>
      ) : (
        <Empty
          title={isUrl(asked) ? "This address was not read" : `No ${kind} were found`}
          action={isFiltered && <Button onClick={clear}>Look in all languages and domains</Button>}
        >
          {isUrl(asked)
            ? "This address is not known, or was not read yet: no page has it. Add it as a seed, or look at its domain."
            : isFiltered
              ? "At least not in the language and domain that are chosen."
              : unsearched(first, kind)}
        </Empty>
      )}
    </div>
  );
}

/** What was looked at and what was not, so that nothing is said of the rest. */
function unsearched(found: Hits, kind: Kind): string {
  const several = (count: number, thing: string) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;
  const parts = [
    ...(found.not_indexed_yet ? [`${several(found.not_indexed_yet, "page")} read lately`] : []),
    ...(found.cut_pages ? [`the ends of ${several(found.cut_pages, "long page")}`] : []),
    ...(found.noindex_pages ? [`${several(found.noindex_pages, "page")} with noindex`] : []),
  ];
  const advice = "Try fewer or other words, or look under the other tab.";
  return kind === "pages" && parts.length ? `${advice} Not looked at: ${parts.join(", ")}.` : advice;
}

const Marked = ({ of }: { of: Schemas["Marked"] }) => (
  <>
    {pieces(of.text, of.matches).map((piece, index) =>
      piece.isMatch ? (
        <mark key={index} className="rounded-sm bg-warn-ground px-0.5 text-ink">
          {piece.text}
        </mark>
      ) : (
        piece.text
      ),
    )}
  </>
);

function PageHit({ hit }: { hit: Hit }) {
  return (
    <article>
      <h2 className="text-base font-medium break-words">
        <PageLink url={hit.url} id={hit.id} className="text-brand">
          {hit.title?.text ? <Marked of={hit.title} /> : hit.url}
        </PageLink>
      </h2>
      <p className="truncate text-xs text-soft">{hit.url}</p>
      {hit.snippet?.text && (
        <p className="mt-1.5 break-words">
          <Marked of={hit.snippet} />
        </p>
      )}
      <Below hit={hit} />
    </article>
  );
}

function ProductHit({ hit }: { hit: Hit }) {
  const { price, currency, availability, brand, category, image_id, is_price_current, price_seen_at } = hit.details as {
    is_price_current?: boolean;
    price_seen_at?: string | null;
    image_id?: number | null;
    price?: number | null;
    currency?: string | null;
    availability?: string | null;
    brand?: string | null;
    category?: string | null;
  };
  return (
    <article className="flex items-start gap-4">
      {image_id != null && <Thumb id={image_id} alt="" className="size-20 shrink-0 rounded-md" />}
      <div className="min-w-0 flex-1">
        <div className="flex items-start justify-between gap-4">
          <h2 className="min-w-0 text-base font-medium break-words">
            <Link
              to="/products/$product"
              params={{ product: String(hit.id) } as never}
              className="text-brand hover:underline"
            >
              {hit.title ? <Marked of={hit.title} /> : hit.url}
            </Link>
          </h2>
          <span className="text-base font-semibold whitespace-nowrap tabular-nums">
            {money(price, currency)} <OldPrice since={oldSince({ price, is_price_current, price_seen_at })} />
          </span>
        </div>
        <p className="truncate text-xs text-soft">{hit.url}</p>
        {hit.snippet?.text && (
          <p className="mt-1.5 break-words">
            <Marked of={hit.snippet} />
          </p>
        )}
        <div className="mt-2 flex flex-wrap items-center gap-2">
          {availability && <State of={availability} />}
          {brand && <Badge>{brand}</Badge>}
          {category && <Badge>{category}</Badge>}
        </div>
        <Below hit={hit} />
      </div>
    </article>
  );
}

const Below = ({ hit }: { hit: Hit }) => (
  <p className="mt-1.5 flex flex-wrap gap-x-3 text-xs text-soft">
    {hit.language && <span>{hit.language}</span>}
    {hit.is_cut && <span title="Its text has more words than are searched">longer than what is searched</span>}
    <span>
      read <Time at={hit.fetched_at} />
    </span>
    <span title="How well it fits what was asked; higher is better">score {hit.score.toFixed(3)}</span>
  </p>
);
