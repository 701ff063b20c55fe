import { describe, expect, it } from "vitest";
import type { Schemas } from "../../api/client";
import { changesOf, formOf, readSpan, spanText } from "./knobs";

const domain = {
  crawl_delay_s: 0.5,
  max_concurrent_requests: null,
  max_pages_per_run: null,
  revisit_every_s: 21_600,
  is_adaptive: false,
  stores_links: true,
  verifies_tls: true,
  maintenance_start: "22:00:00",
  maintenance_end: "06:00:00",
  content_policy: null,
  parser_name: "auto",
  proxy_country: "DE",
  paces_per_proxy: true,
} as unknown as Schemas["Domain"];
const form = formOf(domain);

describe("the settings of a domain", () => {
  it("are shown as a person types them", () => {
    expect([
      form.crawl_delay_s,
      form.revisit_every_s,
      form.maintenance_start,
      form.content_policy,
      form.is_adaptive,
      form.proxy_country,
    ]).toEqual(["0.5", "6h", "22:00", "", "false", "DE"]);
    expect([
      spanText(5400),
      spanText(86_400),
      spanText(1.5),
      readSpan("90m"),
      readSpan("2 d"),
      readSpan("5min"),
      readSpan("soon"),
    ]).toEqual(["90m", "1d", "1.5s", 5400, 172_800, 300, undefined]);
  });
  it("are sent only where they differ; empty takes the default", () => {
    expect(changesOf(form, form)).toEqual({ changes: {}, errors: {} });
    expect(
      changesOf(form, {
        ...form,
        crawl_delay_s: "",
        revisit_every_s: "1d",
        is_adaptive: "true",
        paces_per_proxy: "false",
        proxy_country: "",
      }).changes,
    ).toEqual({
      crawl_delay_s: null,
      revisit_every_s: 86_400,
      is_adaptive: true,
      paces_per_proxy: false,
      proxy_country: null,
    });
  });
  it("send a window whole, and refuse half of one", () => {
    expect(changesOf(form, { ...form, maintenance_end: "07:00" }).changes).toEqual({
      maintenance_start: "22:00",
      maintenance_end: "07:00",
    });
    expect(changesOf(form, { ...form, maintenance_start: "", maintenance_end: "" }).changes).toEqual({
      maintenance_start: null,
      maintenance_end: null,
    });
    expect(changesOf(form, { ...form, maintenance_start: "" }).errors).toHaveProperty("maintenance_start");
  });
  it("say what is wrong before they are sent", () => {
    const { errors, changes } = changesOf(form, {
      ...form,
      crawl_delay_s: "-1",
      max_concurrent_requests: "2.5",
      revisit_every_s: "often",
      max_pages_per_run: "x",
    });
    expect(Object.keys(errors).sort()).toEqual([
      "crawl_delay_s",
      "max_concurrent_requests",
      "max_pages_per_run",
      "revisit_every_s",
    ]);
    expect(changes).toEqual({});
  });
});
