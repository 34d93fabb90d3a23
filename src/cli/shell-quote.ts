export { quoteShellArg } from '../base/text.ts';
