// `errand send`: a message for a task, to be read by whichever process works on it. This one only commands.
import { misuse, switches } from '../arguments.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { argumentOrInput } from '../read-input.ts'
import { findTask } from '../task-ref.ts'
import { changedLine } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'send ID [MESSAGE] [--follow-up | --abort] [--retry]',
  help: [
    'Sends a message to a task: its agent reads it before its next step. It also answers an open question that a text can answer. Without MESSAGE it is read from stdin.',
    '  --follow-up  read only when the agent would end',
    '  --abort      the task is paused at once, and reads it when it is resumed',
    '  --retry      a failed task gets a new attempt with it',
  ].join('\n'),
  options: switches('follow-up', 'abort', 'retry'),
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [ref, given] }) {
    if (values['follow-up'] && values.abort)
      throw misuse('--follow-up waits and --abort does not: give only one of them.')
    const message = await argumentOrInput(io, given, 'The message')
    const delivery = values.abort ? 'abort' : values['follow-up'] ? 'followup' : 'steer'
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const sent = await engine.send(task.id, message, { delivery, retry: values.retry === true })
      printValue(io, values, sent, changedLine(sent, 'told'))
    })
  },
})
