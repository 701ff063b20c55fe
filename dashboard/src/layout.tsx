/** What stands around every page: where one can go, whether the numbers are live, who one is. */
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { type ComponentType, useEffect, useRef, useState } from "react";
import { api, ask } from "./api/client";
import { useLive } from "./api/live";
import { SessionProvider, useIsAdmin, useMe } from "./api/session";
import { find } from "./pages/search/find";
import { SignIn } from "./pages/sign_in";
import { Button, ErrorNote, Time } from "./ui/basic";
import * as icon from "./ui/icons";

interface Place {
  to: string;
  text: string;
  icon: ComponentType<{ className?: string }>;
  isAdmins?: boolean;
}

const PLACES: { title: string; places: Place[] }[] = [
  {
    title: "Crawl",
    places: [
      { to: "/", text: "Overview", icon: icon.Gauge },
      { to: "/domains", text: "Domains", icon: icon.Globe },
      { to: "/profiles", text: "Profiles", icon: icon.Sliders },
      { to: "/tasks", text: "Tasks", icon: icon.ListChecks },
      { to: "/runs", text: "Runs", icon: icon.Play },
      { to: "/seeds", text: "Add seeds", icon: icon.Sprout, isAdmins: true },
    ],
  },
  {
    title: "Found",
    places: [
      { to: "/search", text: "Search", icon: icon.Search },
      { to: "/pages", text: "Pages", icon: icon.FileText },
      { to: "/products", text: "Products", icon: icon.Tag },
      { to: "/extractors", text: "Extractors", icon: icon.Crosshair },
      { to: "/images", text: "Images", icon: icon.Picture },
    ],
  },
  {
    title: "Look after it",
    places: [
      { to: "/alerts", text: "Alerts", icon: icon.Bell },
      { to: "/errors", text: "Errors", icon: icon.Bug },
      { to: "/workers", text: "Workers", icon: icon.Cpu },
      { to: "/schedule", text: "Schedule", icon: icon.Clock },
      { to: "/proxies", text: "Proxies", icon: icon.Shuffle },
      { to: "/settings", text: "Settings", icon: icon.Cog },
      { to: "/users", text: "Users", icon: icon.Users, isAdmins: true },
      { to: "/audit", text: "Audit", icon: icon.Scroll, isAdmins: true },
    ],
  },
];

export function Shell() {
  return (
    <SessionProvider>
      {(me, state, again) => {
        if (state === "pending") return <div className="min-h-dvh" aria-busy="true" />;
        if (state === "error")
          return (
            <ErrorNote
              error="Forager, or its database, does not answer. It is asked again every few seconds."
              again={again}
            />
          );
        return me ? <Frame /> : <SignIn />;
      }}
    </SessionProvider>
  );
}

function Frame() {
  const [isOpen, setIsOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const isAway = useLive().link === "away";
  useEffect(() => setIsOpen(false), [path]);
  useEffect(() => {
    document.title = `${nameOf(path)} · Forager`;
  }, [path]);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13.5rem_1fr]">
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link, and older browsers do not move the focus by themselves. */}
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:m-2 focus:bg-surface focus:p-2"
        onClick={() => main.current?.focus()}
      >
        Skip to the page
      </a>
      <nav
        aria-label="Main"
        className={`${isOpen ? "fixed inset-0 z-40 block overflow-auto" : "hidden"} border-r border-line bg-surface md:sticky md:top-0 md:block md:h-dvh md:overflow-auto`}
      >
        <div className="flex h-14 items-center justify-between px-4">
          <Link to="/" className="flex items-center gap-2 text-base font-semibold">
            <img src="/icon.svg" alt="" className="size-6" /> Forager
          </Link>
          <Button kind="quiet" className="px-2 md:hidden" aria-label="Close the menu" onClick={() => setIsOpen(false)}>
            <icon.Cross />
          </Button>
        </div>
        <Places />
      </nav>
      <div className="flex min-w-0 flex-col">
        <TopBar openMenu={() => setIsOpen(true)} />
        <Stale />
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className={`mx-auto w-full max-w-[96rem] min-w-0 flex-1 p-4 outline-none md:p-6 ${isAway ? "opacity-60" : ""}`}
        >
          <Outlet />
        </main>
      </div>
    </div>
  );
}

/** What is on the screen is old: since when, and that it is tried again. */
function Stale() {
  const { link, past } = useLive();
  const last = past.at(-1);
  if (link !== "away") return null;
  return (
    <p role="alert" className="flex items-center gap-2 border-b border-line bg-bad-ground px-4 py-2.5 text-bad md:px-6">
      <icon.Alert />{" "}
      <span>
        Forager, or its database, does not answer.{" "}
        {last ? (
          <>
            Numbers on this page are of <Time at={new Date(last.at).toISOString()} isExact />.
          </>
        ) : (
          "Numbers on this page may be old."
        )}{" "}
        It is asked again every few seconds.
      </span>
    </p>
  );
}

