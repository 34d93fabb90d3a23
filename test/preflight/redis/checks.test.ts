import { expect, test } from 'vitest';
import type { PreflightOptions } from '../../../src/preflight/preflight-options.ts';
import { redisChecks } from '../../../src/preflight/redis/checks.ts';
import type { KeySample } from '../../../src/preflight/redis/key-sample.ts';
import type { RedisSourceFacts } from '../../../src/preflight/redis/source-facts.ts';
import { ground, judged, type Recorded } from './recorded.ts';
import { healthy } from './recordings.ts';

interface Case {
  readonly server?: Recorded;
  readonly ground?: Partial<RedisSourceFacts>;
  readonly wish?: Partial<PreflightOptions>;
  readonly status: string;
  readonly blocks?: readonly string[];
  /** Part of the observation, the detail or the cure. */
  readonly says?: string;
}

const both = ['continuous', 'scan'];
const base = ground().address;
const dialled = {
  ...base,
  connects: [{ address: '127.0.0.1', took: 1 }],
  lookup: found('127.0.0.1'),
  dns4: found('127.0.0.1'),
};
const denied = 'NOPERM this user has no permissions to run';

/** Every check, each way it can go. The rest of the server is in order. */
const table: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  'redis-dns': {
    'a name with an address': { status: 'pass', says: '203.0.113.7' },
    'an address': { ground: { address: { ...base, host: '203.0.113.7', kind: 'address' } }, status: 'pass' },
    'a name without one': {
      ground: { address: unresolved() },
      status: 'fail',
      blocks: both,
      says: 'the name does not exist',
    },
  },
  'host-public-address': {
    'a public address': { ground: { address: resolved('8.8.8.8') }, wish: { asPublic: true }, status: 'pass' },
    'a private one': {
      ground: { address: resolved('10.0.0.1') },
      wish: { asPublic: true },
      status: 'fail',
      blocks: both,
    },
    'a private one, near the service': { ground: { address: resolved('10.0.0.1') }, status: 'pass' },
  },
  'host-split-horizon': {
    'the same everywhere': { wish: { asPublic: true }, status: 'pass' },
    'another here': {
      ground: { address: { ...base, lookup: found('10.0.0.1') } },
      wish: { asPublic: true },
      status: 'warn',
    },
  },
  'host-ipv6-only': {
    IPv4: { wish: { asPublic: true }, status: 'pass' },
    'IPv6 only': {
      ground: { address: { ...base, dns4: absent(), dns6: found('2600::1') } },
      wish: { asPublic: true },
      status: 'warn',
    },
  },
  'redis-connect': {
    'a connection': { status: 'pass' },
    refused: {
      ground: cut('network', 'ECONNREFUSED', 'connection refused', 'ECONNREFUSED'),
      status: 'fail',
      blocks: both,
      says: 'bind',
    },
    dropped: { ground: cut('network', 'ETIMEDOUT', 'no answer', 'ETIMEDOUT'), status: 'fail', says: 'firewall' },
    'hung up': {
      ground: cut('startup', 'EPIPE', 'the connection was closed by the other side'),
      status: 'fail',
      blocks: both,
      says: 'protected mode (DENIED)',
    },
    'another service': {
      ground: cut('startup', 'PROTOCOL', 'what answers does not speak'),
      status: 'fail',
      says: 'Another service',
    },
    'a break in the middle': { ground: { broken: 'INFO: closed' }, status: 'fail', blocks: both, says: 'INFO: closed' },
    'a stranger that says yes to everything': {
      server: healthy({ more: { replies: { INFO: 'OK' } } }),
      status: 'fail',
      blocks: both,
      says: 'INFO tells nothing',
    },
    silence: { ground: cut('startup', 'ETIMEDOUT', 'connected, but no answer'), status: 'fail', says: 'PING' },
    'a wrong password is another matter': { ground: cut('startup', 'WRONGPASS', 'WRONGPASS invalid'), status: 'pass' },
  },
  'redis-tls': {
    'a certificate': { ground: { ssl: true, tls: certificate(90) }, status: 'pass', says: '90 days' },
    'one that ends soon': { ground: { ssl: true, tls: certificate(5) }, status: 'warn', says: '5 days' },
    'one that has ended': {
      ground: { ssl: true, tls: certificate(-3) },
      status: 'fail',
      blocks: ['continuous'],
      says: 'expired 3 days ago',
    },
    'none shown': { ground: { ssl: true, tls: { offered: 'yes', version: 'TLSv1.3' } }, status: 'info' },
    'no TLS there': {
      ground: { ssl: true, ...cut('tls', 'NO_TLS', 'the server does not speak TLS') },
      status: 'fail',
      blocks: both,
      says: '--disable-ssl',
    },
    'a failed handshake': {
      ground: { ssl: true, ...cut('tls', 'TLS', 'self-signed certificate') },
      status: 'fail',
      says: '--ca-file',
    },
    'a client certificate': {
      ground: { ssl: true, ...cut('tls', 'TLS', 'client certificate (tls-auth-clients)') },
      status: 'fail',
      says: 'tls-auth-clients optional',
    },
    'silence in the handshake': {
      ground: { ssl: true, ...cut('tls', 'TLS', 'no answer to the TLS handshake') },
      status: 'fail',
      says: 'openssl s_client',
    },
    'TLS only': {
      ground: cut('startup', 'ONLY_TLS', 'the server speaks TLS'),
      status: 'fail',
      blocks: both,
      says: 'rediss://',
    },
    'plain, over the internet': { wish: { asPublic: true }, status: 'warn', says: 'in clear' },
    'plain, nearby': { status: 'pass' },
    'no connection': { ground: cut('network', 'ECONNREFUSED', 'connection refused', 'ECONNREFUSED'), status: 'skip' },
  },
  'protected-mode': {
    'let in from elsewhere': { status: 'pass' },
    refused: {
      ground: cut('startup', 'DENIED', 'DENIED Redis is running in protected mode'),
      status: 'fail',
      blocks: both,
      says: 'requirepass',
    },
    'refused for another reason': {
      ground: cut('startup', 'NOAUTH', 'NOAUTH Authentication required.'),
      status: 'skip',
    },
    'on the machine itself, open to none': {
      server: healthy({ config: { bind: '127.0.0.1 -::1' } }),
      ground: { address: dialled },
      wish: { asPublic: true },
      status: 'fail',
      says: 'bind 127.0.0.1 -::1',
    },
    'on the machine itself, without a password': {
      ground: { address: dialled, connection: { kind: 'entered', auth: 'open' } },
      wish: { asPublic: true },
      status: 'fail',
      says: 'DENIED',
    },
    'on the machine itself, with one': { ground: { address: dialled }, wish: { asPublic: true }, status: 'pass' },
    'on the machine itself, and CONFIG denied': {
      server: healthy({ more: { replies: { 'CONFIG GET': `-${denied} 'config|get'` } } }),
      ground: { address: dialled },
      wish: { asPublic: true },
      status: 'unknown',
      says: 'config',
    },
  },
  auth: {
    'a password': { status: 'pass' },
    'no password, nearby': { ground: { connection: { kind: 'entered', auth: 'open' } }, status: 'pass' },
    'no password, on the internet': {
      ground: { connection: { kind: 'entered', auth: 'open' } },
      wish: { asPublic: true },
      status: 'warn',
    },
    'one too many': {
      ground: { connection: { kind: 'entered', auth: 'needless', authReply: 'ERR' } },
      status: 'fail',
      blocks: both,
      says: 'Unable to AUTH',
    },
    'none where one is asked': {
      ground: cut('startup', 'NOAUTH', 'NOAUTH Authentication required.'),
      status: 'fail',
      blocks: both,
      says: 'REDISCLI_AUTH',
    },
    'a wrong one': { ground: cut('startup', 'WRONGPASS', 'WRONGPASS invalid'), status: 'fail', says: 'ACL LIST' },
    'a user before there were users': {
      ground: cut('startup', 'ERR', "ERR wrong number of arguments for 'auth' command"),
      status: 'fail',
      says: 'before 6.0',
    },
    'AUTH renamed': {
      ground: cut('startup', 'ERR', "ERR unknown command 'AUTH'"),
      status: 'fail',
      says: 'rename-command',
    },
    'not so far': { ground: cut('tls', 'TLS', 'no'), status: 'skip' },
    'a user without a password': {
      ground: { isUsernameUnused: true, connection: { kind: 'entered', auth: 'open' } },
      status: 'warn',
      says: 'entered as default',
    },
    'a user without a password, where one is asked': {
      ground: { isUsernameUnused: true, ...cut('startup', 'NOAUTH', 'NOAUTH Authentication required.') },
      status: 'fail',
      says: 'of a user with nopass any will do',
    },
  },
  'psync-command': {
    'a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' }, more: { lacks: ['psync'] } }), status: 'skip' },
    there: { status: 'pass' },
    'SYNC alone': {
      server: healthy({ more: { lacks: ['psync'] }, config: { 'repl-diskless-sync': 'no' } }),
      status: 'warn',
      says: 'SYNC',
    },
    'SYNC alone, without the disk': {
      server: healthy({ more: { lacks: ['psync'] }, config: { 'repl-diskless-sync': 'yes' } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'never come',
    },
    neither: { server: healthy({ more: { lacks: ['psync', 'sync'] } }), status: 'fail', blocks: ['continuous'] },
    'no PING': {
      server: healthy({ more: { lacks: ['ping'] } }),
      status: 'fail',
      blocks: ['continuous'],
      says: "unknown command 'PING'",
    },
    'neither, and no SCAN': {
      server: healthy({ more: { lacks: ['psync', 'sync', 'scan'] } }),
      status: 'fail',
      blocks: both,
    },
    'COMMAND denied': {
      server: healthy({ more: { replies: { 'COMMAND INFO': `-${denied} 'command|info'` } } }),
      status: 'unknown',
      says: '+command|info',
    },
    'tried and accepted': {
      server: healthy({ more: { lacks: ['psync', 'sync'] } }),
      ground: { probe: { kind: 'accepted', reply: '+FULLRESYNC' } },
      status: 'pass',
    },
    'tried and refused': {
      ground: { probe: { kind: 'refused', code: 'ERR', message: 'ERR unknown command' } },
      status: 'fail',
      blocks: ['continuous'],
    },
    'not entered': { ground: cut('startup', 'NOAUTH', 'NOAUTH'), status: 'skip' },
  },
  'acl-psync': {
    'may do it': { status: 'pass' },
    'may not': {
      server: healthy({
        more: {
          replies: { 'ACL DRYRUN default PSYNC ? -1': "User default has no permissions to run the 'psync' command" },
        },
      }),
      status: 'fail',
      blocks: ['continuous'],
      says: '+psync',
    },
    'may not, and SYNC comes over the disk': {
      server: healthy({
        config: { 'repl-diskless-sync': 'no' },
        more: { replies: { 'ACL DRYRUN default PSYNC ? -1': 'no' } },
      }),
      status: 'warn',
      says: 'copies everything again',
    },
    'may neither PSYNC nor SYNC': {
      server: healthy({
        config: { 'repl-diskless-sync': 'no' },
        more: { replies: { 'ACL DRYRUN default PSYNC ? -1': 'no', 'ACL DRYRUN default SYNC': 'no' } },
      }),
      status: 'fail',
      blocks: ['continuous'],
    },
    'may not INFO': {
      server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'ACL SETUSER default +info',
    },
    'may not INFO, and nothing else can be asked': {
      server: healthy({
        more: {
          replies: {
            INFO: `-${denied} 'info' command`,
            'ACL DRYRUN': `-${denied} 'acl|dryrun'`,
            'ACL GETUSER': `-${denied} 'acl|getuser'`,
          },
        },
      }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'ACL SETUSER default +psync +replconf +info',
    },
    'may not REPLCONF': {
      server: healthy({ more: { replies: { 'ACL DRYRUN default REPLCONF listening-port 6379': 'no' } } }),
      status: 'warn',
      says: 'every second',
    },
    'by the rules of 6.x': {
      server: healthy({ more: { lacks: ['acl dryrun'], rules: '+@all -@dangerous +psync' } }),
      status: 'warn',
      says: 'REPLCONF',
    },
    'not by the rules of 6.x': {
      server: healthy({ more: { lacks: ['acl dryrun'], rules: '-@all +@read' } }),
      status: 'fail',
      blocks: ['continuous'],
    },
    'before there were users': {
      server: healthy({ info: { redis_version: '5.0.14' }, more: { lacks: ['acl'] } }),
      status: 'pass',
      says: 'no users',
    },
    'ACL hidden': { server: healthy({ more: { lacks: ['acl'] } }), status: 'unknown' },
    'ACL denied': {
      server: healthy({
        more: { replies: { 'ACL DRYRUN': `-${denied} 'acl|dryrun'`, 'ACL GETUSER': `-${denied} 'acl|getuser'` } },
      }),
      status: 'unknown',
      says: '+acl|dryrun',
    },
    'tried and refused': {
      ground: { probe: { kind: 'refused', code: 'NOPERM', message: `${denied} 'psync'` } },
      status: 'fail',
    },
  },
  'acl-scan': {
    'may do it': { status: 'pass', says: 'SCAN' },
    'may not DUMP': {
      server: healthy({ more: { replies: { 'ACL DRYRUN default DUMP cloudctl:any:key': 'no' } } }),
      status: 'fail',
      blocks: ['scan'],
      says: 'ACL SETUSER default +dump',
    },
    'may not SELECT, and all keys are in database 0': {
      server: healthy({ more: { replies: { 'ACL DRYRUN default SELECT 0': 'no' } } }),
      status: 'pass',
    },
    'may not SELECT, and keys are elsewhere': {
      server: healthy({
        info: { db3: 'keys=1,expires=0,avg_ttl=0' },
        more: { replies: { 'ACL DRYRUN default SELECT 0': 'no' } },
      }),
      status: 'fail',
      blocks: ['scan'],
      says: 'ACL SETUSER default +select',
    },
    'may SELECT 0 alone': {
      server: healthy({ info: { db3: 'keys=1,expires=0,avg_ttl=0' } }),
      ground: { sample: { kind: 'denied', reason: `SCAN: ${denied} the 'select' command`, grant: '' } },
      status: 'fail',
      blocks: ['scan'],
      says: '+select',
    },
    'may not read all keys': {
      server: healthy({
        more: {
          replies: {
            'ACL DRYRUN default DUMP cloudctl:any:key': "User default has no permissions to access the 'k' key",
          },
        },
      }),
      status: 'fail',
      blocks: ['scan'],
      says: 'ACL SETUSER default ~*',
    },
    'by the rules of 6.x, not by those for keys': {
      server: healthy({
        more: {
          replies: {
            'ACL DRYRUN': "-ERR Unknown subcommand 'DRYRUN'",
            'ACL GETUSER': ['flags', [], 'passwords', [], 'commands', '+@all', 'keys', ['app:*']],
          },
        },
      }),
      status: 'fail',
      blocks: ['scan'],
      says: 'ACL SETUSER default resetkeys ~app:*',
    },
    'before there were users': {
      server: healthy({ info: { redis_version: '5.0.14' }, more: { lacks: ['acl'] } }),
      status: 'pass',
      says: 'no users',
    },
    'ACL hidden': { server: healthy({ more: { lacks: ['acl'] } }), status: 'unknown' },
    'one is refused and the rest cannot be asked': {
      server: healthy({ more: { lacks: ['acl'] } }),
      ground: { sample: { kind: 'denied', reason: `SCAN: ${denied} the 'scan' command`, grant: '' } },
      status: 'fail',
      blocks: ['scan'],
      says: 'ACL SETUSER default +scan +dump +pttl +type',
    },
  },
  'managed-blocked': {
    'no provider': { status: 'pass' },
    'a cluster of the service': {
      ground: { host: 'db-1-do-user-1.b.db.ondigitalocean.com' },
      status: 'fail',
      blocks: both,
    },
    'a provider without PSYNC': {
      server: healthy({ more: { lacks: ['psync'] } }),
      ground: { host: 'x.upstash.io' },
      status: 'fail',
      blocks: ['continuous'],
    },
    'a provider with everything': { ground: { host: 'valkey-1.shop.aivencloud.com' }, status: 'warn', says: '--probe' },
    'a provider, tried': {
      ground: { host: 'x.upstash.io', probe: { kind: 'accepted', reply: '+FULLRESYNC' } },
      status: 'info',
    },
    'a name that only ends alike': { ground: { host: 'my-upstash.io.example.com' }, status: 'pass' },
    'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown', says: '--probe' },
    'CONFIG hidden, tried': {
      server: { ...healthy(), config: 'hidden' },
      ground: { probe: { kind: 'accepted', reply: '+FULLRESYNC' } },
      status: 'info',
    },
    'CONFIG denied': {
      server: healthy({ more: { replies: { 'CONFIG GET': `-${denied} 'config|get'` } } }),
      status: 'pass',
    },
    'the default port': { ground: { port: 25061 }, status: 'info' },
  },
  'version-not-newer': {
    older: { wish: { targetVersion: 'redis-7.4' }, status: 'pass' },
    'the same': { wish: { targetVersion: '7.2.4' }, status: 'pass' },
    newer: { wish: { targetVersion: '6.2' }, status: 'fail', blocks: both, says: "Can't handle RDB format version 11" },
    'newer by a minor version without a new format': {
      server: healthy({ info: { redis_version: '6.2.1' } }),
      wish: { targetVersion: '6.0' },
      status: 'fail',
      says: 'commands that it does not know',
    },
    'not told': { wish: { targetVersion: undefined }, status: 'unknown', says: '--target-version' },
    'not readable': { wish: { targetVersion: 'latest' }, status: 'unknown' },
    'two meanings': {
      server: healthy({ info: { redis_version: '7.4.0' } }),
      wish: { targetVersion: '8' },
      status: 'unknown',
      says: 'redis-8',
    },
    'a candidate of the first format that no Valkey reads': {
      server: healthy({ info: { redis_version: '7.3.240' } }),
      wish: { targetVersion: 'valkey-8' },
      status: 'fail',
      blocks: both,
      says: 'RDB 12',
    },
    'Valkey to a Redis at least as new as the one it is like': {
      server: healthy({ info: { redis_version: '7.2.4', valkey_version: '8.0.1', server_name: 'valkey' } }),
      wish: { targetVersion: 'redis-7.4' },
      status: 'pass',
    },
    'Valkey to an older Redis': {
      server: healthy({ info: { redis_version: '7.2.4', valkey_version: '8.0.1', server_name: 'valkey' } }),
      wish: { targetVersion: 'redis-7.0' },
      status: 'fail',
    },
    'no version': { server: healthy({ info: { redis_version: '' } }), status: 'unknown' },
    'its own kind': {
      server: healthy({ info: { kvrocks_version: '2.12.0' } }),
      status: 'fail',
      blocks: ['continuous'],
    },
  },
  'version-min': {
    'new enough': { status: 'pass' },
    '3.2': { server: healthy({ info: { redis_version: '3.2.13' } }), status: 'warn', says: 'PSYNC2' },
    '2.6': { server: healthy({ info: { redis_version: '2.6.17' } }), status: 'warn', says: 'no PSYNC' },
    Valkey: { server: healthy({ info: { valkey_version: '8.0.1' } }), status: 'pass' },
  },
  'cluster-source': {
    alone: { status: 'pass' },
    'a cluster': {
      server: healthy({ info: { cluster_enabled: '1' } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'shards with slots: 3',
    },
    'one shard, whose nodes may not be asked for': {
      server: healthy({
        info: { cluster_enabled: '1' },
        more: {
          replies: {
            'CLUSTER INFO': 'cluster_state:ok\r\ncluster_size:1\r\ncluster_slots_assigned:16384',
            'CLUSTER NODES': "-NOPERM this user has no permissions to run the 'cluster|nodes' command",
          },
        },
      }),
      status: 'unknown',
      says: '+cluster|nodes',
    },
    'one shard, of which a replica was named': {
      server: healthy({
        info: { cluster_enabled: '1' },
        more: {
          replies: {
            'CLUSTER INFO': 'cluster_state:ok\r\ncluster_size:1\r\ncluster_slots_assigned:16384',
            'CLUSTER NODES':
              'b 10.0.0.2:6379@16379 myself,slave a 0 0 1 connected\na 10.0.0.1:6379@16379 master - 0 0 1 connected 0-16383\n',
          },
        },
      }),
      status: 'fail',
      blocks: ['continuous'],
    },
    'a cluster that is down': {
      server: healthy({
        info: { cluster_enabled: '1' },
        more: { replies: { 'CLUSTER INFO': 'cluster_state:fail\r\ncluster_slots_ok:16383' } },
      }),
      status: 'fail',
      blocks: both,
      says: 'CLUSTERDOWN',
    },
    'a cluster that is down and may be read': {
      server: healthy({
        info: { cluster_enabled: '1' },
        config: { 'cluster-allow-reads-when-down': 'yes' },
        more: { replies: { 'CLUSTER INFO': 'cluster_state:fail\r\ncluster_slots_ok:16383' } },
      }),
      status: 'fail',
      blocks: ['continuous'],
    },
    'INFO denied': { server: healthy({ more: { replies: { INFO: `-${denied} 'info'` } } }), status: 'pass' },
  },
  'databases-count': {
    sixteen: { status: 'pass' },
    'keys above': {
      server: healthy({ info: { db20: 'keys=3,expires=0' }, config: { databases: '32' } }),
      status: 'fail',
      blocks: both,
      says: 'db20: 3 keys',
    },
    'more, unused': { server: healthy({ config: { databases: '32' } }), status: 'warn', says: 'database 0' },
    'keys above, CONFIG hidden': {
      server: { ...healthy({ info: { db16: 'keys=1' } }), config: 'hidden' },
      status: 'fail',
    },
    'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
  },
  'multi-db': {
    one: { status: 'pass' },
    two: { server: healthy({ info: { db1: 'keys=3,expires=0' } }), status: 'warn', says: 'db1: 3 keys' },
  },
  modules: {
    none: { status: 'pass' },
    some: {
      server: healthy({ more: { modules: ['ReJSON'] } }),
      status: 'fail',
      blocks: both,
      says: 'no matching module type',
    },
    'those of the target': {
      server: healthy({ more: { modules: ['ReJSON'] } }),
      wish: { targetExtensions: ['rejson'] },
      status: 'pass',
    },
    'a type of one': { ground: { sample: sampled({ type: 'MBbloom--' }) }, status: 'fail', says: 'MBbloom--' },
    'the one that is built in': {
      server: healthy({ info: { redis_version: '8.0.4' }, more: { modules: ['vectorset'] } }),
      wish: { targetVersion: 'redis-8' },
      status: 'pass',
    },
    'denied, and INFO tells': {
      server: healthy({ more: { replies: { 'MODULE LIST': `-${denied} 'module|list'` } } }),
      status: 'pass',
    },
    'denied in 4.0': {
      server: healthy({
        info: { redis_version: '4.0.1' },
        more: { replies: { 'MODULE LIST': `-${denied} 'module'` } },
      }),
      status: 'unknown',
    },
  },
  'functions-etc': {
    none: { status: 'pass' },
    functions: { server: healthy({ more: { functions: 2 } }), status: 'info', says: '2 functions' },
    'FUNCTION STATS denied': {
      server: healthy({ more: { replies: { 'FUNCTION STATS': `-${denied} 'function|stats'` } } }),
      status: 'unknown',
      says: '+function|stats',
    },
    'FUNCTION STATS of another shape': {
      server: healthy({ more: { replies: { 'FUNCTION STATS': '-ERR out of order' } } }),
      status: 'unknown',
    },
    'functions, by scan': {
      server: healthy({ more: { functions: 2 } }),
      wish: { method: 'scan' },
      status: 'warn',
      says: 'FUNCTION DUMP',
    },
    streams: { ground: { sample: sampled({ type: 'stream' }) }, status: 'info', says: 'streams' },
    'fields that expire': {
      server: healthy({ info: { db0: 'keys=1,expires=0,avg_ttl=0,subexpiry=1' } }),
      status: 'info',
      says: '1 hashes',
    },
  },
  'role-replica': {
    primary: { status: 'pass' },
    replica: {
      server: healthy({ info: { role: 'slave', master_host: 'p', master_port: '1', master_link_status: 'up' } }),
      status: 'warn',
      says: 'p:1',
    },
    'one that has heard nothing for two pings': {
      server: healthy({ info: { role: 'slave', master_link_status: 'up', master_last_io_seconds_ago: '21' } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'nothing heard for 21 s',
    },
    'one whose primary pings seldom': {
      server: healthy({
        info: { role: 'slave', master_link_status: 'up', master_last_io_seconds_ago: '21' },
        config: { 'repl-ping-replica-period': '11' },
      }),
      status: 'warn',
    },
    'one that takes writes': {
      server: healthy({ info: { role: 'slave', master_host: 'p', master_link_status: 'up', slave_read_only: '0' } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'CONFIG SET replica-read-only yes',
    },
    'one that takes writes, before 5.0': {
      server: healthy({
        info: { redis_version: '3.2.1', role: 'slave', master_link_status: 'up', slave_read_only: '0' },
      }),
      status: 'fail',
      says: 'CONFIG SET slave-read-only yes',
    },
    'cut off': {
      server: healthy({ info: { role: 'slave', master_link_status: 'down' } }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'NOMASTERLINK',
    },
    'cut off and mute': {
      server: healthy({ info: { role: 'slave', master_link_status: 'down' } }),
      ground: { connection: { kind: 'entered', auth: 'open', notice: { code: 'MASTERDOWN', message: '' } } },
      status: 'fail',
      blocks: both,
    },
    'cut off and mute, and INFO is denied': {
      server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
      ground: { connection: { kind: 'entered', auth: 'open', notice: { code: 'MASTERDOWN', message: '' } } },
      status: 'fail',
      blocks: both,
      says: 'REPLICAOF NO ONE',
    },
    'cut off, as the probe was told': {
      server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
      ground: { probe: { kind: 'refused', code: 'NOMASTERLINK', message: "NOMASTERLINK Can't SYNC" } },
      status: 'fail',
      blocks: ['continuous'],
    },
    'INFO is denied': {
      server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
      status: 'unknown',
    },
    'a Sentinel': {
      server: healthy({ info: { redis_mode: 'sentinel' } }),
      status: 'fail',
      blocks: both,
      says: 'SENTINEL GET-MASTER',
    },
  },
  loading: {
    loaded: { status: 'pass' },
    loading: {
      server: healthy({ info: { loading: '1', loading_loaded_perc: '40.5' } }),
      status: 'fail',
      blocks: both,
      says: '40.5 %',
    },
    'PING said so': {
      ground: { connection: { kind: 'entered', auth: 'open', notice: { code: 'LOADING', message: '' } } },
      status: 'fail',
    },
  },
  'busy-script': {
    answers: { status: 'pass' },
    'a script': {
      ground: { busy: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.' },
      status: 'fail',
      blocks: both,
      says: 'redis-cli SCRIPT KILL',
    },
    'a function': {
      ground: { busy: 'BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.' },
      status: 'fail',
      says: 'redis-cli FUNCTION KILL',
    },
    'a module': { ground: { busy: 'BUSY a module is at work' }, status: 'fail', says: 'Wait for the end' },
  },
  'ping-refused': {
    PONG: { status: 'pass' },
    'a save that failed': {
      ground: told(
        'MISCONF',
        'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.',
      ),
      status: 'fail',
      blocks: ['continuous'],
      says: 'CONFIG SET stop-writes-on-bgsave-error no',
    },
    'an append-only file that cannot be written': {
      ground: told('MISCONF', 'MISCONF Errors writing to the AOF file: No space left on device'),
      status: 'fail',
      says: 'aof_last_write_status:ok',
    },
    'a word of a proxy': { ground: told('ERR', 'ERR no backend'), status: 'fail', says: 'proxy' },
    'no right to PING': { ground: told('NOPERM', 'NOPERM'), status: 'pass' },
    'PING that is not there': {
      server: healthy({ more: { lacks: ['ping'] } }),
      ground: told('ERR', "ERR unknown command 'PING'"),
      status: 'pass',
    },
  },
  'bgsave-broken': {
    ok: { status: 'pass' },
    'err, by disk': {
      server: broken({ 'repl-diskless-sync': 'no' }),
      status: 'fail',
      blocks: ['continuous'],
      says: 'CONFIG SET repl-diskless-sync yes',
    },
    'ok, and no room': {
      server: healthy({ config: { 'repl-diskless-sync': 'no' } }),
      wish: { sourceDiskFree: 5e7 },
      status: 'warn',
      says: '50.0 MB free',
    },
    'ok, no room, and none needed': { wish: { sourceDiskFree: 5e7 }, status: 'pass' },
    'err, without disk': { server: broken({ 'repl-diskless-sync': 'yes' }), status: 'warn' },
    'err, CONFIG hidden, before 7.0': {
      server: { ...broken({}), info: { ...broken({}).info, redis_version: '6.2.1' }, config: 'hidden' },
      status: 'fail',
    },
    'err, CONFIG hidden, later': { server: { ...broken({}), config: 'hidden' }, status: 'warn' },
  },
  'fork-memory': {
    roomy: { status: 'pass' },
    tight: {
      server: healthy({ info: { used_memory_rss: '12000000000' } }),
      status: 'warn',
      says: 'Cannot allocate memory',
    },
    slow: { server: healthy({ info: { latest_fork_usec: '1500000' } }), status: 'warn', says: '1500 ms' },
    'slow once': {
      server: healthy({ more: { replies: { 'LATENCY LATEST': [['fork', 1, 2, 2500]] } } }),
      status: 'warn',
      says: '2500 ms',
    },
  },
  'replica-output-buffer': {
    quiet: { status: 'pass' },
    'no limit': { server: limited('0 0 0'), ground: writing(1e9), status: 'pass' },
    'full in a minute': {
      server: limited('1048576 0 0'),
      ground: writing(1e6),
      status: 'fail',
      blocks: ['continuous'],
      says: 'slave 0 0 0',
    },
    'full in a minute, at most': {
      server: limited('1048576 0 0'),
      ground: { rate: { writes: 1e6, source: 'network', evicted: 0, expired: 0 } },
      status: 'warn',
    },
    'full before the copy ends': {
      server: healthy({ info: { used_memory_dataset: '10000000000', used_memory: '10000000000' } }),
      ground: writing(2e6),
      status: 'warn',
      says: '1.0 GB waiting',
    },
    'over the soft limit for long': {
      server: {
        ...limited('10000000000 67108864 60'),
        info: { ...healthy().info, used_memory_dataset: '10000000000', used_memory: '10000000000' },
      },
      ground: writing(2e6),
      status: 'warn',
    },
    'over the soft limit, however fast the copy is': {
      server: {
        ...limited('0 1048576 1'),
        info: { ...healthy().info, used_memory_dataset: '10000000000', used_memory: '10000000000' },
      },
      ground: writing(2e6),
      status: 'fail',
      blocks: ['continuous'],
    },
    'small and not measured': {
      server: limited('1048576 0 0'),
      ground: { rate: undefined },
      status: 'warn',
      says: 'a fifth',
    },
    'the backlog counts from 7.0 on': {
      server: {
        ...limited('1048576 0 0'),
        config: { ...config(limited('1048576 0 0')), 'repl-backlog-size': '1073741824' },
      },
      ground: writing(1e6),
      status: 'pass',
    },
    hidden: { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
  },
  'repl-backlog': {
    quiet: { status: 'pass' },
    'too small': { ground: writing(1e6), status: 'warn', says: 'CONFIG SET repl-backlog-size 268435456' },
    'INFO tells': { server: { ...healthy(), config: 'hidden' }, ground: writing(1e6), status: 'warn' },
    'not told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
  },
  'repl-timeout': {
    enough: { status: 'pass' },
    'too short': {
      server: healthy({ info: { used_memory_dataset: '10000000000', used_memory: '10000000000' } }),
      status: 'warn',
      says: 'CONFIG SET repl-timeout 1020',
    },
    'shorter than a sign of life': {
      server: healthy({ config: { 'repl-timeout': '10' } }),
      status: 'warn',
      says: 'no data nor PING',
    },
    'a huge number that wrapped around': {
      server: healthy({ info: { used_memory_dataset: '18446744073709356592' } }),
      status: 'pass',
    },
  },
  'source-memory': {
    unlimited: { server: healthy({ info: { maxmemory: '0' } }), status: 'pass', says: 'unlimited' },
    roomy: { server: healthy({ info: { maxmemory: '9000000000' } }), status: 'pass' },
    'full, and written to': {
      server: filled('noeviction'),
      ground: writing(1e5),
      status: 'fail',
      blocks: ['continuous'],
      says: 'CONFIG SET maxmemory',
    },
    'full, and quiet': { server: filled('noeviction'), status: 'warn', says: 'OOM' },
    'full, evicting, and a large backlog': {
      server: filled('allkeys-lru', { 'repl-backlog-size': '67108864' }),
      ground: writing(1e5),
      status: 'warn',
      says: 'evicts up to',
    },
    'full, evicting, and a small backlog': { server: filled('allkeys-lru'), ground: writing(1e5), status: 'pass' },
    'full, and the backlog is there': {
      server: filled('noeviction', {}, { repl_backlog_active: '1', repl_backlog_histlen: '1048576' }),
      ground: writing(1e5),
      status: 'pass',
    },
    'not told': { server: healthy({ info: { maxmemory: '1', used_memory: '' } }), status: 'unknown' },
  },
  'diskless-delay': {
    short: { status: 'pass' },
    long: { server: healthy({ config: { 'repl-diskless-sync-delay': '120' } }), status: 'info', says: '120 s' },
    saving: { server: healthy({ info: { rdb_bgsave_in_progress: '1' } }), status: 'info' },
  },
  'min-replicas': {
    none: { status: 'pass' },
    one: {
      server: healthy({ config: { 'min-replicas-to-write': '1' }, info: { min_slaves_good_slaves: '1' } }),
      status: 'warn',
      says: 'NOREPLICAS',
    },
    'CONFIG hidden, INFO tells': {
      server: { ...healthy({ info: { min_slaves_good_slaves: '2' } }), config: 'hidden' },
      status: 'warn',
    },
    'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
  },
  'wait-users': {
    none: { status: 'pass' },
    some: { server: healthy({ info: { cmdstat_wait: 'calls=7,usec=1' } }), status: 'info', says: '7 calls' },
  },
  maxmemory: {
    'not told': { status: 'info', says: '110 MB needed' },
    fits: { wish: { targetMemory: 1e9 }, status: 'info' },
    'does not fit': { wish: { targetMemory: 1e8 }, status: 'fail', blocks: both, says: 'larger plan' },
    'a cache': {
      server: healthy({ info: { maxmemory: '2000000000', maxmemory_policy: 'allkeys-lru' } }),
      status: 'warn',
      says: 'allkeys-lru',
    },
    'nothing told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
  },
  'evicting-now': {
    never: { status: 'pass' },
    once: { server: healthy({ info: { evicted_keys: '5' } }), status: 'info' },
    now: {
      server: healthy({ info: { evicted_keys: '5' } }),
      ground: { rate: { writes: 0, source: 'network', evicted: 50, expired: 2 } },
      status: 'warn',
      says: '50 keys a second',
    },
  },
  'big-keys': {
    'no keys': { status: 'pass' },
    small: { ground: { sample: sampled({ bytes: 1000 }) }, status: 'pass', says: 'all 1 keys' },
    large: { ground: { sample: sampled({ bytes: 5e7 }) }, status: 'info', says: 'k (50.0 MB)' },
    'too large': { ground: { sample: sampled({ bytes: 4e8 }) }, status: 'warn', says: 'invalid bulk length' },
    'no sizes': { ground: { sample: sampled({}) }, status: 'skip' },
    denied: {
      ground: { sample: { kind: 'denied', reason: 'SCAN: NOPERM', grant: 'ACL SETUSER u +scan', revoke: '-' } },
      status: 'unknown',
      says: 'ACL SETUSER u +scan',
    },
  },
  'tls-replication': {
    'no TLS there': { status: 'pass' },
    'TLS unused': {
      server: healthy({ config: { 'tls-port': '6380' } }),
      status: 'warn',
      says: 'rediss:// and port 6380',
    },
    'TLS used': { ground: { ssl: true, tls: certificate(90) }, status: 'info' },
  },
  maxclients: {
    room: { status: 'pass' },
    'nearly full': {
      server: healthy({ info: { connected_clients: '9990' } }),
      status: 'warn',
      says: 'CONFIG SET maxclients 20000',
    },
    full: { ground: cut('startup', 'MAXCLIENTS', 'ERR max number of clients reached'), status: 'fail', blocks: both },
    'not entered': { ground: cut('startup', 'NOAUTH', 'NOAUTH'), status: 'skip' },
    'not told': {
      server: { info: { redis_version: '7.2.0', connected_clients: '1' }, config: 'hidden' },
      status: 'unknown',
    },
  },
  'renamed-commands': {
    none: { status: 'pass' },
    'a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' }, more: { lacks: ['scan'] } }), status: 'skip' },
    'COMMAND and SCAN behind a proxy': {
      server: healthy({ more: { lacks: ['command'] } }),
      ground: { sample: { kind: 'missing', reason: 'SCAN: ERR unknown command' } },
      status: 'fail',
      blocks: ['scan'],
    },
    'COMMAND alone': { server: healthy({ more: { lacks: ['command'] } }), status: 'unknown' },
    some: { server: healthy({ more: { lacks: ['cluster', 'sync'] } }), status: 'warn', says: 'SYNC, CLUSTER' },
    'one that a scan needs': {
      server: healthy({ more: { lacks: ['sync', 'pttl'] } }),
      status: 'fail',
      blocks: ['scan'],
      says: 'SYNC, PTTL',
    },
    'SELECT, and all keys are in database 0': { server: healthy({ more: { lacks: ['select'] } }), status: 'pass' },
    'SELECT, and keys are elsewhere': {
      server: healthy({ info: { db3: 'keys=1,expires=0,avg_ttl=0' }, more: { lacks: ['select'] } }),
      status: 'fail',
      blocks: ['scan'],
    },
  },
  'renamed-writes': {
    none: { status: 'pass' },
    some: {
      ground: { renamed: { kind: 'known', value: ['incr', 'flushall'] } },
      status: 'fail',
      blocks: ['continuous'],
      says: 'INCR, FLUSHALL',
    },
    'not told': { ground: { renamed: { kind: 'missing', reason: 'unknown command' } }, status: 'unknown' },
  },
  'keyspace-notifications': {
    none: { status: 'pass' },
    events: { server: healthy({ config: { 'notify-keyspace-events': 'KEA' } }), status: 'info' },
    subscribers: { server: healthy({ info: { pubsub_channels: '2' } }), status: 'info', says: '2 channels' },
  },
};

test.each(
  Object.entries(table).flatMap(([id, cases]) => Object.entries(cases).map(([name, one]) => [id, name, one] as const)),
)(
  '%s: %s',
  async (id, _name, { server = healthy(), ground: place = {}, wish = {}, status, blocks = undefined, says = '' }) => {
    const finding = (await judged(server, { ground: place, wish })).get(id);
    expect(finding, JSON.stringify(finding)).toMatchObject({ id, status });
    if (blocks !== undefined) expect(finding?.blocks).toEqual(blocks);
    expect(JSON.stringify(finding)).toContain(JSON.stringify(says).slice(1, -1));
  },
);

test('every check of the catalogue is in the table, passes there and does not', () => {
  expect(Object.keys(table)).toEqual(redisChecks.map(({ id }) => id));
  for (const [id, cases] of Object.entries(table)) {
    const statuses = Object.values(cases).map(({ status }) => status);
    expect(
      statuses.some((status) => status !== 'pass' && status !== 'skip'),
      id,
    ).toBe(true);
    expect(id === 'maxmemory' || statuses.includes('pass'), id).toBe(true);
  }
});

test('a check blocks nothing it does not own up to', () => {
  const may = new Map(redisChecks.map(({ id, mayBlock }) => [id, mayBlock]));
  for (const [id, cases] of Object.entries(table)) {
    const blocked = Object.values(cases).flatMap(({ blocks }) => blocks ?? []);
    expect(
      blocked.filter((method) => !may.get(id)?.some((one) => one === method)),
      id,
    ).toEqual([]);
  }
});

function found(...addresses: readonly string[]) {
  return { kind: 'found', addresses } as const;
}

function absent() {
  return { kind: 'failed', code: 'ENODATA', reason: 'the name has no such address' } as const;
}

function resolved(address: string) {
  return { ...base, lookup: found(address), dns4: found(address) };
}

function unresolved() {
  const nothing = { kind: 'failed', code: 'ENOTFOUND', reason: 'the name does not exist' } as const;
  return { ...base, lookup: nothing, dns4: nothing, dns6: nothing, connects: [] };
}

/** A connection that did not come about. */
function cut(
  phase: 'network' | 'tls' | 'startup',
  code: string,
  message: string,
  error?: string,
): Partial<RedisSourceFacts> {
  const connects = [{ address: '203.0.113.7', took: 5000, ...(error === undefined ? {} : { error }) }];
  return { connection: { kind: 'refused', phase, code, message }, address: { ...base, connects } };
}

function certificate(days: number): RedisSourceFacts['tls'] {
  const validTo = Date.UTC(2026, 0, 15) + days * 86_400_000;
  return {
    offered: 'yes',
    version: 'TLSv1.3',
    certificate: { subject: 'CN=r', issuer: 'CN=ca', validTo, selfSigned: false },
  };
}

/** What PING was answered with. */
function told(code: string, message: string): Partial<RedisSourceFacts> {
  return { connection: { kind: 'entered', auth: 'open', notice: { code, message } } };
}

/** No byte is left of maxmemory. */
function filled(
  policy: string,
  config: Readonly<Record<string, string>> = {},
  info: Readonly<Record<string, string>> = {},
): Recorded {
  return healthy({
    info: { maxmemory: '1000000000', maxmemory_policy: policy, used_memory: '1000000000', ...info },
    config: { 'repl-backlog-size': '1048576', ...config },
  });
}

function writing(writes: number): Partial<RedisSourceFacts> {
  return { rate: { writes, source: 'stream', evicted: 0, expired: 0 } };
}

function sampled(key: { readonly type?: string; readonly bytes?: number }): { kind: 'known'; value: KeySample } {
  return {
    kind: 'known',
    value: { keys: [{ database: 0, name: 'k', type: key.type ?? 'string', bytes: key.bytes }], isAll: true },
  };
}

function broken(settings: Readonly<Record<string, string>>): Recorded {
  return healthy({ info: { rdb_last_bgsave_status: 'err' }, config: settings });
}

function limited(limit: string): Recorded {
  return healthy({ config: { 'client-output-buffer-limit': `normal 0 0 0 slave ${limit} pubsub 0 0 0` } });
}

function config(recorded: Recorded): Readonly<Record<string, string>> {
  return recorded.config === 'hidden' ? {} : recorded.config;
}
