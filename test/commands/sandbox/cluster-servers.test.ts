import { expect, it } from 'vitest';
import { readSandboxClusterServerUrls } from '../../../src/commands/sandbox/cluster-servers.ts';

const args = { positionals: [], value: () => undefined, values: () => [], has: () => false };

it('reads servers from variables, without the line end of a file', () => {
  const env = { CLOUDCTL_CLUSTER_PG: 'postgres://u:p@h/d\n', CLOUDCTL_CLUSTER_EMPTY: '\n', CLOUDCTL_CLUSTER_: 'x' };
  expect(readSandboxClusterServerUrls(args, env)).toEqual([{ name: 'pg', url: 'postgres://u:p@h/d' }]);
});
