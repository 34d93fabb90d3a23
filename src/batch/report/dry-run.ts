import type { ListView } from '../../cli/columns.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { isRecord, parseJson } from '../../json.ts';
import { describeUserData, type UserData } from '../options/user-data.ts';
import { createDropletRequests, type DropletAttributes } from '../sending/droplet-requests.ts';

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
  /** Only its size and its hash are printed; the curl command reads the file. */
  readonly userData?: UserData | undefined;
}

export function* dryRunRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  { batchSize, baseUrl, profileOptions, userData }: DryRunOptions,
): Generator<DryRunRequest> {
  // A profile without base_url: the shell must have the variable.
  const base = baseUrl === undefined ? '"$CLOUDCTL_BASE_URL"' : quoteShellArg(baseUrl);
  const token = ['cloudctl auth token', ...profileOptions].join(' ');
  for (const { method, path, body } of createDropletRequests(names, attributes, batchSize)) {
    const json = parseJson(body);
    const value = json.ok ? json.value : undefined;
    const preview = userData === undefined ? {} : { user_data: `[${describeUserData(userData)}]` };
    const curl = [
      ...(userData === undefined ? [] : [`${addUserData(body, userData)} |`]),
      `curl -X ${method} ${base}${path}`,
      `-H "Authorization: Bearer $(${token})"`,
      `-H 'Content-Type: application/json'`,
      userData === undefined ? `--data ${quoteShellArg(body)}` : '--data-binary @-',
    ].join(' ');
    yield { method, path, body: isRecord(value) ? { ...value, ...preview } : value, curl };
  }
}

/** A command that prints the body with the content of the file. Only the name of the file is in its arguments. */
function addUserData(body: string, { file }: UserData): string {
  const source = file === '-' ? '/dev/stdin' : quoteShellArg(file);
  return `jq -n --rawfile user_data ${source} --argjson body ${quoteShellArg(body)} '$body + {user_data: $user_data}'`;
}
