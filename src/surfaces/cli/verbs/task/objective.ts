// `errand task objective`: says how far an objective is.
import { objectiveStatuses } from '../../../../entities/team.ts'
import { ErrandError, nearestName } from '../../../../errors.ts'
import { texts } from '../../arguments.ts'
import { fromHere, memberName } from '../../board-place.ts'
import { didYouMean } from '../../did-you-mean.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask } from '../../task-ref.ts'
import { objectiveNumbers, printObjectives } from '../../team-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: `task objective ID N ${objectiveStatuses.join('|')} [--as AGENT] [--note TEXT]`,
  help: [
    'Changes the state of the objective with the number N, and prints all of the task. Any state may follow any other.',
    '  --as AGENT   who works on it; default: ERRAND_AGENT, else ERRAND_OWNER, else as it is',
    '  --note TEXT  what others should know of it',
  ].join('\n'),
  options: texts('as', 'note'),
  positionals: { min: 3, max: 3 },
  async run(io, { values, positionals: [ref = '', number = '', status = ''] }) {
    const [objectiveId = 0] = objectiveNumbers([number])
    const change = { objectiveId, status: statusOf(status), agentId: memberName(io, values), notes: values.note }
    return await withLedger(io, values, async (engine) => {
      const { id: taskId } = await findTask(engine, ref)
      const { objectives } = await engine.bus.call('objective:update', { taskId, ...change }, fromHere)
      printObjectives(io, values, objectives)
    })
  },
})

function statusOf(text: string): (typeof objectiveStatuses)[number] {
  const known = objectiveStatuses.find((status) => status === text)
  if (known !== undefined) return known
  const nearest = nearestName(text, objectiveStatuses)
  throw new ErrandError(
    'INVALID_INPUT',
    `An objective is ${objectiveStatuses.join(', ')}, got "${text}".${didYouMean(nearest)}`,
    { status: text, nearest },
  )
}
