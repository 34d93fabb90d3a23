import { usageError } from '../../base/errors.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { normalizeEnvironmentVariableValue } from '../../config/settings.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';

/** A database cluster of the sandbox, with the real server into which migrations copy data. */
interface SandboxClusterServerUrl {
  readonly name: string;
  /** The URL of the server, which may contain a password. */
  readonly url: string;
}

const variablePrefix = 'CLOUDCTL_CLUSTER_';

/**
 * Reads the database servers from `--cluster NAME=URL` and from variables such as `CLOUDCTL_CLUSTER_PG`, which sets the cluster
 * `pg`. For the same cluster name, the option takes precedence over the variable.
 */
export function readSandboxClusterServerUrls(
  args: ParsedArgs,
  env: ProcessEnvironment,
): readonly SandboxClusterServerUrl[] {
  const typed = args.values('cluster').map(parseClusterOption);
  const twice = typed.find(({ name }, at) => typed.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw usageError(`cluster ${twice.name} is given twice`, 'pass each cluster once');
  const environment = Object.entries(env).flatMap(([name, value]) => {
    const url = normalizeEnvironmentVariableValue(value);
    return name.startsWith(variablePrefix) && name.length > variablePrefix.length && url !== undefined
      ? [{ name: name.slice(variablePrefix.length).toLowerCase(), url }]
      : [];
  });
  return [...typed, ...environment.filter(({ name }) => typed.every((one) => one.name !== name))];
}

/** The warning about a password in `--cluster`; undefined when no URL has a password. */
export function findClusterOptionPasswordWarning(args: ParsedArgs): string | undefined {
  const [first] = args.values('cluster').filter((text) => /:\/\/[^/@]*:[^/]+@/.test(text));
  if (first === undefined) return undefined;
  const { name } = parseClusterOption(first);
  return `the password in --cluster is visible to other users of this machine; set ${variablePrefix}${name.toUpperCase()} instead`;
}

function parseClusterOption(text: string): SandboxClusterServerUrl {
  const [, name = '', url = ''] = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? [];
  if (name === '')
    throw usageError(
      '--cluster is not NAME=URL',
      'use a form such as `--cluster pg=postgres://USER@127.0.0.1:5432/postgres`',
    );
  return { name, url };
}
