import { mapWordsToReplacementCommand } from '../cli/command-replacements.ts';

/** Names that users of similar tools type for a command, each with the name of the command in this program. */
export const topLevelCommandAliases = { droplet: 'droplets', action: 'actions', database: 'db', databases: 'db' };

/** Actions of a droplet have no command of their own. */
const dropletActions = Object.fromEntries(
  ['reboot', 'shutdown', 'power-cycle', 'power-off', 'power-on'].map((name) => [
    `compute droplet-action ${name}`,
    `cloudctl api POST /v2/droplets/ID/actions --field type=${name.replace('-', '_')}`,
  ]),
);

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
  ...mapWordsToReplacementCommand('cloudctl droplets list', ['ls', 'ps', 'compute droplet list', 'compute droplet ls']),
  ...mapWordsToReplacementCommand('cloudctl droplets create NAME', [
    'launch',
    'create',
    'deploy',
    'compute droplet create',
  ]),
  ...mapWordsToReplacementCommand('cloudctl droplets get ID', ['compute droplet get', 'compute droplet g']),
  ...mapWordsToReplacementCommand('cloudctl droplets delete ID', ['compute droplet delete', 'compute droplet rm']),
  ...dropletActions,
  'compute droplet actions': 'cloudctl actions list --resource-type droplet',
  'compute ssh': 'ssh root@$(cloudctl droplets get ID --format PublicIPv4 --no-header)',
  'compute droplet-action get': 'cloudctl actions get ID',
  ...mapWordsToReplacementCommand('cloudctl actions list', ['compute action', 'compute action list']),
  ...mapWordsToReplacementCommand('cloudctl actions get ID', ['compute action get', 'compute action wait']),
  ...mapWordsToReplacementCommand('cloudctl auth list', ['context', 'contexts', 'profile', 'profiles']),
  ...mapWordsToReplacementCommand('cloudctl auth setup', ['configure', 'init']),
  ...mapWordsToReplacementCommand('cloudctl auth login', ['sso', 'signin']),
  ...mapWordsToReplacementCommand('cloudctl auth status', ['account', 'me', 'user', 'sts', 'info']),
  ...mapWordsToReplacementCommand('cloudctl auth token', ['token', 'print-access-token']),
  ...mapWordsToReplacementCommand('cloudctl doctor', ['check', 'diagnose']),
  ...mapWordsToReplacementCommand('cloudctl completion bash', ['completions', 'autocomplete']),
  settings: 'cloudctl config list',
  ...mapWordsToReplacementCommand('cloudctl api /v2/sizes', ['compute size', 'size', 'sizes']),
  ...mapWordsToReplacementCommand('cloudctl api /v2/regions', ['compute region', 'region', 'regions']),
  ...mapWordsToReplacementCommand('cloudctl api /v2/images', ['compute image', 'image', 'images']),
};
