import type { AnyCheck } from './check.ts';
import { aclPsync } from './checks/acl-psync.ts';
import { aclScan } from './checks/acl-scan.ts';
import { auth } from './checks/auth.ts';
import { bgsaveBroken } from './checks/bgsave-broken.ts';
import { bigKeys } from './checks/big-keys.ts';
import { busyScript } from './checks/busy-script.ts';
import { clusterSource } from './checks/cluster-source.ts';
import { databasesCount } from './checks/databases-count.ts';
import { evictingNow } from './checks/evicting-now.ts';
import { forkMemory } from './checks/fork-memory.ts';
import { functionsEtc } from './checks/functions-etc.ts';
import { keyspaceNotifications } from './checks/keyspace-notifications.ts';
import { loading } from './checks/loading.ts';
import { managedBlocked } from './checks/managed-blocked.ts';
import { maxclients } from './checks/maxclients.ts';
import { maxmemory } from './checks/maxmemory.ts';
import { minReplicasCheck } from './checks/min-replicas.ts';
import { modules } from './checks/modules.ts';
import { multiDb } from './checks/multi-db.ts';
import { pingRefused } from './checks/ping-refused.ts';
import { protectedModeCheck } from './checks/protected-mode.ts';
import { psyncCommand } from './checks/psync-command.ts';
import { redisConnect } from './checks/redis-connect.ts';
import { hostIpv6Only, hostPublicAddress, hostSplitHorizon, redisDns } from './checks/redis-dns.ts';
import { redisTls } from './checks/redis-tls.ts';
import { renamedCommands } from './checks/renamed-commands.ts';
import { renamedWrites } from './checks/renamed-writes.ts';
import { disklessDelay, replBacklog, replTimeout } from './checks/repl-settings.ts';
import { replicaOutputBuffer } from './checks/replica-output-buffer.ts';
import { roleReplica } from './checks/role-replica.ts';
import { sourceMemory } from './checks/source-memory.ts';
import { tlsReplicationCheck } from './checks/tls-replication.ts';
import { versionMin } from './checks/version-min.ts';
import { versionNotNewer } from './checks/version-not-newer.ts';
import { waitUsers } from './checks/wait-users.ts';

/** Every check of a Redis source, in the order of the findings. */
export const catalogue: readonly AnyCheck[] = [
  redisDns,
  hostPublicAddress,
  hostSplitHorizon,
  hostIpv6Only,
  redisConnect,
  redisTls,
  protectedModeCheck,
  auth,
  psyncCommand,
  aclPsync,
  aclScan,
  managedBlocked,
  versionNotNewer,
  versionMin,
  clusterSource,
  databasesCount,
  multiDb,
  modules,
  functionsEtc,
  roleReplica,
  loading,
  busyScript,
  pingRefused,
  bgsaveBroken,
  forkMemory,
  replicaOutputBuffer,
  replBacklog,
  replTimeout,
  sourceMemory,
  disklessDelay,
  minReplicasCheck,
  waitUsers,
  maxmemory,
  evictingNow,
  bigKeys,
  tlsReplicationCheck,
  maxclients,
  renamedCommands,
  renamedWrites,
  keyspaceNotifications,
];
