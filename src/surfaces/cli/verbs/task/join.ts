// `errand task join`: an agent from outside begins to work on a team's task.
import type { Task } from '../../../../entities/task.ts'
import { lists, texts } from '../../arguments.ts'
import { fromHere, requireMember } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { rewording } from '../../rewording.ts'
import { shellCommand } from '../../shell-words.ts'
import { findTask } from '../../task-ref.ts'
import { shortId, taskLabel } from '../../task-words.ts'
import { contextTextOf, objectiveNumbers } from '../../team-text.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task join ID [--as AGENT] [--role R] [--objective N]…',
  help: [
    'Begins the work of an agent on a task and prints what it has to know. What it observes lies on a branch of its own ("errand memory observe --task ID --agent AGENT") until it leaves ("errand task leave"). An agent that comes back goes on where it was.',
    '  --as AGENT     its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --role R       what it does: implementer, reviewer',
    '  --objective N  the number of an objective that it takes; may be given several times, or hold several: 1,2',
  ].join('\n'),
  options: { ...texts('as', 'role'), ...lists('objective') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const agentId = requireMember(io, values)
    const objectives = objectiveNumbers(values.objective)
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref)
      const request = { taskId: task.id, agentId, role: values.role, objectives }
      const joined = await rewording({ ALREADY_ACTIVE: (details) => activeWords(task, agentId, details) }, () =>
        engine.bus.call('agent:join', request, fromHere),
      )
      if (values.json) printJson(io, joined)
      else {
        print(io, `${cleanLine(agentId)} works on ${taskLabel(task)}, on the branch ${cleanLine(joined.branch)}`)
        for (const command of nextCommands(task, agentId)) print(io, `    ${command}`)
        print(io, '')
        print(io, await contextTextOf(engine, task.id))
      }
    })
  },
})

/** What an agent at work needs next, as it is typed. */
function nextCommands(task: Task, agentId: string): string[] {
  const observe = ['--task', shortId(task.id), '--agent', agentId, '--session', 'NAME', '--type', 'insight', 'TEXT']
  return [shellCommand('errand', 'memory', 'observe', ...observe), leaveCommand(task, agentId)]
}

function leaveCommand(task: Task, agentId: string): string {
  return shellCommand('errand', 'task', 'leave', shortId(task.id), '--as', agentId)
}

function activeWords(task: Task, agentId: string, { branch }: Record<string, unknown>): string {
  return `${cleanLine(agentId)} works on ${taskLabel(task)} already, on the branch ${cleanLine(String(branch))}. "${leaveCommand(task, agentId)}" ends that; then it may join again.`
}
