import { describe, expect, it } from "vitest";
import { addressesIn, addressOf, factsOf, healthOf, wrongFacts } from "./health";

const proxy = { is_active: true, probe_at: null, consecutive_failures: 0, successes: 3, failures: 1 };
const form = {
  country: "de",
  city: " ",
  provider: "Acme",
  monthly_cost: "12.5",
  max_requests_per_hour: "",
  is_forwarding: false,
};

describe("a proxy", () => {
  it("is told in one word how it does", () => {
    expect([
      healthOf(proxy),
      healthOf({ ...proxy, consecutive_failures: 2 }),
      healthOf({ ...proxy, is_active: false }),
      healthOf({ ...proxy, is_active: false, probe_at: "2026-01-01T00:00:00Z" }),
      healthOf({ ...proxy, successes: 0, failures: 0 }),
    ]).toEqual(["working", "failing", "off", "failed", "unused"]);
  });
  it("is called by its address", () => {
    expect(addressOf({ protocol: "http", host: "p.example", port: 3128, username: "u" })).toBe(
      "http://u@p.example:3128",
    );
    expect(addressOf({ protocol: "socks5", host: "::1", port: 1, username: null })).toBe("socks5://[::1]:1");
    expect(addressesIn("http://a:1\n\n http://b:2, http://a:1")).toEqual(["http://a:1", "http://b:2"]);
  });
  it("is sent with what was filled in, after a look at it", () => {
    expect(JSON.parse(JSON.stringify(factsOf(form)))).toEqual({
      country: "DE",
      provider: "Acme",
      monthly_cost: 12.5,
      is_forwarding: false,
    });
    expect(wrongFacts(form)).toEqual({});
    expect(
      Object.keys(wrongFacts({ ...form, country: "Germany", monthly_cost: "-1", max_requests_per_hour: "1.5" })),
    ).toEqual(["country", "monthly_cost", "max_requests_per_hour"]);
  });
});
