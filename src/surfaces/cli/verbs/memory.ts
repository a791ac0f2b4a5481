// `errand memory`: what agents found out, and the verbs that belong to it. Alone it lists facts.
import { type Verb, verbTable } from '../verb.ts'
import { facts } from './memory/facts.ts'

const memoryVerbs = verbTable({
  facts: { summary: 'the facts of a branch', load: () => import('./memory/facts.ts') },
  search: { summary: 'the facts that fit some words', load: () => import('./memory/facts.ts') },
  why: {
    summary: 'where a fact comes from, and what made it as certain as it is',
    load: () => import('./memory/facts.ts'),
  },
  branches: {
    summary: 'the branches, each below the one whose facts it sees',
    load: () => import('./memory/branches.ts'),
  },
  history: { summary: 'what each consolidation and each merge did', load: () => import('./memory/consolidation.ts') },
  observe: { summary: 'note what was seen in a session', load: () => import('./memory/consolidation.ts') },
  remember: { summary: 'state a fact', load: () => import('./memory/facts.ts') },
  consolidate: {
    summary: 'make facts of observations, of facts fewer, and judge what lasts',
    load: () => import('./memory/consolidation.ts'),
  },
  merge: { summary: 'give the facts of a branch to the one above', load: () => import('./memory/branches.ts') },
  archive: { summary: 'let nothing new come to a branch', load: () => import('./memory/branches.ts') },
})

export const memory: Verb = {
  ...facts,
  usage: facts.usage.replace('memory facts', 'memory [VERB]'),
  verbs: memoryVerbs,
}
