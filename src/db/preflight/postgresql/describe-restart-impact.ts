import { countOf, formatDuration } from '../../../base/text.ts';
import type { RoleSessionActivity } from './queries/activity.ts';

/** The sessions that a restart would end, as text for a fix that needs a restart. */
export function describeRestartImpact(groups: readonly RoleSessionActivity[]): string {
  const sessions = groups.reduce((sum, group) => sum + group.sessions, 0);
  if (sessions === 0) return 'A restart would end no session: there are no other connections now.';
  const who = groups.slice(0, 5).map(({ user, sessions: theirs }) => `${user} ${theirs}`);
  const rest = groups.length > 5 ? `, ${groups.length - 5} more roles` : '';
  const longest = Math.max(0, ...groups.map(({ seconds }) => seconds ?? 0));
  const running = longest === 0 ? '' : `; the longest transaction has run for ${formatDuration(longest * 1000)}`;
  return `A restart would end ${countOf(sessions, 'session')} (${who.join(', ')}${rest})${running}.`;
}
