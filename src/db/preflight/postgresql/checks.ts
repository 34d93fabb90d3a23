import type { PostgresqlCheck } from './check.ts';
import { addedExtensionMembersCheck } from './checks/added-members.ts';
import { alwaysTriggersCheck } from './checks/always-triggers.ts';
import { authConnlimitCheck } from './checks/auth-connlimit.ts';
import { authExpiryWindowCheck } from './checks/auth-expiry-window.ts';
import { authHbaCheck } from './checks/auth-hba.ts';
import { authMethodCheck } from './checks/auth-method.ts';
import { authPasswordCheck } from './checks/auth-password.ts';
import { ambiguousCallableNamesCheck } from './checks/callable-names.ts';
import { checkedAgainCheck } from './checks/checked-again.ts';
import { collationCheck } from './checks/collation.ts';
import { columnOrderCheck } from './checks/column-order.ts';
import { computedAgainCheck } from './checks/computed-again.ts';
import { connHeadroomCheck } from './checks/conn-headroom.ts';
import { damagedStorageCheck } from './checks/damaged-storage.ts';
import { dbExistsCheck } from './checks/db-exists.ts';
import { dbNamesCheck } from './checks/db-names.ts';
import { dbNoconnectCheck } from './checks/db-noconnect.ts';
import { ddlActivityCheck } from './checks/ddl-activity.ts';
import { decodingMemCheck } from './checks/decoding-mem.ts';
import { dictionariesCheck } from './checks/dictionaries.ts';
import { dumpLocksCheck } from './checks/dump-locks.ts';
import { dumpOptionsCheck } from './checks/dump-options.ts';
import { dumpPrivsCheck } from './checks/dump-privs.ts';
import { dumpQuiescedCheck } from './checks/dump-quiesced.ts';
import { dumpTimeoutsCheck } from './checks/dump-timeouts.ts';
import { duplicateKeysCheck } from './checks/duplicate-keys.ts';
import { encodingCheck } from './checks/encoding.ts';
import { eventTriggersCheck } from './checks/event-triggers.ts';
import { extFunctionsCheck } from './checks/ext-functions.ts';
import { extensionTablesCheck } from './checks/ext-tables.ts';
import { extensionsCheck } from './checks/extensions.ts';
import { foreignTablesCheck } from './checks/foreign-tables.ts';
import { fullWithoutEqCheck } from './checks/full-without-eq.ts';
import { functionResultsCheck } from './checks/function-results.ts';
import { functionSettingsCheck } from './checks/function-settings.ts';
import { functionSyntaxCheck } from './checks/function-syntax.ts';
import { generatedColumnsCheck } from './checks/generated-columns.ts';
import { grantsCheck } from './checks/grants.ts';
import { hbaRuleCheck } from './checks/hba-rule.ts';
import { postgresqlHostIpv6OnlyCheck } from './checks/host-ipv6-only.ts';
import { hostParseConflictCheck } from './checks/host-parse.ts';
import { postgresqlHostPublicAddressCheck } from './checks/host-public-address.ts';
import { postgresqlHostSplitHorizonCheck } from './checks/host-split-horizon.ts';
import { identityColumnsCheck } from './checks/identity-columns.ts';
import { ignoredDatabasesExistCheck } from './checks/ignore-unknown.ts';
import { invalidBytesCheck } from './checks/invalid-bytes.ts';
import { invalidIndexCheck } from './checks/invalid-index.ts';
import { largeObjectsCheck } from './checks/large-objects.ts';
import { largeValuesCheck } from './checks/large-values.ts';
import { leftoversCheck } from './checks/leftovers.ts';
import { listenAddressesCheck } from './checks/listen-addresses.ts';
import { lockedTablesCheck } from './checks/locked-tables.ts';
import { lostCatalogRowsCheck } from './checks/lost-rows.ts';
import { managedSourceCheck } from './checks/managed-source.ts';
import { matviewsCheck } from './checks/matviews.ts';
import { mutableCallsCheck } from './checks/mutable-calls.ts';
import { notPostgresCheck } from './checks/not-postgres.ts';
import { notValidCheck } from './checks/not-valid.ts';
import { orphanedRowsCheck } from './checks/orphaned-rows.ts';
import { outputPluginCheck } from './checks/output-plugin.ts';
import { ownerRightsCheck } from './checks/owner-rights.ts';
import { partitionsCheck } from './checks/partitions.ts';
import { poolerDetectedCheck } from './checks/pooler-detected.ts';
import { portDefaultPoolerCheck } from './checks/port-default.ts';
import { preparedXactsCheck } from './checks/prepared-xacts.ts';
import { pubExistingCheck } from './checks/pub-existing.ts';
import { readingChecksCheck } from './checks/reading-checks.ts';
import { tableReadingFunctionsCheck } from './checks/reading-functions.ts';
import { removedTypesCheck } from './checks/removed-types.ts';
import { replConnectionCheck } from './checks/repl-connection.ts';
import { replicaIdentityCheck } from './checks/replica-identity.ts';
import { restartPendingCheck } from './checks/restart-pending.ts';
import { rlsCheck } from './checks/rls.ts';
import { rolePasswordsCheck } from './checks/role-passwords.ts';
import { roleReadonlyCheck } from './checks/role-readonly.ts';
import { roleTimeoutsCheck } from './checks/role-timeouts.ts';
import { sameServerPerConnectionCheck } from './checks/same-server.ts';
import { searchPathCheck } from './checks/search-path.ts';
import { secdefCheck } from './checks/secdef.ts';
import { securityLabelsCheck } from './checks/security-labels.ts';
import { selfTargetCheck } from './checks/self-target.ts';
import { sequencesCheck } from './checks/sequences.ts';
import { postgresqlServerIdentityVerifiedCheck } from './checks/server-identity.ts';
import { sessionChecksCheck } from './checks/session-checks.ts';
import { settingDependentChecksCheck } from './checks/setting-checks.ts';
import { sizeEstimateCheck } from './checks/size-estimate.ts';
import { slotBlockersCheck } from './checks/slot-blockers.ts';
import { slotRetentionCheck } from './checks/slot-retention.ts';
import { slotsFreeCheck } from './checks/slots-free.ts';
import { slotsVsDbsCheck } from './checks/slots-vs-dbs.ts';
import { standbySourceCheck } from './checks/standby-source.ts';
import { storedRoleCheck } from './checks/stored-role.ts';
import { subsExistingCheck } from './checks/subs-existing.ts';
import { otherSupersCheck } from './checks/supers.ts';
import { superuserCheck } from './checks/superuser.ts';
import { superuserObjectsCheck } from './checks/superuser-objects.ts';
import { syncStandbyNamesCheck } from './checks/sync-standby-names.ts';
import { systemTablesCheck } from './checks/system-tables.ts';
import { systemValuesCheck } from './checks/system-values.ts';
import { tableoidDependenceCheck } from './checks/table-oids.ts';
import { tablespacesCheck } from './checks/tablespaces.ts';
import { targetEmptyCheck } from './checks/target-empty.ts';
import { targetLoginCheck } from './checks/target-login.ts';
import { targetWorkersCheck } from './checks/target-workers.ts';
import { tcpConnectCheck } from './checks/tcp-connect.ts';
import { tempFileLimitCheck } from './checks/temp-file-limit.ts';
import { tempTablesCheck } from './checks/temp-tables.ts';
import { timeChecksCheck } from './checks/time-checks.ts';
import { timeZonesCheck } from './checks/time-zones.ts';
import { tlsCertCheck } from './checks/tls-cert.ts';
import { tlsNegotiateCheck } from './checks/tls-negotiate.ts';
import { tlsRequiredCheck } from './checks/tls-required.ts';
import { unloggedCheck } from './checks/unlogged.ts';
import { unreadTablesCheck } from './checks/unread-tables.ts';
import { untrustedLangCheck } from './checks/untrusted-lang.ts';
import { postgresqlVersionMinCheck } from './checks/version-min.ts';
import { postgresqlVersionNotNewerCheck } from './checks/version-not-newer.ts';
import { walLevelCheck } from './checks/wal-level.ts';
import { walRateCheck } from './checks/wal-rate.ts';
import { walSenderTimeoutCheck } from './checks/wal-sender-timeout.ts';
import { walSendersCheck } from './checks/wal-senders.ts';
import { workerProcessesCheck } from './checks/worker-processes.ts';
import { xidWraparoundCheck } from './checks/xid-wraparound.ts';

