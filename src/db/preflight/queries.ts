export { limitObjects, unlistedNote } from './postgresql/check.ts';
export { databasesToCompare, queryEachDatabase, readFingerprints } from './postgresql/each-database.ts';
export { databasesQuery, decodeInstance, instanceSql } from './postgresql/queries/cluster.ts';
export { rowsQuery } from './postgresql/query.ts';
export { type NamedTarget, optionsOfTarget, type PostgresqlTarget, readPostgresqlTarget } from './postgresql/target.ts';
export { databaseLimitQuery, infoQuery, modulesQuery } from './redis/queries.ts';
