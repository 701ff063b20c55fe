/** New addresses for the crawl: paste or drop them, see what will be taken and why not the rest, then go. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type DragEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { api, ask, type Schemas } from "../api/client";
import { useIsAdmin } from "../api/session";
import { Badge, Button, Card, Empty, Field, PageHead, Stat } from "../ui/basic";
import { useToast } from "../ui/dialog";
import { bytes, number } from "../ui/format";
import { Alert, Check } from "../ui/icons";
import { DomainLink } from "./pages/parts";
import { byDomain, type Given, isIndex, isSitemap, MOST, readSeeds, sortSeeds } from "./seeding/read";

type Seeded = Schemas["Seeded"];
const MOST_BYTES = 20_000_000;
const SHOWN = 100;
const plural = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export function Seeds() {
  const isAdmin = useIsAdmin();
  return (
    <>
      <PageHead
        title="Add seeds"
        about="Addresses from which the crawl begins. Everything their sites link to is found from there."
      />
      {isAdmin ? (
        <Planting />
      ) : (
        <Card>
          <Empty title="An administrator adds seeds">
            You can see everything that is crawled; to have another site crawled, ask an administrator of this Forager.
          </Empty>
        </Card>
      )}
    </>
  );
}

/** A preview with the addresses it was made of: when they change, it does not count any more. */
interface Preview {
  urls: Given[];
  answer: Seeded;
}

function Planting() {
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [done, setDone] = useState<Preview | null>(null);
  const queries = useQueryClient();
  const toast = useToast();
  const sorted = useMemo(() => sortSeeds(readSeeds(text)), [text]);
  const send =
    (isDry: boolean) =>
    async (urls: Given[]): Promise<Preview> => ({
      urls,
      answer: await ask(
        api.POST("/api/frontier/seed", {
          body: { urls: urls.map((seed) => seed.url), source: "dashboard", dry_run: isDry },
        }),
      ),
    });
  const looking = useMutation({ mutationFn: send(true), onSuccess: setPreview });
  const planting = useMutation({
    mutationFn: send(false),
    onSuccess: (result) => {
      setDone(result);
      setPreview(null);
      setText("");
      toast(
        `${plural(result.answer.seeds, "seed was", "seeds were")} taken, ${number(result.answer.new_pages)} of them new.`,
      );
      void queries.invalidateQueries({ queryKey: ["pages"] });
      void queries.invalidateQueries({ queryKey: ["domains"] });
    },
    onError: (error) => toast(error.message, "bad"),
  });
  const change = (next: string) => {
    setText(next);
    setPreview(null);
    looking.reset();
    if (next) setDone(null);
  };
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <Card title="1. Give addresses">
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            looking.mutate(sorted.urls);
          }}
        >
          <Drop onText={change}>
            <Field
              label="Addresses"
              hint="One in a line: URLs, or just domains. Lines that begin with # are remarks. A CSV with a rank or other columns works, and so does the text of a sitemap."
            >
              {(given) => (
                <textarea
                  {...given}
                  rows={12}
                  spellCheck={false}
                  value={text}
                  onChange={(event) => change(event.target.value)}
                  placeholder={"https://shop.example/\nblog.example"}
                  className={`${given.className} py-2 font-mono`}
                />
              )}
            </Field>
          </Drop>
          <Sitemap onText={change} />
          <Remarks text={text} sorted={sorted} />
          {looking.isError && (
            <p role="alert" className="flex gap-2 rounded-md bg-bad-ground px-3 py-2 break-words text-bad">
              <Alert className="mt-0.5 size-4" />{" "}
              <span className="min-w-0">{looking.error.message.replace(/^body\.urls: /, "")}</span>
            </p>
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button
              kind={preview ? "plain" : "main"}
              type="submit"
              isBusy={looking.isPending}
              disabled={!sorted.urls.length}
            >
              Preview {sorted.urls.length > 0 && plural(sorted.urls.length, "address", "addresses")}
            </Button>
            {text && (
              <Button kind="quiet" onClick={() => change("")}>
                Clear
              </Button>
            )}
          </div>
        </form>
      </Card>
      {done ? (
        <Done result={done} />
      ) : preview ? (
        <Look preview={preview} go={() => planting.mutate(preview.urls)} isBusy={planting.isPending} />
      ) : (
        <Card title="2. See what will be taken">
          <Empty title="Nothing to see yet">
            The preview says which addresses will be taken, and of every other one why not. Nothing is added before you
            say so.
          </Empty>
        </Card>
      )}
    </div>
  );
}

