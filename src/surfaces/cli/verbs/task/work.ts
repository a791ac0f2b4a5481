// `errand task context`, `join`, `leave` and `complete`: the work of an external agent on the task of a team.

import type { Task } from '../../../../entities/task.ts'
import { lists, switches, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { print, printJson, printValue } from '../../../terminal/io.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { taskLabel, taskNumber } from '../../../terminal/task-labels.ts'
import {
  contextOf,
  contextTextOf,
  factCount,
  mergeText,
  objectiveNumbers,
  observeCommand,
} from '../../../terminal/team-text.ts'
import { cleanLine, indented } from '../../../terminal/terminal-text.ts'
import { requireMember } from '../../board-target.ts'
import { rewording, type Wordings } from '../../cli-errors.ts'
import { withTask } from '../../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, ownerOptions } from '../../owner-flags.ts'
import { defineVerb } from '../../verb.ts'

export const context = defineVerb({
  usage: 'task context ID',
  help: 'Prints everything needed to work on a task: its description and objectives, the work of earlier agents, the agents that work on it now, the facts of the team, and its progress. --json prints the same as an object.',
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
    'Starts the work of an agent on a task and prints the context of the task. Its observations ("errand memory observe --task ID --agent AGENT") stay on its own branch until it leaves ("errand task leave"). An agent that joins again continues on its branch.',
    '  --as AGENT     its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --role R       its role, such as implementer or reviewer',
    '  --objective N  the number of an objective that it takes; may be given several times, or list several: 1,2',
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

/** The commands that a working agent needs next. */
function nextCommands(task: Task, agentId: string): string[] {
  return [observeCommand(taskNumber(task), 'NAME', agentId), leaveCommand(task, agentId)]
}

function leaveCommand(task: Task, agentId: string): string {
  return shellCommand('errand', 'task', 'leave', taskNumber(task), '--as', agentId)
}

function activeText(task: Task, agentId: string, { branch }: Record<string, unknown>): string {
  return `${cleanLine(agentId)} already works on ${taskLabel(task)}, on the branch ${cleanLine(String(branch))}. "${leaveCommand(task, agentId)}" ends that; then it may join again.`
}

export const leave = defineVerb({
  usage: 'task leave ID [--as AGENT] [--summary TEXT]',
  help: [
    'Ends the work of an agent on a task: its observations are consolidated into facts, these are merged into the branch of the task, and its active objectives are done.',
    '  --as AGENT      its name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --summary TEXT  what it did, for the next agent; default: derived from its facts',
  ].join('\n'),
  options: texts('as', 'summary'),
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const { values } = args
    const agentId = requireMember(io, values)
    await withTask(io, args, async (engine, task) => {
      const request = { taskId: task.id, agentId, summary: values.summary }
      const left = await rewording({ NOT_ACTIVE: () => notActiveText(task, agentId) }, () =>
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

function notActiveText(task: Task, agentId: string): string {
  const join = shellCommand('errand', 'task', 'join', taskNumber(task), '--as', agentId)
  return `${cleanLine(agentId)} has already left ${taskLabel(task)}. "${join}" lets it join again.`
}

export const complete = defineVerb({
  usage: 'task complete ID [--summary TEXT] [--no-merge] [--archive] [--complete-agents] [--require-objectives]',
  help: [
    'Completes a task that no executor runs. Durable facts of its team (with enough confidence, and of a durable category) are merged into the branch above; the others stay on the branch of the task. For a task that an executor has completed, only the facts are merged. Repeating it changes nothing.',
    '  --summary TEXT        the result of the task',
    '  --no-merge            leave all facts on the branch of the task',
    '  --archive             close its branches: they can be read, but accept no new facts',
    '  --complete-agents     end the work of active agents; default: refuse while there are any',
    '  --require-objectives  refuse while an objective is not done',
    '  --as OWNER            the owner of the claim; default: ERRAND_OWNER',
    '  --fence N             the number of the claim, as "errand claim" printed it; required for a claim with a lease',
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
      const token = claimTokenIfClaimed(io, values, task)
      const request = {
        taskId: task.id,
        ...token,
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
        asOwner(task, token, () => engine.bus.call('task:complete', request, cliCaller)),
      )
      printValue(io, values, done, [
        `${taskLabel(task)} ${done.status}: ${factCount(done.durable.length)} durable, ${done.ephemeral} not`,
        ...(done.merge === null ? [] : [`  ${mergeText(done.merge)}`]),
      ])
    }),
})

function agentsText(task: Task, agents: unknown): string {
  const [agent = 'AGENT'] = agents as string[]
  const leave = leaveCommand(task, agent)
  return `${namesOf(agents)} still working on ${taskLabel(task)}. "${leave}" ends this, --complete-agents ends the work of all.`
}

function objectivesText(task: Task, objectives: unknown): string {
  return `Not all objectives of ${taskLabel(task)} are done: ${namesOf(objectives)} open. Mark them with "errand task objective", or leave out --require-objectives.`
}

/** `1, 2, 3 are`; at most `maxNamed` names. */
function namesOf(names: unknown): string {
  const all = Array.isArray(names) ? names.map((name) => cleanLine(String(name))) : []
  const shown = all.slice(0, maxNamed)
  const rest = all.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${all.length === 1 ? 'is' : 'are'}`
}
const maxNamed = 20
