import type { CommandSpec } from '../../cli/command.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { attributeOptions, createDroplets, creationLimitOptions, ifExistsChoices } from '../../droplets/index.ts';

export const dropletsCreate: CommandSpec<CommandContext> = {
  description:
    'Creates exactly one droplet for every name. Names are read from arguments, --names, a file and standard input together; patterns such as `web-{01..25}` and `{a,b}` expand. A ledger file records what was sent and created. Its path is printed first, and is in each JSON row. After an interruption or a crash, `--resume LEDGER` continues the batch and creates no droplet twice. The ledger of a single name is removed when its droplet is created.\n\nThe output has one row for every name. When no complete response to a request arrives, its names are looked up, and are sent again only if no droplet has them. A response may come up to 5 min later than `--timeout`: the names are looked up while the run waits, because a second request could create the droplets twice. A name whose result cannot be determined has the status `unknown`.',
  arguments: [{ name: 'NAME', description: 'Name, or a pattern such as "web-{01..25}"', variadic: true }],
  options: [
    { name: 'names', valueName: 'a,b', multiple: 'list', description: 'Names or patterns' },
    {
      name: 'names-from',
      valueName: 'FILE',
      description: 'File with one name or pattern per line; - reads standard input',
      completion: 'file',
    },
    {
      name: 'size',
      valueName: 'SLUG',
      description: 'Size of every droplet, such as s-1vcpu-1gb',
      completion: { from: 'size' },
    },
    {
      name: 'image',
      valueName: 'SLUG',
      description: 'Image of every droplet: slug, such as ubuntu-24-04-x64, or numeric id',
      completion: { from: 'image' },
    },
    {
      name: 'region',
      valueName: 'SLUG',
      description: 'Region of every droplet, such as nyc3',
      completion: { from: 'region' },
    },
    ...attributeOptions,
    {
      name: 'set',
      valueName: 'KEY=JSON',
      multiple: 'repeat',
      description: 'Additional attribute of every droplet, for example --set tags=\'["web"]\'',
    },
    { name: 'wait', description: 'Wait until the droplets are active; rows then have their public IPv4 address' },
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'With --wait: the longest wait until all droplets are active (default: 15m)',
    },
    {
      name: 'retry-for',
      valueName: 'DURATION',
      description:
        'Repeat after errors of the network and the server, and for unknown results, until every droplet exists or was refused, for at most this time',
    },
    { name: 'plan', description: 'Print which names exist, differ or would be created, without creating any' },
    { name: 'dry-run', description: 'Print the requests, also as curl commands, without sending them' },
    { name: 'batch-size', valueName: 'N', description: 'Names per request, 1 to 10 (default: 10)' },
    ...creationLimitOptions,
    {
      name: 'if-exists',
      valueName: 'ACTION',
      choices: ifExistsChoices,
      description:
        'When droplets already have some of the names: fail, skip these names, or create more droplets (default: fail)',
    },
    {
      name: 'batch-id',
      valueName: 'ID',
      description:
        'Tag every droplet, so that the same command continues the batch on any machine, without its ledger. Two runs at the same time under one id are not safe',
    },
    { name: 'resume', valueName: 'LEDGER', description: 'Continue the batch of this ledger file', completion: 'file' },
    {
      name: 'ledger',
      valueName: 'FILE',
      description: 'Create this ledger file, or continue its batch when it exists',
      completion: 'file',
    },
  ],
  examples: [
    {
      text: 'Create one droplet',
      command: 'cloudctl droplets create web-01 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    },
    {
      text: 'Create 25 droplets',
      command: "cloudctl droplets create 'web-{01..25}' --size s-1vcpu-1gb --image ubuntu-24-04-x64",
    },
    {
      text: 'Read the names from another program',
      command:
        'seq -f node-%03g 1 40 | cloudctl droplets create --names-from - --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson',
    },
    {
      text: 'Continue an interrupted batch',
      command: 'cloudctl droplets create --resume ~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl',
    },
    {
      text: 'Create a batch, or continue it on any machine',
      command:
        "cloudctl droplets create 'web-{01..25}' --size s-1vcpu-1gb --image ubuntu-24-04-x64 --batch-id release-42",
    },
  ],
  fields: [
    'name',
    'status',
    'id',
    'action_id',
    'public_ipv4',
    'error',
    'ledger',
    'difference',
    'method',
    'path',
    'body',
    'curl',
  ],
  run: (context, args) => createDroplets(context, actorOf(context), args),
};
