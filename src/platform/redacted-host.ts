import { redactData, redactMessage } from '../base/redact.ts';
import { startWithholding } from '../base/secret.ts';
import type { HostSystem, OutputSink, RunningPager } from './host.ts';

/**
 * The host with outputs that remove the secrets of the run from every text. Bytes are written unchanged: a command that prints a
 * secret because the user asked for it writes bytes.
 */
export function withRedactedOutput(host: HostSystem): HostSystem {
  startWithholding();
  return {
    // The streams are opened on first use.
    get stdin() {
      return host.stdin;
    },
    get screen() {
      return host.screen;
    },
    env: host.env,
    platform: host.platform,
    stdout: redactedSink(host.stdout, redactData),
    stderr: redactedSink(host.stderr, redactMessage),
    clock: host.clock,
    random: host.random,
    folders: host.folders,
    createSender: host.createSender,
    browser: host.browser,
    startPager: (command) => redactedPager(host.startPager(command)),
    keychain: host.keychain,
    signals: host.signals,
  };
}

function redactedSink(sink: OutputSink, redact: (text: string) => string): OutputSink {
  return {
    write: (data) => sink.write(typeof data === 'string' ? redact(data) : data),
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    get rows() {
      return sink.rows;
    },
    ...(sink.onResize === undefined ? {} : { onResize: (listener) => sink.onResize?.(listener) ?? (() => {}) }),
    ...(sink.closed === undefined ? {} : { closed: sink.closed }),
  };
}

function redactedPager(pager: RunningPager): RunningPager {
  return {
    write: (data) => pager.write(typeof data === 'string' ? redactData(data) : data),
    end: () => pager.end(),
    stop: () => pager.stop(),
  };
}
