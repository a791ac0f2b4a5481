// `errand fork`: a new task that begins with what another one has recorded.
import { omitUndefined } from '../../../core/omit-undefined.ts'
import { texts } from '../../terminal/arguments.ts'
import { cliCaller } from '../../terminal/caller.ts'
import { forkAs } from '../../terminal/fork-task.ts'
import { printValue } from '../../terminal/io.ts'
import { jsonOption } from '../../terminal/option-values.ts'
import { changedLine, taskNumber } from '../../terminal/task-labels.ts'
import { withTask } from '../open-ledger.ts'
import { defineVerb } from '../verb.ts'

export const fork = defineVerb({
  usage: 'fork ID [--at CALL] [--result JSON] [--input JSON] [--model NAME] [--prompt TEXT]',
  help: [
    'Creates a task that begins with what another one has recorded, and goes on from there. The original stays as it is.',
    '  --at CALL      the call, or the message of a model step, that the fork makes itself; "failure" for the one that failed last.',
    '                 default: the failed call of a failed task, else the last completed one, for an agent the last step of its model',
    '  --result JSON  what that call returned, instead of making it',
    '  --input JSON   another input; what the task then requests as before is not made again',
    '  --model NAME   for agents: another model',
    '  --prompt TEXT  for agents: other instructions',
  ].join('\n'),
  options: texts('at', 'result', 'input', 'model', 'prompt'),
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const { at, result, input, model, prompt } = args.values
      const json = (name: string, text: string | undefined) =>
        text === undefined ? {} : { [name]: jsonOption(name, text, '{"amount": 12}') }
      const given = { ...omitUndefined({ at, model, prompt }), ...json('result', result), ...json('input', input) }
      const forked = await forkAs(engine, cliCaller.caller, task, given)
      printValue(io, args.values, forked, changedLine(forked, `forked from ${taskNumber(task)}`))
    }),
})
