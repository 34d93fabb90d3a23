// `npm run truth`: the verdict of preflight on real servers, then the real migration, then whether it was true. Every case;
// `-- --quick` the half that `npm test` makes, `-- --only NAME` those with these words in their names, `-- --page` writes
// docs/truth.md.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, run } from './run-vitest.mjs';

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, page: { type: 'boolean' } },
});
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-truth-'));
const file = join(folder, 'rows');
const env = {
  ...process.env,
  CLOUDCTL_TEST_TRUTH_ROWS: file,
  ...(values.quick ? {} : { CLOUDCTL_TEST_TRUTH: 'full' }),
  ...(values.only === undefined ? {} : { CLOUDCTL_TEST_TRUTH_ONLY: values.only }),
};
const names = { postgresql: 'PostgreSQL', redis: 'Redis' };
const began = Date.now();
try {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const code = await run(process.execPath, [vitest, 'run', '--project', 'hard', 'test/truth'], { env });
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const rows = lines.map((line) => JSON.parse(line));
  const page = describe(rows, Math.round((Date.now() - began) / 60_000));
  console.log(`\n${page}`);
  if (values.page) writeFileSync(join(root, 'docs/truth.md'), page);
  process.exitCode = code === 0 && rows.length > 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function describe(rows, minutes) {
  const engines = ['postgresql', 'redis'].filter((engine) => rows.some((row) => row.engine === engine));
  const differing = rows.filter((row) => row.relation !== 'true' || row.disagreements.length > 0);
  return [
    '# The truth of preflight',
    'Real servers, broken in one way each: first the verdict, then the migration by the engine, whatever the verdict was, then the oracle. Continuous is true when every table was copied in time, all rows are the same on both sides, what the application wrote after the start arrived, none of its statements failed and no commit waited, not even while the target was away; with Redis, when every database has as many keys on both sides, a canary arrives in its own database, and the target can be written to afterwards. Where the continuous migration failed, the lesser method was tried as well: the dump of PostgreSQL, the scan of Redis.',
    `Written by \`npm run truth -- --page\`: ${rows.length} cases in ${minutes} minutes.`,
    ...engines.map((engine) =>
      matrix(
        engine,
        rows.filter((row) => row.engine === engine),
      ),
    ),
    '## What was promised and not kept, and what was refused and works',
    `${count(rows, 'false continuous')} false \`continuous\`, ${count(rows, 'false promise')} false promises of the lesser method, ${count(rows, 'false blocked')} false \`blocked\`.`,
    ...differing.map(
      (row) =>
        `- **${row.name}** (${row.engine} ${row.versions}): \`${row.verdict}\` was said${blame(row)}, \`${row.truth}\` was true. ${sentence(row.explained ?? 'Not explained')}${row.disagreements.length > 0 && row.relation === 'true' ? ` (${row.disagreements.join('; ')})` : ''}`,
    ),
    ...engines.flatMap((engine) => [
      `## Every case of ${names[engine]}`,
      table(rows.filter((row) => row.engine === engine)),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

function matrix(engine, rows) {
  const methods = engine === 'redis' ? ['continuous', 'scan', 'blocked'] : ['continuous', 'dump', 'blocked'];
  const of = (verdict, truth) => rows.filter((row) => row.verdict === verdict && row.truth === truth).length;
  return [
    `| ${names[engine]}: verdict, and what really works | ${methods.map((one) => (one === 'blocked' ? 'nothing' : one)).join(' | ')} |`,
    `|---|${methods.map(() => '---:').join('|')}|`,
    ...methods.map((verdict) => `| ${verdict} | ${methods.map((truth) => of(verdict, truth)).join(' | ')} |`),
  ].join('\n');
}

function table(rows) {
  const line = (row) =>
    `| ${row.name} | ${row.versions} | ${row.verdict}${blame(row)} | ${row.truth} | ${told(row.course[0] ?? '')} |`;
  return ['| case | versions | verdict | truth | how it ended |', '|---|---|---|---|---|', ...rows.map(line)].join(
    '\n',
  );
}

/** Without what is of one run or of one machine alone. */
function told(text) {
  const plain = text
    .replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, 'ADDRESS')
    .replace(/\bport \d+/g, 'port N')
    .replace(/"\/[^"\s]*/g, '"…')
    .replace(/\b(cloudctl|pg)_\w*\d{6}\w*/g, '$1_…')
    .replace(/\b[0-9a-f]{40}\b(:\d+)?/g, '…');
  return plain.slice(0, 200).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function blame({ reasons }) {
  return reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function count(rows, relation) {
  return rows.filter((row) => row.relation === relation).length;
}
