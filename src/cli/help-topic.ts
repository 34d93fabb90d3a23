import type { ExampleSpec } from './command.ts';

/** A page of `cloudctl help NAME` about a topic that is not a command. */
export interface HelpTopic {
  /** The summary of a help topic is one line in lower case without a full stop. */
  readonly summary: string;
  readonly load: () => Promise<HelpTopicPage>;
}

/** The help topics by name, in the order of the list of topics. */
export type HelpTopics = Readonly<Record<string, HelpTopic>>;

export interface HelpTopicPage {
  readonly text: string;
  readonly sections?: readonly HelpTopicSection[];
  readonly examples?: readonly ExampleSpec[];
}

export interface HelpTopicSection {
  readonly title: string;
  readonly entries: readonly { readonly term: string; readonly text: string }[];
}
