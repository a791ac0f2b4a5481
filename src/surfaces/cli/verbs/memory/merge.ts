// `errand memory merge`: gives the facts of a branch to one above it.
import { oneOf, texts } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { conflictLines } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { mergeWords } from '../../team-text.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

const selections = ['all', 'durable'] as const

export const verb = defineVerb({
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
      const merge = await engine.bus.call('mem:merge', request, fromHere)
      if (values.json) printJson(io, merge)
      else {
        print(io, `${cleanLine(branch)}: ${mergeWords(merge)}`)
        for (const line of conflictLines(merge.conflicts)) print(io, `  ${line}`)
      }
    })
  },
})
