import { apiProbes, writeProbes } from './choices/api.ts';
import { authorizationProbes, tokenProbes } from './choices/oauth.ts';
import type { Probe, Statement, UntestableStatement } from './statement.ts';
import { apiStatements, dropletStatements } from './statements/api.ts';
import { promptStatements, redirectStatements, refusalStatements } from './statements/authorization.ts';
import { codeStatements } from './statements/codes.ts';
import { migrationStatements } from './statements/migrations.ts';
import { refreshStatements, revocationStatements, tokenResponseStatements } from './statements/tokens.ts';

const client = 'this statement is about the client, not the server';
const source = 'about the source database; `db preflight` checks it';
const notShown = 'the rules leave it open';

/** The statements that no request to a server can test, each with the reason. */
const untestableStatements: readonly UntestableStatement[] = [
  row('2', 'S1.2', 'A registration yields client ID and client secret, and takes a callback URL.', 'has no endpoint'),
  row('9', 'S1.2', 'A client sends the client secret only to the authorization server.', client),
  row('23', 'S2.10', 'A client reads info in the response to a refresh.', client),
  row('41', 'S9.4', 'Excluded databases need no privileges on the source.', source),
  row('42', 'S9.5', 'A client accepts any successful response to a migration request.', client),
  row('43', 'S7.7', 'A client reads the lists of the server.', client),
  row('44', 'S8.4', 'A client accepts any successful response to a creation request.', client),
  row('64', 'S4.6', 'state in error redirects.', `${notShown}; see the open choice state-of-a-denial`),
  row('75', 'S4.6', 'A client aborts when the returned state differs.', client),
  row('76', 'S4.6', 'A client aborts when the returned state is missing.', client),
  row('80', 'S5.1', 'A client sends the parameters of an exchange in the query.', client),
  row('86', 'S6.3', 'A client sends token and header in a revocation.', client),
  row('94', 'S9.9', 'The version of the source is not newer than that of the target.', source),
  row('95', 'S9.10', 'The source is reachable from the public internet.', source),
  row('96', 'S9.10', 'Trusted sources are restored after the migration.', source),
  row('99', 'S9.13', 'A continuous migration needs a superuser on the source.', source),
  row('100', 'S9.13', 'A continuous migration needs wal_level logical.', source),
  row('101', 'S9.13', 'max_replication_slots is at least the number of databases.', source),
  row('102', 'S9.13', 'listen_addresses is *.', source),
  row('103', 'S9.13', 'There is a host rule for 0.0.0.0/0.', source),
  row('104', 'S9.13', 'The source restarts to apply changes.', source),
  row('105', 'S9.14', 'A dump needs Connect and Select instead of a superuser.', source),
  row('106', 'S9.14', 'A dump needs a source that is offline or in maintenance.', source),
  row('107', 'S9.14', 'pg_dump does not run through a transaction pool.', source),
  row('108', 'S9.15', 'The rules for the source database are followed while a migration runs.', source),
  row('109', 'S9.16', 'The rules for a Redis source are followed while a migration runs.', source),
  row('114', 'S3.4', 'An application compares the granted scope with the requested one.', client),
  row('124', 'S5.5', 'The remedy of invalid_grant is a new authorization.', client),
  row('125', 'S2.8', 'A client uses a refresh token once.', client),
  row('126', 'S2.7', 'A client refreshes before the expiry.', client),
  row('127', 'S4.12', 'A client sends a hint of 6 characters.', client),
  row('129', 'S2.10', 'A client keeps the session of a team in the team.', client),
  row('130', 'S8.2', 'A client creates no droplet twice.', client),
  row('131', 'S9.10', 'The service reaches the source from the public internet.', source),
  row('132', 'S1.6', 'Events and webhooks.', notShown),
  row('133', 'S1.6', 'Deprecation and compatibility.', notShown),
  row('134', 'S5.9', 'HTTP status codes of errors.', `${notShown}; see the open choices token-status and api-errors`),
];

function row(number: string, rule: string, text: string, untestable: string): UntestableStatement {
  return { number, rule, text, untestable };
}

/** Every statement, in the order of the numbers. */
export const allStatements: readonly Statement[] = [
  ...refusalStatements,
  ...redirectStatements,
  ...promptStatements,
  ...tokenResponseStatements,
  ...codeStatements,
  ...refreshStatements,
  ...revocationStatements,
  ...apiStatements,
  ...dropletStatements,
  ...migrationStatements,
  ...untestableStatements,
].toSorted((one, other) => one.number.localeCompare(other.number, 'en', { numeric: true }));

/** The functions that observe the open choices in the responses of a server. */
export const allProbes: readonly Probe[] = [...authorizationProbes, ...tokenProbes, ...apiProbes, ...writeProbes];
