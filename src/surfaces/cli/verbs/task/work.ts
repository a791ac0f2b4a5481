// `errand task context`, `join`, `leave` and `complete`: an agent from outside works on a team's task, from what it has to know to the end.

import type { Task } from '../../../../entities/task.ts'
import { lists, switches, texts } from '../../../../terminal/arguments.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { print, printJson, printValue } from '../../../../terminal/io.ts'
import { shellCommand } from '../../../../terminal/shell-quote.ts'
import { shortId, taskLabel } from '../../../../terminal/task-labels.ts'
import {
  contextOf,
  contextTextOf,
  factCount,
  mergeText,
  objectiveNumbers,
  observeCommand,
} from '../../../../terminal/team-text.ts'
import { cleanLine, indented } from '../../../../terminal/terminal-text.ts'
import { requireMember } from '../../board-target.ts'
import { withTask } from '../../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, ownerOptions } from '../../owner-flags.ts'
import { rewording, type Wordings } from '../../rewording.ts'
import { defineVerb } from '../../verb.ts'

export const context = defineVerb({
  usage: 'task context ID',
  help: 'Prints what one has to know to work on a task: what it is, its objectives, what agents before have done and who works on it now, the facts that the team has found, and how far it is. --json gives the same as an object.',
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, { id }) => {
      if (args.values.json) printJson(io, await contextOf(engine, id))
      else print(io, await contextTextOf(engine, id))
    }),
})

export const join = defineVerb({
  usage: 'task join ID [--as AGENT] [--role R] [--objective N]…',
  help: [
    'Begins the work of an agent on a task and prints what it has to know. What it observes lies on a branch of its own ("errand memory observe --task ID --agent AGENT") until it leaves ("errand task leave"). An agent that comes back goes on where it was.',
    '  --as AGENT     its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --role R       what it does: implementer, reviewer',
    '  --objective N  the number of an objective that it takes; may be given several times, or hold several: 1,2',
  ].join('\n'),
  options: { ...texts('as', 'role'), ...lists('objective') },
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const { values } = args
    const agentId = requireMember(io, values)
    const objectives = objectiveNumbers(values.objective)
    await withTask(io, args, async (engine, task) => {
      const request = { taskId: task.id, agentId, role: values.role, objectives }
      const joined = await rewording({ ALREADY_ACTIVE: (details) => activeText(task, agentId, details) }, () =>
        engine.bus.call('agent:join', request, cliCaller),
      )
      printValue(io, values, joined, [
        `${cleanLine(agentId)} works on ${taskLabel(task)}, on the branch ${cleanLine(joined.branch)}`,
        ...nextCommands(task, agentId).map((command) => `    ${command}`),
      ])
      if (!values.json) print(io, ['', await contextTextOf(engine, task.id)])
    })
  },
})

/** What an agent at work needs next, as it is typed. */
function nextCommands(task: Task, agentId: string): string[] {
  return [observeCommand(task.id, 'NAME', agentId), leaveCommand(task, agentId)]
}

function leaveCommand(task: Task, agentId: string): string {
  return shellCommand('errand', 'task', 'leave', shortId(task.id), '--as', agentId)
}

function activeText(task: Task, agentId: string, { branch }: Record<string, unknown>): string {
  return `${cleanLine(agentId)} works on ${taskLabel(task)} already, on the branch ${cleanLine(String(branch))}. "${leaveCommand(task, agentId)}" ends that; then it may join again.`
}

export const leave = defineVerb({
  usage: 'task leave ID [--as AGENT] [--summary TEXT]',
  help: [
    'Ends the work of an agent on a task: what it observed becomes facts, these are merged into the branch of the task, and its active objectives are done.',
    '  --as AGENT      its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --summary TEXT  what it did, for whoever comes next; default: made of what it found',
  ].join('\n'),
  options: texts('as', 'summary'),
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const { values } = args
    const agentId = requireMember(io, values)
    await withTask(io, args, async (engine, task) => {
      const request = { taskId: task.id, agentId, summary: values.summary }
      const left = await rewording({ NOT_ACTIVE: () => goneText(task, agentId) }, () =>
        engine.bus.call('agent:complete', request, cliCaller),
      )
      const summary = values.summary ?? left.consolidation.summary ?? undefined
      printValue(io, values, left, [
        `${cleanLine(agentId)} has left ${taskLabel(task)}: ${mergeText(left)}`,
        ...(summary === undefined ? [] : [indented(summary)]),
      ])
    })
  },
})

function goneText(task: Task, agentId: string): string {
  const join = shellCommand('errand', 'task', 'join', shortId(task.id), '--as', agentId)
  return `${cleanLine(agentId)} has left ${taskLabel(task)} already. "${join}" lets it come back.`
}

export const complete = defineVerb({
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
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const { values } = args
      const quote = claimTokenIfClaimed(io, values, task)
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
        AGENTS_ACTIVE: ({ agents }) => agentsText(task, agents),
        OBJECTIVES_OPEN: ({ objectives }) => objectivesText(task, objectives),
      }
      const done = await rewording(wordings, () =>
        asOwner(task, quote, () => engine.bus.call('task:complete', request, cliCaller)),
      )
      printValue(io, values, done, [
        `${taskLabel(task)} ${done.status}: ${factCount(done.durable.length)} will last, ${done.ephemeral} will not`,
        ...(done.merge === null ? [] : [`  ${mergeText(done.merge)}`]),
      ])
    }),
})

function agentsText(task: Task, agents: unknown): string {
  const [agent = 'AGENT'] = agents as string[]
  const leave = leaveCommand(task, agent)
  return `${namesOf(agents)} still at work on ${taskLabel(task)}: "${leave}" ends that, --complete-agents that of all.`
}

function objectivesText(task: Task, objectives: unknown): string {
  return `Not all objectives of ${taskLabel(task)} are done: ${namesOf(objectives)} open. "errand task objective" says that one is; without --require-objectives they need not be.`
}

/** `1, 2, 3 are`, cut where they are many. */
function namesOf(names: unknown): string {
  const all = Array.isArray(names) ? names.map((name) => cleanLine(String(name))) : []
  const shown = all.slice(0, maxNamed)
  const rest = all.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${all.length === 1 ? 'is' : 'are'}`
}
const maxNamed = 20
