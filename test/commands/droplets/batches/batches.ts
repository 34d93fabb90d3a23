import { fastClock } from '../../../droplets/batch-fixtures.ts';
import { testHost } from '../../../fixtures/host.ts';
import { seedSession } from '../../../fixtures/session.ts';
import { MAYA, sandboxFor, userOf } from '../../../sandbox/requests.ts';
import { runCloudctl } from '../../run-cloudctl.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];

/** A machine that is logged in, with a batch of these names. */
export async function machineWithBatch(names: readonly string[], ...words: string[]) {
  const base = testHost();
  // A batch with an id waits for requests of other runs.
  const host = words.includes('--batch-id') ? { ...base, clock: fastClock(20) } : base;
  const sandbox = await sandboxFor();
  await seedSession(host, sandbox, { scope: 'read write' });
  const account = userOf(sandbox, MAYA).uuid;
  const ran = await runCloudctl(host, ['droplets', 'create', ...names, ...like, ...words, '-o', 'json']);
  const ledger = ran.json<{ ledger: string }[]>()[0]?.ledger ?? '';
  return {
    host,
    sandbox,
    ledger,
    id: /([^/]+)\.jsonl$/.exec(ledger)?.[1] ?? '',
    droplets: () => sandbox.world.droplets.of(account),
    named: (name: string) => sandbox.world.droplets.of(account).filter((one) => one.name === name),
    run: (...args: string[]) => runCloudctl(host, ['droplets', 'batches', ...args]),
    create: (...args: string[]) => runCloudctl(host, ['droplets', 'create', ...args]),
  };
}
