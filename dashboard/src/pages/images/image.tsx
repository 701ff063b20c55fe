/** One image: its file, where it is shown and since when, and what looks like it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, Empty, ErrorNote, Facts, Loaded, PageHead, Skeleton, State, Time, WebLink } from "../../ui/basic";
import { bytes, number, pathOf, words } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { DomainLink, PageLink } from "../pages/parts";
import { Thumb } from "./thumb";

type Image = Schemas["Image"];
type Sighting = Schemas["Sighting"];
const MOST = 1000;
/** What the server sends as a picture; everything else is a download. */
const SHOWN = new Set(["jpeg", "png", "gif", "webp", "avif"]);

export function ImagePage() {
  const { image: which } = useParams({ strict: false }) as { image: string };
  const image = useQuery({
    queryKey: ["image", which],
    queryFn: () =>
      ask(api.GET("/api/images/{image}", { params: { path: { image: Number(which) }, query: { pages: MOST } } })),
    refetchInterval: 30_000,
  });
  const found = image.data;
  useEffect(() => {
    if (found) document.title = `${pathOf(found.url)} · Images · Forager`;
  }, [found]);
  if (image.isError && !found)
    return (
      <>
        <PageHead title="Image" />
        <Card>
          <ErrorNote error={image.error} again={() => void image.refetch()} />
        </Card>
      </>
    );
  if (!found)
    return (
      <>
        <PageHead title="Image" about="…" />
        <Skeleton lines={10} />
      </>
    );
  return (
    <>
      <PageHead title={pathOf(found.url)} about={<WebLink url={found.url} />}>
        <State of={found.status} title={found.reason ?? undefined} />
      </PageHead>
      <div className="grid gap-4 xl:grid-cols-2">
        <Card title="The file">
          <File image={found} />
        </Card>
        <Card title="What is known of it">
          <About image={found} />
        </Card>
        <Card
          title={`Where it was seen: ${number(found.pages.length)}${found.pages.length === MOST ? " or more" : ""} ${found.pages.length === 1 ? "page" : "pages"}`}
          pad={false}
          className="xl:col-span-2"
        >
          <List
            label="Where it was seen"
            rows={found.pages}
            columns={SEEN}
            keyOf={(seen) => `${seen.page_url} ${seen.discovery_type} ${seen.position}`}
            query={image}
            empty={<Empty title="No page shows it">The pages it was seen on are not known any more.</Empty>}
            height="24rem"
          />
        </Card>
        <Card title="What looks like it" className="xl:col-span-2">
          <Similar image={found} />
        </Card>
      </div>
    </>
  );
}

function File({ image }: { image: Image }) {
  if (image.body_ref === null || !image.format || !SHOWN.has(image.format)) {
    return (
      <div className="flex flex-col items-center gap-3">
        <Thumb id={image.thumbnail_ref ? image.id : null} alt="" why={image.status} className="h-56 w-full rounded" />
        <p className="text-soft">
          {image.body_ref ? (
            <a href={`/api/images/${image.id}/file`} download className="text-brand hover:underline">
              Download the file
            </a>
          ) : (
            (image.reason ?? "Its file was not stored.")
          )}
        </p>
      </div>
    );
  }
  const alt = image.pages.find((seen) => seen.alt_text)?.alt_text ?? "The image as it was stored";
  return (
    <div className="flex flex-col items-center gap-3">
      <img
        src={`/api/images/${image.id}/file`}
        alt={alt}
        className="max-h-80 min-h-32 max-w-full rounded bg-raised object-contain"
      />
      <a
        href={`/api/images/${image.id}/file`}
        download={`image-${image.id}.${image.format}`}
        className="text-brand hover:underline"
      >
        Download the file
      </a>
    </div>
  );
}

