import { expect, test } from 'vitest';
import { eventTriggersCheck } from '../../../../../src/db/preflight/postgresql/checks/event-triggers.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const blocked = 'fail continuous';

testDatabaseCases([
  {
    what: 'no event trigger',
    ...forBothMethods(eventTriggersCheck, { eventTriggers: [], ...relations() }),
    verdict: 'pass',
  },
  {
    what: 'an event trigger',
    ...forBothMethods(eventTriggersCheck, {
      eventTriggers: [{ name: 'e', body: undefined, atLogin: undefined }],
      ...relations(),
    }),
    verdict: 'warn',
  },
  ...[
    { body: 'BEGIN RAISE NOTICE $$seen$$; END', verdict: 'warn' },
    { body: "BEGIN IF tg_tag = 'DROP TABLE' THEN RAISE EXCEPTION 'no'; END IF; END", verdict: 'warn' },
    { body: "BEGIN RAISE EXCEPTION 'no % if you please', tg_tag; END", verdict: blocked },
    { body: "BEGIN RAISE 'no'; END", verdict: blocked },
  ].map(({ body, verdict }) => ({
    what: `an event trigger that does: ${body}`,
    ...forBothMethods(eventTriggersCheck, {
      eventTriggers: [{ name: 'e', body, atLogin: undefined }],
      ...relations(),
    }),
    verdict,
  })),
]);

test.each([
  { body: 'BEGIN INSERT INTO public.logins VALUES (session_user); END', verdict: 'fail continuous+dump' },
  { body: 'BEGIN INSERT INTO "The Log" VALUES (session_user); END', verdict: 'warn' },
  { body: "BEGIN RAISE NOTICE 'welcome'; END", verdict: 'warn' },
])('an event trigger of a login, $body: $verdict', ({ body, verdict }) => {
  const eventTriggers = [{ name: 'e', body: undefined, atLogin: body }];
  const facts = { eventTriggers, ...relations({ unlogged: ['public."The Log"'] }) };
  expect(short(eventTriggersCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});
