import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../src/base/json.ts';
import type { Secret } from '../../src/base/secret.ts';
import { writeToken } from './grants.ts';
import { check, type HttpResponse, isSuccess, jsonOf, NotTestableError } from './response.ts';
import { firstUser, stopInPanel } from './sandbox.ts';
import type { HttpRequest, Server } from './server.ts';

/** The rules leave response bodies open (docs/service.md S8.4), so a body in an unknown format proves no difference from it. */
export function requireKnownFormat(server: Server, isKnown: boolean, response: HttpResponse): void {
  if (isKnown || server.admin !== undefined || !isSuccess(response)) return;
  throw new NotTestableError(`the response has another form than that of the sandbox: ${response.received}`);
}

export type ApiRequest = Omit<HttpRequest, 'origin' | 'form' | 'bearer'>;

export function callApi(server: Server, bearer: Secret | undefined, request: ApiRequest): Promise<HttpResponse> {
  return server.request({ origin: 'api', ...request, bearer });
}

/** The droplet attributes of every creation request, which the public service and the sandbox know. */
export const dropletAttributes = { region: 'nyc3', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };

/**
 * Creates droplets, hands the response to `observe`, and deletes what was created. A droplet that cannot be deleted is added to
 * `server.left`.
 */
export async function withDroplets<T>(
  server: Server,
  body: JsonRecord,
  observe: (response: HttpResponse, droplets: readonly JsonRecord[]) => Promise<T> | T,
): Promise<T> {
  const token = await writeToken(server);
  const response = await callApi(server, token, { method: 'POST', path: '/v2/droplets', json: body });
  const droplets = createdDroplets(response);
  try {
    return await observe(response, droplets);
  } finally {
    for (const droplet of droplets) await deleteDroplet(server, token, droplet);
  }
}

/** The droplets in the response to a creation request. */
export function createdDroplets(response: HttpResponse): readonly JsonRecord[] {
  const json = jsonOf(response) ?? {};
  const list = Array.isArray(json.droplets) ? json.droplets : [json.droplet];
  return isSuccess(response) ? list.filter(isJsonRecord) : [];
}

async function deleteDroplet(server: Server, token: Secret, droplet: JsonRecord): Promise<void> {
  const id = readNumberField(droplet, 'id') ?? readStringField(droplet, 'id');
  if (id === undefined) return;
  const path = `/v2/droplets/${encodeURIComponent(String(id))}`;
  const response = await callApi(server, token, { method: 'DELETE', path });
  if (!isSuccess(response)) server.left.push(`droplet ${id}`);
}

/** The names of all droplets of the account: up to 50 pages. */
export async function dropletNames(server: Server, token: Secret): Promise<readonly string[]> {
  const names: string[] = [];
  for (let page = 1; page <= 50; page += 1) {
    const query = { page: String(page), per_page: '200' };
    const response = await callApi(server, token, { method: 'GET', path: '/v2/droplets', query });
    requireKnownFormat(server, Array.isArray(jsonOf(response)?.droplets), response);
    const items = requireItems(response, 'droplets');
    names.push(...items.map((item) => readStringField(item, 'name') ?? ''));
    if (items.length < 200) break;
  }
  return names;
}

/** The items of a list response; throws DifferenceError when there is no list. */
export function requireItems(response: HttpResponse, key: string): readonly JsonRecord[] {
  const list = jsonOf(response)?.[key];
  check(isSuccess(response) && Array.isArray(list), `a list of ${key}`, response);
  return Array.isArray(list) ? list.filter(isJsonRecord) : [];
}

/** Throws NotTestableError for an empty list, which shows no order and has no item to read. */
export function requireSome(items: readonly JsonRecord[], key: string): readonly JsonRecord[] {
  if (items.length === 0) throw new NotTestableError(`the account has no ${key}`);
  return items;
}

/**
 * The cluster for tests of migrations: that of `--cluster`, otherwise a cluster of the sandbox without a database server.
 */
export function requireCluster(server: Server): string {
  const own = server.people?.clusters.find(({ engine, hasServer }) => engine !== 'redis' && !hasServer);
  const cluster = server.cluster ?? own?.uuid;
  if (cluster === undefined) throw new NotTestableError('needs --cluster');
  return cluster;
}

/** The UUID of no cluster. */
export const unknownClusterUuid = '00000000-0000-4000-8000-000000000000';

/** A migration source in a domain that is reserved for examples (RFC 2606), so that a started migration reads no data. */
export const migrationSource = {
  host: 'source.example.com',
  port: 5432,
  dbname: 'shop',
  username: 'mover',
  password: 'not-a-password',
};

/** Starts a migration, hands the response to `observe`, and stops the migration. */
export async function withMigration<T>(
  server: Server,
  body: unknown,
  observe: (response: HttpResponse) => Promise<T> | T,
): Promise<T> {
  const token = await writeToken(server);
  const path = migrationPath(requireCluster(server));
  const response = await callApi(server, token, { method: 'PUT', path, json: body });
  try {
    return await observe(response);
  } finally {
    if (isSuccess(response)) await stopMigration(server, token, path);
  }
}

async function stopMigration(server: Server, token: Secret, path: string): Promise<void> {
  const response = await callApi(server, token, { method: 'DELETE', path });
  if (isSuccess(response)) return;
  if (server.admin !== undefined) await stopInPanel(server, firstUser(server));
  else server.left.push(`the migration into cluster ${requireCluster(server)}`);
}

export function migrationPath(cluster: string): string {
  return `/v2/databases/${cluster}/online-migration`;
}

/** The status of the latest migration of the cluster, as GET of its path reports it. */
export async function getMigration(server: Server): Promise<HttpResponse> {
  const path = migrationPath(requireCluster(server));
  const response = await callApi(server, await writeToken(server), { method: 'GET', path });
  // The rules have no request for the status of a migration.
  if (server.admin === undefined && !isSuccess(response))
    throw new NotTestableError(`the server does not report the status of a migration: ${response.received}`);
  return response;
}

/** A droplet name that no other part of the conformance run uses. */
export function uniqueName(server: Server): string {
  return `conformance-${server.unique()}`;
}

/** Throws DifferenceError unless the response contains this number of created droplets. */
export function requireCreated(server: Server, response: HttpResponse, number: number): void {
  const created = createdDroplets(response);
  requireKnownFormat(server, created.length > 0, response);
  check(isSuccess(response) && created.length === number, `${number} created`, response);
}

/** Region, size and image of a droplet as slugs; in a response, each can be an object with the member `slug`. */
export function slugsOf(droplet: JsonRecord): JsonRecord {
  return Object.fromEntries(
    ['region', 'size', 'image'].map((name) => {
      const value = droplet[name];
      return [name, isJsonRecord(value) ? value.slug : value];
    }),
  );
}
