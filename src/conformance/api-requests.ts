import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import { ConformanceNotTestableError } from './conformance-difference-error.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  requireResponseCondition,
} from './conformance-response.ts';
import { requireFirstSandboxUser, stopAllMigrationsThroughPanel } from './sandbox-people.ts';
import type { ConformanceRequest, ServerUnderTest } from './server-under-test.ts';
import { obtainReadWriteToken } from './tokens.ts';

/** The specification does not show response bodies, so a body in an unknown format proves no difference from it. */
export function requireTestableResponseFormat(
  server: ServerUnderTest,
  isKnown: boolean,
  response: ConformanceResponse,
): void {
  if (isKnown || server.admin !== undefined || !isSuccessfulResponse(response)) return;
  throw new ConformanceNotTestableError(`the response has another form than that of the sandbox: ${response.received}`);
}

export type ConformanceApiRequest = Omit<ConformanceRequest, 'origin' | 'form' | 'bearer'>;

export function sendTestApiRequest(
  server: ServerUnderTest,
  bearer: Secret | undefined,
  request: ConformanceApiRequest,
): Promise<ConformanceResponse> {
  return server.request({ origin: 'api', ...request, bearer });
}

/** The droplet attributes of every creation request, which the public service and the sandbox know. */
export const conformanceDropletAttributes = { region: 'nyc3', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };

/**
 * Creates droplets, hands the response to `observe`, and deletes what was created. A droplet that cannot be deleted is added to
 * `server.left`.
 */
export async function withTestDroplets<T>(
  server: ServerUnderTest,
  body: JsonRecord,
  observe: (response: ConformanceResponse, droplets: readonly JsonRecord[]) => Promise<T> | T,
): Promise<T> {
  const token = await obtainReadWriteToken(server);
  const response = await sendTestApiRequest(server, token, { method: 'POST', path: '/v2/droplets', json: body });
  const droplets = readCreatedDroplets(response);
  try {
    return await observe(response, droplets);
  } finally {
    for (const droplet of droplets) await deleteDroplet(server, token, droplet);
  }
}

/** The droplets in the response to a creation request. */
export function readCreatedDroplets(response: ConformanceResponse): readonly JsonRecord[] {
  const json = readConformanceResponseJson(response) ?? {};
  const list = Array.isArray(json.droplets) ? json.droplets : [json.droplet];
  return isSuccessfulResponse(response) ? list.filter(isJsonRecord) : [];
}

async function deleteDroplet(server: ServerUnderTest, token: Secret, droplet: JsonRecord): Promise<void> {
  const id = readNumberField(droplet, 'id') ?? readStringField(droplet, 'id');
  if (id === undefined) return;
  const path = `/v2/droplets/${encodeURIComponent(String(id))}`;
  const response = await sendTestApiRequest(server, token, { method: 'DELETE', path });
  if (!isSuccessfulResponse(response)) server.left.push(`droplet ${id}`);
}

/** The names of all droplets of the account: up to 50 pages. */
export async function fetchAllDropletNames(server: ServerUnderTest, token: Secret): Promise<readonly string[]> {
  const names: string[] = [];
  for (let page = 1; page <= 50; page += 1) {
    const query = { page: String(page), per_page: '200' };
    const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/v2/droplets', query });
    requireTestableResponseFormat(server, Array.isArray(readConformanceResponseJson(response)?.droplets), response);
    const items = requireListItemsOfResponse(response, 'droplets');
    names.push(...items.map((item) => readStringField(item, 'name') ?? ''));
    if (items.length < 200) break;
  }
  return names;
}

/** The items of a list response; throws ConformanceDifferenceError when there is no list. */
export function requireListItemsOfResponse(response: ConformanceResponse, key: string): readonly JsonRecord[] {
  const list = readConformanceResponseJson(response)?.[key];
  requireResponseCondition(isSuccessfulResponse(response) && Array.isArray(list), `a list of ${key}`, response);
  return Array.isArray(list) ? list.filter(isJsonRecord) : [];
}

/**
 * The cluster for tests of migrations: that of `--cluster`, otherwise a cluster of the sandbox without a database server.
 */
export function requireTestedCluster(server: ServerUnderTest): string {
  const own = server.people?.clusters.find(({ engine, hasServer }) => engine !== 'redis' && !hasServer);
  const cluster = server.cluster ?? own?.uuid;
  if (cluster === undefined) throw new ConformanceNotTestableError('needs --cluster');
  return cluster;
}

/** The UUID of no cluster. */
export const unknownClusterUuid = '00000000-0000-4000-8000-000000000000';

/** A migration source in a domain that is reserved for examples (RFC 2606), so that a started migration reads no data. */
export const conformanceMigrationSource = {
  host: 'source.example.com',
  port: 5432,
  dbname: 'shop',
  username: 'mover',
  password: 'not-a-password',
};

/** Starts a migration, hands the response to `observe`, and stops the migration. */
export async function withTestMigration<T>(
  server: ServerUnderTest,
  body: unknown,
  observe: (response: ConformanceResponse) => Promise<T> | T,
): Promise<T> {
  const token = await obtainReadWriteToken(server);
  const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
  const response = await sendTestApiRequest(server, token, { method: 'PUT', path, json: body });
  try {
    return await observe(response);
  } finally {
    if (isSuccessfulResponse(response)) await stopMigration(server, token, path);
  }
}

async function stopMigration(server: ServerUnderTest, token: Secret, path: string): Promise<void> {
  const response = await sendTestApiRequest(server, token, { method: 'DELETE', path });
  if (isSuccessfulResponse(response)) return;
  if (server.admin !== undefined) await stopAllMigrationsThroughPanel(server, requireFirstSandboxUser(server));
  else server.left.push(`the migration into cluster ${requireTestedCluster(server)}`);
}

export function buildOnlineMigrationApiPath(cluster: string): string {
  return `/v2/databases/${cluster}/online-migration`;
}

/** The status of the latest migration of the cluster, as GET of its path reports it. */
export async function sendTestMigrationStatusRequest(server: ServerUnderTest): Promise<ConformanceResponse> {
  const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
  const response = await sendTestApiRequest(server, await obtainReadWriteToken(server), { method: 'GET', path });
  // The specification has no request for the status of a migration.
  if (server.admin === undefined && !isSuccessfulResponse(response))
    throw new ConformanceNotTestableError(`the server does not report the status of a migration: ${response.received}`);
  return response;
}

/** A droplet name that no other part of the conformance run uses. */
export function createUniqueConformanceName(server: ServerUnderTest): string {
  return `conformance-${server.unique()}`;
}

/** Throws ConformanceDifferenceError unless the response contains this number of created droplets. */
export function requireCreatedDropletCount(
  server: ServerUnderTest,
  response: ConformanceResponse,
  number: number,
): void {
  const created = readCreatedDroplets(response);
  requireTestableResponseFormat(server, created.length > 0, response);
  requireResponseCondition(isSuccessfulResponse(response) && created.length === number, `${number} created`, response);
}

/** Region, size and image of a droplet as slugs; in a response, each can be an object with the member `slug`. */
export function readRegionSizeAndImageSlugs(droplet: JsonRecord): JsonRecord {
  return Object.fromEntries(
    ['region', 'size', 'image'].map((name) => {
      const value = droplet[name];
      return [name, isJsonRecord(value) ? value.slug : value];
    }),
  );
}
