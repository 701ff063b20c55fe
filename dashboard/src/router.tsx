/** Every address of the dashboard. Pages are loaded when they are first opened; filters live in the address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import { Shell } from "./layout";
import { Lost } from "./pages/lost";
import { Overview } from "./pages/overview";
import { Skeleton } from "./ui/basic";

/** Filters of any list: words in the address, unknown ones are kept out by the page that reads them. */
export type Filters = Record<string, string | undefined>;

function readFilters(given: Record<string, unknown>): Filters {
  const found: Filters = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && value !== null && value !== "") found[name] = String(value);
  }
  return found;
}

const root = createRootRoute({ component: Outlet, notFoundComponent: Lost });
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const page = <P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    component,
    validateSearch: readFilters,
    pendingComponent: () => <Skeleton lines={8} />,
  });

const overview = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: Overview,
  validateSearch: readFilters,
});
const routes = [
  overview,
  page(
    "/domains",
    lazyRouteComponent(() => import("./pages/domains/list"), "Domains"),
  ),
  page(
    "/domains/$domain",
    lazyRouteComponent(() => import("./pages/domains/domain"), "DomainPage"),
  ),
  page(
    "/profiles",
    lazyRouteComponent(() => import("./pages/profiles/list"), "Profiles"),
  ),
  page(
    "/profiles/$profile",
    lazyRouteComponent(() => import("./pages/profiles/profile"), "ProfilePage"),
  ),
  page(
    "/tasks",
    lazyRouteComponent(() => import("./pages/tasks/list"), "Tasks"),
  ),
  page(
    "/tasks/$task",
    lazyRouteComponent(() => import("./pages/tasks/task"), "TaskPage"),
  ),
  page(
    "/pages",
    lazyRouteComponent(() => import("./pages/pages/list"), "Pages"),
  ),
  page(
    "/pages/$page",
    lazyRouteComponent(() => import("./pages/pages/page"), "PageView"),
  ),
  page(
    "/search",
    lazyRouteComponent(() => import("./pages/search/search"), "SearchPage"),
  ),
  page(
    "/products",
    lazyRouteComponent(() => import("./pages/products/list"), "Products"),
  ),
  page(
    "/products/$product",
    lazyRouteComponent(() => import("./pages/products/product"), "ProductPage"),
  ),
  page(
    "/extractors",
    lazyRouteComponent(() => import("./pages/extractors/extractors"), "Extractors"),
  ),
  page(
    "/images",
    lazyRouteComponent(() => import("./pages/images/grid"), "Images"),
  ),
  page(
    "/images/$image",
    lazyRouteComponent(() => import("./pages/images/image"), "ImagePage"),
  ),
  page(
    "/proxies",
    lazyRouteComponent(() => import("./pages/proxies/list"), "Proxies"),
  ),
  page(
    "/runs",
    lazyRouteComponent(() => import("./pages/runs/list"), "Runs"),
  ),
  page(
    "/runs/$run",
    lazyRouteComponent(() => import("./pages/runs/run"), "RunPage"),
  ),
  page(
    "/schedule",
    lazyRouteComponent(() => import("./pages/schedule"), "Schedule"),
  ),
  page(
    "/workers",
    lazyRouteComponent(() => import("./pages/workers"), "Workers"),
  ),
  page(
    "/alerts",
    lazyRouteComponent(() => import("./pages/alerts"), "Alerts"),
  ),
  page(
    "/errors",
    lazyRouteComponent(() => import("./pages/errors/list"), "Errors"),
  ),
  page(
    "/errors/$fingerprint",
    lazyRouteComponent(() => import("./pages/errors/pattern"), "ErrorPattern"),
  ),
  page(
    "/seeds",
    lazyRouteComponent(() => import("./pages/seeds"), "Seeds"),
  ),
  page(
    "/settings",
    lazyRouteComponent(() => import("./pages/settings"), "SettingsPage"),
  ),
  page(
    "/users",
    lazyRouteComponent(() => import("./pages/users"), "UsersPage"),
  ),
  page(
    "/account",
    lazyRouteComponent(() => import("./pages/account"), "AccountPage"),
  ),
  page(
    "/audit",
    lazyRouteComponent(() => import("./pages/audit"), "AuditPage"),
  ),
];
const lost = createRoute({ getParentRoute: () => shell, path: "$", component: Lost });
const accept = createRoute({
  getParentRoute: () => root,
  path: "/accept",
  component: lazyRouteComponent(() => import("./pages/accept"), "Accept"),
});

/** Filters are words in the address, as a person would write them. */
export function writeSearch(search: Record<string, unknown>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(readFilters(search))) if (value) words.set(name, value);
  const text = words.toString();
  return text ? `?${text}` : "";
}

export const router = createRouter({
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: writeSearch,
  routeTree: root.addChildren([shell.addChildren([...routes, lost]), accept]),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultNotFoundComponent: Lost,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
