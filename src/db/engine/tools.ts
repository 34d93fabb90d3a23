export { MigrationError, redactReason, sqlStateOf } from './error.ts';
export {
  createDatabase,
  type DatabaseDefinition,
  firstTablesSql,
  listSourceDatabases,
} from './postgresql/databases.ts';
export { readIdentity, type ServerIdentity } from './postgresql/identity.ts';
export { engineName, replicationName } from './postgresql/names.ts';
export { lastRows, longTimeout, singleValue, withSession } from './postgresql/session.ts';
export { readSourceStatus } from './postgresql/status.ts';
export { copyRoles } from './postgresql/target.ts';
export { isReplicaOf, readServerInfo } from './redis/replica.ts';
export { openPinned } from './session.ts';
