// `errand answer`: answers the question of a task.
import { answerTask } from '../../terminal/answer-text.ts'
import { texts } from '../../terminal/arguments.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { printValue } from '../../terminal/io.ts'
import { taskLabel } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const answer = defineVerb({
  usage: 'answer ID [VALUE] [--question Q]',
  help: 'Answers the open question of a task. VALUE is parsed as JSON if possible, otherwise it is text; a question that expects text gets VALUE unparsed. Without VALUE, the default of the question is the answer. If a task has several open questions, --question selects one by its id.',
  options: texts('question'),
  positionals: { min: 1, max: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const answered = await answerTask(engine, cliCaller.caller, task, args.positionals[1], args.values.question)
      printValue(io, args.values, answered, `${taskLabel(answered)} answered`)
    }),
})
