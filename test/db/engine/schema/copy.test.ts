import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { randomSchema } from './random-schema.ts';
import { richSchema } from './rich-schema.ts';
import { copySchemaFromCatalog, createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';
import { schemaSnapshot } from './schema-snapshot.ts';

describe('schemas', () => {
  const majors = [12, 13, 14, 15, 16, 17, 18] as const;
  const servers = new Map<number, Postgres>();
  beforeAll(async () => {
    for (const version of majors) {
      servers.set(version, await startPostgres({ version, settings: { wal_level: 'logical' } }));
    }
  }, 120_000);
  afterAll(async () => {
    for (const server of servers.values()) await server.stop();
  }, 120_000);

  describe.each(majors.slice(2))('a schema of %i', (major) => {
    test('copied to the same release is the same on both sides', async () => {
      const server = servers.get(major)!;
      const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
      await runStatements(server, source, richSchema(major));
      const result = await copySchemaFromCatalog(
        databaseEndpointOf(server, source),
        databaseEndpointOf(server, target),
        AbortSignal.timeout(60_000),
      );
      expect(result).toEqual({ kind: 'copied', by: expect.stringContaining('127.0.0.1'), warnings: [] });
      expect(await schemaSnapshot(server, target, major)).toEqual(await schemaSnapshot(server, source, major));
    }, 60_000);
  });

  describe.each([
    [12, 18],
    [13, 14],
    [14, 18],
    [15, 16],
    [16, 17],
    [17, 18],
  ])('a schema of %i copied to %i', (from, to) => {
    // Releases write the same view in other words and name NOT NULL otherwise, so the copy is compared with the same statements said there.
    test('is the one that the same statements make there', async () => {
      const [old, young] = [servers.get(from)!, servers.get(to)!];
      const [source, target, native] = [
        await createEmptyDatabase(old),
        await createEmptyDatabase(young),
        await createEmptyDatabase(young),
      ];
      await runStatements(old, source, richSchema(from));
      await runStatements(young, native, richSchema(from));
      const result = await copySchemaFromCatalog(
        databaseEndpointOf(old, source),
        databaseEndpointOf(young, target),
        AbortSignal.timeout(60_000),
      );
      expect(result).toMatchObject({ kind: 'copied', warnings: [] });
      expect(await schemaSnapshot(young, target, from)).toEqual(await schemaSnapshot(young, native, from));
    }, 60_000);
  });
});

describe('random schemas', () => {
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
});
