/** The product a page is about. The API has no such question yet: products of its domain that share its title's words are looked through. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, State } from "../../ui/basic";
import { money } from "../../ui/format";

/** A question that any product of this title answers. */
export const anyWord = (title: string) => (title.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 12).join(" OR ");

export function ProductOf({ page }: { page: Schemas["Page"] }) {
  const q = anyWord(page.title ?? "");
  const products = useQuery({
    queryKey: ["products", "of", page.url],
    queryFn: () => ask(api.GET("/api/products/search", { params: { query: { q, domain: page.domain, limit: 100 } } })),
    enabled: page.status === "fetched" && q !== "",
    staleTime: 60_000,
  });
  const product = products.data?.hits.find((hit) => hit.url === page.url);
  if (!product) return null;
  const { price, currency, availability, brand } = product.details as { price?: number | null; currency?: string | null; availability?: string | null; brand?: string | null };
  return (
    <Card title="It is a product" className="xl:col-span-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Link to="/products/$product" params={{ product: String(product.id) } as never} className="text-base font-medium text-brand hover:underline">{product.title?.text ?? page.url}</Link>
        <span className="text-base font-semibold tabular-nums">{money(price, currency)}</span>
        {availability && <State of={availability} />}
        {brand && <Badge>{brand}</Badge>}
      </div>
    </Card>
  );
}
