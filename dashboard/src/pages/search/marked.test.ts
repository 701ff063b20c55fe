import { expect, it } from "vitest";
import { pieces } from "./marked";

const show = (text: string, matches: number[][]) =>
  pieces(text, matches)
    .map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text))
    .join("");

it("marks what was looked for", () => {
  expect(show("Tall lamp 15", [[5, 9]])).toBe("Tall [lamp] 15");
  expect(show("lamp", [[0, 4]])).toBe("[lamp]");
  expect(show("nothing", [])).toBe("nothing");
});

it("counts characters as the server does", () => {
  expect(show("🏮🏮 lamp", [[3, 7]])).toBe("🏮🏮 [lamp]");
});

it("stands places that overlap, lie beyond the end or come in any order", () => {
  expect(
    show("one two three", [
      [8, 99],
      [0, 5],
      [4, 7],
      [50, 60],
    ]),
  ).toBe("[one t][wo] [three]");
});

it("leaves HTML what it is: text", () => {
  expect(show("<b>lamp</b>", [[3, 7]])).toBe("<b>[lamp]</b>");
});
