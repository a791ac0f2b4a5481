// `errand task complete`: completes a team's task, and lets what lasts of its memory reach the branch above.
import type { Task } from '../../../../entities/task.ts'
import { switches, texts } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { asOwner, ownerOptions, quoteIfClaimed } from '../../owner-flags.ts'
import { rewording, type Wordings } from '../../rewording.ts'
import { shellCommand } from '../../shell-words.ts'
import { findTask } from '../../task-ref.ts'
import { shortId, taskLabel } from '../../task-words.ts'
import { factCount, mergeWords } from '../../team-text.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task complete ID [--summary TEXT] [--no-merge] [--archive] [--complete-agents] [--require-objectives]',
  help: [
    'Completes a task that is worked on from outside. The facts of its team are judged: what lasts (certain enough, and of a lasting category) is merged into the branch above, the rest stays on the branch of the task. Of a task that an executor has completed only the memory is left to do; once it is done, it is not done again.',
    '  --summary TEXT        what the task came to',
    '  --no-merge            everything stays on its branch',
    '  --archive             nothing is added to its branches any more; what they hold can be read',
    '  --complete-agents     ends the work of agents that are still active; else that is refused while there are some',
    '  --require-objectives  refuses while an objective is not done',
    '  --as OWNER            whose claim on the task it is; default: ERRAND_OWNER',
    '  --fence N             the number of the claim, as "errand claim" printed it; required with a lease',
  ].join('\n'),
  options: {
    ...ownerOptions,
    ...texts('summary'),
    ...switches('no-merge', 'archive', 'complete-agents', 'require-objectives'),
  },
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref)
      const quote = quoteIfClaimed(io, values, task)
      const request = {
        taskId: task.id,
        ...quote,
        summary: values.summary,
        merge: values['no-merge'] !== true,
        archive: values.archive === true,
        agents: values['complete-agents'] === true ? ('complete' as const) : ('refuse' as const),
        requireObjectives: values['require-objectives'] === true,
      }
      const wordings: Wordings = {
        AGENTS_ACTIVE: ({ agents }) => agentsWords(task, agents),
        OBJECTIVES_OPEN: ({ objectives }) => objectivesWords(task, objectives),
      }
      const done = await rewording(wordings, () =>
        asOwner(task, quote, () => engine.bus.call('task:complete', request, fromHere)),
      )
      if (values.json) printJson(io, done)
      else {
        print(
          io,
          `${taskLabel(task)} ${done.status}: ${factCount(done.durable.length)} will last, ${done.ephemeral} will not`,
        )
        if (done.merge !== null) print(io, `  ${mergeWords(done.merge)}`)
      }
    }),
})

function agentsWords(task: Task, agents: unknown): string {
  const [agent = 'AGENT'] = agents as string[]
  const leave = shellCommand('errand', 'task', 'leave', shortId(task.id), '--as', agent)
  return `${namesOf(agents)} still at work on ${taskLabel(task)}: "${leave}" ends that, --complete-agents that of all.`
}

function objectivesWords(task: Task, objectives: unknown): string {
  return `Not all objectives of ${taskLabel(task)} are done: ${namesOf(objectives)} open. "errand task objective" says that one is; without --require-objectives they need not be.`
}

/** `1, 2, 3 are`, cut where they are many. */
function namesOf(names: unknown): string {
  const all = Array.isArray(names) ? names.map((name) => cleanLine(String(name))) : []
  const shown = all.slice(0, mostNamed)
  const rest = all.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${all.length === 1 ? 'is' : 'are'}`
}
const mostNamed = 20
