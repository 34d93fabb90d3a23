import type { SpecGap } from './spec-gap.ts';

/** Of what goes wrong on purpose. */
export const FAULT_GAPS: readonly SpecGap[] = [
  {
    id: 'fault-turn',
    section: '7',
    question: 'Several faults that fit one request',
    choice:
      'Each counts every request that fits it. One is due from its nth match on until it has applied so many times; the first in the list that is due applies, one behind it waits for the next match. nth and times are 1 when absent. The admin API meets no fault.',
  },
  {
    id: 'fault-commit',
    section: '7',
    question: 'Which faults let a request be carried out',
    choice:
      'delay, commit_then_drop, half_body, bad_json and slow_drip do. status, drop_before_commit, html_502, redirect_307, reset and rate_limit stand in for the server, and nothing is changed. The request log has fault, committed and delivered for each, and the status 0 where no answer was made.',
  },
  {
    id: 'fault-delay',
    section: '7',
    question: 'What time a delay is measured in, and a client that does not wait for its end',
    choice:
      'Real time, not the virtual clock. The request was read whole and is carried out all the same; only closing the sandbox ends a delay, and what waited then is not carried out.',
  },
  {
    id: 'fault-connection',
    section: '7',
    question: 'Requests that were sent behind one whose connection is cut',
    choice: 'They are not carried out: requests of one connection are answered, and carried out, one after the other.',
  },
  {
    id: 'fault-shapes',
    section: '7',
    question: 'What a broken answer looks like',
    choice:
      'half_body announces the whole length and sends half of it, or half of the head where there is no body; bad_json is the first half with the right length; slow_drip sends head and body byte by byte, 10 ms apart, and closes; redirect_307 names the same path on the other origin; rate_limit is 429 with retry-after 1.',
  },
];
