import { buildCommandReplacements } from '../cli/command-replacements.ts';

/** Names that users of similar tools type for a command, each with the name of the command in this program. */
export const rootCommandAliases = { droplet: 'droplets', action: 'actions', database: 'db', databases: 'db' };

/** The first words of commands of similar tools, each with the command of this program that replaces it. */
export const similarToolCommandReplacements: Readonly<Record<string, string>> = {
  ...buildCommandReplacements('cloudctl droplets --help', [
    'compute',
    'server',
    'servers',
    'machine',
    'machines',
    'ec2',
  ]),
  ...buildCommandReplacements('cloudctl droplets list', ['ls', 'ps']),
  ...buildCommandReplacements('cloudctl droplets create NAME', ['launch', 'create', 'deploy']),
  ...buildCommandReplacements('cloudctl auth list', ['context', 'contexts', 'profile', 'profiles']),
  ...buildCommandReplacements('cloudctl auth setup', ['configure', 'init']),
  ...buildCommandReplacements('cloudctl auth login', ['sso', 'signin']),
  ...buildCommandReplacements('cloudctl auth status', ['account', 'me', 'user', 'sts', 'info']),
  ...buildCommandReplacements('cloudctl auth token', ['token', 'print-access-token']),
  ...buildCommandReplacements('cloudctl doctor', ['check', 'diagnose']),
  ...buildCommandReplacements('cloudctl completion bash', ['completions', 'autocomplete']),
  settings: 'cloudctl config list',
  size: 'cloudctl api /v2/sizes',
  sizes: 'cloudctl api /v2/sizes',
  region: 'cloudctl api /v2/regions',
  regions: 'cloudctl api /v2/regions',
  image: 'cloudctl api /v2/images',
  images: 'cloudctl api /v2/images',
};
