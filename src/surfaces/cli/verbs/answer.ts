// `errand answer`: what a person says to the question of a task. JSON where it is JSON, else the words as they are.
import { parseAnswer } from '../answer-text.ts'
import { printValue } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { taskLabel } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'answer ID [VALUE] [--question Q]',
  help: 'Answers the open question of a task. VALUE is JSON where it can be read as such, else a text; a question for a text takes it as it is. Without VALUE the default answers. --question names one of several.',
  options: { question: { type: 'string' } },
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [ref, value] }) {
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const asked = task.questions.find(({ id }) => values.question === undefined || id === values.question)
      const options = values.question === undefined ? {} : { question: values.question }
      const answered = await engine.answer(
        task.id,
        value === undefined ? undefined : parseAnswer(value, asked?.schema),
        options,
      )
      printValue(io, values, answered, `${taskLabel(answered)} answered`)
    })
  },
})
