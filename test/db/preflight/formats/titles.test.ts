import { expect, it } from 'vitest';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import { titleOf } from '../../../../src/db/preflight/formats/entries.ts';
import { evaluateServerCheck, type PostgresqlCheck } from '../../../../src/db/preflight/postgresql/check.ts';
import { superuserCheck } from '../../../../src/db/preflight/postgresql/checks/superuser.ts';
import { migrationRoleQuery } from '../../../../src/db/preflight/postgresql/queries/roles.ts';
import type { QueryResult } from '../../../../src/db/preflight/query.ts';
import { preflightOptions, role, sourceFacts } from '../postgresql/facts.ts';
import { report } from '../sample.ts';
import { onTerminal, rendered } from './words.ts';

/** The finding of the superuser check for this result of its query. */
function superuserFinding(result: QueryResult<unknown>): CheckFinding {
  const results = new Map([[migrationRoleQuery, result]]);
  const check: PostgresqlCheck = superuserCheck;
  return evaluateServerCheck(check, results, sourceFacts(), preflightOptions());
}

const deniedFinding = superuserFinding({
  kind: 'denied',
  reason: 'permission denied for view pg_roles',
  grant: 'GRANT SELECT ON pg_roles TO migrator',
});
const failedFinding = superuserFinding({ kind: 'known', value: role({ superuser: false }) });
const passedFinding = superuserFinding({ kind: 'known', value: role() });

const formats: Readonly<Record<string, (findings: readonly CheckFinding[]) => string>> = {
  terminal: (findings) => onTerminal({ ...report, findings }),
  ...Object.fromEntries(
    ['md', 'html', 'xml', 'sarif'].map((extension) => [
      extension,
      (findings: readonly CheckFinding[]) => rendered(`report.${extension}`, { ...report, findings }),
    ]),
  ),
};

it.each(Object.entries(formats))(
  '%s does not state the headline of a check whose query was denied',
  (_name, render) => {
    expect(deniedFinding.status).toBe('unknown');
    const { headline } = superuserCheck;
    expect(render([deniedFinding])).not.toContain(headline);
    expect(render([deniedFinding])).toContain(titleOf(deniedFinding));
    // The same format states it when the check fails, so that its absence above means something.
    expect(render([failedFinding])).toContain(headline);
    expect(render([failedFinding])).not.toContain(titleOf(deniedFinding));
  },
);

it('the title of a finding contains the condition of the check, unless the headline replaces it', () => {
  const { title, headline } = superuserCheck;
  const unknownTitle = titleOf(deniedFinding);
  expect(unknownTitle.endsWith(` ${title}`)).toBe(true);
  expect(titleOf(failedFinding)).toBe(headline);
  expect(titleOf(passedFinding).toLowerCase()).toBe(title);
  expect(titleOf({ ...failedFinding, headline: 'Another problem' })).toBe('Another problem');
});

it('a headline of the outcome is not stated either when the outcome is unknown', () => {
  const finding = { ...deniedFinding, headline: 'Another problem' };
  for (const render of Object.values(formats)) expect(render([finding])).not.toContain('Another problem');
});
