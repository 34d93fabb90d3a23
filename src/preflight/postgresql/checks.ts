import {
  hostParseCheck,
  portDefaultCheck,
  postgresqlHostIpv6OnlyCheck,
  postgresqlHostPublicAddressCheck,
  postgresqlHostSplitHorizonCheck,
  selfTargetCheck,
  tcpConnectCheck,
} from './address.ts';
import { authHbaCheck, authPasswordCheck, dbExistsCheck, replConnectionCheck } from './auth.ts';
import { rolePasswordsCheck, supersCheck } from './carried-roles.ts';
import type { PostgresqlCheck } from './check.ts';
import { callableNamesCheck } from './checks/callable-names.ts';
import { ddlActivityCheck } from './checks/ddl-activity.ts';
import { dictionariesCheck } from './checks/dictionaries.ts';
import { dumpLocksCheck } from './checks/dump-locks.ts';
import { dumpPrivsCheck } from './checks/dump-privs.ts';
import { dumpTimeoutsCheck } from './checks/dump-timeouts.ts';
import { extFunctionsCheck } from './checks/ext-functions.ts';
import { hbaRuleCheck } from './checks/hba-rule.ts';
import { invalidIndexCheck } from './checks/invalid-index.ts';
import { largeObjectsCheck } from './checks/large-objects.ts';
import { leftoversCheck } from './checks/leftovers.ts';
import { listenAddressesCheck } from './checks/listen-addresses.ts';
import { lockedTablesCheck } from './checks/locked-tables.ts';
import { lostRowsCheck } from './checks/lost-rows.ts';
import { managedSourceCheck } from './checks/managed-source.ts';
import { matviewsCheck } from './checks/matviews.ts';
import { mutableCallsCheck } from './checks/mutable-calls.ts';
import { partitionsCheck } from './checks/partitions.ts';
import { poolerDetectedCheck } from './checks/pooler-detected.ts';
import { readingChecksCheck } from './checks/reading-checks.ts';
import { removedTypesCheck } from './checks/removed-types.ts';
import { restartPendingCheck } from './checks/restart-pending.ts';
import { rlsCheck } from './checks/rls.ts';
import { searchPathCheck } from './checks/search-path.ts';
import { securityLabelsCheck } from './checks/security-labels.ts';
import { sequencesCheck } from './checks/sequences.ts';
import { sessionChecksCheck } from './checks/session-checks.ts';
import { settingChecksCheck } from './checks/setting-checks.ts';
import { sizeEstimateCheck } from './checks/size-estimate.ts';
import { standbySourceCheck } from './checks/standby-source.ts';
import { syncStandbyNamesCheck } from './checks/sync-standby-names.ts';
import { systemTablesCheck } from './checks/system-tables.ts';
import { systemValuesCheck } from './checks/system-values.ts';
import { tablespacesCheck } from './checks/tablespaces.ts';
import { tempFileLimitCheck } from './checks/temp-file-limit.ts';
import { unloggedCheck } from './checks/unlogged.ts';
import { walLevelCheck } from './checks/wal-level.ts';
import { generatedColumnsCheck, identityColumnsCheck } from './columns.ts';
import { authConnlimitCheck, connHeadroomCheck } from './connections.ts';
import { notValidCheck, timeChecksCheck } from './constraints.ts';
import { dbNoconnectCheck, ignoreUnknownCheck } from './database-access.ts';
import { collationCheck, dbNamesCheck, encodingCheck } from './database-properties.ts';
import { extensionsCheck, extTablesCheck } from './extensions.ts';
import { foreignTablesCheck, tempTablesCheck } from './foreign-tables.ts';
import { secdefCheck, untrustedLangCheck } from './functions.ts';
import { preparedXactsCheck, slotBlockersCheck } from './open-transactions.ts';
import { pubExistingCheck, subsExistingCheck } from './publications.ts';
import { fullWithoutEqCheck, replicaIdentityCheck } from './replica-identity.ts';
import { authExpiryWindowCheck, superuserCheck } from './role.ts';
import { roleReadonlyCheck, roleTimeoutsCheck } from './role-config.ts';
import { slotsFreeCheck, slotsVsDbsCheck } from './slots.ts';
import { tlsCertCheck, tlsNegotiateCheck, tlsRequiredCheck } from './tls.ts';
import { alwaysTriggersCheck, eventTriggersCheck } from './triggers.ts';
import { notPostgresCheck, postgresqlVersionMinCheck, postgresqlVersionNotNewerCheck } from './version.ts';
import { dumpQuiescedCheck, walRateCheck } from './wal-rate.ts';
import { walSendersCheck, workerProcessesCheck } from './wal-senders.ts';
import { decodingMemCheck, slotRetentionCheck, walSenderTimeoutCheck } from './wal-settings.ts';

