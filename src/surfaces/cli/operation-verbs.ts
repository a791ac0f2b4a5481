// The verbs of the command line that derive from operations.
import { changeAs } from '../terminal/as-person.ts'
import { cliCaller } from '../terminal/caller.ts'
import { inputIn, parsedOptions, usageOf, type VerbOperation, verbOperations } from '../terminal/operation-verb.ts'
import { forEachTask } from './each-task.ts'
import { defineVerb, type Verb, type VerbTable } from './verb.ts'

/** Those of one group in the overview. */
export function operationVerbs(group: VerbOperation['verb']['group']): VerbTable {
  const those = verbOperations.filter(({ verb }) => verb.group === group)
  return Object.fromEntries(
    those.map((operation) => {
      const { name, summary } = operation.verb
      return [name, { summary, load: async () => ({ [name]: verbOf(operation) }) }]
    }),
  )
}

function verbOf(operation: VerbOperation): Verb {
  const { verb } = operation
  return defineVerb({
    usage: usageOf(verb, 'ID'),
    help: verb.help,
    options: parsedOptions(verb),
    positionals: { min: 1 },
    async run(io, args) {
      const input = inputIn(verb, args.values)
      return await forEachTask(io, args, (engine, task) =>
        changeAs(engine, cliCaller.caller, operation.id, task, input, verb.said),
      )
    },
  })
}
