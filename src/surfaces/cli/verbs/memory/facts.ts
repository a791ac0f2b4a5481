// `errand memory facts`, `search`, `why` and `remember`: the facts that agents found.

import type { Engine } from '../../../../engine/engine-api.ts'
import { factStatuses, mainBranch } from '../../../../entities/memory.ts'
import { misuse, oneOf, switches, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { cliCaller, statementCaller } from '../../../terminal/caller.ts'
import { factHistoryLines } from '../../../terminal/fact-history.ts'
import { note, printValue } from '../../../terminal/io.ts'
import { certainty, factColumns, nothingKnown, shortFactId } from '../../../terminal/memory-text.ts'
import { printTable } from '../../../terminal/table.ts'
import { taskNumbers } from '../../../terminal/task-labels.ts'
import { cleanLine } from '../../../terminal/terminal-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const facts = defineVerb({
  usage: 'memory facts [--branch B] [--inherited] [--category C] [--status S] [--limit N]',
  help: [
    'Lists the facts of a branch, latest first, with confidence (0 to 1), category and the agent that found them. "disputed" marks a fact that another one contradicts; "errand memory why ID" shows which. --json prints one fact per line.',
    `  --branch B    default: ${mainBranch}, with the lasting facts; "errand memory branches" lists all branches`,
    '  --inherited   include the facts of the branches above',
    '  --category C  only this category: bug_fix, architecture, decision, …',
    `  --status S    ${factStatuses.join(' or ')}; default: active`,
    '  --limit N     how many; default 50',
  ].join('\n'),
  options: { ...texts('branch', 'category', 'status', 'limit'), ...switches('inherited') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const query = {
      branch: values.branch ?? mainBranch,
      inherited: values.inherited === true,
      category: values.category,
      status: values.status === undefined ? ('active' as const) : oneOf('status', values.status, factStatuses),
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    const isNarrowed = values.category !== undefined || values.status !== undefined
    return await withLedger(io, values, async (engine) => {
      const { facts, next } = await engine.bus.call('mem:facts', query, cliCaller)
      const none = facts.length === 0 ? await whyNone(engine, query.branch, isNarrowed) : ''
      printTable(io, values, facts, none, factColumns({ branches: query.inherited }))
      if (next !== null) note(io, 'There are more; use --limit.')
    })
  },
})

/** Suggests where to find facts: a new user lists main, which may still be empty. */
async function whyNone(engine: Engine, branch: string, isNarrowed: boolean): Promise<string> {
  const none = `No facts on ${cleanLine(branch)}.`
  if (branch !== mainBranch || isNarrowed) return none
  const { branches, next } = await engine.bus.call('mem:branches', { counts: true, limit: maxBranches }, cliCaller)
  const isEmpty = next === null && branches.every(({ facts }) => facts === 0)
  return isEmpty ? nothingKnown : `${none} "errand memory branches" shows the branches that have facts.`
}
const maxBranches = 1_000

export const search = defineVerb({
  usage: 'memory search WORDS… [--branch B] [--limit N]',
  help: [
    'Searches the facts of a branch and of those above it, the best matches first. An agent recalls the same facts when it starts. --json prints one fact per line.',
    `  --branch B  default: ${mainBranch}`,
    '  --limit N   how many; default 5',
  ].join('\n'),
  options: texts('branch', 'limit'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const query = {
      query: positionals.join(' '),
      branch: values.branch,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { chunks } = await engine.bus.call('mem:retrieve', query, cliCaller)
      printTable(io, values, chunks, 'No fact matches.', {
        id: ({ id }) => shortFactId(id),
        score: ({ score }) => score.toFixed(2),
        sure: certainty,
        category: ({ category }) => category,
        branch: ({ branch }) => branch,
        fact: ({ text }) => text,
      })
    })
  },
})

export const why = defineVerb({
  usage: 'memory why FACT',
  help: 'Shows the history of a fact, oldest first: its observations and observers, each change of its confidence, the merges that copied it, and the facts that it replaced, that contradict it or that replaced it. FACT is an id or a unique prefix of one, as "errand memory" lists them.',
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const why = await engine.bus.call('mem:why', { factId: ref }, cliCaller)
      const numberOf = await taskNumbers(
        engine,
        why.fact.statedBy.flatMap(({ taskId }) => taskId ?? []),
      )
      printValue(io, values, why, factHistoryLines(why, numberOf))
    }),
})

export const remember = defineVerb({
  usage: 'memory remember TEXT… [--branch B] [--category C] [--confidence P]',
  help: [
    'States a fact and prints its id. The fact is stored as it is; only a consolidation compares it with others.',
    '  --branch B      default: main',
    '  --category C    bug_fix, architecture, decision, … ; default: derived from its words',
    '  --confidence P  from 0 to 1; default 0.7',
  ].join('\n'),
  options: texts('branch', 'category', 'confidence'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const fact = {
      text: positionals.join(' '),
      branch: values.branch,
      category: values.category,
      confidence: values.confidence === undefined ? undefined : fraction('confidence', values.confidence),
    }
    return await withLedger(io, values, async (engine) => {
      const remembered = await engine.bus.call('mem:remember', fact, statementCaller(io))
      printValue(io, values, remembered, remembered.factId)
    })
  },
})

/** A number from 0 to 1. */
function fraction(option: string, text: string): number {
  const value = /^\s*(\d+(\.\d*)?|\.\d+)\s*$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= 1) return value
  throw misuse(`--${option} takes a number from 0 to 1, got "${text}".`, { option, value: text })
}
