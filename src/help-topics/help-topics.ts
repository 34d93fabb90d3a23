import type { HelpTopics } from '../cli/command.ts';

/** The topics of `cloudctl help`. A help page is loaded only when its topic is typed. */
export const helpTopics: HelpTopics = {
  options: {
    summary: 'options of every command',
    load: async () => (await import('./reference-topics.ts')).optionsHelpTopic,
  },
  environment: {
    summary: 'environment variables',
    load: async () => (await import('./reference-topics.ts')).environmentHelpTopic,
  },
  'exit-codes': {
    summary: 'exit codes and error codes',
    load: async () => (await import('./reference-topics.ts')).exitCodesHelpTopic,
  },
  output: {
    summary: 'output formats, columns and queries',
    load: async () => (await import('./guide-topics.ts')).outputHelpTopic,
  },
  scripting: {
    summary: 'use in shell scripts and CI',
    load: async () => (await import('./guide-topics.ts')).scriptingHelpTopic,
  },
  login: {
    summary: 'profiles, login and sessions',
    load: async () => (await import('./guide-topics.ts')).loginHelpTopic,
  },
  migration: {
    summary: 'the steps of an online database migration',
    load: async () => (await import('./guide-topics.ts')).migrationHelpTopic,
  },
};
