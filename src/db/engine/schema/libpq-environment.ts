import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessEnvironment } from '../../../platform/host.ts';
import { getLibpqRequireAuthValue } from '../../../postgresql/authentication-guard.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { schemaCopyApplicationName } from './schema-session.ts';

/**
 * Runs a task with the connection variables of libpq. The password is an environment variable of the child process,
 * which other users cannot read; a file would remain if this process is killed. Only CA certificates, which are not
 * secret, are written to a file.
 */
export async function runWithLibpqEnvironment<T>(
  from: PostgresqlEndpoint,
  task: (env: ProcessEnvironment) => Promise<T>,
): Promise<T> {
  removeFoldersOfKilledRuns();
  const { ca, what } = from.verify ?? {};
  const folder = ca === undefined ? undefined : mkdtempSync(join(tmpdir(), folderPrefix));
  try {
    const caFile = folder === undefined ? undefined : join(folder, caFileName);
    if (ca !== undefined && caFile !== undefined) writeFileSync(caFile, ca.pem, { mode: 0o600 });
    const requireAuth = getLibpqRequireAuthValue(from);
    const password = from.password?.reveal() ?? '';
    return await task({
      PGHOST: from.host,
      ...(from.address === undefined ? {} : { PGHOSTADDR: from.address }),
      PGPORT: String(from.port),
      PGDATABASE: from.dbname,
      PGUSER: from.username,
      ...(password === '' ? {} : { PGPASSWORD: password }),
      PGAPPNAME: schemaCopyApplicationName,
      PGGSSENCMODE: 'disable',
      PGSSLMODE: sslMode(from.ssl, what),
      // libpq before version 16 ignores PGREQUIREAUTH.
      ...(requireAuth === undefined ? {} : { PGREQUIREAUTH: requireAuth }),
      PGCONNECT_TIMEOUT: '30',
      // Paths of files that do not exist, so that libpq finds no .pgpass, service file or client certificate of the
      // user.
      HOME: '/dev/null',
      ...(caFile === undefined ? {} : { PGSSLROOTCERT: caFile }),
    });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function sslMode(ssl: PostgresqlEndpoint['ssl'], what: 'full' | 'chain' | undefined): string {
  if (ssl === 'disable') return 'disable';
  return what === undefined ? 'require' : what === 'full' ? 'verify-full' : 'verify-ca';
}

const folderPrefix = 'cloudctl-dump-';
const caFileName = 'authority.pem';

/** Younger files may still be in use: libpq reads its CA file when it connects, within its timeout of 30 s. */
const minimumAgeMs = 60_000;

/** Removes the folders that processes which were killed have left. A folder with any other content is not removed. */
function removeFoldersOfKilledRuns(): void {
  const parent = tmpdir();
  for (const name of listNames(parent)) {
    const folder = join(parent, name);
    if (!/^cloudctl-dump-[A-Za-z0-9]{6}$/.test(name) || !isOwnAndOld(folder, 'folder')) continue;
    const files = listNames(folder);
    if (!files.every((file) => file === caFileName && isOwnAndOld(join(folder, file), 'file'))) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Symbolic links count as neither file nor folder. */
function isOwnAndOld(path: string, kind: 'file' | 'folder'): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || Date.now() - found.mtimeMs < minimumAgeMs) return false;
  if (process.getuid !== undefined && found.uid !== process.getuid()) return false;
  return kind === 'file' ? found.isFile() : found.isDirectory();
}
