import type { ParsedArgs } from '../../cli/command.ts';
import { nonEmptyVariable } from '../../config/settings.ts';
import { usageError } from '../../errors.ts';
import type { Environment } from '../../platform/host.ts';

/** A database cluster of the sandbox and the real server that migrations into it fill. */
export interface ClusterServer {
  readonly name: string;
  /** May contain a password. */
  readonly url: string;
}

const variablePrefix = 'CLOUDCTL_CLUSTER_';

/** The servers of `--cluster NAME=URL` and of variables such as `CLOUDCTL_CLUSTER_PG`, which means `pg`. The option has precedence. */
export function readClusterServers(args: ParsedArgs, env: Environment): readonly ClusterServer[] {
  const typed = args.values('cluster').map(parseClusterOption);
  const twice = typed.find(({ name }, at) => typed.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw usageError(`cluster ${twice.name} is given twice`, 'pass each cluster once');
  const environment = Object.entries(env).flatMap(([name, value]) => {
    const url = nonEmptyVariable(value);
    return name.startsWith(variablePrefix) && name.length > variablePrefix.length && url !== undefined
      ? [{ name: name.slice(variablePrefix.length).toLowerCase(), url }]
      : [];
  });
  return [...typed, ...environment.filter(({ name }) => typed.every((one) => one.name !== name))];
}

/** The warning about a password in `--cluster`; undefined when there is none. */
export function exposedPasswordWarning(args: ParsedArgs): string | undefined {
  const [first] = args.values('cluster').filter((text) => /:\/\/[^/@]*:[^/]+@/.test(text));
  if (first === undefined) return undefined;
  const { name } = parseClusterOption(first);
  return `the password in --cluster is visible to other users of this machine; set ${variablePrefix}${name.toUpperCase()} instead`;
}

function parseClusterOption(text: string): ClusterServer {
  const [, name = '', url = ''] = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? [];
  if (name === '')
    throw usageError(
      '--cluster is not NAME=URL',
      'use a form such as `--cluster pg=postgres://USER@127.0.0.1:5432/postgres`',
    );
  return { name, url };
}
