import { replacementsOf } from '../cli/replacements-of.ts';

/** Other words for the commands of the program. */
export const rootAliases = { droplet: 'droplets', action: 'actions', database: 'db', databases: 'db' };

/** The first words of commands of similar tools, each with the command of this program that replaces it. */
export const rootReplacements: Readonly<Record<string, string>> = {
  ...replacementsOf('cloudctl droplets --help', ['compute', 'server', 'servers', 'machine', 'machines', 'ec2']),
  ...replacementsOf('cloudctl droplets list', ['ls', 'ps']),
  ...replacementsOf('cloudctl droplets create NAME', ['launch', 'create', 'deploy']),
  ...replacementsOf('cloudctl auth list', ['context', 'contexts', 'profile', 'profiles']),
  ...replacementsOf('cloudctl auth setup', ['configure', 'init']),
  ...replacementsOf('cloudctl auth login', ['sso', 'signin']),
  ...replacementsOf('cloudctl auth status', ['account', 'me', 'user', 'sts', 'info']),
  ...replacementsOf('cloudctl auth token', ['token', 'print-access-token']),
  ...replacementsOf('cloudctl doctor', ['check', 'diagnose']),
  ...replacementsOf('cloudctl completion bash', ['completions', 'autocomplete']),
  settings: 'cloudctl config list',
  size: 'cloudctl api /v2/sizes',
  sizes: 'cloudctl api /v2/sizes',
  region: 'cloudctl api /v2/regions',
  regions: 'cloudctl api /v2/regions',
  image: 'cloudctl api /v2/images',
  images: 'cloudctl api /v2/images',
};
