// `npm run test:model`: the properties of the grant and of the state folder, many times more than `npm test` takes the time
// for. CLOUDCTL_TEST_RUNS says how often; a failure prints the seed and path that bring it back.
import { suite } from './run-vitest.mjs';

const runs = process.env.CLOUDCTL_TEST_RUNS ?? '2000';
const { passed, failed } = await suite(
  ['--project', 'unit', 'test/sandbox/model', 'test/sandbox/state/state-writer.test.ts'],
  { env: { CLOUDCTL_TEST_RUNS: runs } },
);
console.log(`\n${runs} runs: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
