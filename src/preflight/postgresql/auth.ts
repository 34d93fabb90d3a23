import { connectErrorCodes } from '../../platform/connect-error.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import { type CheckOutcome, type Fix, fail, pass, skip, unknown } from '../finding.ts';
import { serverCheck } from './check.ts';
import { evaluateLoginStep, failLogin, type RefusedEntry } from './login-steps.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export const authPasswordCheck = serverCheck({
  id: 'auth-password',
  title: 'the password is right',
  spec: '2',
  needs: 'address',
  queries: {},
  evaluate(_values, ground, { asPublic }) {
    const { connection: entry, username } = ground;
    return evaluateLoginStep(
      ground,
      'auth-password',
      () =>
        asPublic && entry.kind === 'entered' && !entry.passwordAsked
          ? unknown(`${username} is let in without a question for the password`, notAsked)
          : pass(`${username} is let in`),
      (why) => failLogin(why, why.code === connectErrorCodes.noPassword ? noPassword : wrongPassword(ground.username)),
    );
  },
});

export const authHbaCheck = serverCheck({
  id: 'auth-hba',
  title: 'a host rule lets the user in',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, ground) {
    return evaluateLoginStep(
      ground,
      'auth-hba',
      () => pass('a rule of pg_hba.conf lets it in'),
      // The file's name stands in the server's words in every language; a certificate is what a rule asks for too.
      (why) => failLogin(why, hostRefusal(why, ground.username)),
    );
  },
});

export const dbExistsCheck = serverCheck({
  id: 'db-exists',
  title: 'the database is there and can be entered',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, ground) {
    return evaluateLoginStep(
      ground,
      'db-exists',
      () => pass(ground.dbname),
      (why) =>
        failLogin(why, {
          ...(why.kind === 'refused' && why.asked === true ? hardened : {}),
          required: `a database ${ground.dbname} that ${ground.username} may enter`,
          fix: databaseFix(ground, why),
        }),
    );
  },
});

export const replConnectionCheck = serverCheck({
  id: 'repl-connection',
  title: 'the role may open a replication connection',
  spec: '4.6',
  needs: 'entry',
  queries: {},
  evaluate(_values, { replication, username }): CheckOutcome {
    if (replication === undefined) return skip('no replication connection was tried');
    if (replication.kind === 'entered') return pass('IDENTIFY_SYSTEM is answered');
    const { code, message } = replication;
    return fail(['continuous'], message, { required: 'a walsender', ...replicationCure(code, username) });
  },
});

/** From elsewhere another line of pg_hba.conf decides, which may ask. */
const notAsked: Fix = {
  text: 'The host rule for this machine asks for no password (trust, or a certificate), so it was not proven right. Run this from a machine that a rule with scram-sha-256 is for, or set the password anew: \\password in psql.',
};

const noPassword = {
  required: 'a password',
  fix: { text: 'Give it by --password-stdin, PGPASSWORD, ~/.pgpass or at the prompt.' },
};

function wrongPassword(username: string) {
  const expired = `SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quoteLiteral(username)} AND rolvaliduntil < now()`;
  const role = quoteIdentifier(username);
  const renew = `BEGIN IF EXISTS (${expired}) THEN ALTER ROLE ${role} VALID UNTIL 'infinity'; END IF; END`;
  return {
    required: 'the password of the role',
    detail:
      'The server says the same of a wrong password, of a role that does not exist and of one whose VALID UNTIL is over; only its own log tells which.',
    fix: {
      sql: [`DO ${quoteLiteral(renew)}`],
      text: `Give the right password, or set it anew (\\password in psql). If the role has expired: ALTER ROLE ${role} VALID UNTIL 'infinity'.`,
    },
  };
}

/** The names of the file and of the methods stand in the server's words in every language; a certificate is what a rule asks for too. */
function hostRefusal({ code, message }: RefusedEntry, username: string) {
  if (
    code === connectErrorCodes.authentication ||
    /pg_hba|certificate|\b(ident|peer|gssapi|sspi|oauth)\b/i.test(message)
  ) {
    return hostRule(username);
  }
  const elsewhere = /\b(ldap|pam|radius|bsd)\b/i.exec(message)?.[0];
  return elsewhere === undefined ? noLogin(username) : otherPassword(elsewhere, username);
}

