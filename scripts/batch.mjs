// `npm run test:batch`: 1,000 droplets under each fault of the server alone, and under 30 schedules of them all, killed and
// resumed while another process renews the session. The normal suite runs a smaller part.
import { suite } from './run-vitest.mjs';

const [schedules = '30'] = process.argv.slice(2);
const { passed, failed, skipped } = await suite(['--project', 'e2e', 'test/e2e/batch'], {
  env: { CLOUDCTL_TEST_SCHEDULES: schedules },
});
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
