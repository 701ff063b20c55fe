import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const api = process.env.FORAGER_API ?? "http://127.0.0.1:8600";
// To a running instance, as if its own page asked: changes from elsewhere are refused.
const toApi = { target: api, changeOrigin: true, headers: { origin: api } };

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    outDir: "../src/forager/dashboard/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // a strict CSP wants files
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: { proxy: { "/api": toApi, "/health": toApi }, fs: { allow: [".."] } }, // runbooks come from docs/
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});
