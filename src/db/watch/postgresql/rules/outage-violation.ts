import { formatDuration } from '../../../../base/text.ts';
import { quoteServerReportedName } from '../../quote-server-reported-name.ts';
import type { WatchRuleViolation } from '../../status-sample.ts';
import type { PostgresPollFailure, WatchedServerFacts } from '../server-facts.ts';
import type { WatchedSourceBaseline } from '../watched-source-baseline.ts';

/**
 * Violations while the source cannot be reached; the error code decides the rule.
 * @param since milliseconds since the epoch
 */
export function findPostgresOutageRuleViolations(
  outage: PostgresPollFailure,
  since: number,
  { facts: last, baseline, role }: LastFacts,
): readonly WatchRuleViolation[] {
  const [rule, hint] = ruleAndHintOf(outage.code);
  const lines = (last?.hbaRuleLines ?? baseline?.hbaRuleLines ?? []).filter((line) => /^host/.test(line));
  const level = last?.settings.get('wal_level');
  const refuses = level?.inFile !== undefined && level.inFile.toLowerCase() !== 'logical' && last!.slots.length > 0;
  const lasted = formatDuration(outage.at - since);
  return [
    {
      rule,
      ...(rule === 'login-refused' ? refusedLogin(outage.code, role, lines) : {}),
      observed: `the source has not answered for ${lasted}: ${outage.reason}`,
      hint:
        refuses && rule === 'source-unreachable'
          ? `set wal_level to logical in postgresql.auto.conf and start the source: with wal_level = ${level.inFile} and a logical slot it does not start (FATAL: logical replication slot exists, but wal_level < logical)`
          : hint,
    },
  ];
}

/**
 * The facts about the login of the target from the last poll before the outage; during an outage no newer facts can be read.
 */
interface LastFacts {
  readonly facts: WatchedServerFacts | undefined;
  readonly baseline: Pick<WatchedSourceBaseline, 'hbaRuleLines'> | undefined;
  /** The role with which the target logs in to the source. */
  readonly role: string;
}

/** SQLSTATE 28000: no host rule allows the login, or the role may not log in. 28P01: the password is wrong. */
function refusedLogin(
  code: string,
  role: string,
  hbaRuleLines: readonly string[],
): Pick<WatchRuleViolation, 'object' | 'fix'> {
  // The first pg_hba.conf rule for the role decides, so a refused login means that this rule is missing now.
  const line = hbaRuleLines.find((rule) => ['all', role].includes(rule.split(' ')[2] ?? ''));
  if (code === '28000' && line !== undefined) return { object: line, fix: { run_on: 'pg_hba.conf', statement: line } };
  if (code === '28000')
    return {
      object: 'pg_hba.conf',
      fix: { run_on: 'source', statement: 'SELECT * FROM pg_hba_file_rules ORDER BY line_number;' },
    };
  return { object: role, fix: { run_on: 'source', statement: `\\password ${quoteServerReportedName(role)}` } };
}

function ruleAndHintOf(code: string): readonly [string, string] {
  if (code === '28P01' || code === '28000' || code === 'NO_PASSWORD') {
    return [
      'login-refused',
      'restore the password, the role and pg_hba.conf: the target logs in with the same credentials',
    ];
  }
  if (code === 'NO_TLS' || code === 'TLS') return ['tls-changed', 'restore the TLS settings: ssl, certificate and key'];
  if (code === '53300') return ['connections-exhausted', 'close connections, or raise max_connections'];
  if (code === '3D000') return ['database-dropped', 'restore the database, or stop the migration'];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['dns-changed', 'restore the DNS record of the source'];
  if (code === '57P01' || code === '57P02' || code === 'ECONNREFUSED' || code === 'ECONNRESET') {
    return ['source-unreachable', 'start the source; its log says why it stopped'];
  }
  return ['source-unreachable', 'check the network, the firewall and listen_addresses; the watch keeps retrying'];
}
