import type { CollectedPostgresqlFacts } from './collected-postgresql-facts.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export function createEmptyPostgresqlFacts(facts: PostgresqlSourceFacts): CollectedPostgresqlFacts {
  return {
    facts,
    databases: [],
    access: new Map(),
    results: new Map(),
    lost: undefined,
    findings: [],
    retained: new Map(),
    sizes: new Map(),
    walRate: undefined,
    waited: 0,
  };
}
