// `npm run test:faults`: sessions under kills, stops, full disks, bad networks and crowds, and the figures that prove it:
// `--rounds 10` of `--processes 50` on an expired token and `--kills 250` at random moments, each for the keychain and for
// the file store, both widths of K7 from `--refreshes 100`, `--unshared 20` rounds without shared locks, and `--faults all` of the fault matrix: each system call on the
// state folder fails with each error, once and from then on.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { suite } from './run-vitest.mjs';

const usual = { rounds: '10', processes: '50', kills: '250', refreshes: '100', unshared: '20', faults: 'all' };
const { values } = parseArgs({
  options: Object.fromEntries(Object.entries(usual).map(([name, value]) => [name, { type: 'string', default: value }])),
});
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-faults-'));
try {
  const path = join(folder, 'figures');
  const amounts = Object.entries(values).map(([name, value]) => [`CLOUDCTL_TEST_${name.toUpperCase()}`, value]);
  const counts = [
    await suite(['--project', 'hard', 'test/faults/session']),
    // One store at a time: a crowd of two stores would be two crowds.
    await suite(
      ['--project', 'hard', 'test/faults/session', '--maxConcurrency=1', '-t', 'processes meet|K19|widths|system call'],
      {
        env: { ...Object.fromEntries(amounts), CLOUDCTL_TEST_FIGURES: path },
      },
    ),
  ];
  tell(figuresOf(path));
  const [passed, failed] = ['passed', 'failed'].map((key) => counts.reduce((sum, count) => sum + count[key], 0));
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The last figures of each store: a test that is run a second time tells them again. */
function figuresOf(path) {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const last = new Map(lines.map((line) => JSON.parse(line)).map((one) => [`${one.what} ${one.store}`, one]));
  return [...last.values()];
}

function tell(figures) {
  const about = (what) => figures.filter((one) => one.what === what);
  console.log('');
  for (const { store, values: is } of about('rounds')) {
    const much = is.most === 1 ? '1 refresh' : `up to ${is.most} refreshes`;
    console.log(
      `${store}: ${is.processes} processes x ${is.rounds} rounds: ${much} per round at the server, ${is.successes} successes`,
    );
  }
  for (const { store, values: is } of about('faults'))
    console.log(
      `${store}: ${is.faults} faults at ${is.places} calls on the state folder (${is.hits} hit it): ${is.lost} sessions lost`,
    );
  const successes = about('rounds').reduce((sum, one) => sum + one.values.successes, 0);
  console.log(`in all: ${successes} successes`);
  for (const { store, values: is } of about('kills')) {
    const kills = is.usable + is.undelivered + is.unkept + is.unexplained + is.busy;
    console.log(
      `${store}: ${kills} SIGKILLs within ${is.duration} ms (${is.survived} more came too late): usable ${is.usable}, ` +
        `needs_login with a commit never delivered ${is.undelivered}, ` +
        `with one that left the server and was not kept ${is.unkept}, ` +
        `otherwise ${is.unexplained}, busy ${is.busy}`,
    );
  }
  for (const { store, values: is } of about('widths')) {
    console.log(`${store}, K7 until write(2) returned: ${spread(is.written)}`);
    console.log(`${store}, K7 until fdatasync(2) returned: ${spread(is.synced)}`);
  }
}

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const words = { median: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
  const told = Object.entries(words).map(([name, ms]) => `${name} ${ms.toPrecision(2)} ms`);
  return `${told.join(', ')} of ${sorted.length}, shortest ${at(0).toPrecision(2)} ms`;
}
