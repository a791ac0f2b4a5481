// `errand memory`: what agents found out, and the verbs that belong to it. Alone it lists facts.
import type { Verb, VerbTable } from '../verb.ts'
import { factsVerb } from './memory/facts.ts'

const memoryVerbs: VerbTable = {
  facts: { summary: 'the facts of a branch', load: async () => factsVerb },
  search: {
    summary: 'the facts that fit some words',
    load: async () => (await import('./memory/search.ts')).searchVerb,
  },
  why: {
    summary: 'where a fact comes from, and what made it as certain as it is',
    load: async () => (await import('./memory/why.ts')).whyVerb,
  },
  branches: {
    summary: 'the branches, each below the one whose facts it sees',
    load: async () => (await import('./memory/branches.ts')).branchesVerb,
  },
  history: {
    summary: 'what each consolidation and each merge did',
    load: async () => (await import('./memory/history.ts')).historyVerb,
  },
  observe: {
    summary: 'note what was seen in a session',
    load: async () => (await import('./memory/observe.ts')).observeVerb,
  },
  remember: {
    summary: 'state a fact',
    load: async () => (await import('./memory/remember.ts')).rememberVerb,
  },
  consolidate: {
    summary: 'make facts of observations, of facts fewer, and judge what lasts',
    load: async () => (await import('./memory/consolidate.ts')).consolidateVerb,
  },
  merge: {
    summary: 'give the facts of a branch to the one above',
    load: async () => (await import('./memory/merge.ts')).mergeVerb,
  },
  archive: {
    summary: 'let nothing new come to a branch',
    load: async () => (await import('./memory/archive.ts')).archiveVerb,
  },
}

export const memoryVerb: Verb = {
  ...factsVerb,
  usage: factsVerb.usage.replace('memory facts', 'memory [VERB]'),
  verbs: memoryVerbs,
}
