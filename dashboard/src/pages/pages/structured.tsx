/** The structured data of a page: its items by type, each a tree that opens where one looks. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, Loaded, WebLink } from "../../ui/basic";
import { number, safeHref } from "../../ui/format";
import { groupItems, hintOf, nameOf, partsOf, unwrap } from "./items";

type Item = Schemas["StructuredItem"];
const MOST_ITEMS = 20;
const MOST_PARTS = 50;
const DEEPEST = 12;
const SYNTAXES: Record<Item["syntax"], string> = {
  "json-ld": "JSON-LD",
  microdata: "Microdata",
  rdfa: "RDFa",
  opengraph: "OpenGraph",
  pdf: "PDF",
};

export function StructuredDataOf({ page, readAt }: { page: number; readAt: string | null }) {
  const data = useQuery({
    queryKey: ["page", String(page), "structured-data", readAt],
    queryFn: () => ask(api.GET("/api/pages/{page}/structured-data", { params: { path: { page } } })),
    staleTime: 60_000,
  });
  return (
    <Card title="Structured data" className="xl:col-span-3">
      <Loaded query={data} lines={3}>
        {({ items }) => (
          <div className="flex flex-col gap-4">
            {groupItems(items).map((group) => (
              <GroupView key={group.type} type={group.type} items={group.items} />
            ))}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function GroupView({ type, items }: { type: string; items: Item[] }) {
  return (
    <section aria-label={type}>
      <h3 className="mb-1 font-medium break-words">
        {type}
        {items.length > 1 && <span className="text-soft"> · {number(items.length)}</span>}
      </h3>
      <div className="divide-y divide-line rounded-lg border border-line">
        {items.slice(0, MOST_ITEMS).map((item, index) => (
          <ItemView key={index} item={item} />
        ))}
        {items.length > MOST_ITEMS && (
          <p className="px-3 py-2 text-soft">and {number(items.length - MOST_ITEMS)} more, in the export</p>
        )}
      </div>
    </section>
  );
}

/** What is closed is not drawn: a page may have thousands of values. */
function ItemView({ item }: { item: Item }) {
  const [isOpen, setOpen] = useState(false);
  const name = nameOf(item);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 px-3 py-1.5 hover:bg-raised">
        <span aria-hidden className={`text-soft transition-transform ${isOpen ? "rotate-90" : ""}`}>
          ▸
        </span>
        <span className="min-w-0 flex-1 truncate">
          {name || <span className="text-soft">{hintOf(item.properties)}</span>}
        </span>
        <Badge>{SYNTAXES[item.syntax] ?? item.syntax}</Badge>
      </summary>
      {isOpen && (
        <div className="border-t border-line px-3 py-2">
          <Tree of={item.properties} depth={0} />
        </div>
      )}
    </details>
  );
}

function Tree({ of, depth }: { of: unknown; depth: number }) {
  const parts = partsOf(of) ?? [];
  return (
    <ul className={`flex flex-col gap-0.5 ${depth ? "border-l border-line pl-3" : ""}`}>
      {parts.slice(0, MOST_PARTS).map(([name, value]) => (
        <Branch key={name} name={name} value={unwrap(value)} depth={depth} />
      ))}
      {parts.length > MOST_PARTS && <li className="text-soft">and {number(parts.length - MOST_PARTS)} more</li>}
    </ul>
  );
}

function Branch({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const [isOpen, setOpen] = useState(false);
  if (partsOf(value) === null)
    return (
      <li className="min-w-0 break-words">
        <Name of={name} /> <Leaf of={value} />
      </li>
    );
  if (depth >= DEEPEST)
    return (
      <li className="min-w-0 break-words">
        <Name of={name} /> <span className="text-soft">{hintOf(value)}, not shown any deeper</span>
      </li>
    );
  return (
    <li className="min-w-0">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="cursor-pointer list-none break-words hover:bg-raised [&::-webkit-details-marker]:hidden">
          <span aria-hidden className={`mr-1 inline-block text-soft transition-transform ${isOpen ? "rotate-90" : ""}`}>
            ▸
          </span>
          <Name of={name} /> <span className="text-soft">{hintOf(value)}</span>
        </summary>
        {isOpen && (
          <div className="mt-0.5 ml-1.5">
            <Tree of={value} depth={depth + 1} />
          </div>
        )}
      </details>
    </li>
  );
}

const Name = ({ of }: { of: string }) => <span className="text-xs text-soft">{of}</span>;

function Leaf({ of }: { of: unknown }) {
  const text = of === null || of === undefined ? "–" : String(of);
  return safeHref(text) ? <WebLink url={text} /> : <span className="whitespace-pre-line">{text}</span>;
}
