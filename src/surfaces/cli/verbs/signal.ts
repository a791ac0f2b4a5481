// `errand signal`: sends a task what it waits for by name. The process that runs the task goes on with it.
import { omitUndefined } from '../../../core/omit-undefined.ts'
import { texts } from '../../terminal/arguments.ts'
import { changeAs } from '../../terminal/as-person.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { printValue } from '../../terminal/io.ts'
import { jsonOption } from '../../terminal/option-values.ts'
import { changedLine } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const signal = defineVerb({
  usage: 'signal ID NAME [--data JSON] [--id ID]',
  help: [
    'Sends a signal to a task, which gets it where it waits for this name, or when it does.',
    '  --data JSON  what the task gets; default true',
    '  --id ID      what has happened: a signal of this name that was sent with this id is not sent again',
  ].join('\n'),
  options: texts('data', 'id'),
  positionals: { min: 2, max: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const { data, id } = args.values
      const payload = data === undefined ? undefined : jsonOption('data', data, '{"amount": 12}')
      const how = omitUndefined({ name: args.positionals[1], payload, id })
      const sent = await changeAs(engine, cliCaller.caller, 'task:signal', task, how)
      printValue(io, args.values, sent, changedLine(sent, 'signal sent'))
    }),
})
