import { fillPlaceholder, replaceWords } from '../cli/command.ts';

/** Names that users of similar tools type for a command, each with the name of the command in this program. */
export const topLevelCommandAliases = { droplet: 'droplets', action: 'actions', database: 'db', databases: 'db' };

/**
 * The first words of commands of similar tools, each with the command of this program that replaces it. Lines about droplets,
 * actions and other resources are translated word by word below.
 */
export const similarToolCommandReplacements: Readonly<Record<string, string>> = {
  ...replaceWords('cloudctl droplets list', ['ls', 'ps', 'list']),
  ...replaceWords('cloudctl droplets create NAME', ['launch', 'deploy']),
  'compute droplet actions': 'cloudctl actions list --resource-type droplet',
  'compute droplet-action get': 'cloudctl actions get ID',
  ...replaceWords('cloudctl auth list', ['context', 'contexts', 'profile', 'profiles', 'config get-contexts']),
  ...replaceWords('cloudctl auth switch PROFILE', [
    'use',
    'switch',
    'context use',
    'context switch',
    'profile use',
    'config use-context',
  ]),
  ...replaceWords('cloudctl auth setup', [
    'configure',
    'init',
    'setup',
    'context create',
    'context add',
    'profile create',
    'profile add',
  ]),
  ...replaceWords('cloudctl auth remove PROFILE', ['context delete', 'context rm', 'profile delete', 'profile rm']),
  ...replaceWords('cloudctl auth login', ['sso', 'signin', 'sign-in']),
  ...replaceWords('cloudctl auth logout', ['signout', 'sign-out', 'sso logout']),
  ...replaceWords('cloudctl auth status', [
    'account',
    'me',
    'user',
    'sts',
    'info',
    'status',
    'cluster-info',
    'context current',
  ]),
  ...replaceWords('cloudctl auth token', ['token', 'print-access-token', 'account get-access-token']),
  ...replaceWords('cloudctl doctor', ['check', 'diagnose', 'health', 'ping']),
  ...replaceWords('cloudctl completion bash', ['completions', 'autocomplete']),
  ...replaceWords('cloudctl config list', ['settings', 'env']),
  ...replaceWords('cloudctl open', ['browse', 'console', 'dashboard', 'panel']),
  ...replaceWords('cloudctl api /v2/account', ['balance', 'quota', 'limits']),
  ...replaceWords('cloudctl api GET PATH', ['curl', 'raw', 'rest', 'request']),
};

const droplet = {
  list: 'cloudctl droplets list',
  get: 'cloudctl droplets get DROPLET',
  create: 'cloudctl droplets create NAME',
  delete: 'cloudctl droplets delete DROPLET',
  other: 'cloudctl droplets --help',
};
const database = {
  list: 'cloudctl db list',
  get: 'cloudctl db list',
  create: 'cloudctl db --help',
  delete: 'cloudctl db --help',
  other: 'cloudctl db --help',
};
const action = {
  list: 'cloudctl actions list',
  get: 'cloudctl actions get ID',
  create: 'cloudctl actions --help',
  delete: 'cloudctl actions --help',
  other: 'cloudctl actions list',
};

type Commands = Readonly<Record<'list' | 'get' | 'create' | 'delete' | 'other', string>>;

/** What similar tools list, in the singular, with the commands of this program for it; a text is the only one. */
const resources: Readonly<Record<string, Commands | string>> = {
  ...same(['droplet', 'server', 'instance', 'machine', 'vm', 'linode'], droplet),
  ...same(['database', 'db', 'pg', 'postgres', 'postgresql', 'redis', 'sql', 'rds', 'cluster'], database),
  ...same(['action', 'event', 'operation', 'activity', 'droplet-action'], action),
  ...same(['region', 'location', 'datacenter', 'zone'], 'cloudctl api /v2/regions'),
  ...same(['size', 'server-type', 'instance-type', 'machine-type', 'plan', 'flavor'], 'cloudctl api /v2/sizes'),
  ...same(['image', 'ami'], 'cloudctl api /v2/images'),
};

