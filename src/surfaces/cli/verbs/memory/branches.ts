// `errand memory branches`, `merge` and `archive`: the branches that facts lie on.

import type { Engine } from '../../../../engine-api.ts'
import { mainBranch } from '../../../../entities/memory.ts'
import { oneOf, texts } from '../../../../terminal/arguments.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { printItems, printValue } from '../../../../terminal/io.ts'
import { branchTree, type CountedBranch, conflictLines, nothingKnown } from '../../../../terminal/memory-text.ts'
import { mergeText } from '../../../../terminal/team-text.ts'
import { cleanLine } from '../../../../terminal/terminal-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

const pageSize = 1_000

export const branches = defineVerb({
  usage: 'memory branches',
  help: 'Shows the branches of memory below each other, and how many facts hold on each (summaries of agents are not counted): main holds what is known for good, below it each team has a branch and each of its agents one below that. A branch sees its own facts and those of the branches above. merged: it has given on what it held; archived: nothing is added any more. --json gives one branch a line.',
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const all = await allBranches(engine)
      const isEmpty = all.every(({ name, facts }) => name === mainBranch && facts === 0)
      printItems(io, values, all, isEmpty ? nothingKnown : branchTree(all, io.stdout.columns))
    }),
})

/** By age. */
async function allBranches(engine: Engine): Promise<CountedBranch[]> {
  const all: CountedBranch[] = []
  for (let after: number | undefined; ; ) {
    const page = await engine.bus.call('mem:branches', { counts: true, limit: pageSize, after }, cliCaller)
    for (const branch of page.branches) all.push({ ...branch, facts: branch.facts ?? 0 })
    if (page.next === null) return all
    after = page.next
  }
}

const selections = ['all', 'durable'] as const

export const merge = defineVerb({
  usage: 'memory merge BRANCH [--into B] [--only durable]',
  help: [
    'Gives the facts of a branch to one above it: what is known there already becomes more certain, the rest is carried over. Done again, it adds nothing.',
    '  --into B        default: the branch right above',
    '  --only durable  what a checkpoint of its task has found to last; default: all',
  ].join('\n'),
  options: texts('into', 'only'),
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [branch = ''] }) {
    const request = {
      branch,
      into: values.into,
      only: values.only === undefined ? undefined : oneOf('only', values.only, selections),
    }
    return await withLedger(io, values, async (engine) => {
      const merged = await engine.bus.call('mem:merge', request, cliCaller)
      const conflicts = conflictLines(merged.conflicts).map((line) => `  ${line}`)
      printValue(io, values, merged, [`${cleanLine(branch)}: ${mergeText(merged)}`, ...conflicts])
    })
  },
})

export const archive = defineVerb({
  usage: 'memory archive BRANCH',
  help: 'Closes a branch and those below it: nothing is observed or stated there any more, and what they hold can be read as before. main is never closed.',
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [branch = ''] }) =>
    withLedger(io, values, async (engine) => {
      const archived = await engine.bus.call('mem:archive', { branch }, cliCaller)
      printValue(io, values, archived, `${cleanLine(branch)} is archived.`)
    }),
})
