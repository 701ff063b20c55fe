import { describe, expect, it } from "vitest";
import { type Box, fit, layOut, type Picture } from "./layout";

const overlap = (one: Box, other: Box) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
const isTidy = (picture: Picture) => {
  const boxes = [picture.middle, ...picture.ins, ...picture.outs];
  return boxes.every(
    (box, index) =>
      box.x >= 0 &&
      box.y >= 0 &&
      box.x + box.width <= picture.width &&
      box.y + box.height <= picture.height &&
      !boxes.slice(index + 1).some((other) => overlap(box, other)),
  );
};

describe("the picture of a neighbourhood", () => {
  it.each([
    [1100, 12, 12],
    [700, 0, 12],
    [1100, 1, 0],
    [326, 8, 8],
    [326, 0, 3],
    [300, 0, 0],
  ])("fits %i pixels with %i links in and %i out, and nothing overlaps", (width, ins, outs) => {
    const picture = layOut(width, ins, outs);
    expect(isTidy(picture)).toBe(true);
    expect(picture.lines).toHaveLength(ins + outs);
  });
  it("has who links here on the left, or above on a phone", () => {
    const wide = layOut(1000, 1, 1);
    expect(wide.ins[0]!.x < wide.middle.x && wide.middle.x < wide.outs[0]!.x).toBe(true);
    const narrow = layOut(326, 1, 1);
    expect(narrow.ins[0]!.y < narrow.middle.y && narrow.middle.y < narrow.outs[0]!.y).toBe(true);
  });
});

it("cuts a text that is too long, between characters", () => {
  expect(fit("short", 200)).toBe("short");
  expect(fit("🏮🏮🏮🏮🏮🏮🏮🏮", 16 + 6.6 * 4)).toBe("🏮🏮🏮…");
});
