// Bundles src/ into the Python package; `--check` only tells if the bundle is what src/ gives now.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "slantpath", "view", "bundle");

/** Hash of all that a bundle is made of: a test without Node holds the bundle to it. */
function hashOfSources() {
  const names = ["build.mjs", "package-lock.json", ...readdirSync(join(here, "src")).map((name) => `src/${name}`)];
  const hash = createHash("sha256");
  for (const name of names.sort()) hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  return hash.digest("hex");
}

/** Names of the packages that are in the bundle. */
function packages({ inputs }) {
  const names = Object.keys(inputs).map((input) => input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

function licences(names) {
  const parts = ["Licences of what is bundled into the page of `slantpath view`.\n"];
  for (const name of names) {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    parts.push(`${"=".repeat(80)}\n${name} ${version}: ${license}\n${"=".repeat(80)}\n`);
    parts.push(readFileSync(join(folder, file), "utf8").trim() + "\n");
  }
  return parts.join("\n");
}

async function bundled() {
  const done = await build({
    absWorkingDir: here,
    entryPoints: ["src/view.js"],
    outdir: out,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome110", "firefox115", "safari16"],
    charset: "ascii",
    legalComments: "none",
    metafile: true,
    write: false,
  });
  const files = Object.fromEntries(done.outputFiles.map((file) => [file.path.split(/[/\\]/).pop(), file.text]));
  // Nothing in it ends the element that holds it.
  const script = files["view.js"].replaceAll("</script", "<\\/script");
  return {
    "view.js": `/* sources ${hashOfSources()} */\n${script}`,
    "view.css": files["view.css"],
    "licences.txt": licences(packages(done.metafile)),
  };
}

const files = await bundled();
if (process.argv.includes("--check")) {
  const stale = Object.keys(files).filter((name) => readFileSync(join(out, name), "utf8") !== files[name]);
  if (stale.length) {
    console.error(`other sources than those of the bundle (${stale.join(", ")}): make view-bundle`);
    process.exit(1);
  }
} else {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
  console.log(
    Object.entries(files)
      .map(([name, text]) => `${name} ${text.length}`)
      .join(", "),
  );
}
