/** Every image that was found, as a wall of small pictures; where it was seen comes up when one stays on it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Button, Card, Empty, PageHead, Select, State, Time } from "../../ui/basic";
import { bytes, pathOf } from "../../ui/format";
import { useList } from "../../ui/list";
import { DomainBox, Export, Filters } from "../pages/parts";
import { Thumb } from "./thumb";
import { Tiles } from "./tiles";

type ImageRow = Schemas["ImageRow"];
const STATUSES: readonly ImageRow["status"][] = [
  "stored",
  "found",
  "moved",
  "gone",
  "blocked",
  "failed",
  "broken",
  "too_big",
  "not_an_image",
  "dropped",
];
const FORMATS = ["jpeg", "png", "gif", "webp", "avif", "svg", "bmp", "ico", "tiff"];
const STAY_MS = 300;

export function Images() {
  const [filters, set] = useFilters();
  const status = STATUSES.find((known) => known === filters.status);
  const query = { domain: filters.domain, status, format: filters.format };
  const list = useList<ImageRow>(
    ["images", query],
    (after) => ask(api.GET("/api/images", { params: { query: { ...query, limit: 100, after } } })),
    { refetchInterval: 15_000 },
  );
  const isFiltered = Boolean(filters.domain || status || filters.format);
  const clear = () => set({ domain: undefined, status: undefined, format: undefined });
  return (
    <>
      <PageHead title="Images" about="What was found on pages, with where and when it was seen.">
        <Export kind="images" filters={{ domain: filters.domain, status }} />
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
          <Select
            label="Format"
            all="all"
            value={filters.format}
            options={FORMATS.map((name): [string, string] => [name, name])}
            onChange={(format) => set({ format })}
          />
        </Filters>
        <Tiles
          label="Images"
          rows={list.rows}
          keyOf={(image) => image.id}
          width={150}
          height={178}
          query={list}
          tile={(image) => <Tile image={image} />}
          empty={
            isFiltered ? (
              <Empty title="No image has all of this" action={<Button onClick={clear}>Show all images</Button>}>
                Other filters may find some.
              </Empty>
            ) : (
              <Empty title="No image was found yet">
                Images of a page are noted when it is read, and fetched where the settings of its domain say so.
              </Empty>
            )
          }
        />
      </Card>
    </>
  );
}

function Tile({ image }: { image: ImageRow }) {
  const [isNear, setIsNear] = useState(false);
  const size = image.width && image.height ? `${image.width} × ${image.height}` : null;
  return (
    <Link
      to="/images/$image"
      params={{ image: String(image.id) } as never}
      onMouseEnter={() => setIsNear(true)}
      onMouseLeave={() => setIsNear(false)}
      onFocus={() => setIsNear(true)}
      onBlur={() => setIsNear(false)}
      className="relative flex h-full flex-col overflow-hidden rounded-lg border border-line bg-surface hover:border-brand"
    >
      <Thumb id={image.has_thumbnail ? image.id : null} alt="" why={image.status} className="h-32 w-full" />
      <span className="flex min-w-0 flex-col gap-0.5 px-2 py-1.5 text-xs">
        <span className="truncate">
          <span className="sr-only">Image </span>
          {pathOf(image.url)}
        </span>
        <span className="truncate text-soft">
          {image.status === "stored"
            ? [size, bytes(image.file_size)].filter(Boolean).join(" · ")
            : (image.reason ?? <State of={image.status} />)}
        </span>
      </span>
      {isNear && <Provenance image={image} />}
    </Link>
  );
}

/** Where it was first seen, once one stays for a moment. */
function Provenance({ image }: { image: ImageRow }) {
  const [isStaying, setIsStaying] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsStaying(true), STAY_MS);
    return () => clearTimeout(timer);
  }, []);
  const detail = useQuery({
    queryKey: ["image", image.id, 1],
    queryFn: () => ask(api.GET("/api/images/{image}", { params: { path: { image: image.id }, query: { pages: 1 } } })),
    enabled: isStaying,
    staleTime: 60_000,
  });
  if (!isStaying) return null;
  const seen = detail.data?.pages[0];
  return (
    <span className="absolute inset-x-0 top-0 flex h-32 flex-col gap-1 overflow-hidden bg-surface/95 p-2 text-xs break-words">
      <span className="text-soft">{image.domain}</span>
      {seen ? (
        <>
          <span className="line-clamp-2">on {pathOf(seen.page_url)}</span>
          {seen.alt_text && <span className="line-clamp-2">“{seen.alt_text}”</span>}
        </>
      ) : (
        <span className="text-soft">{detail.isPending ? "…" : "on no page any more"}</span>
      )}
      <span className="mt-auto text-soft">
        since <Time at={image.first_seen_at} />
      </span>
    </span>
  );
}
