/** Stored images by their URL. The API has no such question yet: the images of a domain are asked for, and looked through. */
import { useQueries } from "@tanstack/react-query";
import { api, ApiError, ask, type Schemas } from "../../api/client";

type ImageRow = Schemas["ImageRow"];
const MOST = 1000;

export function hostOf(url: string): string | undefined {
  try {
    return new URL(url).host.replace(/^www\./, "");
  } catch {
    return undefined;
  }
}

async function fetchImages(domain: string): Promise<ImageRow[]> {
  try {
    return (await ask(api.GET("/api/images", { params: { query: { domain, limit: MOST } } }))).items;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** Those of the URLs that are known, in their order. */
export function useImages(urls: readonly string[]): ImageRow[] {
  const domains = [...new Set(urls.map(hostOf).filter((host) => host !== undefined))].slice(0, 3);
  const lists = useQueries({ queries: domains.map((domain) => ({ queryKey: ["images", "of", domain], queryFn: () => fetchImages(domain), staleTime: 300_000 })) });
  const known = new Map(lists.flatMap((list) => list.data ?? []).map((image) => [image.url, image]));
  return urls.flatMap((url) => known.get(url) ?? []);
}