function otherPassword(kept: string, username: string) {
  return {
    required: `the password that ${kept} knows`,
    detail: `The first rule of pg_hba.conf that matches leaves the question to ${kept}, which refuses, or does not answer; the log of the server tells which. A password of the role itself is not looked at.`,
    fix: {
      ...hostRule(username).fix,
      text: `Give the password that ${kept} knows, or add a rule above that one: ${hostRule(username).fix.text}`,
    },
  };
}

function noLogin(username: string) {
  const role = quoteIdentifier(username);
  return {
    required: 'a role with LOGIN',
    fix: {
      sql: [`ALTER ROLE ${role} LOGIN`],
      undo: [`ALTER ROLE ${role} NOLOGIN`],
      text: 'Allow the role to log in, or migrate with another.',
    },
  };
}

function hostRule(username: string) {
  const rule = `host  all  ${quoteIdentifier(username)}  0.0.0.0/0  scram-sha-256`;
  return {
    required: 'a rule for this user and any IPv4 address, above every other that matches',
    detail: 'The first rule of pg_hba.conf that matches decides. The service connects from addresses of its own.',
    fix: {
      shell: ['# in pg_hba.conf, above the rules that match now (SHOW hba_file tells where it is):', rule],
      undoShell: [`# take the line out of pg_hba.conf again: ${rule}`],
      reload: true,
      text: `Add the rule "${rule}" to pg_hba.conf and reload (no restart). The addresses of the service instead of 0.0.0.0/0 are better when they are known. Take it out after the migration.`,
    },
  };
}

const hardened = {
  detail:
    'The login was let in, and then the first question was denied: somebody took from PUBLIC what every client uses.',
};

function databaseFix({ dbname, username }: PostgresqlSourceFacts, why: RefusedEntry): Fix {
  const { code } = why;
  const [database, role] = [quoteIdentifier(dbname), quoteIdentifier(username)];
  if (code === '42501' && why.kind === 'refused' && why.asked === true) {
    return {
      sql: [
        `GRANT USAGE ON SCHEMA pg_catalog TO ${role}`,
        `GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid() TO ${role}`,
      ],
      database: dbname,
      text: 'Give the role back what it was denied; pg_dump and the migration need such functions as well.',
    };
  }
  if (code === '42501') {
    return {
      sql: [`GRANT CONNECT ON DATABASE ${database} TO ${role}`],
      undo: [`REVOKE CONNECT ON DATABASE ${database} FROM ${role}`],
      text: 'Let the role connect to the database.',
    };
  }
  if (code === '55000') {
    return {
      sql: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS true`],
      undo: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false`],
      text: 'Let the database take connections, or name another as --dbname. One that is called invalid can only be dropped.',
    };
  }
  return { text: 'Correct --dbname: names are case-sensitive, and psql -l lists them.' };
}

function replicationCure(code: string, username: string): { readonly detail: string; readonly fix: Fix } {
  const role = quoteIdentifier(username);
  switch (code) {
    case '42501':
      return {
        detail: 'The subscription of the target logs in like this and would be refused with the same words.',
        fix: {
          sql: [`ALTER ROLE ${role} REPLICATION`],
          undo: [`ALTER ROLE ${role} NOREPLICATION`],
          text: `Give the role REPLICATION (on Amazon RDS: GRANT rds_replication TO ${role}).`,
        },
      };
    case '53300':
      return {
        detail: 'Every walsender is taken.',
        fix: { text: 'Raise max_wal_senders (restart), or end replication connections that nobody needs.' },
      };
    case '08P01':
      return {
        detail: 'Something between here and the server does not know replication connections: a pooler.',
        fix: { text: 'Use the address and port of the server itself.' },
      };
    default:
      return {
        detail: `The subscription of the target logs in like this and would be refused as well (${code}).`,
        fix: {
          text: 'Let this user replicate: REPLICATION, a walsender that is free (max_wal_senders), a host rule for its databases.',
        },
      };
  }
}
