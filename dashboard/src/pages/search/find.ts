/** Where the search box leads: a URL to its page, a known host to its domain, everything else to the search for words. */
import { api, ask } from "../../api/client";

export interface Found {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
}

const HOST = /^(?=.*[.:])[\w.-]+(:\d+)?$/;

export const isUrl = (text: string) => /^https?:\/\/\S+$/i.test(text);
export const isHost = (text: string) => HOST.test(text);

export async function find(text: string): Promise<Found> {
  const words: Found = { to: "/search", search: { q: text } };
  try {
    if (isUrl(text)) {
      const page = await ask(api.GET("/api/pages/find", { params: { query: { url: text } } }));
      return { to: "/pages/$page", params: { page: String(page.id) } };
    }
    if (isHost(text)) {
      const domain = await ask(api.GET("/api/domains/{domain}", { params: { path: { domain: text } } }));
      return { to: "/domains/$domain", params: { domain: domain.name } };
    }
  } catch {
    return words; // not known: the search says so, and offers to ask why
  }
  return words;
}
