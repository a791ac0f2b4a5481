// `errand task objectives` and `objective`: the objectives of a task and their states.

import { didYouMean } from '../../../../core/did-you-mean.ts'
import { nearestName } from '../../../../core/errors.ts'
import { objectiveStatuses } from '../../../../entities/team.ts'
import { lists, misuse, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { contextOf, objectiveNumbers, printObjectives } from '../../../terminal/team-text.ts'
import { memberName } from '../../board-target.ts'
import { withTask } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const objectives = defineVerb({
  usage: 'task objectives ID [--add TEXT]…',
  help: [
    'Lists the objectives of a task by number: todo, active, done or blocked, with agent and notes. --json prints one per line.',
    '  --add TEXT  add an objective; may be given several times',
  ].join('\n'),
  options: lists('add'),
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, { id: taskId }) => {
      const { add: descriptions } = args.values
      const { objectives } =
        descriptions === undefined
          ? await contextOf(engine, taskId)
          : await engine.bus.call('objective:add', { taskId, descriptions }, cliCaller)
      printObjectives(io, args.values, objectives)
    }),
})

export const objective = defineVerb({
  usage: `task objective ID N ${objectiveStatuses.join('|')} [--as AGENT] [--note TEXT]`,
  help: [
    'Changes the state of objective N, and prints all objectives of the task. Any state may follow any other.',
    '  --as AGENT   the agent that works on it; default: ERRAND_AGENT, else ERRAND_OWNER, else unchanged',
    '  --note TEXT  a note for others',
  ].join('\n'),
  options: texts('as', 'note'),
  positionals: { min: 3, max: 3 },
  async run(io, args) {
    const {
      values,
      positionals: [, number = '', status = ''],
    } = args
    const [objectiveId = 0] = objectiveNumbers([number])
    const change = { objectiveId, status: statusOf(status), agentId: memberName(io, values), notes: values.note }
    await withTask(io, args, async (engine, { id: taskId }) => {
      const { objectives } = await engine.bus.call('objective:update', { taskId, ...change }, cliCaller)
      printObjectives(io, values, objectives)
    })
  },
})

function statusOf(text: string): (typeof objectiveStatuses)[number] {
  const known = objectiveStatuses.find((status) => status === text)
  if (known !== undefined) return known
  const nearest = nearestName(text, objectiveStatuses)
  const message = `The state of an objective is one of ${objectiveStatuses.join(', ')}, got "${text}".${didYouMean(nearest)}`
  throw misuse(message, { status: text, nearest })
}
