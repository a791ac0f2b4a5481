// `errand memory`: lists the facts that agents found, and the verbs below it.
import { type Verb, verbTable } from '../verb.ts'
import { facts } from './memory/facts.ts'

const memoryVerbs = verbTable({
  facts: { summary: 'list the facts of a branch', load: () => import('./memory/facts.ts') },
  search: { summary: 'search facts by words', load: () => import('./memory/facts.ts') },
  why: {
    summary: 'explain where a fact comes from and how its confidence changed',
    load: () => import('./memory/facts.ts'),
  },
  branches: {
    summary: 'show the branches, each below the one whose facts it inherits',
    load: () => import('./memory/branches.ts'),
  },
  history: { summary: 'list consolidations and merges', load: () => import('./memory/consolidation.ts') },
  observe: { summary: 'record an observation of a session', load: () => import('./memory/consolidation.ts') },
  remember: { summary: 'state a fact', load: () => import('./memory/facts.ts') },
  consolidate: {
    summary: 'turn observations into facts, combine similar facts, and choose the durable ones',
    load: () => import('./memory/consolidation.ts'),
  },
  merge: { summary: 'merge the facts of a branch into the one above', load: () => import('./memory/branches.ts') },
  archive: { summary: 'close a branch for new facts', load: () => import('./memory/branches.ts') },
})

export const memory: Verb = {
  ...facts,
  usage: facts.usage.replace('memory facts', 'memory [VERB]'),
  verbs: memoryVerbs,
}
