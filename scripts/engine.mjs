// `npm run test:engine`: migrations of real servers. `--kills N` kills a sandbox so often in the middle of one,
// `--kills-down N` so often after its source has crashed, `--full` moves
// 10 databases of 20 tables of 10,000 rows while they are written to and lets every single statement fail, `--size 3x4x1000`
// moves others.
import { parseArgs } from 'node:util';
import { suite } from './run-vitest.mjs';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    'kills-down': { type: 'string' },
    full: { type: 'boolean' },
    size: { type: 'string' },
  },
});
const size = values.full ? '10x20x10000' : values.size;
const env = {
  ...(values.kills === undefined ? {} : { CLOUDCTL_TEST_KILLS: values.kills }),
  ...(values['kills-down'] === undefined ? {} : { CLOUDCTL_TEST_KILLS_DOWN: values['kills-down'] }),
  ...(size === undefined ? {} : { CLOUDCTL_TEST_SIZE: size }),
  ...(values.full ? { CLOUDCTL_TEST_STRIDE: '1' } : {}),
};
const counts = [
  await suite(['--project', 'unit', '--project', 'servers', 'test/db/engine'], { env }),
  await suite(['--project', 'hard', 'test/faults/engine'], { env }),
];
process.exitCode = counts.some(({ failed }) => failed > 0) ? 1 : 0;
