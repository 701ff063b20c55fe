import { describe, expect, it } from "vitest";
import { lineNamed, linesOf, urlOf } from "./robots_lines";

const ours = (text: string) =>
  linesOf(text, "Forager")
    .filter((line) => line.isOurs)
    .map((line) => line.number);

describe("lines of a robots.txt", () => {
  it("are ours in every group that names us, also beside others", () => {
    const text =
      "User-agent: *\nDisallow: /a\n\nUser-agent: Other\nUser-agent: Forager\nDisallow: /b\nCrawl-delay: 2\n\nuser-agent: forager/2 # again\nDisallow: /c\n";
    expect(ours(text)).toEqual([4, 5, 6, 7, 9, 10]);
  });
  it("are those for everybody where no group names us, and sitemaps are nobody's", () => {
    expect(ours("Sitemap: /s.xml\r\nUser-agent: BadBot\r\nDisallow: /\r\nUser-agent: *\r\nDisallow: /x")).toEqual([
      4, 5,
    ]);
    expect(ours("User-agent: BadBot\nDisallow: /")).toEqual([]);
    expect(linesOf("", "Forager")).toHaveLength(1);
  });
  it("are named by the server's sentence", () => {
    expect(lineNamed("robots.txt line 11 says 'Disallow: /private/' to forager")).toBe(11);
    expect([lineNamed("no rule speaks of it"), lineNamed(undefined)]).toEqual([undefined, undefined]);
  });
});

it("a typed path belongs to the origin", () => {
  expect([
    urlOf("/a?b", "http://x.example"),
    urlOf("a", "http://x.example"),
    urlOf("https://y.example/", "http://x.example"),
  ]).toEqual(["http://x.example/a?b", "http://x.example/a", "https://y.example/"]);
});
