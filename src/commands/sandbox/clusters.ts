import type { Words } from '../../cli/command.ts';
import { usage } from '../../errors.ts';
import type { Environment } from '../../platform/host.ts';

/** A cluster and the server behind it. */
export interface NamedServer {
  readonly name: string;
  /** Holds a password. */
  readonly url: string;
}

const variable = 'CLOUDCTL_CLUSTER_';

/** Those of `--cluster NAME=URL`, and of the variables, where `CLOUDCTL_CLUSTER_PG` is the cluster `pg`; the option is stronger. */
export function readClusters(words: Words, env: Environment): readonly NamedServer[] {
  const typed = words.list('cluster').map(named);
  const twice = typed.find(({ name }, at) => typed.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw usage(`the cluster ${twice.name} is given twice`, 'one server stands behind it');
  const environment = Object.entries(env).flatMap(([name, url]) =>
    name.startsWith(variable) && name.length > variable.length && url !== undefined && url !== ''
      ? [{ name: name.slice(variable.length).toLowerCase(), url }]
      : [],
  );
  return [...typed, ...environment.filter(({ name }) => typed.every((one) => one.name !== name))];
}

/** What to say of passwords that stood in an argument. */
export function exposed(words: Words): string | undefined {
  const [first] = words.list('cluster').filter((text) => /:\/\/[^/@]*:[^/]+@/.test(text));
  if (first === undefined) return undefined;
  const { name } = named(first);
  return `a password in --cluster is visible to other users of this machine; ${variable}${name.toUpperCase()} hides it`;
}

function named(text: string): NamedServer {
  const [, name = '', url = ''] = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? [];
  if (name === '')
    throw usage('--cluster is not NAME=URL', 'as in `--cluster pg=postgres://USER@127.0.0.1:5432/postgres`');
  return { name, url };
}
