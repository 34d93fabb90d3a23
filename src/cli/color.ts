import type { OutputSink, ProcessEnvironment } from '../platform/host.ts';

/** The terminal text styles that the program uses. Without colour each style returns its text unchanged. */
export interface TerminalStyles {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

interface ColorOptions {
  readonly sink: Pick<OutputSink, 'isTTY'>;
  readonly env: ProcessEnvironment;
  /** Whether the option `--no-color` was given. */
  readonly noColor: boolean;
}

/**
 * Whether to print colour on any stream: decided by `--no-color`, then FORCE_COLOR (https://force-color.org), then NO_COLOR
 * (https://no-color.org), else by whether the stream is a terminal. An empty variable counts as unset, as both pages say.
 */
export function usesColor({ sink, env, noColor }: ColorOptions): boolean {
  if (noColor) return false;
  const { FORCE_COLOR: force = '', NO_COLOR: none = '' } = env;
  if (force !== '') return !/^(0|false)$/i.test(force);
  if (none !== '') return false;
  return sink.isTTY && env.TERM !== 'dumb';
}

export async function createStyles(color: boolean): Promise<TerminalStyles> {
  if (!color) return plainStyles;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    bold: (text) => chalk.bold(text),
    dim: (text) => chalk.dim(text),
    red: (text) => chalk.red(text),
    green: (text) => chalk.green(text),
    yellow: (text) => chalk.yellow(text),
    cyan: (text) => chalk.cyan(text),
  };
}

function unstyled(text: string): string {
  return text;
}

export const plainStyles: TerminalStyles = {
  bold: unstyled,
  dim: unstyled,
  red: unstyled,
  green: unstyled,
  yellow: unstyled,
  cyan: unstyled,
};
