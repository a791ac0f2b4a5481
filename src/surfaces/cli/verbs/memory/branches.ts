// `errand memory branches`: the branches of memory, each below the one whose facts it sees.
import { fromHere } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { allBranches } from '../../fact-ref.ts'
import { print, printJson } from '../../io.ts'
import { branchTree, type CountedBranch } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

/** More are not counted. */
const mostCounted = 1_000

export const branchesVerb = defineVerb({
  usage: 'memory branches',
  help: 'Shows the branches of memory below each other: main holds what is known for good, below it each team has a branch and each of its agents one below that. A branch sees its own facts and those of the branches above. merged: it has given on what it held; archived: nothing is added any more. --json gives one branch a line.',
  options: {},
  positionals: { max: 0 },
  async run(io, { values }) {
    return await withLedger(io, values, async (engine) => {
      const branches: CountedBranch[] = []
      for (const branch of await allBranches(engine)) {
        const query = { branch: branch.name, status: 'active' as const, limit: mostCounted }
        const { facts, next } = await engine.bus.call('mem:facts', query, fromHere)
        if (values.json) printJson(io, { ...branch, facts: facts.length, moreFacts: next !== null })
        else branches.push({ ...branch, facts: `${facts.length}${next === null ? '' : '+'}` })
      }
      if (!values.json) for (const line of branchTree(branches, io.stdout.columns)) print(io, line)
      return exitCodes.done
    })
  },
})
