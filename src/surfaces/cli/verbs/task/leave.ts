// `errand task leave`: an agent has done its part of a team's task, and what it found reaches the team.
import type { Task } from '../../../../entities/task.ts'
import { texts } from '../../arguments.ts'
import { fromHere, requireMember } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { rewording } from '../../rewording.ts'
import { shellCommand } from '../../shell-words.ts'
import { findTask } from '../../task-ref.ts'
import { shortId, taskLabel } from '../../task-words.ts'
import { mergeWords } from '../../team-text.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task leave ID [--as AGENT] [--summary TEXT]',
  help: [
    'Ends the work of an agent on a task: what it observed becomes facts, these are merged into the branch of the task, and its active objectives are done.',
    '  --as AGENT      its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --summary TEXT  what it did, for whoever comes next; default: made of what it found',
  ].join('\n'),
  options: texts('as', 'summary'),
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    const agentId = requireMember(io, values)
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref)
      const request = { taskId: task.id, agentId, summary: values.summary }
      const left = await rewording({ NOT_ACTIVE: () => goneWords(task, agentId) }, () =>
        engine.bus.call('agent:complete', request, fromHere),
      )
      if (values.json) printJson(io, left)
      else {
        print(io, `${cleanLine(agentId)} has left ${taskLabel(task)}: ${mergeWords(left)}`)
        const summary = values.summary ?? left.consolidation.summary
        if (summary !== null && summary !== undefined) print(io, `  ${summary.replaceAll('\n', '\n  ')}`)
      }
    })
  },
})

function goneWords(task: Task, agentId: string): string {
  const join = shellCommand('errand', 'task', 'join', shortId(task.id), '--as', agentId)
  return `${cleanLine(agentId)} has left ${taskLabel(task)} already. "${join}" lets it come back.`
}
