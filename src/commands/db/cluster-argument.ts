import { usageError } from '../../base/errors.ts';
import type { ArgumentSpec, ParsedArgs } from '../../cli/command.ts';

export const clusterArgument: ArgumentSpec = {
  name: 'CLUSTER_UUID',
  description: 'UUID of the managed cluster that receives the data; `cloudctl db list` prints it',
  required: true,
  completion: { from: 'cluster' },
  listedBy: 'cloudctl db list',
};

/** The UUID of the cluster on the command line, in lower case. Throws `usage` for an argument that is not a UUID. */
export function readClusterUuid(args: ParsedArgs): string {
  const [typed = ''] = args.positionals;
  if (isClusterUuid(typed)) return typed.toLowerCase();
  throw usageError(
    'CLUSTER_UUID is not a UUID',
    'list the clusters with `cloudctl db list`, or copy the UUID from the control panel',
  );
}

export function isClusterUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
