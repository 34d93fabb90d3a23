// Packages load modules of Node, and parts of themselves, for features that cloudctl does not use. Each costs start-up time.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Modules of Node that commander and undici load when they are loaded. Here they are loaded at the first use. */
const late = new Set(['child_process', 'process', 'net', 'tls', 'querystring', 'util']);

/**
 * Parts of undici that are never used: the connection negotiates HTTP/1.1 only, and a body is a string. What takes
 * their place throws, so that a new use is noticed.
 */
const unused = {
  'dispatcher/client-h2.js': "module.exports = () => { throw new Error('HTTP/2 was negotiated'); };",
  'web/fetch/body.js': "exports.extractBody = () => { throw new TypeError('the body is not a string'); };",
};

/**
 * undici closes the connection after a 100 response that it did not expect. Some servers and proxies send one to every POST,
 * and a client must accept it (RFC 9110 section 15.2), so it is skipped as 102 and 103 are.
 */
const closesAt100 = /\n *if \(statusCode === 100\) \{\n *util\.destroy\([^\n]*\n *return -1\n *\}\n/;

/** Small replacements of modules of Node in undici. */
const replacements = {
  // Loads the real one to report a failure.
  'node:assert': "module.exports = (ok, message) => { if (!ok) require('node:assert')(ok, message); };",
  // The class is only compared with; the number is the default of Node, which an option of node can change.
  'node:http': `exports.IncomingMessage = class {};
    Object.defineProperty(exports, 'maxHeaderSize', { get() {
      const isSet = [...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--max-http-header-size');
      return isSet ? require('node:http').maxHeaderSize : 16 * 1024;
    } });`,
};

/** An esbuild plugin; `outdir` gets the WebAssembly of undici as files, which are read faster than text in base64. */
export function leanPackages(outdir) {
  return {
    name: 'lean-packages',
    setup(builder) {
      builder.onResolve({ filter: /./ }, ({ path, importer, kind, namespace }) => {
        if (kind !== 'require-call' || namespace === 'lean') return undefined;
        const id = path.replace(/^node:/, '');
        const isUndici = importer.includes('node_modules/undici/');
        if (isUndici && `node:${id}` in replacements) return { path: `node:${id}`, namespace: 'lean' };
        const isLate = late.has(id) && (isUndici || importer.includes('node_modules/commander/'));
        return isLate ? { path: `late:node:${id}`, external: true } : undefined;
      });
      builder.onLoad({ filter: /./, namespace: 'lean' }, ({ path }) => ({ contents: replacements[path] }));
      builder.onLoad(
        { filter: /node_modules\/undici\/lib\/(dispatcher\/client-h2|web\/fetch\/body)\.js$/ },
        ({ path }) => ({
          contents: unused[path.slice(path.indexOf('/undici/lib/') + '/undici/lib/'.length)],
        }),
      );
      builder.onLoad({ filter: /node_modules\/undici\/lib\/dispatcher\/client-h1\.js$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!closesAt100.test(text)) throw new Error(`${path} no longer closes the connection after a 100 response`);
        return { contents: text.replace(closesAt100, '\n') };
      });
      // The parser needs two of some thirty tables, which are computed at the build instead of at each start.
      builder.onLoad({ filter: /node_modules\/undici\/lib\/llhttp\/constants\.js$/ }, ({ path }) => {
        const { ERROR, TYPE } = require(path);
        return { contents: `module.exports = ${JSON.stringify({ ERROR, TYPE })};` };
      });
      builder.onLoad({ filter: /node_modules\/undici\/lib\/llhttp\/llhttp.*-wasm\.js$/ }, ({ path }) => {
        const name = basename(path).replace('-wasm.js', '.wasm');
        mkdirSync(outdir, { recursive: true });
        writeFileSync(join(outdir, name), require(path));
        return { contents: `module.exports = require('node:fs').readFileSync(new URL('./${name}', thisBundle.url));` };
      });
    },
  };
}
