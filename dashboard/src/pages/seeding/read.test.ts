import { describe, expect, it } from "vitest";
import { byDomain, MOST, readSeeds, sortSeeds } from "./read";

const urls = (text: string) => readSeeds(text).map((seed) => seed.url);

describe("seeds", () => {
  it("stand one in a line; empty lines and remarks are left out, and lines keep their numbers", () => {
    expect(readSeeds("\uFEFFhttps://a.example/\r\n\r\n# remark\n  b.example  ")).toEqual([
      { url: "https://a.example/", line: 1 },
      { url: "b.example", line: 4 },
    ]);
  });
  it("come out of CSV: by a header, or by what looks like an address", () => {
    expect(urls("rank,domain\n1,a.example\n2,b.example")).toEqual(["a.example", "b.example"]);
    expect(urls("1,a.example\n2,b.example/x")).toEqual(["a.example", "b.example/x"]);
    expect(urls('"Shop, the best";"https://a.example/p?x=1,2"')).toEqual(["https://a.example/p?x=1,2"]);
    expect(urls("url\nhttps://a.example/")).toEqual(["https://a.example/"]);
  });
  it("keep the commas that are theirs", () => {
    expect(urls("https://a.example/p,12;v=1")).toEqual(["https://a.example/p,12;v=1"]);
  });
  it("come out of a sitemap", () => {
    expect(
      urls(
        '<?xml version="1.0"?><urlset xmlns="x"><url><loc> https://a.example/?a=1&amp;b=2 </loc></url><url><loc><![CDATA[https://a.example/2]]></loc></url></urlset>',
      ),
    ).toEqual(["https://a.example/?a=1&b=2", "https://a.example/2"]);
  });
  it("that nobody can read stay as they are, so that the server says why", () => {
    expect(urls("not a url, at all")).toEqual(["not a url, at all"]);
  });
});

it("are sent once each, and no more than the server takes", () => {
  const sorted = sortSeeds(readSeeds(`a.example\na.example\nhttps://b.example/${"x".repeat(9000)}`));
  expect([sorted.urls.length, sorted.twice, sorted.tooLong.map((seed) => seed.line)]).toEqual([1, 1, [3]]);
  expect(sortSeeds(Array.from({ length: MOST + 5 }, (_, line) => ({ url: `${line}.example`, line }))).tooMany).toBe(5);
});

it("are counted by domain", () => {
  expect(byDomain(["https://www.a.example/1", "a.example/2", "http://b.example:8080/", "::"])).toEqual([
    ["a.example", 2],
    ["b.example:8080", 1],
  ]);
});
