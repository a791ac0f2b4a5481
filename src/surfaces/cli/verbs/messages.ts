// What a person tells a task: `errand send` a message, `errand answer` the answer to its question. Whichever process works on it reads
// it; this one only commands.

import { answerTask } from '../../../terminal/answer-text.ts'
import { misuse, switches, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { changeAs } from '../../../terminal/change-as.ts'
import { printValue } from '../../../terminal/io.ts'
import { changedLine, taskLabel } from '../../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { argumentOrInput } from '../read-input.ts'
import { defineVerb } from '../verb.ts'

export const send = defineVerb({
  usage: 'send ID [MESSAGE] [--follow-up | --abort] [--retry]',
  help: [
    'Sends a message to a task: its agent reads it before its next step. It also answers an open question that a text can answer. Without MESSAGE it is read from stdin.',
    '  --follow-up  read only when the agent would end',
    '  --abort      the task is paused at once, and reads it when it is resumed',
    '  --retry      a failed task gets a new attempt with it',
  ].join('\n'),
  options: switches('follow-up', 'abort', 'retry'),
  positionals: { min: 1, max: 2 },
  async run(io, args) {
    const { values } = args
    if (values['follow-up'] && values.abort)
      throw misuse('--follow-up waits and --abort does not: give only one of them.')
    const message = await argumentOrInput(io, args.positionals[1], 'The message')
    const delivery = values.abort ? 'abort' : values['follow-up'] ? 'followup' : 'steer'
    await withTask(io, args, async (engine, task) => {
      const how = { message, delivery, retry: values.retry === true }
      const sent = await changeAs(engine, cliCaller.caller, 'task:send', task, how)
      printValue(io, values, sent, changedLine(sent, 'told'))
    })
  },
})

export const answer = defineVerb({
  usage: 'answer ID [VALUE] [--question Q]',
  help: 'Answers the open question of a task. VALUE is JSON where it can be read as such, else a text; a question for a text takes it as it is. Without VALUE the default answers. --question names one of several.',
  options: texts('question'),
  positionals: { min: 1, max: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const answered = await answerTask(engine, cliCaller.caller, task, args.positionals[1], args.values.question)
      printValue(io, args.values, answered, `${taskLabel(answered)} answered`)
    }),
})
