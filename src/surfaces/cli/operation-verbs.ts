// The verbs of the command line that derive from operations. Those with an action for many tasks take a filter in place of tasks.
import { batchActions } from '../../entities/batch.ts'
import { misuse, switches } from '../terminal/arguments.ts'
import { changeAs } from '../terminal/as-person.ts'
import { cliCaller } from '../terminal/caller.ts'
import { filterFlags, filterHelp, filterUsage } from '../terminal/filter-flags.ts'
import { inputIn, parsedOptions, usageOf, type VerbOperation, verbOperations } from '../terminal/operation-verb.ts'
import { changeMany } from './change-many.ts'
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
  const action = batchActions.find((each) => `task:${each}` === operation.id)
  const usage = usageOf(verb, 'ID')
  if (action === undefined) {
    return defineVerb({
      usage,
      help: verb.help,
      options: parsedOptions(verb),
      positionals: { min: 1 },
      run: (io, args) => changeEach(operation, io, args),
    })
  }
  return defineVerb({
    usage: `${usage} | ${verb.name} ${filterUsage} [--all] [--dry-run]`,
    help: [
      verb.help,
      'In place of IDs, options choose the tasks; with none of them, --all is required:',
      ...filterHelp,
      '  --all             all tasks for which the change has an effect',
      '  --dry-run         only count them, and change nothing',
    ].join('\n'),
    options: { ...parsedOptions(verb), ...filterFlags, ...switches('all', 'dry-run') },
    positionals: { min: 0 },
    async run(io, args) {
      if (args.positionals.length === 0) return await changeMany(io, args, { action, verb })
      refuseChoice(args)
      return await changeEach(operation, io, args)
    },
  })
}

/** An option that would be ignored beside tasks: with `--dry-run`, for example, these would be changed nevertheless. */
function refuseChoice({ values, positionals }: Parameters<Run>[1]): void {
  const choosing = [...Object.keys(filterFlags), 'all', 'dry-run'].find((flag) => values[flag] !== undefined)
  if (choosing === undefined) return
  throw misuse(`--${choosing} chooses tasks, and ${positionals[0]} names one. Give either of them.`, {
    option: choosing,
  })
}

type Run = Verb['run']

function changeEach(operation: VerbOperation, io: Parameters<Run>[0], args: Parameters<Run>[1]): Promise<number> {
  const { verb } = operation
  const input = inputIn(verb, args.values)
  return forEachTask(io, args, (engine, task) =>
    changeAs(engine, cliCaller.caller, operation.id, task, input, verb.said),
  )
}