async function textOf(file: File): Promise<string> {
  if (!file.name.endsWith(".gz")) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** The box takes files, too: chosen or dropped. */
function Drop({ onText, children }: { onText: (text: string) => void; children: ReactNode }) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const toast = useToast();
  const take = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MOST_BYTES)
      return toast(
        `${file.name} has ${bytes(file.size)}; up to ${bytes(MOST_BYTES)} can be read here. For more there is \`forager seed\`.`,
        "bad",
      );
    try {
      onText(await textOf(file));
    } catch {
      toast(`${file.name} could not be read.`, "bad");
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files may be dropped here; a button chooses them, too.
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      className={`flex flex-col gap-3 rounded-md ${isOver ? "outline-2 outline-offset-4 outline-brand outline-dashed" : ""}`}
    >
      {children}
      <div className="flex flex-wrap items-center gap-2">
        <input
          ref={picker}
          type="file"
          accept=".txt,.csv,.tsv,.xml,.gz,text/plain,text/csv,text/xml"
          aria-label="A file with addresses"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = "";
          }}
        />
        <Button onClick={() => picker.current?.click()}>Choose a file</Button>
        <span className="text-xs text-soft">or drop one here: text, CSV, or a sitemap (also .gz)</span>
      </div>
    </div>
  );
}

/** Its pages come into the box above, where they can be looked through and cut before anything is added. */
function Sitemap({ onText }: { onText: (text: string) => void }) {
  const [url, setUrl] = useState("");
  const toast = useToast();
  const reading = useMutation({
    mutationFn: () => ask(api.POST("/api/frontier/sitemap", { body: { url: url.trim() } })),
    onSuccess: (found) => {
      if (!found.urls.length) return;
      onText(found.urls.join("\n"));
      toast(
        `${plural(found.urls.length, "page")} read from the sitemap${found.is_all ? "" : "; it names more than can be taken at once"}. Nothing is added yet.`,
      );
      setUrl("");
    },
  });
  const read = () => {
    if (url.trim() && !reading.isPending) reading.mutate();
  };
  const nothing =
    reading.data && !reading.data.urls.length ? (reading.data.bad_seeds[0]?.error ?? "It names no page.") : undefined;
  return (
    <div className="flex flex-wrap items-start gap-2">
      <div className="min-w-0 flex-1 basis-64">
        <Field
          label="Or the address of a sitemap"
          hint="It is asked for now, as robots.txt and the pace allow; an index is followed."
          error={reading.error?.message ?? nothing}
        >
          {(given) => (
            <input
              {...given}
              inputMode="url"
              placeholder="https://shop.example/sitemap.xml"
              maxLength={8192}
              value={url}
              onChange={(event) => {
                setUrl(event.target.value);
                reading.reset();
              }}
              onKeyDown={(event) => {
                if (event.key === "Enter") {
                  event.preventDefault();
                  read();
                }
              }}
            />
          )}
        </Field>
      </div>
      <Button className="sm:mt-6" isBusy={reading.isPending} disabled={!url.trim()} onClick={read}>
        Read it
      </Button>
    </div>
  );
}

function Remarks({ text, sorted }: { text: string; sorted: ReturnType<typeof sortSeeds> }) {
  const remarks: string[] = [];
  if (isIndex(text))
    remarks.push("This is an index: it names other sitemaps, not pages. Give those, or the site itself.");
  else if (isSitemap(text)) remarks.push("Read as a sitemap.");
  if (sorted.twice) remarks.push(`${plural(sorted.twice, "address is", "addresses are")} named twice and sent once.`);
  if (sorted.tooLong.length)
    remarks.push(
      `${plural(sorted.tooLong.length, "address is", "addresses are")} too long and left out (line ${sorted.tooLong
        .slice(0, 5)
        .map((seed) => seed.line)
        .join(", ")}).`,
    );
  if (sorted.tooMany)
    remarks.push(`Only the first ${number(MOST)} can be sent at once; ${number(sorted.tooMany)} are left out.`);
  if (sorted.urls.some((seed) => /sitemap[^/]*\.xml(\.gz)?$/i.test(seed.url)) && !isSitemap(text))
    remarks.push(
      "The address of a sitemap is taken as a page here. To take the pages it names, give it in the field for sitemaps.",
    );
  if (!remarks.length) return null;
  return (
    <ul className="list-inside list-disc text-xs text-warn">
      {remarks.map((remark) => (
        <li key={remark}>{remark}</li>
      ))}
    </ul>
  );
}

