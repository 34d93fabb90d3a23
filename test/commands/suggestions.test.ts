import { describe, expect, it } from 'vitest';
import { testHost } from '../fixtures/host.ts';
import { runCloudctl } from './run-cloudctl.ts';

/** What users of doctl, aws, gcloud, gh, kubectl, hcloud, az, flyctl, scw and heroku type, and the command that the hint names. */
const lines: readonly (readonly [line: string, hint: string])[] = [
  // A command of the group is nearer than one of a deeper group.
  ['auth stauts', 'auth status'],
  ['auth logn', 'auth login'],
  ['auth swich work', 'auth switch'],
  ['droplets batchs', 'droplets batches'],
  ['logn', 'auth login'],
  ['lgoin', 'auth login'],
  ['LOGIN', 'auth login'],
  ['Logout', 'auth logout'],
  ['prefligt', 'db preflight'],
  // doctl
  ['login', 'auth login'],
  ['logout', 'auth logout'],
  ['whoami', 'auth whoami'],
  ['auth init', 'auth setup'],
  ['auth init -t', 'auth setup'],
  ['account get', 'auth status'],
  ['compute droplet list', 'droplets list'],
  ['compute droplet ls', 'droplets list'],
  ['compute droplet get 7', 'droplets get 7'],
  ['compute droplet g web-01', 'droplets get web-01'],
  ['compute droplet create web-1 --size s', 'droplets create web-1'],
  ['compute droplet delete 7 --force', 'droplets delete 7'],
  ['compute droplet rm web-01', 'droplets delete web-01'],
  ['compute droplet-action reboot 7', 'actions list'],
  ['compute droplet-action get 8', 'actions get 8'],
  ['compute action list', 'actions list'],
  ['compute action get 8', 'actions get 8'],
  ['compute region list', 'api /v2/regions'],
  ['compute size list', 'api /v2/sizes'],
  ['compute image list', 'api /v2/images'],
  ['compute ssh web-01', 'droplets get web-01 --format PublicIPv4'],
  ['compute', 'droplets --help'],
  // aws
  ['configure', 'auth setup'],
  ['sso login', 'auth login'],
  ['sts get-caller-identity', 'auth status'],
  ['ec2 describe-instances', 'droplets list'],
  ['ec2 run-instances --count 2', 'droplets create NAME'],
  ['ec2 terminate-instances --instance-ids i', 'droplets delete DROPLET'],
  ['ec2 stop-instances', 'droplets --help'],
  ['ec2 describe-regions', 'api /v2/regions'],
  ['rds describe-db-instances', 'db list'],
  // gcloud
  ['auth print-access-token', 'auth token'],
  ['config get-value base_url', 'config get base_url'],
  ['compute instances list', 'droplets list'],
  ['compute instances describe web-01', 'droplets get web-01'],
  ['sql instances list', 'droplets list'],
  ['init', 'auth setup'],
  ['info', 'auth status'],
  // gh
  ['browse', 'cloudctl open'],
  ['auth revoke', 'auth logout'],
  ['config show', 'config list'],
  ['config show base_url', 'config get base_url'],
  ['status', 'auth status'],
  // kubectl
  ['get droplets', 'droplets list'],
  ['get droplet', 'droplets list'],
  ['get droplet web-01', 'droplets get web-01'],
  ['describe droplet web-01', 'droplets get web-01'],
  ['delete droplet web-01', 'droplets delete web-01'],
  ['create droplet web-01', 'droplets create web-01'],
  ['config view', 'config list'],
  ['config use-context work', 'auth switch work'],
  ['config get-contexts', 'auth list'],
  ['config current-context', 'auth status'],
  // hcloud
  ['server list', 'droplets list'],
  ['server describe web-01', 'droplets get web-01'],
  ['server create --name web-01', 'droplets create'],
  ['server delete web-01', 'droplets delete web-01'],
  ['server ssh web-01', 'droplets get web-01 --format PublicIPv4'],
  ['server poweroff 7', 'droplets --help'],
  ['server reboot web-01', 'droplets --help'],
  ['server-type list', 'api /v2/sizes'],
  ['datacenter list', 'api /v2/regions'],
  ['location list', 'api /v2/regions'],
  ['context list', 'auth list'],
  ['context use work', 'auth switch work'],
  ['context create work', 'auth setup'],
  // az, flyctl, scw, heroku, docker
  ['vm list', 'droplets list'],
  ['vm create --name x', 'droplets create'],
  ['account show', 'auth status'],
  ['machine list', 'droplets list'],
  ['instance server list', 'droplets list'],
  ['pg:info', 'db list'],
  ['auth:whoami', 'auth whoami'],
  ['ps', 'droplets list'],
  ['ls', 'droplets list'],
  ['list', 'droplets list'],
  ['list droplets', 'droplets list'],
  ['get', 'droplets get'],
  ['create', 'droplets create'],
  ['delete', 'droplets delete'],
  ['ssh web-01', 'droplets get web-01 --format PublicIPv4'],
  ['ssh', 'droplets get DROPLET --format PublicIPv4'],
  ['stop 7', 'droplets --help'],
  ['restart', 'droplets --help'],
  ['droplets start 7', 'droplets --help'],
  ['droplets reboot', 'droplets --help'],
  ['droplets terminate web-01', 'droplets delete web-01'],
  ['droplets ssh web-01', 'droplets get web-01 --format'],
  ['db get', 'db list'],
  ['config edit', 'config path'],
  ['help ssh', 'ssh root@'],
  ['login --help', 'auth login'],
  // Options
  ['-p work droplets list', '--profile'],
  ['droplets list -p work', '--profile'],
  ['droplets list --context work', '--profile'],
  ['-v', '--version'],
  ['droplets list -v', '--trace'],
  ['droplets list --verbose', '--trace'],
  ['droplets list --jq .[]', '--query'],
  ['droplets list --no-headers', '--no-header'],
  ['droplets list --columns ID', '--format'],
  ['droplets list -f', '--watch'],
  ['droplets list --filter x', '--query'],
  ['droplets list --zone nyc3', '--region'],
  ['droplets list -t x', 'CLOUDCTL_ACCESS_TOKEN'],
  ['auth login --token x', '--with-token'],
  ['droplets delete 7 -f', '--yes'],
  ['droplets delete 7 --force', '--yes'],
  ['droplets create a --flavor x', '--size'],
  ['api -F a=b /v2/x', '--field'],
];

