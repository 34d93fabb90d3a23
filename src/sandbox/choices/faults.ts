import type { Choice } from './choice.ts';

/** The sandbox's choices about injected faults. */
export const FAULT_CHOICES: readonly Choice[] = [
  {
    id: 'fault-turn',
    rule: 'S1.6',
    question: 'Several faults that match one request',
    choice:
      'Each fault counts every request that matches it. A fault is due from its nth matching request until it has been applied `times` times; nth and times default to 1. The first fault in the list that is due applies, and later faults wait for the next matching request. In addition, one due fault with normalize_attributes and one with lag_lists apply. Faults do not apply to the admin API and to CORS preflight requests.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-commit',
    rule: 'S1.6',
    question: 'With which injected faults the server still processes the request',
    choice:
      'With delay, commit_then_drop, half_body, bad_json, slow_drip, commit_late, normalize_attributes and lag_lists the request is processed. With status, drop_before_commit, html_502, redirect_307, reset and rate_limit the fault replaces the handler, and the state does not change. The request log has the members fault, committed and delivered for each request to which a fault applied. The status in the request log is that of the created response, even if the response was not delivered; for drop_before_commit and reset it is 0.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-delay',
    rule: 'S1.6',
    question: 'The clock that measures a delay, and clients that disconnect during a delay',
    choice:
      'A delay is measured in real time, not by the virtual clock. The request is processed even if the client disconnects. Closing the sandbox ends a delay, and the delayed request is then not processed. Only lag_lists uses the virtual clock, because it compares the delay with created_at.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-commit-late',
    rule: 'S1.6',
    question: 'A request that is processed after its client has disconnected',
    choice:
      'With commit_late the sandbox checks the token of the request when it arrives, closes the connection without sending a byte, and processes the request after the delay. The request is added to the request log when it was processed.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-normalize',
    rule: 'S1.6',
    question: 'A server that stores other attribute values than it received',
    choice:
      'With normalize_attributes a region becomes the newest region of its place (nyc1: nyc3), a size the first one with the same memory and CPUs (1gb: s-1vcpu-1gb), and an image the newest one of its distribution (ubuntu-22-04-x64: ubuntu-24-04-x64). The response contains the stored values.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-lag',
    rule: 'S1.6',
    question: 'Outdated lists',
    choice:
      'With lag_lists, GET /v2/droplets (with or without a filter) omits droplets that are younger than the delay, and meta.total does not count them. GET /v2/droplets/{id} and the list of actions are never outdated.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-connection',
    rule: 'S1.6',
    question: 'Pipelined requests after a request whose connection is closed',
    choice:
      'Requests after a closed connection are not processed, because the requests of one connection are processed one after the other.',
    unobserved: 'only the sandbox has faults',
  },
  {
    id: 'fault-shapes',
    rule: 'S1.6',
    question: 'Format of faulty responses',
    choice:
      'half_body sends half of the announced body, or half of the head if the response has no body. bad_json sends the first half of the body with a matching length. slow_drip sends head and body byte by byte, 10 ms apart, and closes the connection. redirect_307 redirects to the same path on the other origin. rate_limit responds with 429 and retry-after 1.',
    unobserved: 'only the sandbox has faults',
  },
];

/** The sandbox's choices about state across restarts. */
export const RESTART_CHOICES: readonly Choice[] = [
  {
    id: 'state-restart',
    rule: 'S1.6',
    question: 'Whether codes, tokens and approvals survive a restart of the sandbox',
    choice:
      'With a state folder, codes, tokens and approvals survive a restart, and the virtual clock continues while the sandbox is stopped. Without a state folder they are lost. Faults and the counters of rate limits never survive a restart.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
  {
    id: 'state-lost-answer',
    rule: 'S1.6',
    question: 'A token refresh whose response was lost when the sandbox was killed',
    choice:
      'Either the refresh is complete and the old token pair is invalid, or the refresh did not happen and the old pair is valid. A refresh whose response was sent is complete.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
  {
    id: 'state-snapshot',
    rule: 'S1.6',
    question: 'Age of tokens after a later restore of a snapshot',
    choice:
      'Tokens have the age that they had when the snapshot was taken, because the virtual clock is set back to that time.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
];