function Look({ preview, go, isBusy }: { preview: Preview; go: () => void; isBusy: boolean }) {
  const { urls, answer } = preview;
  const bad = new Set(answer.bad_seeds.map((seed) => seed.line));
  const good = urls.filter((_, index) => !bad.has(index + 1)).map((seed) => seed.url);
  const domains = byDomain(good);
  const isWhole = answer.bad <= answer.bad_seeds.length;
  return (
    <Card title="2. See what will be taken">
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          <Stat
            name="Will be taken"
            value={number(answer.seeds)}
            about={isWhole ? `of ${plural(domains.length, "domain")}` : " "}
          />
          <Stat
            name="New pages"
            value={number(answer.new_pages)}
            about={answer.new_domains ? `${plural(answer.new_domains, "new domain")}` : "no new domain"}
          />
          <Stat
            name="Known already"
            value={number(answer.known)}
            about={answer.known ? "they keep their state" : "none"}
          />
          <Stat
            name="Will not"
            value={number(answer.bad)}
            about={answer.bad ? "see why below" : "all are fine"}
            tone={answer.bad ? "warn" : undefined}
          />
        </div>
        <Button kind="main" onClick={go} isBusy={isBusy} disabled={!answer.seeds}>
          Add {plural(answer.seeds, "seed")}
          {answer.new_pages === 0 && ", all known"}
        </Button>
        {answer.bad_seeds.length > 0 && (
          <section>
            <h3 className="mb-1 font-medium">
              Not taken
              {answer.bad > answer.bad_seeds.length &&
                `, the first ${number(answer.bad_seeds.length)} of ${number(answer.bad)}`}
            </h3>
            <ul
              className="max-h-72 divide-y divide-line overflow-auto rounded-md border border-line"
              tabIndex={0}
              aria-label="Not taken"
            >
              {answer.bad_seeds.map((seed) => (
                <li key={seed.line} className="px-3 py-1.5 text-xs break-words">
                  <span className="text-soft">line {number(urls[seed.line - 1]?.line)}:</span> {seed.error}
                </li>
              ))}
            </ul>
          </section>
        )}
        {isWhole && good.length > 0 && (
          <section>
            <h3 className="mb-1 font-medium">Taken</h3>
            <ul className="mb-2 flex flex-wrap gap-1">
              {domains.slice(0, 20).map(([name, count]) => (
                <li key={name} className="max-w-full">
                  <Badge>
                    {name}
                    {count > 1 && ` × ${number(count)}`}
                  </Badge>
                </li>
              ))}
              {domains.length > 20 && (
                <li className="text-xs text-soft">and {plural(domains.length - 20, "more domain")}</li>
              )}
            </ul>
            <ul
              className="max-h-60 overflow-auto rounded-md border border-line px-3 py-1.5 text-xs"
              tabIndex={0}
              aria-label="Taken"
            >
              {good.slice(0, SHOWN).map((url) => (
                <li key={url} className="break-all">
                  {url}
                </li>
              ))}
              {good.length > SHOWN && <li className="text-soft">and {number(good.length - SHOWN)} more</li>}
            </ul>
          </section>
        )}
      </div>
    </Card>
  );
}

function Done({ result }: { result: Preview }) {
  const { answer, urls } = result;
  const bad = new Set(answer.bad_seeds.map((seed) => seed.line));
  const domains = byDomain(urls.filter((_, index) => !bad.has(index + 1)).map((seed) => seed.url));
  return (
    <Card title="Added">
      <div className="flex flex-col gap-4">
        <p className="flex items-center gap-2 rounded-md bg-good-ground px-3 py-2 text-good">
          <Check /> {plural(answer.seeds, "seed was", "seeds were")} taken. Workers begin with them as soon as their
          domains have their turn.
        </p>
        <div className="grid grid-cols-3 gap-3">
          <Stat name="New pages" value={number(answer.new_pages)} />
          <Stat name="New domains" value={number(answer.new_domains)} />
          <Stat name="Known before" value={number(answer.known)} />
        </div>
        {answer.bad > 0 && (
          <p className="text-warn">{plural(answer.bad, "address was", "addresses were")} not taken.</p>
        )}
        <section>
          <h3 className="mb-1 font-medium">Watch them</h3>
          <ul className="flex flex-wrap gap-x-3 gap-y-1">
            {domains.slice(0, 20).map(([name]) => (
              <li key={name}>
                <DomainLink name={name} className="text-brand" />
              </li>
            ))}
            <li>
              <Link
                to="/pages"
                search={{ is_seed: "true", sort: "found" } as never}
                className="text-brand hover:underline"
              >
                All seeds
              </Link>
            </li>
            <li>
              <Link to="/tasks" className="text-brand hover:underline">
                Tasks
              </Link>
            </li>
          </ul>
        </section>
      </div>
    </Card>
  );
}