/** Words of other clouds for what this program does not have, some of them near to a command that does something else. */
const unknown: readonly string[] = [
  'snapshot list',
  'snapshots',
  'restore',
  'top',
  'cp a b',
  'app list',
  'apps',
  's3 ls',
  'cdn',
  'dns',
  'logs',
  'exec',
  'kubernetes cluster create',
  'compute volume list',
  'compute snapshot list',
  'compute ssh-key list',
  'ssh-key list',
  'ec2 describe-volumes',
  'get pods',
  'get volumes',
  'iam list-users',
  'volumes',
  'project list',
];

describe('lines of other clouds', () => {
  it.each(lines)('%s suggests %s', async (line, hint) => {
    const ran = await runCloudctl(testHost(), line.split(' '));
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: '' });
    expect(/^hint: .*$/m.exec(ran.err)?.[0]).toContain(hint);
  });

  it.each(unknown)('%s suggests nothing else, and says what exists', async (line) => {
    const ran = await runCloudctl(testHost(), line.split(' '));
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: '' });
    expect(ran.err).toMatch(/^detail: .*auth, actions, droplets, db, api, config, open, doctor, completion, sandbox$/m);
    expect(/^hint: .*$/m.exec(ran.err)?.[0]).toContain('`cloudctl --help`');
  });

  it('a word is repeated in a hint only if it is a name', async () => {
    for (const word of ['$(id)', "'", 'a;b', 'postgres://u:p@h', '--x=1'.slice(2), 'x'.repeat(99)]) {
      const ran = await runCloudctl(testHost(), ['compute', 'droplet', 'get', word]);
      expect(/^hint: .*$/m.exec(ran.err)?.[0]).toContain('droplets get DROPLET`');
    }
  });
});
