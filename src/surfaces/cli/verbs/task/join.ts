// `errand task join`: an agent from outside begins to work on a team's task.
import { fromHere, requireMember } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask } from '../../task-ref.ts'
import { taskLabel } from '../../task-words.ts'
import { contextTextOf, objectiveNumbers } from '../../team-text.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const joinVerb = defineVerb({
  usage: 'task join ID [--as AGENT] [--role R] [--objective N]…',
  help: [
    'Begins the work of an agent on a task and prints what it has to know. What it observes lies on a branch of its own ("errand memory observe --task ID --agent AGENT") until it leaves ("errand task leave"). An agent that comes back goes on where it was.',
    '  --as AGENT     its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --role R       what it does: implementer, reviewer',
    '  --objective N  the number of an objective that it takes; may be given several times, or hold several: 1,2',
  ].join('\n'),
  options: {
    as: { type: 'string' },
    role: { type: 'string' },
    objective: { type: 'string', multiple: true },
  },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const agentId = requireMember(io, values)
    const objectives = objectiveNumbers(values.objective)
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref)
      const request = { taskId: task.id, agentId, role: values.role, objectives }
      const joined = await engine.bus.call('agent:join', request, fromHere)
      if (values.json) printJson(io, joined)
      else {
        print(io, `${cleanLine(agentId)} works on ${taskLabel(task)}, on the branch ${cleanLine(joined.branch)}`)
        print(io, '')
        print(io, await contextTextOf(engine, task.id))
      }
      return exitCodes.done
    })
  },
})
