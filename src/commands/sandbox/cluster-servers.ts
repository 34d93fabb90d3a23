import type { ParsedArgs } from '../../cli/command.ts';
import { usageError } from '../../errors.ts';
import type { Environment } from '../../platform/host.ts';

/** A cluster and the server behind it. */
export interface ClusterServer {
  readonly name: string;
  /** Holds a password. */
  readonly url: string;
}

const variablePrefix = 'CLOUDCTL_CLUSTER_';

/** Those of `--cluster NAME=URL`, and of the variables, where `CLOUDCTL_CLUSTER_PG` is the cluster `pg`; the option is stronger. */
export function readClusterServers(words: ParsedArgs, env: Environment): readonly ClusterServer[] {
  const typed = words.values('cluster').map(parseClusterOption);
  const twice = typed.find(({ name }, at) => typed.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw usageError(`the cluster ${twice.name} is given twice`, 'one server stands behind it');
  const environment = Object.entries(env).flatMap(([name, url]) =>
    name.startsWith(variablePrefix) && name.length > variablePrefix.length && url !== undefined && url !== ''
      ? [{ name: name.slice(variablePrefix.length).toLowerCase(), url }]
      : [],
  );
  return [...typed, ...environment.filter(({ name }) => typed.every((one) => one.name !== name))];
}

/** What to say of passwords that stood in an argument. */
export function exposedPasswordWarning(words: ParsedArgs): string | undefined {
  const [first] = words.values('cluster').filter((text) => /:\/\/[^/@]*:[^/]+@/.test(text));
  if (first === undefined) return undefined;
  const { name } = parseClusterOption(first);
  return `a password in --cluster is visible to other users of this machine; ${variablePrefix}${name.toUpperCase()} hides it`;
}

function parseClusterOption(text: string): ClusterServer {
  const [, name = '', url = ''] = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? [];
  if (name === '')
    throw usageError('--cluster is not NAME=URL', 'as in `--cluster pg=postgres://USER@127.0.0.1:5432/postgres`');
  return { name, url };
}
