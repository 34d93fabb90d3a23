import { formatDuration } from '../../base/text.ts';

const daySeconds = 86_400;

/**
 * Describes how long an access token is valid, in local time: `for 30 d (20 Dec)`, `for 5 h (until 14:05)`. `expiresAt`
 * is in seconds since the epoch.
 */
export function describeTokenLifetime(expiresAt: number, nowMs: number): string {
  const left = Math.max(0, expiresAt - Math.floor(nowMs / 1000));
  const end = new Date(expiresAt * 1000);
  if (left >= 2 * daySeconds) {
    const year = end.getFullYear() === new Date(nowMs).getFullYear() ? '' : ` ${end.getFullYear()}`;
    return `for ${formatDuration(left * 1000)} (${end.getDate()} ${months[end.getMonth()]}${year})`;
  }
  const clock = [end.getHours(), end.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  return `for ${formatDuration(left * 1000)} (until ${clock})`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
