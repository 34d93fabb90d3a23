import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, stableText } from '../run-cloudctl.ts';

it('config unset takes one key away and leaves the others, known and unknown', async () => {
  const host = testHost();
  host.writeConfig({ profiles: { default: { scope: 'read', flow: 'code', later: 1 }, other: { scope: 'read' } } });
  const ran = await runCloudctl(host, ['config', 'unset', 'scope']);
  expect(ran).toMatchObject({ code: 0, out: '' });
  expectGolden('config', stableText(ran));
  expect(host.readConfig().raw).toEqual({
    profiles: { default: { flow: 'code', later: 1 }, other: { scope: 'read' } },
  });
});
