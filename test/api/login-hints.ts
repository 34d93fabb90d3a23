import type { RefusedHints } from '../../src/api/api-response.ts';

/** The hints of a session of the profile `work`. */
export const workLoginHints: RefusedHints = {
  login: '`cloudctl auth login --profile work`',
  write: 'log in with write access: `cloudctl auth login --scope "read write" --profile work`',
  read: 'show the account of the session: `cloudctl auth status --profile work`',
};
