// `errand show`: everything about one task.

import { usageOf } from '../../../entities/message.ts'
import { columnsOf, printValue } from '../../terminal/io.ts'
import { formatTaskDetails, readTaskDetails } from '../../terminal/task-details.ts'
import { withTask } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const show = defineVerb({
  usage: 'show ID',
  help: 'Shows everything about a task: its fields, its machine, runs and calls, its conversation with token usage, the progress of its team, and why it does not run.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, found) => {
      const details = await readTaskDetails(engine, found)
      const { task, numberOf: _numberOf, ...rest } = details
      const json = { ...task, ...rest, usage: usageOf(rest.messages) }
      printValue(io, args.values, json, formatTaskDetails(details, columnsOf(io.stdout)))
    }),
})
