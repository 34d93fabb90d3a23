import {
  hostIpv6Only,
  hostParse,
  hostPublicAddress,
  hostSplitHorizon,
  portDefault,
  selfTarget,
  tcpConnect,
} from './address.ts';
import { authHba, authPassword, dbExists, replConnection } from './auth.ts';
import { callableNames } from './callable-columns.ts';
import { rolePasswords, supers } from './carried-roles.ts';
import type { AnyCheck } from './check.ts';
import { generatedColumns, identityColumns } from './columns.ts';
import { authConnlimit, connHeadroom } from './connections.ts';
import { notValid, timeChecks } from './constraints.ts';
import { dbNoconnect, ignoreUnknown } from './database-access.ts';
import { collation, dbNames, encoding } from './database-properties.ts';
import { ddlActivity } from './ddl-activity.ts';
import { dictionariesCheck } from './dictionaries.ts';
import { dumpLocks } from './dump-locks.ts';
import { dumpPrivs } from './dump-privs.ts';
import { dumpTimeouts } from './dump-timeouts.ts';
import { extFunctions } from './extension-functions.ts';
import { extensionsCheck, extTables } from './extensions.ts';
import { foreignTables, tempTables } from './foreign-tables.ts';
import { secdef, untrustedLang } from './functions.ts';
import { hostRule } from './host-rule.ts';
import { invalidIndex } from './indexes.ts';
import { largeObjectsCheck } from './large-objects.ts';
import { leftovers } from './leftovers.ts';
import { listenAddresses } from './listen-addresses.ts';
import { lockedTables } from './locked-tables.ts';
import { lostRowsCheck } from './lost-rows.ts';
import { managedSource } from './managed.ts';
import { matviews } from './matviews.ts';
import { mutableCallsCheck } from './mutable-calls.ts';
import { preparedXacts, slotBlockers } from './open-transactions.ts';
import { partitionsCheck } from './partitions.ts';
import { poolerDetected } from './pooler.ts';
import { pubExisting, subsExisting } from './publications.ts';
import { readingChecks } from './reading-checks.ts';
import { removedTypes } from './removed-types.ts';
import { fullWithoutEq, replicaIdentity } from './replica-identity.ts';
import { restartPending } from './restart-pending.ts';
import { rls } from './rls.ts';
import { authExpiryWindow, superuser } from './role.ts';
import { roleReadonly, roleTimeouts } from './role-config.ts';
import { searchPath } from './search-path.ts';
import { securityLabels } from './security-labels.ts';
import { sequences } from './sequences.ts';
import { sessionChecksCheck } from './session-checks.ts';
import { sizeEstimate } from './size-estimate.ts';
import { slotsFree, slotsVsDbs } from './slots.ts';
import { standbySource } from './standby-source.ts';
import { settingChecks } from './swayed-checks.ts';
import { syncStandbyNames } from './sync-standby.ts';
import { systemTablesCheck } from './system-tables.ts';
import { systemValuesCheck } from './system-values.ts';
import { tablespacesCheck } from './tablespaces.ts';
import { tempFileLimit } from './temp-files.ts';
import { tlsCert, tlsNegotiate, tlsRequired } from './tls.ts';
import { alwaysTriggers, eventTriggersCheck } from './triggers.ts';
import { unlogged } from './unlogged.ts';
import { notPostgres, versionMin, versionNotNewer } from './version.ts';
import { walLevel } from './wal-level.ts';
import { dumpQuiesced, walRate } from './wal-rate.ts';
import { walSenders, workerProcesses } from './wal-senders.ts';
import { decodingMem, slotRetention, walSenderTimeout } from './wal-settings.ts';

/** Every check of a PostgreSQL source, in the order of the report. */
export const catalogue: readonly AnyCheck[] = [
  hostParse,
  hostPublicAddress,
  hostSplitHorizon,
  hostIpv6Only,
  tcpConnect,
  portDefault,
  selfTarget,
  tlsNegotiate,
  tlsRequired,
  tlsCert,
  authPassword,
  authHba,
  authExpiryWindow,
  authConnlimit,
  connHeadroom,
  dbExists,
  dbNoconnect,
  ignoreUnknown,
  poolerDetected,
  replConnection,
  versionMin,
  versionNotNewer,
  notPostgres,
  managedSource,
  superuser,
  roleReadonly,
  roleTimeouts,
  dumpTimeouts,
  tempFileLimit,
  dumpLocks,
  walLevel,
  restartPending,
  slotsVsDbs,
  slotsFree,
  walSenders,
  workerProcesses,
  listenAddresses,
  hostRule,
  standbySource,
  slotBlockers,
  leftovers,
  slotRetention,
  walSenderTimeout,
  decodingMem,
  syncStandbyNames,
  replicaIdentity,
  fullWithoutEq,
  unlogged,
  foreignTables,
  tempTables,
  partitionsCheck,
  largeObjectsCheck,
  sequences,
  matviews,
  generatedColumns,
  identityColumns,
  extensionsCheck,
  extTables,
  extFunctions,
  systemTablesCheck,
  alwaysTriggers,
  eventTriggersCheck,
  untrustedLang,
  dictionariesCheck,
  secdef,
  searchPath,
  tablespacesCheck,
  supers,
  rolePasswords,
  encoding,
  collation,
  rls,
  dumpPrivs,
  dumpQuiesced,
  preparedXacts,
  lockedTables,
  subsExisting,
  pubExisting,
  dbNames,
  invalidIndex,
  notValid,
  timeChecks,
  settingChecks,
  sessionChecksCheck,
  readingChecks,
  callableNames,
  systemValuesCheck,
  sizeEstimate,
  walRate,
  ddlActivity,
  removedTypes,
  mutableCallsCheck,
  securityLabels,
  lostRowsCheck,
];
