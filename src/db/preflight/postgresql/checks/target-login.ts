import { type CheckOutcome, failOutcome, passOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';

export const targetLoginCheck = declareServerCheck({
  id: 'target-login',
  title: 'the login of the target may create databases and subscriptions',
  headline: 'The login of the target may not create a database or a subscription',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  evaluate(_values, { databases }, { target }): CheckOutcome {
    const read = target?.postgresql;
    if (read === undefined) return skipOutcome('the target was not read');
    const { login, mayCreateDatabases, maySubscribe, isManaged } = read;
    const missing = mayCreateDatabases ? [] : databases.filter((name) => !read.databases.has(name));
    if (missing.length === 0 && maySubscribe) return passOutcome(login);
    const observed = `${login}: ${[...(missing.length === 0 ? [] : ['no CREATEDB']), ...(maySubscribe ? [] : ['no right to create subscriptions'])].join(', ')}`;
    const more = {
      required:
        'CREATEDB for databases that the target does not have; a superuser, or from PostgreSQL 16 on a member of pg_create_subscription',
      detail:
        `${missing.length === 0 ? '' : `The target has no database ${missing.slice(0, 5).join(', ')}: "permission denied to create database". `}${maySubscribe ? '' : 'CREATE SUBSCRIPTION fails: "permission denied to create subscription".'}`.trim(),
      fix: {
        by: 'the administrator of the target',
        text: 'Name the login that receives the data in --target, create the databases on the target, or give the login these rights.',
      },
    };
    if (missing.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    // Some services let their administrator create subscriptions in another way.
    return isManaged
      ? { ...unknownOutcome(observed), ...more, premise: `${login} may create subscriptions on the target` }
      : failOutcome(['continuous'], observed, more);
  },
});
