import { type Attributes, createRequests } from '../../batch/requests.ts';
import type { ListView } from '../../cli/columns.ts';
import { parseJson } from '../../json.ts';

/** A request that is not sent, and the same for curl; the access token is fetched when it is run, and shown nowhere. */
export interface Planned {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly curl: string;
}

export const planView: ListView<Planned> = {
  columns: [
    { name: 'Method', value: (row) => row.method },
    { name: 'Path', value: (row) => row.path },
    { name: 'Body', value: (row) => JSON.stringify(row.body) },
    { name: 'Curl', value: (row) => row.curl },
  ],
  uncut: true,
};

export interface PlanOptions {
  readonly batchSize: number;
  readonly baseUrl: string | undefined;
  /** The options of the profile and the servers, as a shell needs them to be the same ones. */
  readonly place: readonly string[];
}

export function* plan(
  names: readonly string[],
  attributes: Attributes,
  { batchSize, baseUrl, place }: PlanOptions,
): Generator<Planned> {
  // Without a base_url yet, the shell has to know it.
  const base = baseUrl === undefined ? '"$CLOUDCTL_BASE_URL"' : quoted(baseUrl);
  const token = ['cloudctl auth token', ...place].join(' ');
  for (const { method, path, body } of createRequests(names, attributes, batchSize)) {
    const json = parseJson(body);
    const curl = [
      `curl -X ${method} ${base}${path}`,
      `-H "Authorization: Bearer $(${token})"`,
      `-H 'Content-Type: application/json'`,
      `--data ${quoted(body)}`,
    ].join(' ');
    yield { method, path, body: json.ok ? json.value : undefined, curl };
  }
}

/** One word of a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
