// `errand answer`: what a person says to the question of a task. JSON where it is JSON, else the words as they are.
import { answerTask } from '../answer-text.ts'
import { texts } from '../arguments.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'answer ID [VALUE] [--question Q]',
  help: 'Answers the open question of a task. VALUE is JSON where it can be read as such, else a text; a question for a text takes it as it is. Without VALUE the default answers. --question names one of several.',
  options: texts('question'),
  positionals: { min: 1, max: 2 },
  run: (io, { values, positionals: [ref = '', text] }) =>
    withLedger(io, values, async (engine) => {
      const answered = await answerTask(engine, await findTask(engine, ref), text, values.question)
      printValue(io, values, answered, `${taskLabel(answered)} answered`)
    }),
})