const verbs: Readonly<Record<string, keyof Commands>> = {
  ...same(['list', 'ls', 'l', 'ps'], 'list'),
  ...same(['get', 'g', 'show', 'describe', 'view', 'inspect', 'info'], 'get'),
  ...same(['create', 'c', 'new', 'add', 'run', 'launch', 'provision', 'deploy'], 'create'),
  ...same(['delete', 'd', 'del', 'rm', 'remove', 'destroy', 'terminate'], 'delete'),
  // The specification has no action that changes a droplet.
  ...same(['reboot', 'restart', 'shutdown', 'stop', 'halt', 'reset', 'start', 'boot'], 'other'),
  ...same(['power-cycle', 'powercycle', 'power-off', 'poweroff', 'power-on', 'poweron'], 'other'),
};

const ssh = 'ssh root@$(cloudctl droplets get DROPLET --format PublicIPv4 --no-header)';

/** Commands of a group have these names, but do something else than in a similar tool. */
const otherMeanings = ['snapshot', 'snapshots', 'restore', 'backup', 'path', 'clock', 'top'];

/**
 * The command for a line of a similar tool whose first words name a resource and what to do with it, in any order:
 * `compute droplet list`, `server describe web-01`, `get droplets`, `ec2 describe-instances`, `pg:info`. Empty for
 * what this program does not have, and undefined for other words.
 */
export function translateSimilarToolCommand(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words.flatMap(splitWord);
  if (first === 'compute' || first === 'ec2')
    return rest.length === 0 ? droplet.other : (translateSimilarToolCommand(rest) ?? '');
  if (otherMeanings.includes(first)) return '';
  const [second, ...more] = rest;
  const [name, other] = [resourceOf(first), second === undefined ? undefined : resourceOf(second)];
  // scw says `instance server list`.
  if (name !== undefined && other !== undefined) return translateSimilarToolCommand(rest);
  if (name !== undefined) {
    // The name of a group, with a word that may be a name: `droplets web-01`.
    const isGroup = words[0] === first && ['droplets', 'actions', 'db'].includes(first);
    return isGroup && !isVerb(second ?? '') ? undefined : commandFor(name, second, more[0]);
  }
  if (second !== undefined && other !== undefined && isVerb(first)) {
    const isList = verbs[first] === 'get' && more.length === 0;
    return commandFor(other, isList ? 'list' : first, more[0]);
  }
  if (first === 'ssh' || verbs[first] === 'other') return commandFor(droplet, first, second);
  // `get volumes` is about something else, and no command with the name of its verb is meant.
  return isVerb(first) ? (second === undefined ? commandFor(droplet, first) : '') : undefined;
}

/** Splits `describe-instances` and `pg:info`, but not names with a hyphen such as `server-type`; only known words lose their case. */
function splitWord(typed: string): readonly string[] {
  const word = typed.toLowerCase();
  const [, before = '', after = ''] = /^([a-z]+)[-:]([a-z-]+)$/.exec(word) ?? [];
  const object = after.replace(/^db-/, '');
  const isKnown = isVerb(word) || resourceOf(word) !== undefined;
  const isSplit = word.includes(':') || (isVerb(before) && resourceOf(object) !== undefined);
  if (isKnown || word === 'compute' || word === 'ec2') return [word];
  return isSplit ? [before, object] : [typed];
}

function isVerb(word: string): boolean {
  return word === 'ssh' || Object.hasOwn(verbs, word);
}

/** The commands of a resource, named in the singular or the plural. */
function resourceOf(word: string): Commands | string | undefined {
  const name = [word, word.replace(/s$/, '')].find((one) => Object.hasOwn(resources, one));
  return name === undefined ? undefined : resources[name];
}

function commandFor(resource: Commands | string, verb = '', next = ''): string {
  if (typeof resource === 'string') return resource;
  if (resource === droplet && verb === 'ssh') return fillPlaceholder(ssh, next);
  const meant = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  return fillPlaceholder(resource[meant ?? 'other'], next);
}

function same<T>(words: readonly string[], value: T): Readonly<Record<string, T>> {
  return Object.fromEntries(words.map((word) => [word, value]));
}
