/** The product a page is about. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask } from "../../api/client";
import { Badge, Card, Loaded, State } from "../../ui/basic";
import { money } from "../../ui/format";
import { oldSince } from "./facts";
import { OldPrice } from "./list";

export function ProductOf({ id }: { id: number }) {
  const product = useQuery({
    queryKey: ["product", id, "card"],
    queryFn: () => ask(api.GET("/api/products/{product}", { params: { path: { product: id } } })),
    staleTime: 60_000,
  });
  return (
    <Card title="It is a product" className="xl:col-span-3">
      <Loaded query={product} lines={1}>
        {({ product_name, price, currency, availability, brand, is_price_current, price_seen_at }) => (
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <Link
              to="/products/$product"
              params={{ product: String(id) } as never}
              className="text-base font-medium text-brand hover:underline"
            >
              {product_name}
            </Link>
            <span className="text-base font-semibold tabular-nums">{money(price, currency)}</span>
            <OldPrice since={oldSince({ price, is_price_current, price_seen_at })} />
            {availability && <State of={availability} />}
            {brand && <Badge>{brand}</Badge>}
          </div>
        )}
      </Loaded>
    </Card>
  );
}