const About = ({ image }: { image: Image }) => (
  <Facts
    of={[
      [
        "Status",
        <>
          <State of={image.status} />
          {image.reason && <span className="ml-2">{image.reason}</span>}
        </>,
      ],
      ["Domain", image.domain && <DomainLink name={image.domain} className="text-brand" />],
      ["Format", image.format],
      ["Measures", image.width && image.height ? `${image.width} × ${image.height} pixels` : null],
      ...(image.frames && image.frames > 1 ? [["Frames", number(image.frames)] as [string, ReactNode]] : []),
      ["Size", bytes(image.file_size)],
      ...(image.moved_to ? [["Moved to", <WebLink url={image.moved_to} />] as [string, ReactNode]] : []),
      ["First seen", <Time at={image.first_seen_at} isExact />],
      ["Last checked", <Time at={image.checked_at} empty="never" isExact />],
      ["Stored", <Time at={image.stored_at} empty="not stored" isExact />],
      ["SHA-256", image.content_hash && <code className="text-xs break-all">{image.content_hash}</code>],
      [
        "Likeness hash",
        image.perceptual_hash === null ? "none" : <code className="text-xs break-all">{image.perceptual_hash}</code>,
      ],
      ["Kept as", image.body_ref && <code className="text-xs break-all">{image.body_ref}</code>],
      [
        "Same file at",
        image.same_file?.length ? (
          <ul className="flex flex-col gap-1">
            {image.same_file.slice(0, 20).map((url) => (
              <li key={url}>
                <WebLink url={url} />
              </li>
            ))}
          </ul>
        ) : (
          "no other address"
        ),
      ],
    ]}
  />
);

const SEEN: Column<Sighting>[] = [
  {
    name: "Page",
    width: "minmax(9rem,3fr)",
    cell: (seen) => (
      <PageLink url={seen.page_url} className="font-medium">
        <span title={seen.page_url}>{pathOf(seen.page_url)}</span>
      </PageLink>
    ),
  },
  {
    name: "Alt text",
    width: "minmax(8rem,3fr)",
    cell: (seen) =>
      seen.alt_text ? <span title={seen.alt_text}>“{seen.alt_text}”</span> : <span className="text-soft">none</span>,
  },
  { name: "Domain", width: "minmax(9.5rem,1fr)", isWideOnly: true, cell: (seen) => <DomainLink name={seen.domain} /> },
  {
    name: "As",
    width: "9rem",
    isWideOnly: true,
    cell: (seen) => `${words(seen.image_type)}, ${words(seen.discovery_type)}`,
  },
  { name: "Since", width: "7.5rem", isWideOnly: true, cell: (seen) => <Time at={seen.first_seen_at} /> },
  { name: "Last seen", width: "7.5rem", isWideOnly: true, cell: (seen) => <Time at={seen.last_seen_at} /> },
  {
    name: "Now",
    width: "7rem",
    isWideOnly: true,
    cell: (seen) => (seen.is_shown ? <Badge tone="good">shown</Badge> : <Badge>not any more</Badge>),
  },
];

function Similar({ image }: { image: Image }) {
  const similar = useQuery({
    queryKey: ["image", image.id, "similar"],
    queryFn: () =>
      ask(api.GET("/api/images/{image}/similar", { params: { path: { image: image.id }, query: { limit: 24 } } })),
    enabled: image.perceptual_hash !== null,
    staleTime: 60_000,
  });
  if (image.perceptual_hash === null)
    return <Empty title="It cannot be compared">Only stored pictures have a likeness hash.</Empty>;
  return (
    <Loaded query={similar} lines={3}>
      {(data) =>
        data.items.length ? (
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(8rem,1fr))] gap-3">
            {data.items.map((other) => (
              <li key={other.id}>
                <Link
                  to="/images/$image"
                  params={{ image: String(other.id) } as never}
                  className="block overflow-hidden rounded-lg border border-line hover:border-brand"
                >
                  <Thumb id={other.id} alt="" className="h-24 w-full" />
                  <span className="block truncate px-2 pt-1 text-xs">
                    <span className="sr-only">Image </span>
                    {pathOf(other.url)}
                  </span>
                  <span
                    className="block truncate px-2 pb-1.5 text-xs text-soft"
                    title="Bits of its likeness hash that differ, of 64"
                  >
                    {other.is_same_file
                      ? "the same file"
                      : other.distance === 0
                        ? "looks the same"
                        : `${other.distance} of 64 differ`}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <Empty title="Nothing looks like it" />
        )
      }
    </Loaded>
  );
}
