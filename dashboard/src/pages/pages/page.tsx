/** One page: what it says, how it changed, who links to it, what is like it, and why it is or is not fetched. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useFilters } from "../../ui/address";
import {
  Badge,
  Button,
  Card,
  Empty,
  ErrorNote,
  Facts,
  Loaded,
  PageHead,
  Skeleton,
  State,
  Tabs,
  Time,
  WebLink,
} from "../../ui/basic";
import { useToast } from "../../ui/dialog";
import { bytes, duration, number, pathOf, words } from "../../ui/format";
import { Again } from "../../ui/icons";
import { type Column, List, type Paged, useList } from "../../ui/list";
import { PicturesOf } from "../images/of_page";
import { ProductOf } from "../products/of_page";
import { WhyView } from "../why/why";
import { Neighbours } from "./neighbours";
import { DomainLink, PageLink } from "./parts";
import { Revisit } from "./revisit";
import { StoredVersions } from "./stored";
import { StructuredDataOf } from "./structured";
import { TextOf } from "./text";

type Page = Schemas["Page"];
const TABS = ["about", "text", "versions", "links", "alike", "why"] as const;
type Tab = (typeof TABS)[number];

/** `/pages/12`, or `/pages/find?url=…` where only the URL is known: then the number takes its place. */
export function PageView() {
  const { page: which } = useParams({ strict: false }) as { page: string };
  const [filters, set] = useFilters();
  const navigate = useNavigate();
  const isSought = which === "find";
  const url = filters.url ?? "";
  const page = useQuery({
    queryKey: ["page", isSought ? url : which],
    queryFn: () =>
      isSought
        ? ask(api.GET("/api/pages/find", { params: { query: { url } } }))
        : ask(api.GET("/api/pages/{page}", { params: { path: { page: Number(which) } } })),
    refetchInterval: 10_000,
  });
  const found = page.data;
  const queries = useQueryClient();
  useEffect(() => {
    if (!isSought || !found) return;
    queries.setQueryData(["page", String(found.id)], found);
    void navigate({
      to: "/pages/$page",
      params: { page: String(found.id) },
      search: filters.tab ? { tab: filters.tab } : {},
      replace: true,
    } as never);
  }, [isSought, found, filters.tab, navigate, queries]);
  useEffect(() => {
    if (found) document.title = `${found.title || pathOf(found.url)} · Pages · Forager`;
  }, [found]);
  if (page.isError && !found) {
    return (
      <>
        <PageHead title="Page" about={isSought ? url : undefined} />
        <Card>
          <ErrorNote error={page.error} again={() => void page.refetch()} />
        </Card>
      </>
    );
  }
  if (!found || isSought)
    return (
      <>
        <PageHead title="Page" about="…" />
        <Skeleton lines={10} />
      </>
    );
  const tab: Tab = TABS.find((known) => known === filters.tab) ?? "about";
  return (
    <>
      <Head page={found} />
      <Tabs<Tab>
        label="Parts of the page"
        value={tab}
        onChange={(next) => set({ tab: next === "about" ? undefined : next, visit: undefined, against: undefined })}
        tabs={[
          { key: "about", text: "About" },
          { key: "text", text: "Text" },
          { key: "versions", text: "Versions" },
          { key: "links", text: "Links" },
          { key: "alike", text: "Alike" },
          { key: "why", text: "Why?" },
        ]}
      />
      {tab === "about" && <About page={found} />}
      {tab === "text" && <TextOf page={found} />}
      {tab === "versions" && <StoredVersions page={found.id} />}
      {tab === "versions" && <Versions page={found} />}
      {tab === "links" && <LinksView page={found} />}
      {tab === "alike" && <Alike page={found} />}
      {tab === "why" && <WhyView of={found.url} />}
    </>
  );
}

