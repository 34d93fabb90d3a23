import type { OutputSink, ProcessEnvironment } from '../platform/host.ts';

/**
 * The text as a hyperlink of the terminal (OSC 8). A URL that could end the sequence, or is not an http URL in visible ASCII,
 * is left out.
 */
export function hyperlink(text: string, url: string): string {
  return /^https?:\/\/[\x21-\x7e]+$/.test(url) ? `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/**
 * Whether the terminal shows hyperlinks. Terminals without hyperlinks may print the escape sequence. If FORCE_HYPERLINK is
 * set, the variable decides.
 */
export function areHyperlinksShown({ isTTY }: Pick<OutputSink, 'isTTY'>, env: ProcessEnvironment): boolean {
  if (!isTTY || env.TERM === 'dumb') return false;
  if (env.FORCE_HYPERLINK !== undefined) return !['', '0', 'false'].includes(env.FORCE_HYPERLINK);
  // A terminal multiplexer passes on only sequences that it supports itself, whatever the outer terminal supports.
  if (env.TMUX !== undefined || env.STY !== undefined || /^(screen|tmux)/.test(env.TERM ?? ''))
    return env.TERM_PROGRAM === 'tmux' && Number.parseFloat(env.TERM_PROGRAM_VERSION ?? '') >= 3.4;
  if (env.VTE_VERSION !== undefined) return Number(env.VTE_VERSION) >= 5000;
  return (
    env.WT_SESSION !== undefined ||
    env.KONSOLE_VERSION !== undefined ||
    /^(xterm-kitty|xterm-ghostty|alacritty|wezterm|foot)/.test(env.TERM ?? '') ||
    ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'rio'].includes(env.TERM_PROGRAM ?? '')
  );
}
