import { readFileSync } from 'node:fs';
import type { PostgresCase } from '../case.ts';

/** Schemas of public applications, with rows (test/truth/schemas). Nothing is fetched. */
export const applicationSchemaCases: readonly PostgresCase[] = [
  application('Mastodon', { quick: true }),
  application('GitLab', { from: 14 }),
  application('Discourse'),
  application('Odoo', { from: 17, to: 18 }),
  application('Sentry', { from: 16 }),
  // Liquibase only adds rows to its log, which has no key.
  application('Keycloak', { quiet: ['databasechangelog'] }),
  application('Nextcloud', { from: 13 }),
  application('Zulip', { to: 18 }),
];

function application(name: string, more: Partial<PostgresCase> = {}): PostgresCase {
  const file = new URL(`../../schemas/${name.toLowerCase()}.sql`, import.meta.url);
  return {
    ...more,
    name: `schema of an application: ${name}`,
    verdict: 'continuous',
    // Read only when the case runs: docs/truth.md is generated from a bundle, which is in another folder.
    get setup() {
      return [readFileSync(file, 'utf8')];
    },
  };
}
