/** One product: its facts, how its price went, and where on the page each of them stood. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, Empty, ErrorNote, Facts, PageHead, Skeleton, Stat, State, Time, WebLink } from "../../ui/basic";
import { Chart } from "../../ui/chart";
import { money, number, percent, words } from "../../ui/format";
import { useImagesOf } from "../images/of_page";
import { Thumb } from "../images/thumb";
import { DomainLink, PageLink } from "../pages/parts";
import { moved, oldSince, readEvidence, readVariant, steps } from "./facts";
import { ChangeText, Moved } from "./list";

type Product = Schemas["Product"];
type Price = Schemas["Price"];

export function ProductPage() {
  const { product: which } = useParams({ strict: false }) as { product: string };
  const query = useQuery({
    queryKey: ["product", which],
    queryFn: () => ask(api.GET("/api/products/{product}/prices", { params: { path: { product: Number(which) } } })),
    refetchInterval: 15_000,
  });
  const name = query.data?.product.product_name;
  useEffect(() => {
    if (name) document.title = `${name} · Products · Forager`;
  }, [name]);
  if (query.isError && !query.data)
    return (
      <>
        <PageHead title="Product" />
        <Card>
          <ErrorNote error={query.error} again={() => void query.refetch()} />
        </Card>
      </>
    );
  if (!query.data)
    return (
      <>
        <PageHead title="Product" about="…" />
        <Skeleton lines={10} />
      </>
    );
  const { product, prices } = query.data;
  const numbers = prices.map((price) => price.price).filter((price) => price !== null);
  const changes = prices.filter((price) => !price.is_first && !price.is_correction).length;
  return (
    <>
      <PageHead title={product.product_name} about={<WebLink url={product.url} />}>
        <State of={product.availability} />
        {!product.is_valid && <Badge tone="bad">has a problem</Badge>}
        <PageLink url={product.url} id={product.page_id} className="text-brand">
          Its page
        </PageLink>
      </PageHead>
      <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat
          name="Price"
          value={money(product.price, product.currency)}
          about={
            oldSince(product) ? (
              <>
                not on the page now, last seen <Time at={oldSince(product)} />
              </>
            ) : (
              <>
                seen <Time at={product.last_seen_at} />
              </>
            )
          }
          tone={oldSince(product) ? "warn" : undefined}
        />
        <Stat
          name="Lowest and highest"
          value={
            <span className="text-lg">
              {numbers.length
                ? [...new Set([Math.min(...numbers), Math.max(...numbers)])]
                    .map((price) => money(price, product.currency))
                    .join(" – ")
                : "–"}
            </span>
          }
          about={
            <>
              since <Time at={product.created_at} />
            </>
          }
        />
        <Stat
          name="Changes"
          value={number(changes)}
          about={
            changes ? (
              <>
                last <Time at={prices.at(-1)?.seen_at} />
              </>
            ) : (
              "none seen yet"
            )
          }
        />
        <Stat
          name="Confidence"
          value={percent(product.confidence)}
          about={`${product.parser_name} parser, version ${product.parser_version}`}
          tone={product.confidence < 0.5 ? "warn" : undefined}
        />
      </div>
      {product.problems.length > 0 && <Problems of={product.problems} />}
      <div className="grid gap-4 xl:grid-cols-3">
        <Card title="Price over time" className="xl:col-span-2">
          <Course product={product} prices={prices} />
        </Card>
        <Card title="Pictures">
          <Pictures page={product.page_id} urls={product.image_urls} name={product.product_name} />
        </Card>
        <Card title="Facts" className="xl:col-span-2">
          <About product={product} />
        </Card>
        <Card title="What changed, newest first" pad={false}>
          <History prices={prices} />
        </Card>
        <Card title="Where it says so" pad={false} className="xl:col-span-3">
          <EvidenceTable product={product} />
        </Card>
        {product.variants.length > 0 && (
          <Card title={`Variants: ${number(product.variants.length)}`} pad={false} className="xl:col-span-3">
            <Variants of={product.variants} />
          </Card>
        )}
      </div>
    </>
  );
}

const Problems = ({ of }: { of: string[] }) => (
  <div role="note" className="mb-4 rounded-lg border border-line bg-warn-ground px-4 py-2.5 text-warn">
    <p className="font-medium">What does not look right</p>
    <ul className="list-inside list-disc">
      {of.map((problem) => (
        <li key={problem} className="break-words">
          {words(problem)}
        </li>
      ))}
    </ul>
  </div>
);

function Course({ product, prices }: { product: Product; prices: Price[] }) {
  const shown = useMemo(
    () => steps(prices, product.price_seen_at ?? product.last_seen_at),
    [prices, product.price_seen_at, product.last_seen_at],
  );
  const currency = prices.at(-1)?.currency ?? product.currency;
  if (!shown.lines.some((line) => line.values.some((value) => value !== null)))
    return <Empty title="No price is known">Its page names none, or none that could be read.</Empty>;
  if (shown.at.length < 2) {
    return (
      <Empty title={`${money(prices[0]?.price, currency)}, seen once`}>
        The line begins with the second visit. Let its page be visited regularly to watch the price.
      </Empty>
    );
  }
  return (
    <Chart
      at={shown.at}
      lines={shown.lines}
      height={220}
      format={(value) => money(value, shown.lines.length > 1 ? null : currency)}
      label={`The price of ${product.product_name} over time, ${oldSince(product) ? "last" : "now"} ${money(product.price, product.currency)}`}
    />
  );
}

function Pictures({ page, urls, name }: { page: number; urls: string[]; name: string }) {
  const known = new Map(useImagesOf(page).data?.items.map((image) => [image.url, image]));
  const images = urls.flatMap((url) => known.get(url) ?? []);
  if (!urls.length) return <OnItsPage page={page} />;
  return (
    <div className="flex flex-col gap-3">
      {images.length > 0 && (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(8rem,1fr))] gap-2">
          {images.map((image) => (
            <li key={image.id}>
              <Link
                to="/images/$image"
                params={{ image: String(image.id) } as never}
                className="block overflow-hidden rounded-lg border border-line hover:border-brand"
              >
                <Thumb
                  id={image.has_thumbnail ? image.id : null}
                  alt={`${name}, image ${image.id}`}
                  why={image.status}
                  className="h-32 w-full"
                />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {images.length < urls.length && (
        <ul className="flex flex-col gap-1 text-xs">
          {urls
            .filter((url) => !images.some((image) => image.url === url))
            .slice(0, 12)
            .map((url) => (
              <li key={url}>
                <WebLink url={url} />
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}

/** Where nothing says which picture is the product's own, those of its page are shown as such. */
function OnItsPage({ page }: { page: number }) {
  const images = (useImagesOf(page).data?.items ?? []).filter((image) => image.has_thumbnail).slice(0, 4);
  if (!images.length) return <p className="text-soft">Its page names no picture of it.</p>;
  return (
    <div className="flex flex-col gap-2">
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(8rem,1fr))] gap-2">
        {images.map((image) => (
          <li key={image.id}>
            <Link
              to="/images/$image"
              params={{ image: String(image.id) } as never}
              className="block overflow-hidden rounded-lg border border-line hover:border-brand"
            >
              <Thumb id={image.id} alt={`Image ${image.id} of its page`} className="h-28 w-full" />
            </Link>
          </li>
        ))}
      </ul>
      <p className="text-xs text-soft">Its page does not say which is its own; these stand on it.</p>
    </div>
  );
}

