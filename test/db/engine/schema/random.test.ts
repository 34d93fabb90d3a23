import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { randomSchema } from './random-schema.ts';
import { copySchemaFromCatalog, createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';
import { schemaSnapshot } from './schema-snapshot.ts';

let old: Postgres;
let young: Postgres;
beforeAll(async () => {
  [old, young] = [await startPostgres({ version: 14 }), await startPostgres({ version: 18 })];
}, 60_000);
afterAll(async () => {
  await Promise.all([old.stop(), young.stop()]);
}, 60_000);

test.each([
  ['the same release', () => young, 18],
  ['a younger one', () => old, 14],
] as const)(
  'whatever the schema and its names, it is the same on %s',
  async (_where, from, major) => {
    await fc.assert(
      fc.asyncProperty(randomSchema, async (statements) => {
        const [source, target, native] = [
          await createEmptyDatabase(from()),
          await createEmptyDatabase(young),
          await createEmptyDatabase(young),
        ];
        await runStatements(from(), source, statements);
        await runStatements(young, native, statements);
        const result = await copySchemaFromCatalog(
          databaseEndpointOf(from(), source),
          databaseEndpointOf(young, target),
          AbortSignal.timeout(60_000),
        );
        expect(result).toMatchObject({ kind: 'copied', warnings: [] });
        expect(await schemaSnapshot(young, target, major)).toEqual(await schemaSnapshot(young, native, major));
        for (const name of [target, native]) await young.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  },
  240_000,
);
