import { describe, expect, it } from "vitest";
import { ApiError } from "../../api/client";
import {
  changesOf,
  errorsOf,
  groupsOf,
  isFound,
  mergeMembers,
  mergeSettings,
  readMembers,
  readText,
  type SettingField,
  settingsOfDomain,
  settingsOfProfile,
  shortOf,
  textOf,
} from "./values";

const field = (name: string, kind: SettingField["kind"], more: Partial<SettingField> = {}): SettingField => ({
  name,
  kind,
  group: "Pace",
  choices: [],
  default: null,
  is_secret: false,
  may_be_none: false,
  description: `What ${name} does.`,
  ...more,
});
const delay = field("delay", "duration", { default: "1s" });
const pages = field("max_pages", "number", { may_be_none: true, group: "Budget" });
const exclude = field("exclude", "list", { default: [] });
const headers = field("headers", "mapping", { default: {}, is_secret: true });
const password = field("password", "text", { is_secret: true, may_be_none: true });
const robots = field("obey_robots", "flag", { default: true });
const label = field("worker_label", "text", { default: "" });
const FIELDS = [delay, pages, exclude, headers, password, robots, label];

describe("a value", () => {
  it("is shown in its control as a person writes it, without secrets", () => {
    expect([
      textOf(delay, "2s"),
      textOf(pages, null),
      textOf(exclude, ["*/a", "*/b"]),
      textOf(headers, { "X-Key": "•••" }),
      textOf(password, "•••"),
      textOf(robots, false),
    ]).toEqual(["2s", "", "*/a\n*/b", "X-Key: •••", "", "false"]);
  });
  it("has a short form", () => {
    expect([null, true, 12_000, 0.25, [], ["a", "b"], { A: "•••" }, {}, "6h", ""].map(shortOf)).toEqual([
      "none",
      "on",
      "12,000",
      "0.25",
      "none",
      "a b",
      "A",
      "none",
      "6h",
      "none",
    ]);
  });
  it("is read back as the API takes it", () => {
    expect([
      readText(delay, " 6h ").value,
      readText(pages, "50").value,
      readText(pages, "many").value,
      readText(pages, "").value,
      readText(exclude, "*/a\n\n */b ").value,
      readText(headers, "X-Key: •••\nReferer: https://a.example/?q=1").value,
      readText(robots, "false").value,
      readText(label, "").value,
    ]).toEqual([
      "6h",
      50,
      "many",
      "none",
      ["*/a", "*/b"],
      { "X-Key": "•••", Referer: "https://a.example/?q=1" },
      false,
      "",
    ]);
    expect([readText(delay, "").error, readText(headers, "X-Key").error].every(Boolean)).toBe(true);
  });
});

describe("edits", () => {
  const settings = settingsOfProfile(FIELDS, { delay: "2s", max_pages: null, password: "•••" });
  it("are sent only where they differ, and null takes a value back", () => {
    expect(changesOf(settings, {})).toEqual({ changes: {}, errors: {} });
    expect(changesOf(settings, { delay: "2s ", password: "", max_pages: "" }).changes).toEqual({});
    expect(changesOf(settings, { delay: null, password: "new", max_pages: "5", exclude: "*/a" }).changes).toEqual({
      delay: null,
      max_pages: 5,
      exclude: ["*/a"],
      password: "new",
    });
    expect(changesOf(settings, { delay: " ", headers: "?" })).toEqual({
      changes: {},
      errors: { delay: "Give a value, or take it back.", headers: "Write `Name: value` on each line." },
    });
  });
  it("give the whole profile, in which no value is written as none", () => {
    expect(mergeSettings({ delay: "2s", max_pages: null, password: "•••" }, { delay: null, exclude: [] })).toEqual({
      max_pages: "none",
      password: "•••",
      exclude: [],
    });
  });
});

it("settings come in groups, with their origin", () => {
  const settings = settingsOfDomain(FIELDS, [
    { name: "max_pages", value: 5, origin: "profile shops" },
    { name: "delay", value: "2s", origin: "domain" },
  ]);
  expect(groupsOf(settings).map(([title, each]) => [title, each.map(({ origin }) => origin)])).toEqual([
    ["Pace", ["domain"]],
    ["Budget", ["profile shops"]],
  ]);
  expect([isFound(pages, "max pages"), isFound(pages, "BUDGET does"), isFound(pages, "robots")]).toEqual([
    true,
    true,
    false,
  ]);
});

it("errors of the API are shown at their fields", () => {
  const error = new ApiError(422, {
    errors: [
      { where: "body.delay", what: "delay: input should be at most 1d." },
      { where: "body.concurrency", what: "Value error, this is no number" },
      { where: "body.settings.max_pages", what: "Input should be a valid integer" },
      { where: "body.domains.3", what: "too long" },
      { where: "path.name", what: "'?' is no name of a profile." },
      { where: "body", what: "Nothing to set." },
    ],
  });
  expect(errorsOf(error)).toEqual({
    delay: "Input should be at most 1d.",
    concurrency: "This is no number.",
    max_pages: "Input should be a valid integer.",
    domains: "Too long.",
    name: "'?' is no name of a profile.",
  });
  expect(errorsOf(new Error("no"))).toEqual({});
});

it("members are read from any list, and changes by others stay", () => {
  expect(readMembers("a.example, *.B.example\n\na.example")).toEqual(["a.example", "*.b.example"]);
  expect(mergeMembers(["a", "b"], ["b", "c"], ["a", "b", "d"])).toEqual(["b", "d", "c"]);
});
