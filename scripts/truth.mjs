// `npm run truth`: compares the verdict of preflight with a real migration, on real servers. All cases; `-- --quick` the
// half that `npm run test:all` runs, `-- --only 'A|B'` the cases whose names contain A or B. It prints each case with its
// results; `-- --table FILE` writes them as Markdown.
// `-- --mutations N --seed S` runs N tables with random mutations of the catalog instead of the cases.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, run } from './run-vitest.mjs';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    table: { type: 'string' },
    mutations: { type: 'string' },
    seed: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'cloudctl-truth-'));
const file = join(folder, 'rows');
const env = {
  ...process.env,
  CLOUDCTL_TEST_TRUTH_ROWS: file,
  ...(values.quick ? {} : { CLOUDCTL_TEST_TRUTH: 'full' }),
  ...(values.only === undefined ? {} : { CLOUDCTL_TEST_TRUTH_ONLY: values.only }),
};
if (values.mutations !== undefined) process.exit(await runMutations(values));
const names = { postgresql: 'PostgreSQL', redis: 'Redis' };
const caseFiles = [
  'test/truth/postgresql.test.ts',
  'test/truth/redis.test.ts',
  'test/truth/row.test.ts',
  'test/truth/page.test.ts',
];
/** What migrates the sources of each engine, with its result in a row. */
const migrators = [
  { engine: 'postgresql', title: 'PostgreSQL, engine of the sandbox', result: (row) => row.truth },
  { engine: 'postgresql', title: 'PostgreSQL, plain engine', result: (row) => row.plain },
  { engine: 'redis', title: 'Redis', result: (row) => row.truth },
];
/** The prefix of the names in test/truth/postgresql/cases/application-schemas.ts. */
const applicationPrefix = 'schema of an application: ';
const began = Date.now();
try {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const code = await run(process.execPath, [vitest, 'run', '--project', 'hard', ...caseFiles], { env });
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const rows = lines.map((line) => JSON.parse(line));
  const table = describe(rows, Math.round((Date.now() - began) / 60_000));
  console.log(`\n${table}`);
  if (values.table !== undefined) writeFileSync(values.table, table);
  process.exitCode = code === 0 && rows.length > 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The seed is printed, so that a run can be repeated. */
function runMutations({ mutations, seed = String(Date.now() % 1_000_000) }) {
  console.log(`${mutations} mutated tables, seed ${seed}`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const own = { ...process.env, CLOUDCTL_TEST_MUTATIONS: mutations, CLOUDCTL_TEST_MUTATION_SEED: seed };
  return run(process.execPath, [vitest, 'run', '--project', 'hard', 'test/truth/mutations.test.ts'], { env: own });
}

function describe(rows, minutes) {
  const engines = ['postgresql', 'redis'].filter((engine) => rows.some((row) => row.engine === engine));
  const differing = rows.filter((row) => row.relation !== 'true' || row.disagreements.length > 0);
  return [
    '# Verdicts of preflight compared with real migrations',
    `${rows.length} cases in ${minutes} minutes. docs/truth.md says what is compared.`,
    ...migrators.flatMap(({ engine, title, result }) => {
      const own = rows.filter((row) => row.engine === engine);
      return own.length === 0 ? [] : [matrix(engine, title, own, result)];
    }),
    '## Wrong verdicts',
    `${count(rows, 'false continuous')} false \`continuous\`, ${count(rows, 'false promise')} false verdicts for the other method, ${count(rows, 'false blocked')} false \`blocked\`, ${count(rows, 'not proven')} that the report called not proven.`,
    ...differing.map(
      (row) =>
        `- **${row.name}** (${row.engine} ${row.versions}): \`${row.verdict}\`${doubt(row)} was the verdict${blame(row)}, ${results(row)} was the result. ${sentence(row.explained ?? 'Not explained')}${row.disagreements.length > 0 && row.relation === 'true' ? ` (${row.disagreements.join('; ')})` : ''}`,
    ),
    ...(rows.some(({ pgcopydb }) => pgcopydb !== undefined) ? ['## pgcopydb', clones(rows)] : []),
    ...applicationSchemas(rows.filter(isApplicationSchema)),
    ...engines.flatMap((engine) => [
      `## All cases of ${names[engine]}`,
      table(rows.filter((row) => row.engine === engine && !isApplicationSchema(row))),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

function results({ truth, plain = truth }) {
  return plain === truth
    ? `\`${truth}\``
    : `\`${truth}\` with the engine of the sandbox and \`${plain}\` with the plain one`;
}

function matrix(engine, title, rows, result) {
  const methods = engine === 'redis' ? ['continuous', 'scan', 'blocked'] : ['continuous', 'dump', 'blocked'];
  const of = (verdict, truth) => rows.filter((row) => row.verdict === verdict && result(row) === truth).length;
  return [
    `| ${title}: verdict (rows) and result (columns) | ${methods.map((one) => (one === 'blocked' ? 'no method works' : one)).join(' | ')} |`,
    `|---|${methods.map(() => '---:').join('|')}|`,
    ...methods.map((verdict) => `| ${verdict} | ${methods.map((truth) => of(verdict, truth)).join(' | ')} |`),
  ].join('\n');
}

function table(rows) {
  const hasPlain = rows.some(({ plain }) => plain !== undefined);
  const results = hasPlain ? ['sandbox', 'plain', 'pgcopydb'] : ['result'];
  const columns = ['case', 'versions', 'verdict', ...results, 'how it ended'];
  const line = (row) =>
    [
      row.name,
      row.versions,
      `${row.verdict}${blame(row)}${doubt(row)}`,
      row.truth,
      ...(hasPlain ? [row.plain, clone(row)] : []),
      shortened(ending(row)),
    ].join(' | ');
  return [columns.join(' | '), columns.map(() => '---').join('|'), ...rows.map(line)]
    .map((text) => `|${text.startsWith('---') ? text : ` ${text} `}|`)
    .join('\n');
}

/** It copies a point in time only, and is not run where the verdict is that nothing works. */
function clone({ pgcopydb }) {
  if (pgcopydb === undefined) return '';
  return pgcopydb.length === 0 ? 'copied' : 'failed';
}

/** How often the third engine refutes a verdict. */
function clones(rows) {
  const tried = rows.filter(({ pgcopydb }) => pgcopydb !== undefined);
  const proven = tried.filter(({ unproven = [] }) => unproven.length === 0);
  const failed = proven.filter(({ pgcopydb }) => pgcopydb.length > 0);
  return [
    `pgcopydb copied ${tried.length} of the sources. It failed for ${failed.length} of ${proven.length} with a proven verdict (docs/truth.md has its limits):`,
    ...failed.map(({ name, pgcopydb }) => `- ${name}: ${shortened(pgcopydb[0])}`),
  ].join('\n');
}

function isApplicationSchema({ name }) {
  return name.startsWith(applicationPrefix);
}

function applicationSchemas(rows) {
  if (rows.length === 0) return [];
  return [
    '## Schemas of public applications',
    'Excerpts of the schemas of public applications, with rows, written after their documentation (`test/truth/schemas`). Nothing is fetched when they are loaded.',
    table(rows.map((row) => ({ ...row, name: row.name.slice(applicationPrefix.length) }))),
  ];
}

function ending({ course, plainCourse = [] }) {
  if (course.length > 0) return course[0];
  return plainCourse.length > 0 ? `plain engine: ${plainCourse[0]}` : '';
}

/** Removes what differs between runs and machines. */
function shortened(text) {
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

/** What leaves the verdict open. */
function doubt({ unproven = [] }) {
  return unproven.length === 0 ? '' : `, not proven (${unproven.join(', ')})`;
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

function count(rows, relation) {
  return rows.filter((row) => row.relation === relation).length;
}
