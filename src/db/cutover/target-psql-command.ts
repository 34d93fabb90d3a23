import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { buildTargetUrlWithoutPassword } from '../source/build-source-url-without-password.ts';
import type { DbSource } from '../source/read-source.ts';

/**
 * The psql command that runs a script on the target of a migration, for a shell in which PGPASSWORD is the password of the
 * source. It contains no password: psql takes it from CLOUDCTL_TARGET_PASSWORD, else from .pgpass or a prompt.
 */
export function targetPsqlCommand(target: DbSource, env: ProcessEnvironment): string {
  const psql = `psql -X -v ON_ERROR_STOP=1 ${quoteShellArg(buildTargetUrlWithoutPassword(target))}`;
  const { CLOUDCTL_TARGET_PASSWORD: own = '', PGPASSWORD: shared = '' } = env;
  if (own !== '') return `PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" ${psql}`;
  // libpq reads .pgpass, and psql prompts, only when PGPASSWORD is empty.
  return shared === '' ? psql : `PGPASSWORD= ${psql}`;
}
