import { mapWordsToReplacementCommand } from '../cli/command-replacements.ts';

/** Names that users of similar tools type for a command, each with the name of the command in this program. */
export const topLevelCommandAliases = { droplet: 'droplets', action: 'actions', database: 'db', databases: 'db' };

/** The first words of commands of similar tools, each with the command of this program that replaces it. */
export const similarToolCommandReplacements: Readonly<Record<string, string>> = {
  ...mapWordsToReplacementCommand('cloudctl droplets --help', [
    'compute',
    'server',
    'servers',
    'machine',
    'machines',
    'ec2',
  ]),
  ...mapWordsToReplacementCommand('cloudctl droplets list', ['ls', 'ps']),
  ...mapWordsToReplacementCommand('cloudctl droplets create NAME', ['launch', 'create', 'deploy']),
  ...mapWordsToReplacementCommand('cloudctl auth list', ['context', 'contexts', 'profile', 'profiles']),
  ...mapWordsToReplacementCommand('cloudctl auth setup', ['configure', 'init']),
  ...mapWordsToReplacementCommand('cloudctl auth login', ['sso', 'signin']),
  ...mapWordsToReplacementCommand('cloudctl auth status', ['account', 'me', 'user', 'sts', 'info']),
  ...mapWordsToReplacementCommand('cloudctl auth token', ['token', 'print-access-token']),
  ...mapWordsToReplacementCommand('cloudctl doctor', ['check', 'diagnose']),
  ...mapWordsToReplacementCommand('cloudctl completion bash', ['completions', 'autocomplete']),
  settings: 'cloudctl config list',
  size: 'cloudctl api /v2/sizes',
  sizes: 'cloudctl api /v2/sizes',
  region: 'cloudctl api /v2/regions',
  regions: 'cloudctl api /v2/regions',
  image: 'cloudctl api /v2/images',
  images: 'cloudctl api /v2/images',
};
