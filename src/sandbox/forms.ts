import type { Session } from './records.ts';

/** Makes a CSRF token good for one showing of one form; of many open tabs the oldest are forgotten. */
export function openForm({ forms }: Session, form: string, token: string): string {
  forms.set(token, form);
  for (const oldest of forms.keys()) {
    if (forms.size <= AT_MOST) break;
    forms.delete(oldest);
  }
  return token;
}

/** True once for each token, and only for the form it was made for. */
export function closeForm({ forms }: Session, form: string, token: string): boolean {
  return forms.get(token) === form && forms.delete(token);
}

const AT_MOST = 64;
