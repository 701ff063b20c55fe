import { describe, expect, it } from "vitest";
import { isHost, isUrl } from "./find";

describe("what the search box is given", () => {
  it("knows an address by its scheme", () => {
    expect(isUrl("https://shop.example/lamp?a=1")).toBe(true);
    expect(isUrl("HTTP://127.0.0.1:8000/")).toBe(true);
    expect(isUrl("https://shop.example/ lamp")).toBe(false);
    expect(isUrl("shop.example/lamp")).toBe(false);
  });
  it("knows a host by its dot or port", () => {
    expect(isHost("shop.example")).toBe(true);
    expect(isHost("127.71.0.5:8080")).toBe(true);
    expect(isHost("lamp")).toBe(false);
    expect(isHost("tall lamp.")).toBe(false);
  });
});
