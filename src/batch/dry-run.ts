import type { ListView } from '../cli/columns.ts';
import { quoteShellArg } from '../cli/shell-quote.ts';
import { parseJson } from '../json.ts';
import { createDropletRequests, type DropletAttributes } from './droplet-requests.ts';

/** A request that is not sent, and the same for curl; the access token is fetched when it is run, and shown nowhere. */
export interface DryRunRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly curl: string;
}

export const dryRunView: ListView<DryRunRequest> = {
  columns: [
    { name: 'Method', value: (row) => row.method },
    { name: 'Path', value: (row) => row.path },
    { name: 'Body', value: (row) => JSON.stringify(row.body) },
    { name: 'Curl', value: (row) => row.curl },
  ],
  untruncated: true,
};

export interface DryRunOptions {
  readonly batchSize: number;
  readonly baseUrl: string | undefined;
  /** The options of the profile and the servers, as a shell needs them to be the same ones. */
  readonly profileOptions: readonly string[];
}

export function* dryRunRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  { batchSize, baseUrl, profileOptions: place }: DryRunOptions,
): Generator<DryRunRequest> {
  // Without a base_url yet, the shell has to know it.
  const base = baseUrl === undefined ? '"$CLOUDCTL_BASE_URL"' : quoteShellArg(baseUrl);
  const token = ['cloudctl auth token', ...place].join(' ');
  for (const { method, path, body } of createDropletRequests(names, attributes, batchSize)) {
    const json = parseJson(body);
    const curl = [
      `curl -X ${method} ${base}${path}`,
      `-H "Authorization: Bearer $(${token})"`,
      `-H 'Content-Type: application/json'`,
      `--data ${quoteShellArg(body)}`,
    ].join(' ');
    yield { method, path, body: json.ok ? json.value : undefined, curl };
  }
}