/** A line of facts that is left out where there is nothing to say. */
const known = (name: string, value: ReactNode): [ReactNode, ReactNode][] => (value ? [[name, value]] : []);

const About = ({ product }: { product: Product }) => (
  <Facts
    of={[
      ["Description", product.description && <span className="whitespace-pre-line">{product.description}</span>],
      [
        "Brand",
        product.brand && (
          <Link to="/products" search={{ brand: product.brand } as never} className="text-brand hover:underline">
            {product.brand}
          </Link>
        ),
      ],
      [
        "Category",
        product.category && (
          <Link to="/products" search={{ category: product.category } as never} className="text-brand hover:underline">
            {product.category}
          </Link>
        ),
      ],
      [
        "Rating",
        product.rating === null
          ? null
          : `${product.rating}${product.review_count ? ` from ${number(product.review_count)} reviews` : ""}`,
      ],
      ["SKU", product.sku && <code>{product.sku}</code>],
      ["GTIN", product.gtin && <code>{product.gtin}</code>],
      ...known("MPN", product.mpn && <code>{product.mpn}</code>),
      ...known(
        "Regular price",
        product.regular_price !== null && <s>{money(product.regular_price, product.currency)}</s>,
      ),
      ...known(
        "Unit price",
        product.unit_price !== null &&
          `${money(product.unit_price, product.currency)}${product.unit ? ` / ${product.unit}` : ""}`,
      ),
      ...known(
        "Shipping",
        product.shipping !== null && (product.shipping === 0 ? "free" : money(product.shipping, product.currency)),
      ),
      ...known("Seller", product.seller),
      ...known("Condition", product.condition && words(product.condition)),
      ...Object.entries(product.attributes).map(([name, value]): [ReactNode, ReactNode] => [
        <span className="block break-words first-letter:uppercase">{name}</span>,
        String(value),
      ]),
      ["Domain", <DomainLink name={product.domain} className="text-brand" />],
      [
        "Page",
        <>
          <PageLink url={product.url} id={product.page_id} className="text-brand">
            Page {product.page_id}
          </PageLink>{" "}
          <State of={product.page_status} />
        </>,
      ],
      [
        "Read by",
        product.crawl_task_id === null ? (
          "a visit that is not kept"
        ) : (
          <Link
            to="/tasks/$task"
            params={{ task: String(product.crawl_task_id) } as never}
            className="text-brand hover:underline"
          >
            Task {product.crawl_task_id}
          </Link>
        ),
      ],
      ["First seen", <Time at={product.created_at} isExact />],
      ["Last seen", <Time at={product.last_seen_at} isExact />],
      ["Missing since", product.missing_since && <Time at={product.missing_since} isExact />],
    ]}
  />
);

