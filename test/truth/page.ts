import { cases } from './cases.ts';
import type { DifferingResult, TruthCase } from './check-rows.ts';
import { type BestMethod, verdictAccuracy } from './row.ts';

const all: readonly TruthCase[] = [...cases.postgresql, ...cases.redis];

/** docs/truth.md: what the tests of this folder assert, so that a run that ends otherwise fails. */
export function truthPage(): string {
  const quick = all.filter((one) => one.quick === true).length;
  return `# Verdicts compared with real migrations

Each case is a real server with one defect, or none. The test runs \`db preflight\`, migrates the source whatever the verdict is, and compares source and target. The page is generated from the expectations of the cases (\`npm run docs\`): a case that ends in another way fails.

- \`npm run test:all\` runs ${quick} of the ${all.length} cases, \`npm run truth\` all of them. \`npm run truth\` prints one row for each case: verdict, findings, the result of each engine, and how a migration failed. \`-- --table FILE\` writes these rows as Markdown.
- PostgreSQL sources are migrated by two engines, because the real service need not do what the sandbox does. One is the engine of the sandbox. The plain one is \`pg_dump --schema-only | psql\` of the target version with default options, then CREATE SUBSCRIPTION. The worse of both results counts.
- Debian's pgcopydb copies the rows of each source that it supports (up to 15), unless the verdict is that no method works. A proven verdict that it refutes fails the case, but for its own limits (${pgcopydbCases().length} cases): ${pgcopydbLimits().join('; ')}.
- \`continuous\` is correct on PostgreSQL when every table was copied in time, all rows are equal on both sides, rows that were written after the start arrived, no statement of the application failed and no commit was delayed, not even while the target was away.
- \`continuous\` is correct on Redis when every database has as many keys on both sides, a test key arrives in its own database, and the target accepts writes afterwards.
- If the continuous migration fails, the other method is tried: the dump of PostgreSQL, the scan of Redis.
- Cases named \`fixed\` first run the fix script of the report with psql or redis-cli. The verdict must then be the one that the report named, and the script must leave all rows and keys as they are.

## Results

${matrix('PostgreSQL', ['continuous', 'dump', 'blocked'], cases.postgresql)}

${matrix('Redis', ['continuous', 'scan', 'blocked'], cases.redis)}

The sources of PostgreSQL have version ${versions()}; those of Redis are Redis 6.0, 7.0 and 8.0, and Valkey 8.0 and 9.1, each migrated to each other. ${applications()} are excerpts of the schemas of public applications, with rows, written after their documentation (\`test/truth/schemas\`).

## Exceptions

Verdict and result differ in ${all.filter((one) => one.differs !== undefined).length} of ${all.length} cases:

- false \`continuous\`: ${count('false continuous')}
- the report says that the verdict is not proven: ${count('not proven')}
- false verdict for the other method: ${count('false promise')}
- a method was excluded that works: ${count('false blocked')}

The reasons, each with its cases:

${reasons().map(exception).join('\n')}

${uneven()}

Tables with random mutations of the catalog are compared too (\`npm run truth -- --mutations N --seed S\`); [decision 008](decisions/008-preflight-verdicts.md) has the figures.
`;
}

function matrix(title: string, methods: readonly BestMethod[], own: readonly TruthCase[]): string {
  const cell = (verdict: BestMethod, result: BestMethod) =>
    own.filter((one) => one.verdict === verdict && resultOf(one) === result).length;
  return [
    `| ${title}: verdict (rows), result (columns) | ${methods.map((one) => (one === 'blocked' ? 'no method works' : one)).join(' | ')} |`,
    `|---|${methods.map(() => '---:').join('|')}|`,
    ...methods.map((verdict) => `| ${verdict} | ${methods.map((result) => cell(verdict, result)).join(' | ')} |`),
  ].join('\n');
}

/** One list item for each reason, with its cases below it. */
function exception(why: string): string {
  const own = all.filter(({ differs }) => differs?.why === why);
  const items = own.map(
    (one) =>
      `  - ${one.name}: \`${one.verdict}\`${findings(one)}, ${resultOf(one) === 'blocked' ? 'no method works' : `\`${resultOf(one)}\` works`}`,
  );
  return [`- ${sentence(why)}`, ...items].join('\n');
}

function findings({ reasons: blocking = [], unproven = [] }: TruthCase): string {
  if (unproven.length > 0) return `, not proven (${unproven.join(', ')})`;
  return blocking.length > 0 ? ` (${blocking.join(', ')})` : '';
}

function pgcopydbCases(): readonly string[] {
  return cases.postgresql.flatMap(({ pgcopydb }) => (pgcopydb === undefined ? [] : [pgcopydb]));
}

function pgcopydbLimits(): readonly string[] {
  return [...new Set(pgcopydbCases())].toSorted();
}

function uneven(): string {
  const own = all.filter((one) => one.uneven !== undefined);
  return `One database of several has a better result than its verdict in ${own.length} cases (${own.map(({ name }) => name).join('; ')}). ${sentence(own[0]?.uneven ?? '')}`;
}

function reasons(): readonly string[] {
  return [...new Set(all.flatMap(({ differs }) => (differs === undefined ? [] : [differs.why])))];
}

function count(accuracy: ReturnType<typeof verdictAccuracy>): number {
  return all.filter(
    (one) => verdictAccuracy({ verdict: one.verdict, unproven: one.unproven ?? [], truth: resultOf(one) }) === accuracy,
  ).length;
}

function resultOf({ verdict, differs }: { readonly verdict: BestMethod; readonly differs?: DifferingResult }) {
  return differs?.truth ?? verdict;
}

function versions(): string {
  const found = [...new Set(cases.postgresql.map(({ from = 15 }) => from))].toSorted((one, other) => one - other);
  return `${found.slice(0, -1).join(', ')} or ${found.at(-1)}`;
}

function applications(): string {
  const prefix = 'schema of an application: ';
  const names = cases.postgresql.flatMap(({ name }) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
