import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Modules that start a database server, a browser, a keychain, a shell or openssl. */
const serverModules = new Set([
  'test/cli/completion/shells.ts',
  'test/fixtures/browser.ts',
  'test/fixtures/certificates.ts',
  'test/fixtures/network-namespaces.ts',
  'test/fixtures/oidc-server.ts',
  'test/fixtures/pgbouncer.ts',
  'test/fixtures/postgres.ts',
  'test/fixtures/redis.ts',
  'test/fixtures/secret-service.ts',
  'test/fixtures/terminal.ts',
  'test/platform/certificates.ts',
]);

/** Packages that start such a program themselves. */
const serverPackages = new Set(['playwright-core']);

/**
 * The test files that need a program beside Node: those that import one of `serverModules` or `serverPackages`, directly or
 * through other modules of test/. `npm test` leaves them out; `npm run test:all` runs them. Paths are relative to `root`, the project's folder.
 */
export function serverTests(root) {
  const files = scriptsBelow(root, 'test');
  const imports = new Map(files.map((path) => [path, importsOf(root, path)]));
  const known = new Map();
  const needsServer = (path) => {
    if (serverModules.has(path) || serverPackages.has(path)) return true;
    if (!known.has(path)) {
      // Cyclic imports end here.
      known.set(path, false);
      known.set(path, (imports.get(path) ?? []).some(needsServer));
    }
    return known.get(path);
  };
  return files.filter((path) => path.endsWith('.test.ts') && needsServer(path));
}

function importsOf(root, path) {
  const text = readFileSync(join(root, path), 'utf8');
  const found = [...text.matchAll(/\b(?:from|import\()\s*'([^']+)'/g)];
  return found.map(([, specifier]) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
  );
}

function scriptsBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return scriptsBelow(root, path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}