function History({ prices }: { prices: Price[] }) {
  return (
    <ol className="max-h-96 divide-y divide-line overflow-auto" tabIndex={0} aria-label="Changes">
      {[...prices].reverse().map((price) => (
        <li key={price.seen_at} className="flex flex-wrap items-center justify-between gap-2 px-4 py-2">
          <span className="min-w-0">
            {price.is_first ? (
              <>
                first seen at <b className="font-semibold">{money(price.price, price.currency)}</b>{" "}
                <State of={price.availability} />
              </>
            ) : (
              <>
                <ChangeText of={price} /> {moved(price) ? <Moved of={price} /> : null}{" "}
              </>
            )}
            {price.is_correction && (
              <Badge tone="info" title="The page was read better, it did not change">
                correction
              </Badge>
            )}
            {price.is_backfill && (
              <Badge tone="info" title="Read later, from an older stored version of the page">
                read later
              </Badge>
            )}
          </span>
          <span className="text-xs text-soft">
            {price.task_id === null ? (
              <Time at={price.seen_at} />
            ) : (
              <Link to="/tasks/$task" params={{ task: String(price.task_id) } as never} className="hover:underline">
                <Time at={price.seen_at} />
              </Link>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function EvidenceTable({ product }: { product: Product }) {
  const found = readEvidence(product.evidence);
  if (!found.length) return <p className="p-4 text-soft">Nothing was noted about where its facts stood.</p>;
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Where each fact stood">
      <table className="w-full min-w-160">
        <thead>
          <tr className="text-xs text-soft">
            <th className="px-4 py-2">Field</th>
            <th className="px-4">Value</th>
            <th className="px-4">Where</th>
            <th className="px-4 !text-right">Confidence</th>
          </tr>
        </thead>
        <tbody>
          {found.map((entry, index) => (
            <tr key={index} className={`border-t border-line ${entry.isTaken ? "" : "text-soft"}`}>
              <td className="px-4 py-1.5 whitespace-nowrap">
                {entry.isTaken ? (
                  <span className="block first-letter:uppercase">{words(entry.field)}</span>
                ) : (
                  <span className="sr-only">{words(entry.field)}, not taken</span>
                )}
              </td>
              <td className="max-w-md px-4 py-1.5 break-words">{entry.value}</td>
              <td className="px-4 py-1.5">
                <code className="text-xs break-all">{entry.where}</code>
              </td>
              <td className="px-4 py-1.5 text-right tabular-nums">{percent(entry.confidence)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Variants({ of }: { of: unknown[] }) {
  const rows = of.slice(0, 200).map((variant) => new Map(readVariant(variant)));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Variants">
      <table className="w-full">
        <thead>
          <tr className="text-xs text-soft">
            {names.map((name) => (
              <th key={name} className="px-4 py-2">
                {words(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-t border-line">
              {names.map((name) => (
                <td key={name} className="px-4 py-1.5 break-words">
                  {row.get(name) ?? "–"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
