import { describe, expect, it } from 'vitest';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { runCloudctl } from './run-cloudctl.ts';

/**
 * The commonest lines of similar tools as a person types them here: the words of gh, doctl, flyctl, wrangler, hcloud and aws
 * after the name of the program, from the references of those tools.
 */
const working: readonly string[] = [
  '--version',
  'version',
  '-h',
  'help',
  'help droplets create',
  'help environment',
  'help exit-codes',
  'auth status',
  'auth whoami',
  'auth token',
  'auth list',
  'auth ls',
  'config list',
  'completion bash',
  'droplet list',
  'droplets ls',
  'droplet ls -o json',
  'droplets list --format ID,Name --no-header',
  'droplets list --json id,name',
  'droplet get web-01',
  'droplet get web-01 --json id,status',
  'droplet create web-90 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3 --wait',
  'droplet rm web-01 -y',
  'actions list',
  'action ls --limit 2',
  'api /v2/account',
  'api GET /v2/account',
  'api GET /v2/droplets -f per_page=1',
  'api /v2/droplets -f name=web-91 -f size=s-1vcpu-1gb -f image=ubuntu-24-04-x64 -f region=nyc3',
  'api /v2/droplets --paginate',
  'api /v2/regions --query regions[].slug -o json',
  'droplets list --profile default',
  'droplets batches ls',
  'open --print',
  'open',
];

const replaced: readonly string[] = [
  'login',
  'logout',
  'whoami',
  'token',
  'auth init',
  'auth add',
  'configure',
  'init',
  'sso login',
  'context list',
  'profile list',
  'account get',
  'sts get-caller-identity',
  'compute droplet list',
  'compute droplet list --format ID,Name',
  'compute droplet create web-1 --size s-1vcpu-1gb',
  'compute droplet get 7',
  'compute droplet-action reboot 7',
  'compute action list',
  'compute region list',
  'compute volume list',
  'compute ssh web-01',
  'droplets reboot 7',
  'droplets reboot',
  'droplets power-off 7',
  'droplets ssh 7',
  'server list',
  'server create --name web-01',
  'server describe web-01',
  'machine list',
  'machines list',
  'ec2 describe-instances',
  'ps',
  'ls',
  'size list',
  'region list',
  'image list',
  'regions',
  'launch',
  'deploy',
  'droplet describe web-01',
  'droplet show web-01',
  'droplets get',
  'droplets create',
  'droplets delete',
  'actions wait 7',
  'databases lst',
  'autocomplete',
  '-q name',
  'droplets list --output=text',
  'droplets list --json',
  'droplets list --json color',
];

describe('lines of similar tools', () => {
  const loggedIn = async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    return host;
  };

  it.each(working)('%s', async (line) => {
    const ran = await runCloudctl(await loggedIn(), line.split(' '));
    expect({ code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({ code: 0, err: '' });
    expect(ran.out + ran.err).not.toBe('');
  });

  it.each(replaced)('%s: an error that names the command', async (line) => {
    const ran = await runCloudctl(await loggedIn(), line.split(' '));
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: '' });
    if (line.includes('--json')) expect(ran.error()).toMatchObject({ code: 'usage', exit_code: 2 });
    expectGolden('habits', ran.err);
  });
});
