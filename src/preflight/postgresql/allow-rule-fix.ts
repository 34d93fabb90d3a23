import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { FindingFix } from '../finding.ts';
import { managedInstanceAdministrator } from '../finding.ts';
import { buildQueryResultFixEffect } from '../fix-effect.ts';
import { detectManagedPostgresqlService } from './alter-system.ts';
import { type HbaRule, hbaRulesQuery } from './queries/hba-rules.ts';
import { getPostgresqlSetting, type PostgresqlServerSettings } from './queries/settings.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** The fix adds the line at the top of pg_hba.conf, because only the first matching rule applies. */
export function buildHbaAllowRuleFix(
  { username: user, connection }: PostgresqlSourceFacts,
  settings: PostgresqlServerSettings,
): FindingFix {
  const name = /^[a-z_][a-z0-9_]*$/.test(user) && user !== 'all' ? user : quoteIdentifier(user);
  const method = getPostgresqlSetting(settings, 'password_encryption') === 'md5' ? 'md5' : 'scram-sha-256';
  const line = `${connection.kind === 'entered' && connection.ssl ? 'hostssl' : 'host'} all ${name} 0.0.0.0/0 ${method}`;
  const closing =
    'Remove the line after the migration. If the addresses of the service are known, use them instead of 0.0.0.0/0.';
  if (detectManagedPostgresqlService(settings) !== undefined) {
    const step = 'Allow the service in the firewall or the authorized networks of the instance.';
    return {
      notSimulated: 'the access rules of a managed service are not in pg_hba.conf',
      shell: [`# ${step}`],
      undoShell: ['# Remove the service from the firewall or the authorized networks of the instance.'],
      by: managedInstanceAdministrator,
      text: `${step} ${closing}`,
    };
  }
  return {
    effects: [
      buildQueryResultFixEffect(hbaRulesQuery, (rules) => [
        { ...allowRule, type: line.split(' ')[0]!, users: [user], method },
        ...rules,
      ]),
    ],
    shell: [`# first line of pg_hba.conf (SHOW hba_file), before every other rule`, line],
    undoShell: [`# remove this line from pg_hba.conf:`, line],
    reload: true,
    by: 'the server administrator',
    text: `Add this as the first rule of pg_hba.conf: ${line}. Then run SELECT pg_reload_conf(); no restart is needed. ${closing}`,
  };
}

/** The rule that the fix adds to pg_hba.conf, with the columns of pg_hba_file_rules. */
const allowRule: HbaRule = {
  line: 1,
  type: 'host',
  databases: ['all'],
  users: [],
  address: '0.0.0.0',
  netmask: '0.0.0.0',
  method: '',
  options: [],
  error: undefined,
};