function Places() {
  const isAdmin = useIsAdmin();
  const alerts = Object.values(useLive().stats?.alerts_unacknowledged ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <div className="flex flex-col gap-4 px-2 pb-6">
      {PLACES.map((group) => (
        <div key={group.title}>
          <p className="px-2 pb-1 text-xs text-soft">{group.title}</p>
          <ul className="flex flex-col gap-0.5">
            {group.places
              .filter((place) => isAdmin || !place.isAdmins)
              .map((place) => (
                <li key={place.to}>
                  <Link
                    to={place.to}
                    activeOptions={{ exact: place.to === "/", includeSearch: false }}
                    className="flex min-h-9 items-center gap-2.5 rounded-md px-2 text-soft hover:bg-raised hover:text-ink"
                    activeProps={{ className: "bg-raised !text-ink font-medium", "aria-current": "page" }}
                  >
                    <place.icon className="size-4.5" /> {place.text}
                    {place.to === "/alerts" && alerts > 0 && (
                      <span className="ml-auto rounded-full bg-bad px-1.5 text-xs font-medium text-ground">
                        {alerts}
                      </span>
                    )}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

function TopBar({ openMenu }: { openMenu: () => void }) {
  const navigate = useNavigate();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target as HTMLElement).closest("input,textarea,select,[contenteditable]")) {
        event.preventDefault();
        box.current?.focus();
      }
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-2 border-b border-line bg-surface px-4">
      <Button kind="quiet" className="px-2 md:hidden" aria-label="Open the menu" onClick={openMenu}>
        <icon.Menu className="size-5" />
      </Button>
      <form
        role="search"
        className="relative min-w-0 flex-1 md:max-w-md"
        onSubmit={(event) => {
          event.preventDefault();
          const words = box.current?.value.trim();
          if (words) void find(words).then((found) => navigate(found as never));
        }}
      >
        <icon.Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-soft" />
        <input
          ref={box}
          type="search"
          aria-label="Search pages"
          placeholder="Words, a URL or a domain   /"
          className="min-h-9 w-full rounded-md border border-line bg-ground pl-8 text-sm placeholder:text-soft"
        />
      </form>
      <LinkState />
      <ThemeButton />
      <Person />
    </header>
  );
}

const LINKS = {
  live: ["bg-good", "Live"],
  polling: ["bg-warn", "Every 5 s"],
  connecting: ["bg-soft", "Connecting"],
  away: ["bg-bad", "No answer"],
} as const;

function LinkState() {
  const { link } = useLive();
  const [colour, text] = LINKS[link];
  return (
    <span
      className="ml-auto inline-flex items-center gap-1.5 text-xs text-soft"
      role="status"
      title="Whether the numbers on this page are live"
    >
      <span className={`size-2 rounded-full ${colour}`} /> <span className="hidden sm:inline">{text}</span>
    </span>
  );
}

function ThemeButton() {
  const [isDark, setIsDark] = useState(() => document.documentElement.classList.contains("dark"));
  const turn = () => {
    document.documentElement.classList.toggle("dark", !isDark);
    localStorage.setItem("theme", isDark ? "light" : "dark");
    setIsDark(!isDark);
  };
  return (
    <Button kind="quiet" className="px-2" aria-label={isDark ? "Use light colours" : "Use dark colours"} onClick={turn}>
      {isDark ? <icon.Sun /> : <icon.Moon />}
    </Button>
  );
}

function Person() {
  const me = useMe();
  const queries = useQueryClient();
  const leave = async () => {
    await ask(api.POST("/api/auth/logout")).catch(() => {});
    queries.setQueryData(["me"], null);
    queries.removeQueries({ predicate: (query) => query.queryKey[0] !== "me" }); // nobody sees what somebody else loaded
  };
  return (
    <div className="flex items-center gap-1">
      <Link to="/account" className="hidden rounded-md px-2 py-1.5 hover:bg-raised sm:block">
        {me?.name} <span className="text-xs text-soft">{me?.role}</span>
      </Link>
      <Button kind="quiet" className="px-2" aria-label="Sign out" title="Sign out" onClick={() => void leave()}>
        <icon.Out />
      </Button>
    </div>
  );
}

export function nameOf(path: string): string {
  const first = `/${path.split("/")[1] ?? ""}`;
  const place = PLACES.flatMap((group) => group.places).find((known) => known.to === first);
  const rest = path.split("/")[2];
  const name = place?.text ?? (first === "/account" ? "Account" : "Forager");
  return rest ? `${decodeURIComponent(rest)} · ${name}` : name;
}
