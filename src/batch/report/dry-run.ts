import type { ListView } from '../../cli/columns.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { isJsonRecord, tryParseJson } from '../../json.ts';
import { type DropletUserData, describeDropletUserData } from '../options/user-data.ts';
import { buildDropletCreationRequests, type DropletAttributes } from '../sending/droplet-creation-requests.ts';

/** A request that `--dry-run` prints instead of sending, with a curl command that gets the access token when it runs. */
export interface BatchDryRunHttpRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly curl: string;
}

export const batchDryRunListView: ListView<BatchDryRunHttpRequest> = {
  columns: [
    { name: 'Method', value: (row) => row.method },
    { name: 'Path', value: (row) => row.path },
    { name: 'Body', value: (row) => JSON.stringify(row.body) },
    { name: 'Curl', value: (row) => row.curl },
  ],
  untruncated: true,
};

export interface BatchDryRunOptions {
  readonly batchSize: number;
  readonly baseUrl: string | undefined;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
  /** Of the user data only size and hash are printed; the curl command reads the file. */
  readonly userData?: DropletUserData | undefined;
}

export function* buildBatchDryRunHttpRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  { batchSize, baseUrl, profileOptions, userData }: BatchDryRunOptions,
): Generator<BatchDryRunHttpRequest> {
  // For a profile without base_url, the curl command uses the shell variable CLOUDCTL_BASE_URL.
  const base = baseUrl === undefined ? '"$CLOUDCTL_BASE_URL"' : quoteShellArg(baseUrl);
  const token = ['cloudctl auth token', ...profileOptions].join(' ');
  for (const { method, path, body } of buildDropletCreationRequests(names, attributes, batchSize)) {
    const json = tryParseJson(body);
    const value = json.ok ? json.value : undefined;
    const preview = userData === undefined ? {} : { user_data: `[${describeDropletUserData(userData)}]` };
    const curl = [
      ...(userData === undefined ? [] : [`${addUserData(body, userData)} |`]),
      `curl -X ${method} ${base}${path}`,
      `-H "Authorization: Bearer $(${token})"`,
      `-H 'Content-Type: application/json'`,
      userData === undefined ? `--data ${quoteShellArg(body)}` : '--data-binary @-',
    ].join(' ');
    yield { method, path, body: isJsonRecord(value) ? { ...value, ...preview } : value, curl };
  }
}

/**
 * Formats a shell command that prints the request body with the content of the user data file. The arguments of the shell
 * command contain only the name of the file, not its content.
 */
function addUserData(body: string, { file }: DropletUserData): string {
  const source = file === '-' ? '/dev/stdin' : quoteShellArg(file);
  return `jq -n --rawfile user_data ${source} --argjson body ${quoteShellArg(body)} '$body + {user_data: $user_data}'`;
}
