// `errand memory branches`, `merge` and `archive`: the branches of memory.

import type { Engine } from '../../../../engine/engine-api.ts'
import { mainBranch } from '../../../../entities/memory.ts'
import { oneOf, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { columnsOf, printItems, printValue } from '../../../terminal/io.ts'
import { branchTree, type CountedBranch, conflictLines, nothingKnown } from '../../../terminal/memory-text.ts'
import { taskNumbers } from '../../../terminal/task-labels.ts'
import { mergeText } from '../../../terminal/team-text.ts'
import { cleanLine } from '../../../terminal/terminal-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

const pageSize = 1_000

export const branches = defineVerb({
  usage: 'memory branches',
  help: 'Shows the branches of memory as a tree, with the number of active facts of each (without summaries of agents): main has the lasting facts, each team has a branch below it, and each agent of a team one below that. A branch inherits the facts of the branches above. merged: its facts were merged into another branch; archived: it accepts no new facts. --json prints one branch per line.',
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const all = await allBranches(engine)
      const isEmpty = all.every(({ name, facts }) => name === mainBranch && facts === 0)
      const numberOf = await taskNumbers(
        engine,
        all.flatMap(({ taskId }) => taskId ?? []),
      )
      printItems(io, values, all, isEmpty ? nothingKnown : branchTree(all, numberOf, columnsOf(io.stdout)))
    }),
})

/** The oldest first. */
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
    'Merges the facts of a branch into one above it: a fact that is known there gets a higher confidence, the others are copied. Repeating a merge adds nothing.',
    '  --into B        the branch above; default: the nearest',
    '  --only durable  only the facts that a checkpoint of its task found durable; default: all',
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
  help: 'Closes a branch and those below it: they accept no new observations and facts, and can still be read. main cannot be closed.',
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [branch = ''] }) =>
    withLedger(io, values, async (engine) => {
      const archived = await engine.bus.call('mem:archive', { branch }, cliCaller)
      printValue(io, values, archived, `${cleanLine(branch)} is archived.`)
    }),
})
