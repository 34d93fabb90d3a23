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
import { rolePasswords, supers } from './carried-roles.ts';
import type { AnyCheck } from './check.ts';
import { authConnlimit, connHeadroom } from './connections.ts';
import { dbNoconnect, ignoreUnknown } from './database-access.ts';
import { collation, dbNames, encoding } from './database-properties.ts';
import { hostRule } from './host-rule.ts';
import { leftovers } from './leftovers.ts';
import { listenAddresses } from './listen-addresses.ts';
import { managedSource } from './managed.ts';
import { preparedXacts, slotBlockers } from './open-transactions.ts';
import { poolerDetected } from './pooler.ts';
import { restartPending } from './restart-pending.ts';
import { authExpiryWindow, superuser } from './role.ts';
import { roleReadonly, roleTimeouts } from './role-config.ts';
import { sizeEstimate } from './size-estimate.ts';
import { slotsFree, slotsVsDbs } from './slots.ts';
import { standbySource } from './standby-source.ts';
import { syncStandbyNames } from './sync-standby.ts';
import { tlsCert, tlsNegotiate, tlsRequired } from './tls.ts';
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
  supers,
  rolePasswords,
  encoding,
  collation,
  dumpQuiesced,
  preparedXacts,
  dbNames,
  sizeEstimate,
  walRate,
];