function Head({ page }: { page: Page }) {
  const isAdmin = useIsAdmin();
  const toast = useToast();
  const queries = useQueryClient();
  const visiting = useMutation({
    mutationFn: () => ask(api.POST("/api/admin/tasks", { body: { url: page.url } })),
    onSuccess: (task) => {
      toast(task.message);
      void queries.invalidateQueries({ queryKey: ["page"] });
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <PageHead title={page.title || pathOf(page.url)} about={<WebLink url={page.url} />}>
      <State of={page.status} />
      {page.is_seed && <Badge tone="info">seed</Badge>}
      {page.open_task_id != null && (
        <Link
          to="/tasks/$task"
          params={{ task: String(page.open_task_id) } as never}
          className="text-brand hover:underline"
        >
          Task {page.open_task_id}: {words(page.open_task_status)}
        </Link>
      )}
      {isAdmin && (
        <Button onClick={() => visiting.mutate()} isBusy={visiting.isPending}>
          <Again /> Visit it now
        </Button>
      )}
    </PageHead>
  );
}

const useLinks = (url: string, limit: number) =>
  useQuery({
    queryKey: ["links", url, limit],
    queryFn: () => ask(api.GET("/api/links", { params: { query: { url, limit } } })),
    staleTime: 30_000,
  });

/** A line of facts that is left out where there is nothing to say. */
const known = (name: string, value: ReactNode): [ReactNode, ReactNode][] => (value ? [[name, value]] : []);

/** The moment, and the day that the page itself shows. */
const Day = ({ at, on }: { at: string | null; on: string | null }) => (
  <span className="flex flex-wrap gap-x-2">
    {at && <Time at={at} isExact />}
    {on && <span className={at ? "text-soft" : ""}>{at ? `on the page: ${on}` : on}</span>}
  </span>
);

function About({ page }: { page: Page }) {
  const links = useLinks(page.url, 100);
  return (
    <div className="grid gap-4 xl:grid-cols-3">
      <Card title="Neighbourhood" className="xl:col-span-3">
        <Loaded query={links} lines={6}>
          {(data) =>
            data.in?.links.length || data.out?.links.length ? (
              <Neighbours links={data} />
            ) : (
              <Empty title="No link is known">
                {page.status === "fetched"
                  ? "Nobody links here, and it links to nobody."
                  : "It was not read yet; its links will be known then."}
              </Empty>
            )
          }
        </Loaded>
      </Card>
      <Card title="What it says" className="xl:col-span-2">
        <Facts
          of={[
            ["Title", page.title],
            ...known("Headline", page.headline !== page.title && page.headline),
            ...known("Site", page.site_name),
            ...known("Section", page.section),
            ["Description", page.description],
            ["Language", page.language],
            ...known("Author", page.author),
            ...known(
              "Published",
              (page.published_at || page.published_on) && <Day at={page.published_at} on={page.published_on} />,
            ),
            ...known(
              "Modified",
              (page.modified_at || page.modified_on) && <Day at={page.modified_at} on={page.modified_on} />,
            ),
            ...known(
              "Rating",
              page.rating !== null &&
                `${page.rating} of 5${page.rating_count ? ` from ${number(page.rating_count)} ${page.rating_count === 1 ? "rating" : "ratings"}` : ""}`,
            ),
            ...known("Tags", page.tags?.join(", ")),
            ...known(
              "Canonical",
              page.canonical_url && <PageLink url={page.canonical_url} className="break-all text-brand" />,
            ),
            ["Type", page.content_type],
            ["Links", number(page.links_count)],
            ...known(
              "Remarks",
              page.flags?.length && (
                <span className="flex flex-wrap gap-1">
                  {page.flags.map((flag) => (
                    <Badge key={flag} tone="warn">
                      {words(flag)}
                    </Badge>
                  ))}
                </span>
              ),
            ),
            ...known(
              "Trap",
              page.trap_id != null && `It belongs to trap ${page.trap_id} of its domain: links that would never end.`,
            ),
            ["Content hash", page.content_hash && <code className="text-xs break-all">{page.content_hash}</code>],
            ...known("Simhash", page.simhash && <code className="text-xs break-all">{page.simhash}</code>),
            ["URL hash", <code className="text-xs break-all">{page.url_hash}</code>],
            ...known("ETag", page.etag && <code className="text-xs break-all">{page.etag}</code>),
            ...known("Last-Modified", page.last_modified),
          ]}
        />
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="How it goes">
          <Facts
            of={[
              ["Domain", <DomainLink name={page.domain} className="text-brand" />],
              ["Depth", page.is_seed ? "0, a seed" : number(page.depth)],
              ["Rank", `${page.priority} (1 is first, 10 last)`],
              ["Found", <Time at={page.discovered_at} />],
              ["Read", <Time at={page.fetched_at} empty="not yet" />],
              ["Failed", <Time at={page.failed_at} empty="never" />],
              ["Changed", <Time at={page.changed_at} empty="never seen" />],
              [
                "Changes",
                page.comparisons
                  ? `${number(page.changes)} in ${number(page.comparisons)} ${page.comparisons === 1 ? "comparison" : "comparisons"}`
                  : "not compared yet",
              ],
              ["Redirects", page.redirects ? number(page.redirects) : "none"],
              [
                "Images",
                <Link to="/images" search={{ domain: page.domain } as never} className="text-brand hover:underline">
                  those of its domain
                </Link>,
              ],
            ]}
          />
        </Card>
        <Card title="Visits again">
          <Revisit key={String(page.revisit_every_s)} page={page} />
        </Card>
      </div>
      {page.product_id !== null && <ProductOf id={page.product_id} />}
      {page.has_structured_data && <StructuredDataOf page={page.id} readAt={page.fetched_at} />}
      <PicturesOf page={page.id} />
    </div>
  );
}

type TaskRow = Schemas["TaskRow"];
const changeOf = (task: TaskRow) =>
  task.is_changed === null ? (
    <span className="text-soft">{task.outcome === "success" ? "first" : "–"}</span>
  ) : task.is_changed ? (
    <Badge tone="info">changed</Badge>
  ) : (
    <Badge>the same</Badge>
  );
const VISITS: Column<TaskRow>[] = [
  {
    name: "When",
    width: "minmax(6.5rem,1fr)",
    cell: (task) => (
      <Link to="/tasks/$task" params={{ task: String(task.id) } as never} className="text-brand hover:underline">
        <Time at={task.completed_at ?? task.scheduled_for} />
      </Link>
    ),
  },
  { name: "Outcome", width: "8rem", cell: (task) => <State of={task.outcome ?? task.status} /> },
  { name: "Content", width: "6.5rem", cell: changeOf },
  { name: "Answer", width: "5rem", isNumber: true, isWideOnly: true, cell: (task) => task.status_code ?? "–" },
  {
    name: "Took",
    width: "5.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (task) => (task.response_time_ms === null ? "–" : duration(task.response_time_ms / 1000)),
  },
  { name: "Size", width: "5.5rem", isNumber: true, isWideOnly: true, cell: (task) => bytes(task.bytes) },
  {
    name: "Body",
    width: "5rem",
    isWideOnly: true,
    cell: (task) => (task.has_body ? "kept" : <span className="text-soft">dropped</span>),
  },
  {
    name: "Error",
    width: "minmax(8rem,2fr)",
    isWideOnly: true,
    cell: (task) => (
      <span title={task.error_message ?? undefined}>
        {task.error_code ? (
          `${words(task.error_code)}: ${task.error_message ?? ""}`
        ) : (
          <span className="text-soft">–</span>
        )}
      </span>
    ),
  },
];

function Versions({ page }: { page: Page }) {
  const navigate = useNavigate();
  const list = useList<TaskRow>(
    ["page", String(page.id), "tasks"],
    (after) =>
      ask(api.GET("/api/pages/{page}/tasks", { params: { path: { page: page.id }, query: { limit: 100, after } } })),
    { refetchInterval: 10_000 },
  );
  return (
    <Card title="Every visit, newest first" pad={false}>
      <List
        label="Visits"
        rows={list.rows}
        columns={VISITS}
        keyOf={(task) => task.id}
        query={list}
        onOpen={(task) => void navigate({ to: "/tasks/$task", params: { task: String(task.id) } } as never)}
        empty={<Empty title="It was never visited">The tab “Why?” tells what it waits for.</Empty>}
      />
    </Card>
  );
}

type LinkRow = Schemas["Link"];
type Links = Schemas["Links"];
const LINKS: Column<LinkRow>[] = [
  {
    name: "Page",
    width: "minmax(9rem,3fr)",
    cell: (link) => (
      <span className="flex flex-col leading-tight" title={link.url}>
        <PageLink url={link.url} className="truncate font-medium">
          {link.title || pathOf(link.url)}
        </PageLink>
        <span className="truncate text-xs text-soft">
          {link.domain}
          {pathOf(link.url)}
        </span>
      </span>
    ),
  },
  {
    name: "Anchor",
    width: "minmax(6rem,2fr)",
    cell: (link) =>
      link.anchor ? <span title={link.anchor}>“{link.anchor}”</span> : <span className="text-soft">no text</span>,
  },
  { name: "Kind", width: "5rem", isWideOnly: true, cell: (link) => (link.rel === "a" ? "link" : words(link.rel)) },
  { name: "Status", width: "7rem", isWideOnly: true, cell: (link) => <State of={link.status} /> },
];
const MOST = 1000;

/** One side of it, page by page, with what is known of all of it. */
const useSide = (url: string, direction: "in" | "out") =>
  useList<LinkRow, Paged<LinkRow> & Links>(
    ["links", url, direction],
    async (after) => {
      const found = await ask(api.GET("/api/links", { params: { query: { url, direction, limit: 200, after } } }));
      return { ...found, items: found[direction]?.links ?? [] };
    },
    { isNewestFirst: false, keyOf: keyOfLink },
  );
const keyOfLink = (link: LinkRow) => `${link.page_id} ${link.position}`;

function LinksView({ page }: { page: Page }) {
  const incoming = useSide(page.url, "in");
  const outgoing = useSide(page.url, "out");
  const ins = incoming.first?.in;
  const outs = outgoing.first?.out;
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Card
        title={
          ins
            ? `Links to it: ${number(ins.pages)} ${ins.pages === 1 ? "page" : "pages"} of ${number(ins.domains)} ${ins.domains === 1 ? "domain" : "domains"}`
            : "Links to it"
        }
        pad={false}
      >
        <List
          label="Links to this page"
          rows={incoming.rows}
          columns={LINKS}
          keyOf={keyOfLink}
          query={incoming}
          empty={
            <Empty title="Nobody links here">
              {page.is_seed ? "It is a seed: it was given by a person." : "At least no page that was read."}
            </Empty>
          }
        />
      </Card>
      <Card title={outs ? `Links from it: ${number(outs.stored)}` : "Links from it"} pad={false}>
        <List
          label="Links of this page"
          rows={outgoing.rows}
          columns={LINKS}
          keyOf={keyOfLink}
          query={outgoing}
          empty={
            <Empty title="No link is kept">
              {outs && !outs.is_stored
                ? "The links of this page are not stored."
                : page.status === "fetched"
                  ? "It links to nobody."
                  : "It was not read yet."}
            </Empty>
          }
        />
      </Card>
    </div>
  );
}

type Member = Schemas["Member"];
const MEMBERS: Column<Member>[] = [
  {
    name: "Page",
    width: "minmax(9rem,3fr)",
    cell: (member) => (
      <span className="flex flex-col leading-tight" title={member.url}>
        <PageLink url={member.url} className="truncate font-medium">
          {member.title || pathOf(member.url)}
        </PageLink>
        <span className="truncate text-xs text-soft">
          {member.domain}
          {pathOf(member.url)}
        </span>
      </span>
    ),
  },
  {
    name: "Likeness",
    width: "8.5rem",
    cell: (member) =>
      member.is_exact ? (
        <Badge tone="warn">the same text</Badge>
      ) : (
        <Badge title="Bits of its fingerprint that differ, of 64">{member.distance} of 64 differ</Badge>
      ),
  },
  { name: "Read", width: "8rem", isWideOnly: true, cell: (member) => <Time at={member.fetched_at} /> },
];

function Alike({ page }: { page: Page }) {
  const likes = useQuery({
    queryKey: ["alike", page.url],
    queryFn: () => ask(api.GET("/api/duplicates/of", { params: { query: { url: page.url, limit: MOST } } })),
    staleTime: 30_000,
  });
  const why = !likes.data
    ? ""
    : !likes.data.is_indexed
      ? "It is not compared yet; that happens soon after it is read."
      : !likes.data.has_text
        ? "It has too little text to be compared."
        : "No other page says nearly the same.";
  return (
    <Card title="Pages that say nearly the same" pad={false}>
      <List
        label="Near-duplicates"
        rows={likes.data?.members ?? []}
        columns={MEMBERS}
        keyOf={(member) => member.url}
        query={likes}
        empty={<Empty title="Nothing is like it">{why}</Empty>}
      />
    </Card>
  );
}
