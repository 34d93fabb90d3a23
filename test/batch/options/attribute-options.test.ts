import { describe, expect, it } from 'vitest';
import { recordedRequests, runCloudctl } from '../../commands/run-cloudctl.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { MAYA, sandboxFor, userOf } from '../../sandbox/requests.ts';

const like = ['droplets', 'create', 'a', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
const uuid = '5a4981aa-9653-4bd1-bef5-d6bff52042e4';

async function bodyOf(...words: string[]): Promise<object> {
  const ran = await runCloudctl(testHost(), [...like, ...words, '--dry-run', '-o', 'json']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  return ran.json<{ body: object }[]>()[0]?.body ?? {};
}

describe('options for attributes', () => {
  it('are sent as the API names them', async () => {
    const keys = ['--ssh-keys', '512189,3b:16:bf:e4', '--ssh-keys', '7'];
    const flags = ['--enable-backups', '--ipv6', '--monitoring'];
    expect(await bodyOf('--tag-names', 'web,env:prod', '--vpc-uuid', uuid, ...keys, ...flags)).toMatchObject({
      tags: ['web', 'env:prod'],
      ssh_keys: [512189, '3b:16:bf:e4', 7],
      vpc_uuid: uuid,
      backups: true,
      ipv6: true,
      monitoring: true,
    });
  });

  it('merge tags with those of --set, without case', async () => {
    expect(await bodyOf('--set', 'tags=["web","x"]', '--tag-names', 'WEB,b', '--tag-names', 'B,c')).toMatchObject({
      tags: ['web', 'x', 'b', 'c'],
    });
  });

  it('are visible in the droplet', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    const flags = ['--enable-backups', '--ipv6', '--monitoring', '--tag-names', 'web', '--vpc-uuid', uuid];
    expect((await runCloudctl(host, [...like, ...flags])).code).toBe(0);
    const created = sandbox.world.droplets(userOf(sandbox, MAYA).uuid).find(({ name }) => name === 'a');
    expect(created).toMatchObject({ tags: ['web'], features: ['backups', 'ipv6', 'monitoring'], vpc: uuid });
  });

  it.each([
    ['a tag with a space', ['--tag-names', 'a b']],
    ['an empty tag', ['--tag-names', '']],
    ['a tag that is too long', ['--tag-names', 'x'.repeat(256)]],
    ['an SSH key with a space', ['--ssh-keys', 'ssh-ed25519 AAAA']],
    ['an SSH key id beyond 2^53', ['--ssh-keys', '9007199254740993']],
    ['a VPC that is no UUID', ['--vpc-uuid', 'default']],
    ['--set tags that is no list', ['--set', 'tags="a"', '--tag-names', 'b']],
    ['--ipv6 and --set', ['--set', 'ipv6=false', '--ipv6']],
    ['--monitoring and --set', ['--set', 'monitoring=true', '--monitoring']],
    ['--enable-backups and --set', ['--set', 'backups=true', '--enable-backups']],
    ['--vpc-uuid and --set', ['--set', 'vpc_uuid="x"', '--vpc-uuid', uuid]],
    ['--ssh-keys and --set', ['--set', 'ssh_keys=[1]', '--ssh-keys', '1']],
    ['--user-data-file and --set', ['--set', 'user_data="x"', '--user-data-file', '/dev/null']],
  ])('refuses %s before any request', async (_, words) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    const ran = await runCloudctl(host, [...like, ...words, '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('that differ from the ledger are refused by --resume', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    const ran = await runCloudctl(host, [...like, 'b', '--tag-names', 'web', '--ipv6', '-o', 'json']);
    const ledger = ran.json<{ ledger: string }[]>()[0]?.ledger ?? '';
    const resume = (...words: string[]) => runCloudctl(host, ['droplets', 'create', '--resume', ledger, ...words]);
    expect((await resume('--tag-names', 'web', '--ipv6')).code).toBe(0);
    expect((await resume('--tag-names', 'web,other')).code).toBe(2);
    expect((await resume('--monitoring')).code).toBe(2);
  });
});
