import type { Api, ApiRequest } from '../api/client.ts';
import { type Created, decodeCreated } from '../api/droplets.ts';
import { problem, problemBody } from '../api/problem.ts';
import { CliError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { SendError } from '../platform/send.ts';

/** What every droplet of the batch has in common; `extra` are attributes the API knows and we do not. */
export interface Attributes {
  readonly size: string;
  readonly image: string | number;
  readonly region?: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

export type NameResult =
  | { readonly name: string; readonly status: 'created'; readonly id: number; readonly action_id?: number }
  | { readonly name: string; readonly status: 'failed' | 'unknown'; readonly error: string };

export interface BatchOptions {
  /** Names in one request; 10 is what the service takes. */
  readonly batchSize: number;
  /** Requests in flight. */
  readonly concurrency: number;
  readonly onResult: (results: readonly NameResult[]) => Promise<void>;
}

export interface BatchOutcome {
  readonly results: readonly NameResult[];
  /** What stopped the batch, if something did: the names after it were not sent. */
  readonly stopped?: CliError;
}

/** The requests a batch sends, in order: a single name as `name`, several as `names` (spec.md §2). */
export function createRequests(
  names: readonly string[],
  attributes: Attributes,
  batchSize: number,
): readonly (ApiRequest & { readonly names: readonly string[] })[] {
  const groups = Array.from({ length: Math.ceil(names.length / batchSize) }, (_, at) =>
    names.slice(at * batchSize, (at + 1) * batchSize),
  );
  return groups.map((group) => ({
    names: group,
    method: 'POST',
    path: '/v2/droplets',
    body: JSON.stringify({
      ...(group.length === 1 ? { name: group[0] } : { names: group }),
      ...(attributes.region === undefined ? {} : { region: attributes.region }),
      size: attributes.size,
      image: attributes.image,
      ...attributes.extra,
    }),
  }));
}

/**
 * Creates every name. A group is sent once; one without a complete answer, or with a 5xx, is `unknown`, because the service may have made it.
 * A scope that is too small or a session that ended stops the batch; a refused group does not.
 */
export async function createBatch(
  api: Api,
  names: readonly string[],
  attributes: Attributes,
  options: BatchOptions,
  login: string,
): Promise<BatchOutcome> {
  const requests = createRequests(names, attributes, options.batchSize);
  const results = new Map<string, NameResult>();
  let next = 0;
  let stopped: CliError | undefined;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < requests.length && stopped === undefined; at = next++) {
      const request = requests[at];
      if (request === undefined) return;
      const outcome = await sendGroup(api, request, login);
      stopped ??= outcome.stop;
      for (const result of outcome.results) results.set(result.name, result);
      await options.onResult(outcome.results);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, requests.length) }, worker));
  const unsent = names
    .filter((name) => !results.has(name))
    .map((name): NameResult => ({ name, status: 'failed', error: `not sent: ${stopped?.message}` }));
  if (unsent.length > 0) await options.onResult(unsent);
  for (const result of unsent) results.set(result.name, result);
  const ordered = names.map((name) => results.get(name)).filter((result) => result !== undefined);
  return { results: ordered, ...(stopped === undefined ? {} : { stopped }) };
}

interface GroupOutcome {
  readonly results: readonly NameResult[];
  readonly stop?: CliError;
}

async function sendGroup(
  api: Api,
  request: ApiRequest & { readonly names: readonly string[] },
  login: string,
): Promise<GroupOutcome> {
  const all = (status: 'failed' | 'unknown', error: string): readonly NameResult[] =>
    request.names.map((name) => ({ name, status, error }));
  try {
    const answer = await api.request(request);
    const created = answer.status >= 200 && answer.status < 300 ? decodeBody(answer.body) : undefined;
    if (created !== undefined) return { results: matched(request.names, created) };
    if (answer.status >= 200 && answer.status < 300) return { results: all('unknown', 'the answer is not understood') };
    const refused = problem(answer, request.method, request.path, login);
    if (answer.status >= 500) return { results: all('unknown', refused.message) };
    const stops = answer.status === 403 || answer.status === 429 || problemBody(answer).id === 'droplet_limit';
    return { results: all('failed', refused.detail ?? refused.message), ...(stops ? { stop: refused } : {}) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const doubt = error.cause instanceof SendError && error.cause.sent;
    return { results: all(doubt ? 'unknown' : 'failed', error.message), stop: error };
  }
}

function decodeBody(body: string): Created | undefined {
  const json = parseJson(body);
  return json.ok ? decodeCreated(json.value) : undefined;
}

/** A row for each name asked for; by name, not by position, though the order is kept. */
function matched(names: readonly string[], created: Created): readonly NameResult[] {
  const { droplets, actionIds } = created;
  // Actions have no names: they belong to the droplets by place, if there is one for each.
  const actionOf = (at: number): number | undefined =>
    actionIds.length === droplets.length ? actionIds[at] : undefined;
  const byName = new Map(droplets.map(({ name, id }, at) => [name, { id, actionId: actionOf(at) }]));
  return names.map((name) => {
    const made = byName.get(name);
    if (made === undefined) return { name, status: 'unknown', error: 'the answer does not name it' };
    return {
      name,
      status: 'created',
      id: made.id,
      ...(made.actionId === undefined ? {} : { action_id: made.actionId }),
    };
  });
}
