import type { ListView } from '../cli/columns.ts';
import { quoteShellArg } from '../cli/shell-quote.ts';
import { parseJson } from '../json.ts';
import { createDropletRequests, type DropletAttributes } from './droplet-requests.ts';

/** A request that is not sent, and its curl command, which fetches the access token when it runs. */
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
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

export function* dryRunRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  { batchSize, baseUrl, profileOptions }: DryRunOptions,
): Generator<DryRunRequest> {
  // A profile without base_url: the shell must have the variable.
  const base = baseUrl === undefined ? '"$CLOUDCTL_BASE_URL"' : quoteShellArg(baseUrl);
  const token = ['cloudctl auth token', ...profileOptions].join(' ');
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
