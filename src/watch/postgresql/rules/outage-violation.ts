import type { Violation } from '../../status-sample.ts';
import { formatElapsed } from '../../units.ts';
import type { ServerFacts, SourceOutage } from '../server-facts.ts';

/**
 * Violations while the source cannot be reached; the error code decides the rule.
 * @param since milliseconds since the epoch
 */
export function postgresOutageViolations(
  outage: SourceOutage,
  since: number,
  last: ServerFacts | undefined,
): readonly Violation[] {
  const [rule, hint] = ruleAndHintOf(outage.code);
  const level = last?.settings.get('wal_level');
  const refuses = level?.inFile !== undefined && level.inFile.toLowerCase() !== 'logical' && last!.slots.length > 0;
  const lasted = formatElapsed((outage.at - since) / 1000);
  return [
    {
      rule,
      observed: `the source has not answered for ${lasted}: ${outage.reason}`,
      hint:
        refuses && rule === 'source-unreachable'
          ? `the file says wal_level = ${level.inFile}: with a slot the source does not start (FATAL: logical replication slot exists, but wal_level < logical). Set it to logical in postgresql.auto.conf and start the source`
          : hint,
    },
  ];
}

function ruleAndHintOf(code: string): readonly [string, string] {
  if (code === '28P01' || code === '28000' || code === 'NO_PASSWORD') {
    return ['login-refused', 'the target logs in with the same words: put back the password, the role and pg_hba.conf'];
  }
  if (code === 'NO_TLS' || code === 'TLS') return ['tls-changed', 'put TLS back as it was: ssl, certificate and key'];
  if (code === '53300') return ['connections-exhausted', 'free connections, or raise max_connections'];
  if (code === '3D000')
    return ['database-dropped', 'the database is not there any more: restore it, or stop the migration'];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['dns-changed', 'put the name of the source back'];
  if (code === '57P03' || code === '57P01' || code === '57P02' || code === 'ECONNREFUSED' || code === 'ECONNRESET') {
    return ['source-unreachable', 'start the source: the migration goes on from its slot as soon as it is there'];
  }
  return ['source-unreachable', 'look at the network, the firewall and listen_addresses; the watch goes on trying'];
}
