// Does Mermaid itself read this chart? Usage: node parse.cjs mermaid.min.js.gz < chart
// `mermaid.min.js.gz` is `dist/mermaid.min.js` of the npm package mermaid 11.17.2 (MIT, see LICENSE).
const fs = require("fs");
const vm = require("vm");
const zlib = require("zlib");

// Enough of a browser for Mermaid to start; our texts have nothing in them that it would clean away.
class Thing {}
const document = {
  nodeType: 9,
  implementation: {},
  currentScript: null,
  createElement: () => ({}),
  createNodeIterator() {},
  createDocumentFragment() {},
  getElementsByTagName: () => [],
  importNode() {},
};
const kinds = ["Element", "DocumentFragment", "HTMLTemplateElement", "Node", "NodeFilter", "NamedNodeMap"];
globalThis.document = document;
globalThis.window = { document, addEventListener() {}, HTMLFormElement: Thing, DOMParser: Thing };
for (const kind of kinds) window[kind] = Thing;

vm.runInThisContext(zlib.gunzipSync(fs.readFileSync(process.argv[2])).toString());
globalThis.mermaid.parse(fs.readFileSync(0, "utf8")).then(
  (read) => console.log(JSON.stringify(read)),
  (error) => {
    console.error(error.message);
    process.exit(1);
  },
);
