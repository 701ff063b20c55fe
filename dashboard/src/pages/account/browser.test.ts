import { expect, it } from "vitest";
import { browserOf } from "./browser";

it("names browsers as people do", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
  expect(
    [
      chrome,
      `${chrome} Edg/140.0`,
      "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0",
      "curl/8.1",
      null,
    ].map(browserOf),
  ).toEqual(["Chrome on Linux", "Edge on Linux", "Firefox on Windows", "curl/8.1", "unknown browser"]);
});
