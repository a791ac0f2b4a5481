// `errand memory branches`: the branches of memory, each below the one whose facts it sees.
import type { Engine } from '../../../../api.ts'
import { mainBranch } from '../../../../entities/memory.ts'
import { fromHere } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { branchTree, type CountedBranch, nothingKnown } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

const pageSize = 1_000

export const verb = defineVerb({
  usage: 'memory branches',
  help: 'Shows the branches of memory below each other, and how many facts hold on each (summaries of agents are not counted): main holds what is known for good, below it each team has a branch and each of its agents one below that. A branch sees its own facts and those of the branches above. merged: it has given on what it held; archived: nothing is added any more. --json gives one branch a line.',
  options: {},
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const branches = await allBranches(engine)
      if (values.json) for (const branch of branches) printJson(io, branch)
      else if (branches.every(({ name, facts }) => name === mainBranch && facts === 0)) print(io, nothingKnown)
      else print(io, branchTree(branches, io.stdout.columns))
    }),
})

/** By age. */
async function allBranches(engine: Engine): Promise<CountedBranch[]> {
  const all: CountedBranch[] = []
  for (let after: number | undefined; ; ) {
    const page = await engine.bus.call('mem:branches', { counts: true, limit: pageSize, after }, fromHere)
    for (const branch of page.branches) all.push({ ...branch, facts: branch.facts ?? 0 })
    if (page.next === null) return all
    after = page.next
  }
}
