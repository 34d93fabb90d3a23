import { describe, expect, it } from 'vitest';
import { postgresqlChecks } from '../../../src/db/preflight/postgresql/checks.ts';
import { redisChecks } from '../../../src/db/preflight/redis/checks.ts';
import { listRisks } from '../../../src/db/watch/migrate.ts';
import { expectGolden } from '../../fixtures/golden.ts';

function problem(id: string, objects: readonly string[] = []): Parameters<typeof listRisks>[0][number] {
  const observations = [{ observed: `${objects.length} objects`, objects }];
  return { ids: [id], title: `Finding ${id}`, place: 'shop', parts: [{ observations }] };
}

describe('what db migrate repeats of the preflight', () => {
  it('is every finding about the time while it runs, and what is not migrated', () => {
    const risks = listRisks(
      [
        problem('replica-identity', ['public.a', 'public.b', 'public.c', 'public.d']),
        problem('slot-blockers'),
        problem('supers'),
      ],
      ['the rows of 1 unlogged table in shop (unlogged)', 'the values of 3 sequences in shop (sequences)'],
      [],
    );
    expectGolden('db-migrate', risks.join('\n'));
  });

  it('is cut to a few lines, with the file of the report', () => {
    const ids = ['replica-identity', 'partitions', 'ddl-activity', 'wal-rate', 'slot-retention', 'prepared-xacts'];
    const risks = listRisks(
      ids.map((id) => problem(id)),
      [],
      ['my report.html'],
    );
    expect(risks.join('\n')).not.toContain('prepared-xacts');
    expectGolden('db-migrate', risks.slice(-2).join('\n'));
  });

  it('is nothing where nothing was found about it', () => {
    expect(listRisks([problem('supers')], [], [])).toEqual([]);
  });

  it('is chosen by ids that checks have', () => {
    const ids = [...postgresqlChecks, ...redisChecks].map(({ id }) => id);
    const known = ids.filter((id) => listRisks([problem(id)], [], []).length > 0);
    expectGolden('db-migrate', known.join(' '));
  });
});