/** Every check of a PostgreSQL source, in the order of the report. */
export const postgresqlChecks: readonly PostgresqlCheck[] = [
  hostParseCheck,
  postgresqlHostPublicAddressCheck,
  postgresqlHostSplitHorizonCheck,
  postgresqlHostIpv6OnlyCheck,
  tcpConnectCheck,
  portDefaultCheck,
  selfTargetCheck,
  tlsNegotiateCheck,
  tlsRequiredCheck,
  tlsCertCheck,
  authPasswordCheck,
  authHbaCheck,
  authExpiryWindowCheck,
  authConnlimitCheck,
  connHeadroomCheck,
  dbExistsCheck,
  dbNoconnectCheck,
  ignoreUnknownCheck,
  poolerDetectedCheck,
  replConnectionCheck,
  postgresqlVersionMinCheck,
  postgresqlVersionNotNewerCheck,
  notPostgresCheck,
  managedSourceCheck,
  superuserCheck,
  roleReadonlyCheck,
  roleTimeoutsCheck,
  dumpTimeoutsCheck,
  tempFileLimitCheck,
  dumpLocksCheck,
  walLevelCheck,
  restartPendingCheck,
  slotsVsDbsCheck,
  slotsFreeCheck,
  walSendersCheck,
  workerProcessesCheck,
  listenAddressesCheck,
  hbaRuleCheck,
  standbySourceCheck,
  slotBlockersCheck,
  leftoversCheck,
  slotRetentionCheck,
  walSenderTimeoutCheck,
  decodingMemCheck,
  syncStandbyNamesCheck,
  replicaIdentityCheck,
  fullWithoutEqCheck,
  unloggedCheck,
  foreignTablesCheck,
  tempTablesCheck,
  partitionsCheck,
  largeObjectsCheck,
  sequencesCheck,
  matviewsCheck,
  generatedColumnsCheck,
  identityColumnsCheck,
  extensionsCheck,
  extTablesCheck,
  extFunctionsCheck,
  systemTablesCheck,
  alwaysTriggersCheck,
  eventTriggersCheck,
  untrustedLangCheck,
  dictionariesCheck,
  secdefCheck,
  searchPathCheck,
  tablespacesCheck,
  supersCheck,
  rolePasswordsCheck,
  encodingCheck,
  collationCheck,
  rlsCheck,
  dumpPrivsCheck,
  dumpQuiescedCheck,
  preparedXactsCheck,
  lockedTablesCheck,
  subsExistingCheck,
  pubExistingCheck,
  dbNamesCheck,
  invalidIndexCheck,
  notValidCheck,
  timeChecksCheck,
  settingChecksCheck,
  sessionChecksCheck,
  readingChecksCheck,
  callableNamesCheck,
  systemValuesCheck,
  sizeEstimateCheck,
  walRateCheck,
  ddlActivityCheck,
  removedTypesCheck,
  mutableCallsCheck,
  securityLabelsCheck,
  lostRowsCheck,
];
