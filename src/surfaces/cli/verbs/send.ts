// `errand send`: a message from a person to a task. The process that runs the task reads it.
import { misuse, switches } from '../../terminal/arguments.ts'
import { changeAs } from '../../terminal/as-person.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { printValue } from '../../terminal/io.ts'
import { sentLine } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { argumentOrInput } from '../read-input.ts'
import { defineVerb } from '../verb.ts'

export const send = defineVerb({
  usage: 'send ID [MESSAGE] [--follow-up | --abort] [--retry]',
  help: [
    'Sends a message to a task: its agent reads it before its next step. The message also answers an open question that accepts text. Without MESSAGE, reads it from stdin.',
    '  --follow-up  the agent reads it only when it would otherwise end',
    '  --abort      pause the task at once; it reads the message when it is resumed',
    '  --retry      give a failed task a new attempt with the message',
  ].join('\n'),
  options: switches('follow-up', 'abort', 'retry'),
  positionals: { min: 1, max: 2 },
  async run(io, args) {
    const { values } = args
    if (values['follow-up'] && values.abort)
      throw misuse('--follow-up and --abort cannot be combined: give only one of them.')
    const message = await argumentOrInput(io, args.positionals[1], 'The message')
    const delivery = values.abort ? 'abort' : values['follow-up'] ? 'followup' : 'steer'
    await withTask(io, args, async (engine, task) => {
      const how = { message, delivery, retry: values.retry === true }
      const sent = await changeAs(engine, cliCaller.caller, 'task:send', task, how)
      printValue(io, values, sent, sentLine(sent))
    })
  },
})