/** Every check of a PostgreSQL source, in the order of the report. */
export const postgresqlChecks: readonly PostgresqlCheck[] = [
  hostParseConflictCheck,
  postgresqlHostPublicAddressCheck,
  postgresqlHostSplitHorizonCheck,
  postgresqlHostIpv6OnlyCheck,
  tcpConnectCheck,
  portDefaultPoolerCheck,
  selfTargetCheck,
  targetLoginCheck,
  targetWorkersCheck,
  targetEmptyCheck,
  tlsNegotiateCheck,
  tlsRequiredCheck,
  tlsCertCheck,
  postgresqlServerIdentityVerifiedCheck,
  authMethodCheck,
  authPasswordCheck,
  authHbaCheck,
  authExpiryWindowCheck,
  authConnlimitCheck,
  connHeadroomCheck,
  dbExistsCheck,
  dbNoconnectCheck,
  ignoredDatabasesExistCheck,
  poolerDetectedCheck,
  sameServerPerConnectionCheck,
  replConnectionCheck,
  postgresqlVersionMinCheck,
  postgresqlVersionNotNewerCheck,
  notPostgresCheck,
  managedSourceCheck,
  superuserCheck,
  storedRoleCheck,
  roleReadonlyCheck,
  roleTimeoutsCheck,
  dumpTimeoutsCheck,
  tempFileLimitCheck,
  dumpLocksCheck,
  walLevelCheck,
  outputPluginCheck,
  restartPendingCheck,
  slotsVsDbsCheck,
  slotsFreeCheck,
  walSendersCheck,
  workerProcessesCheck,
  listenAddressesCheck,
  hbaRuleCheck,
  standbySourceCheck,
  xidWraparoundCheck,
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
  extensionTablesCheck,
  extFunctionsCheck,
  addedExtensionMembersCheck,
  systemTablesCheck,
  alwaysTriggersCheck,
  eventTriggersCheck,
  untrustedLangCheck,
  superuserObjectsCheck,
  functionSettingsCheck,
  dictionariesCheck,
  secdefCheck,
  searchPathCheck,
  tablespacesCheck,
  otherSupersCheck,
  rolePasswordsCheck,
  grantsCheck,
  encodingCheck,
  collationCheck,
  rlsCheck,
  ownerRightsCheck,
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
  timeZonesCheck,
  settingDependentChecksCheck,
  sessionChecksCheck,
  readingChecksCheck,
  tableReadingFunctionsCheck,
  functionResultsCheck,
  functionSyntaxCheck,
  checkedAgainCheck,
  computedAgainCheck,
  tableoidDependenceCheck,
  columnOrderCheck,
  ambiguousCallableNamesCheck,
  systemValuesCheck,
  largeValuesCheck,
  sizeEstimateCheck,
  walRateCheck,
  ddlActivityCheck,
  removedTypesCheck,
  dumpOptionsCheck,
  mutableCallsCheck,
  securityLabelsCheck,
  lostCatalogRowsCheck,
  damagedStorageCheck,
  unreadTablesCheck,
  invalidBytesCheck,
  duplicateKeysCheck,
  orphanedRowsCheck,
];
