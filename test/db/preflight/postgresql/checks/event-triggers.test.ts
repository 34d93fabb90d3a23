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
    { body: 'BEGIN INSERT INTO public.log (what) VALUES (tg_tag); END', verdict: 'unknown' },
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

test.each([
  ...[
    "BEGIN IF session_user <> 'dba' THEN RAISE EXCEPTION 'no'; END IF; END",
    "BEGIN IF tg_tag = 'CREATE PUBLICATION' THEN RAISE EXCEPTION 'no'; END IF; END",
    "BEGIN IF tg_tag = 'DROP TABLE' THEN RAISE NOTICE 'x'; END IF; INSERT INTO public.log VALUES (tg_tag); END",
    "BEGIN IF tg_tag = 'DROP TABLE' OR session_user = 'x' THEN RAISE 'no'; END IF; END",
    "BEGIN IF tg_tag = 'DROP TABLE' THEN NULL; ELSE RAISE 'no'; END IF; END",
    'BEGIN PERFORM public.guard(); END',
    "BEGIN EXECUTE 'INSERT INTO public.log VALUES (1)'; END",
    'DECLARE n int := public.note(tg_tag); BEGIN END',
  ].map((body) => ({ body, verdict: 'unknown' })),
  ...[
    "BEGIN NOTIFY pgrst, 'reload schema'; END",
    "DECLARE r record; BEGIN FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP RAISE LOG '%', format('%s', r.command_tag); END LOOP; END",
    "BEGIN IF tg_tag IN ('DROP TABLE') THEN INSERT INTO log VALUES (1); END IF; RETURN; END",
  ].map((body) => ({ body, verdict: 'warn' })),
])('an event trigger that does: $body: $verdict', ({ body, verdict }) => {
  const eventTriggers = [{ name: 'e', body, atLogin: undefined }];
  const facts = { eventTriggers, ...relations() };
  expect(short(eventTriggersCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});
