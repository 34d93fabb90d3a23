// `npm run test:fleet`: machines that share a session through PostgreSQL, PostgreSQL behind pgbouncer, and Redis. `--machines 20`
// meet an expired token `--expiries 10` times. `--kills 500` commands of each store are killed at a step of their request, once
// with the state of their machine kept and once with the machine destroyed, in `--fleets 20` independent fleets at the same time.
// Stores are restarted, killed and restored from backups, connections are cut, machines stopped, and answers lost, each
// `--faults 10` times. `--only NAME` runs the tests whose name contains NAME. The figures are printed at the end.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { suite } from './run-vitest.mjs';

const { values } = parseArgs({
  options: {
    machines: { type: 'string', default: '20' },
    expiries: { type: 'string', default: '10' },
    kills: { type: 'string', default: '500' },
    fleets: { type: 'string', default: '20' },
    faults: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-fleet-'));
try {
  const path = join(folder, 'figures');
  const only = values.only === undefined ? [] : ['-t', values.only];
  const { passed, failed } = await suite(
    ['--project', 'hard', 'test/faults/fleet', '--maxWorkers=1', '--testTimeout=7200000', ...only],
    {
      env: {
        CLOUDCTL_TEST_MACHINES: values.machines,
        CLOUDCTL_TEST_EXPIRIES: values.expiries,
        CLOUDCTL_TEST_FLEET_KILLS: values.kills,
        CLOUDCTL_TEST_FLEETS: values.fleets,
        CLOUDCTL_TEST_FLEET_FAULTS: values.faults,
        CLOUDCTL_TEST_FIGURES: path,
      },
    },
  );
  const figures = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  console.log('');
  for (const { what, store, values: counts } of figures.map((line) => JSON.parse(line))) {
    const texts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
    console.log(`${what}, ${store}: ${texts.join(', ')}`);
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
