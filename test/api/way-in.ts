import type { WayIn } from '../../src/api/problem.ts';

/** The hints of a session of the profile `work`. */
export const workWayIn: WayIn = {
  login: '`cloudctl auth login --profile work`',
  write: 'log in with write access: `cloudctl auth login --scope "read write" --profile work`',
  look: 'see whose session it is: `cloudctl auth status --profile work`',
};
