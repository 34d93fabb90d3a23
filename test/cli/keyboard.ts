import { PassThrough } from 'node:stream';
import type { PromptStreams } from '../../src/cli/prompts.ts';

export interface Keyboard {
  readonly streams: PromptStreams;
  /** All that was drawn so far. */
  readonly drawn: () => string;
  /** Resolves once the text was drawn. */
  readonly until: (text: string) => Promise<void>;
  readonly type: (keys: string) => void;
  /** Ends the input, as a terminal does that is closed. */
  readonly hangUp: () => void;
}

/** A terminal to prompt on; each half can be something else instead. */
export function keyboard({ input: isInput = true, output: isOutput = true } = {}): Keyboard {
  const input = Object.assign(new PassThrough(), { isTTY: isInput, setRawMode: () => {} });
  const output = Object.assign(new PassThrough(), { isTTY: isOutput, columns: 80 });
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    streams: { input, output },
    drawn: () => text,
    type: (keys) => void input.write(keys),
    hangUp: () => void input.end(),
    async until(wanted) {
      for (let turn = 0; !text.includes(wanted); turn += 1) {
        if (turn > 2000) throw new Error(`"${wanted}" was not drawn, but:\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}
