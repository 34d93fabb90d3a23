import type { RedisCheck } from './check.ts';
import { aclPsyncCheck } from './checks/acl-psync.ts';
import { aclScanCheck } from './checks/acl-scan.ts';
import { authCheck } from './checks/auth.ts';
import { authCleartextCheck } from './checks/auth-cleartext.ts';
import { bgsaveBrokenCheck } from './checks/bgsave-broken.ts';
import { bigKeysCheck } from './checks/big-keys.ts';
import { busyScriptCheck } from './checks/busy-script.ts';
import { cachedScriptsCheck } from './checks/cached-scripts.ts';
import { clockCheck } from './checks/clock.ts';
import { clusterSourceCheck } from './checks/cluster-source.ts';
import { databasesCountCheck } from './checks/databases-count.ts';
import { disklessDelayCheck } from './checks/diskless-delay.ts';
import { evictingNowCheck } from './checks/evicting-now.ts';
import { forkMemoryCheck } from './checks/fork-memory.ts';
import { functionsStreamsEtcCheck } from './checks/functions-etc.ts';
import { redisHostIpv6OnlyCheck } from './checks/host-ipv6-only.ts';
import { redisHostPublicAddressCheck } from './checks/host-public-address.ts';
import { redisHostSplitHorizonCheck } from './checks/host-split-horizon.ts';
import { keyspaceNotificationsCheck } from './checks/keyspace-notifications.ts';
import { loadingCheck } from './checks/loading.ts';
import { managedBlockedCheck } from './checks/managed-blocked.ts';
import { maxclientsCheck } from './checks/maxclients.ts';
import { maxmemoryCheck } from './checks/maxmemory.ts';
import { minReplicasCheck } from './checks/min-replicas.ts';
import { modulesCheck } from './checks/modules.ts';
import { multiDbCheck } from './checks/multi-db.ts';
import { pingRefusedCheck } from './checks/ping-refused.ts';
import { protectedModeCheck } from './checks/protected-mode.ts';
import { psyncCommandCheck } from './checks/psync-command.ts';
import { redisConnectCheck } from './checks/redis-connect.ts';
import { redisDnsCheck } from './checks/redis-dns.ts';
import { redisTlsCheck } from './checks/redis-tls.ts';
import { renamedCommandsCheck } from './checks/renamed-commands.ts';
import { renamedWriteCommandsCheck } from './checks/renamed-writes.ts';
import { replBacklogCheck } from './checks/repl-backlog.ts';
import { replTimeoutCheck } from './checks/repl-timeout.ts';
import { replicaOutputBufferCheck } from './checks/replica-output-buffer.ts';
import { roleReplicaSourceCheck } from './checks/role-replica.ts';
import { scriptReplicationCheck } from './checks/script-replication.ts';
import { sentinelCheck } from './checks/sentinel.ts';
import { redisServerIdentityCheck } from './checks/server-identity.ts';
import { sourceMemoryCheck } from './checks/source-memory.ts';
import { targetCommandsCheck } from './checks/target-commands.ts';
import { tlsReplicationCheck } from './checks/tls-replication.ts';
import { redisVersionMinCheck } from './checks/version-min.ts';
import { redisVersionNotNewerCheck } from './checks/version-not-newer.ts';
import { waitUsersCheck } from './checks/wait-users.ts';

/** Every check of a Redis source, in the order of the findings. */
export const redisChecks: readonly RedisCheck[] = [
  redisDnsCheck,
  redisHostPublicAddressCheck,
  redisHostSplitHorizonCheck,
  redisHostIpv6OnlyCheck,
  redisConnectCheck,
  redisTlsCheck,
  redisServerIdentityCheck,
  protectedModeCheck,
  authCheck,
  authCleartextCheck,
  psyncCommandCheck,
  aclPsyncCheck,
  aclScanCheck,
  managedBlockedCheck,
  redisVersionNotNewerCheck,
  targetCommandsCheck,
  redisVersionMinCheck,
  clusterSourceCheck,
  databasesCountCheck,
  multiDbCheck,
  modulesCheck,
  functionsStreamsEtcCheck,
  cachedScriptsCheck,
  roleReplicaSourceCheck,
  sentinelCheck,
  loadingCheck,
  busyScriptCheck,
  pingRefusedCheck,
  bgsaveBrokenCheck,
  forkMemoryCheck,
  replicaOutputBufferCheck,
  replBacklogCheck,
  replTimeoutCheck,
  sourceMemoryCheck,
  disklessDelayCheck,
  minReplicasCheck,
  waitUsersCheck,
  maxmemoryCheck,
  evictingNowCheck,
  clockCheck,
  bigKeysCheck,
  tlsReplicationCheck,
  maxclientsCheck,
  renamedCommandsCheck,
  renamedWriteCommandsCheck,
  scriptReplicationCheck,
  keyspaceNotificationsCheck,
];
